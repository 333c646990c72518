package main

import (
	"context"
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// A timeSeries is a table's columns along one input. Rows are in the file's order, and rows with missing values are among them.
type timeSeries struct {
	path  string        // of the file, as messages have it
	table *table.Stream // for Edit

	axis  *table.Axis // of the input
	grid  table.Grid  // of x
	xName string      // "row" if no column is the input
	x     []float64   // [N], in axis.Unit

	yNames  []string
	yCols   []int     // [D], columns of the table
	y       []float64 // [N,D]; NaN is missing
	errors  []float64 // [N,D], standard deviations of y; nil: none are known
	missing []int     // [D]

	chosen choice
	left   string // columns that the default choice leaves out
}

// readSeries reads a table as a series. The input is --x; else the first column of dates; else, of several columns of numbers, the
// first; else the number of the row, from 1. The outputs are --y; else, if holes, all other columns of numbers with missing values, if
// there are any; else the last column of numbers.
func (a *app) readSeries(ctx context.Context, path string, c columns, holes bool) (*timeSeries, error) {
	return a.readSeriesFor(ctx, path, c, holes, nil)
}

// readSeriesFor is readSeries for a model, unless it is nil: by default the columns are those with the model's names, and x counts as
// the model's does.
func (a *app) readSeriesFor(ctx context.Context, path string, c columns, holes bool, m *series.Model) (*timeSeries, error) {
	if !isTable(path) { // says what the file is
		_, err := a.readAudio(ctx, path)
		if err == nil {
			err = mistake("%s: a recording, not a table; impute fills recordings, fit models them", path)
		}
		return nil, err
	}
	s, err := a.openTable(ctx, path)
	if err == nil {
		err = s.Survey(ctx, nil)
	}
	if err != nil {
		return nil, err
	}
	c.takeRow(s)
	r := &timeSeries{path: inputName(path), table: s, xName: rowName, axis: &table.Axis{Unit: rowUnit}}
	var like []*table.Axis
	if m != nil {
		if like, err = c.like(s, m); err != nil {
			return nil, err
		}
	}
	chosen, err := c.ofSeries(s, r.path, holes)
	if err != nil {
		return nil, err
	}
	if m != nil && (len(chosen.x) != len(like) || len(chosen.y) != m.Outputs()) {
		return nil, mistake("%s: %s and %s are chosen; the model has the input %s and %s: choose with --x and --y", r.path,
			counted(len(chosen.x), "input"), counted(len(chosen.y), "output"), m.XName, counted(m.Outputs(), "output"))
	}
	axes, picks, err := axesOf(s, chosen, like)
	if err != nil {
		return nil, err
	}
	if len(axes) > 0 {
		r.axis, r.xName = axes[0], s.Names[chosen.x[0]]
	}
	r.yCols, r.yNames = chosen.y, namesOf(s, chosen.y)
	for _, col := range r.yCols {
		r.missing = append(r.missing, s.Columns[col].Missing())
	}
	r.chosen, r.left = chosen, c.leftOut(s, chosen)
	return r, r.read(ctx, picks, len(axes), len(chosen.errors))
}

// read reads the picked columns: the input, if there is one, the outputs and their errors.
func (r *timeSeries) read(ctx context.Context, picks []table.Pick, inputs, errors int) error {
	known := len(picks) - errors
	for part, err := range r.table.Parts(ctx, picks) {
		if err != nil {
			return err
		}
		for ; len(part) > 0; part = part[len(picks):] {
			x := float64(len(r.x) + 1)
			if inputs > 0 {
				x = part[0]
			}
			r.x, r.y, r.errors = append(r.x, x), append(r.y, part[inputs:known]...), append(r.errors, part[known:len(picks)]...)
		}
	}
	r.grid = r.axis.Grid(r.x)
	return nil
}

// fewestValues is how many values of an output a fit needs.
const fewestValues = 4

// mostError bounds known standard deviations: their squares have to be numbers.
const mostError = 1e150

// check names the column that nothing can be fitted to, and a standard deviation that is none.
func (r *timeSeries) check() error {
	d := len(r.yNames)
	for i, name := range r.yNames {
		if seen := len(r.x) - r.missing[i]; seen < fewestValues {
			return mistake("%s: column %.40q has %s in %s; want at least %d", r.path, name, counted(seen, "value"), counted(len(r.x), "row"), fewestValues)
		}
	}
	for i, e := range r.errors {
		if !(e > 0 && e < mostError) && !math.IsNaN(r.y[i]) {
			return mistake("%s: row %d (from 1): the standard deviation of %.40q is %v; want a positive number below %v", r.path, i/d+1, r.yNames[i%d], e, mostError)
		}
	}
	if len(r.x) > 0 && r.grid.First == r.grid.Last {
		return mistake("%s: all rows are at one %s, %s; want several", r.path, r.xName, r.axis.Format(r.grid.First))
	}
	return nil
}

// data is the series as package series takes it.
func (r *timeSeries) data() series.Series {
	d := len(r.yNames)
	s := series.Series{X: r.x}
	for i := range d {
		s.Y = append(s.Y, every(r.y, i, d))
		if r.errors != nil {
			s.Err = append(s.Err, every(r.errors, i, d))
		}
	}
	return s
}

// every is each d-th number, from i on.
func every(a []float64, i, d int) []float64 {
	out := make([]float64, 0, len(a)/d)
	for ; i < len(a); i += d {
		out = append(out, a[i])
	}
	return out
}

// like chooses the columns with the model's names, where there are such, and returns the axis of its input; none if that is the rows' number.
func (c *columns) like(s *table.Stream, m *series.Model) ([]*table.Axis, error) {
	if c.x == nil && withNames(s, []string{m.XName}) != nil {
		c.x = []string{m.XName}
	}
	if c.y == nil && withNames(s, m.YNames) != nil {
		c.y = m.YNames
	}
	axis, err := axisOfSeries(m)
	if err != nil || axis.Unit == rowUnit && c.x == nil {
		c.rows = true
		return nil, err
	}
	return []*table.Axis{axis}, nil
}

// rowUnit is the unit of the axis of rows' numbers.
const rowUnit = "rows"

// ofSeries chooses the columns of a series: one input or none.
func (c columns) ofSeries(s *table.Stream, path string, holes bool) (choice, error) {
	x, y, err := c.named(s)
	if err != nil {
		return choice{}, err
	}
	if len(x) > 1 {
		return choice{}, mistake("--x: %d columns; want the one along which the series runs", len(x))
	}
	numbers := ofKind(s, table.Numbers)
	errors, err := named(s, c.errors, "--yerr")
	if err != nil {
		return choice{}, err
	}
	numbers = others(numbers, errors)
	free := others(numbers, y)
	switch dates := others(ofKind(s, table.Dates), y); {
	case x != nil || c.rows:
	case len(dates) > 0:
		x = dates[:1]
	case y == nil && len(numbers) > 1, y != nil && len(free) > 0:
		x = free[:1]
	}
	if y == nil {
		free = others(numbers, x)
		withHoles := slices.DeleteFunc(slices.Clone(free), func(col int) bool { return s.Columns[col].Missing() == 0 })
		switch {
		case holes && len(withHoles) > 0:
			y = withHoles
		case len(free) > 0:
			y = free[len(free)-1:]
		}
	}
	if len(y) == 0 {
		return choice{}, mistake("%s: no column of numbers is left for an output among %s; choose with --y", path, listed(s.Names))
	}
	if slices.ContainsFunc(x, func(col int) bool { return slices.Contains(y, col) }) {
		return choice{}, mistake("column %.40q is both the input and an output: choose with --x and --y", s.Names[x[0]])
	}
	if errors != nil && (len(errors) != len(y) || slices.ContainsFunc(errors, func(col int) bool { return slices.Contains(slices.Concat(x, y), col) })) {
		return choice{}, mistake("--yerr: %s for %s (%s); want another column for each", counted(len(errors), "column"), counted(len(y), "output"), listed(namesOf(s, y)))
	}
	return choice{x: x, y: y, errors: errors}, nil
}
