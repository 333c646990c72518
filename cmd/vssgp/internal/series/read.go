// Package series has the commands forecast, fill and backtest, and what fit, predict, evaluate and info do with the model of a series.
package series

import (
	"context"
	"math"
	"slices"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
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

	chosen datafile.Choice
	left   string // columns that the default choice leaves out
}

// readSeries reads a table as a series. The input is --x; else the first column of dates; else, of several columns of numbers, the
// first; else the number of the row, from 1. The outputs are --y; else, if holes, all other columns of numbers with missing values, if
// there are any; else the last column of numbers.
func readSeries(ctx context.Context, env *cli.Env, path string, c datafile.Columns, holes bool) (*timeSeries, error) {
	return readSeriesFor(ctx, env, path, c, holes, nil)
}

// readSeriesFor is readSeries for a model, unless it is nil: by default the columns are those with the model's names, and x counts as
// the model's does.
func readSeriesFor(ctx context.Context, env *cli.Env, path string, c datafile.Columns, holes bool, m *series.Model) (*timeSeries, error) {
	if !datafile.IsTable(path) { // says what the file is
		_, err := datafile.ReadAudio(ctx, env, path)
		if err == nil {
			err = cli.Mistake("%s: a recording, not a table; impute fills recordings, fit models them", path)
		}
		return nil, err
	}
	s, err := datafile.OpenTable(ctx, env, path)
	if err == nil {
		err = s.Survey(ctx, nil)
	}
	if err != nil {
		return nil, err
	}
	c.TakeRow(s)
	r := &timeSeries{path: cli.InputName(path), table: s, xName: datafile.RowName, axis: &table.Axis{Unit: datafile.RowUnit}}
	var like []*table.Axis
	if m != nil {
		if like, err = c.Like(s, m); err != nil {
			return nil, err
		}
	}
	chosen, err := c.OfSeries(s, r.path, holes)
	if err != nil {
		return nil, err
	}
	if m != nil && (len(chosen.X) != len(like) || len(chosen.Y) != m.Outputs()) {
		return nil, cli.Mistake("%s: %s and %s are chosen; the model has the input %s and %s: choose with --x and --y", r.path,
			cli.Counted(len(chosen.X), "input"), cli.Counted(len(chosen.Y), "output"), m.XName, cli.Counted(m.Outputs(), "output"))
	}
	axes, picks, err := datafile.AxesOf(s, chosen, like)
	if err != nil {
		return nil, err
	}
	if len(axes) > 0 {
		r.axis, r.xName = axes[0], s.Names[chosen.X[0]]
	}
	r.yCols, r.yNames = chosen.Y, datafile.NamesOf(s, chosen.Y)
	for _, col := range r.yCols {
		r.missing = append(r.missing, s.Columns[col].Missing())
	}
	r.chosen, r.left = chosen, c.LeftOut(s, chosen)
	return r, r.read(ctx, picks, len(axes), len(chosen.Errors))
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
			return cli.Mistake("%s: column %.40q has %s in %s; want at least %d", r.path, name, cli.Counted(seen, "value"), cli.Counted(len(r.x), "row"), fewestValues)
		}
	}
	for i, e := range r.errors {
		if !(e > 0 && e < mostError) && !math.IsNaN(r.y[i]) {
			return cli.Mistake("%s: row %d (from 1): the standard deviation of %.40q is %v; want a positive number below %v", r.path, i/d+1, r.yNames[i%d], e, mostError)
		}
	}
	if len(r.x) > 0 && r.grid.First == r.grid.Last {
		return cli.Mistake("%s: all rows are at one %s, %s; want several", r.path, r.xName, r.axis.Format(r.grid.First))
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

// howToChoose ends the errors about an input column that was guessed.
const howToChoose = "choose the input with --x COLUMN, or --x row for the numbers of the rows"

// checkGuess refuses an input column that the user has not named if it repeats because the table has several series or, if ordered, if it
// neither rises nor falls.
func (r *timeSeries) checkGuess(ctx context.Context, ordered bool) error {
	if err := r.checkRepeats(ctx); err != nil || !ordered {
		return err
	}
	slack := 0.0 // where the clock is set back, a column of local times goes back by an hour
	if r.axis.Dates() && units[r.axis.Unit] <= units["h"] {
		slack = units["h"] / units[r.axis.Unit]
	}
	rises, fall := false, 0 // the first row that is below the one before
	for n := 1; n < len(r.x); n++ {
		d := r.x[n] - r.x[n-1]
		rises = rises || d > slack
		if d < -slack && fall == 0 {
			fall = n
		}
	}
	if n := fall; rises && n > 0 {
		return cli.Mistake("%s: the column %s was guessed to be the input, but it does not rise: row %d (from 1) has %s after %s; "+howToChoose,
			r.path, r.xName, n+1, r.axis.Format(r.x[n]), r.axis.Format(r.x[n-1]))
	}
	return nil
}

// checkRepeats refuses x that repeat in rows that another column tells apart. It passes over a few repeats, such as the hour after which
// a clock is set back.
func (r *timeSeries) checkRepeats(ctx context.Context) error {
	type place struct{ x, group float64 }
	times, repeats, first, second := make(map[float64]int, len(r.x)), 0, 0, 0
	for n, x := range r.x {
		if before, again := times[x]; !again {
			times[x] = n
		} else if repeats++; repeats == 1 {
			first, second = before, n
		}
	}
	const few = 0.01
	if float64(repeats) <= few*float64(len(r.x)) {
		return nil
	}
	for col, found := range r.table.Columns {
		if kind := found.Kind(); slices.Contains(slices.Concat(r.chosen.X, r.chosen.Y, r.chosen.Errors), col) || kind != table.Text && !(kind == table.Numbers && found.Whole()) {
			continue
		}
		pairs, n := map[place]bool{}, 0
		for part, err := range r.table.Parts(ctx, []table.Pick{{Col: col, Words: map[string]float64{}}}) {
			if err != nil {
				return err
			}
			for _, group := range part {
				pairs[place{r.x[n], group}] = true
				n++
			}
		}
		if 2*(len(pairs)-len(times)) >= repeats {
			return cli.Mistake("%s: the column %s was guessed to be the input, but it has %s in rows %d and %d (from 1), which %s tells apart; want one series: keep its rows, or "+howToChoose,
				r.path, r.xName, r.axis.Format(r.x[first]), first+1, second+1, r.table.Names[col])
		}
	}
	return nil
}
