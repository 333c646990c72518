// Package series implements the commands forecast, fill and backtest, and fit, predict, evaluate and info for time-series models.
package series

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// A timeSeries contains columns of a table along one input. Its rows are in the file's order and include rows with missing values.
type timeSeries struct {
	path  string       // the name of the file in messages
	table *table.Table // nil if it is no longer needed

	axis  *table.Axis // of the input
	grid  table.Grid  // of x
	xName string      // "row" if the input is not a column

	series.Series // X in axis.Unit
	yNames        []string
	yCols         []int // [D], columns of the table
	missing       []int // [D]
	decimals      []int // [D], of the values; 0 if there are more than maxDecimals

	chosen datafile.Choice
	left   string // columns that the default choice leaves out

	byName string    // the column of --by, "" if there is none
	known  *known    // the regressors
	future []float64 // times of the rows after the last value
	cuts   bool      // rows at future times are not part of the series

	x       []float64   // of all rows of the table
	columns [][]float64 // of all rows: the outputs, their standard deviations, the regressors
	by      []string    // of all rows: the name of the series
	name    string      // of this series, if there are several
	ordered bool        // the input was selected by default, so it must increase or decrease
	rows    []int       // row numbers of this series in the table

	tested *float64 // x of the first forecast of a backtest; nil without one
	memory float64  // maximum number of bytes of a fit; 0: no limit
	better []string // descriptions of seasonal naive forecasts that are better than the model
}

// readSeries reads a table as a series. The input is the column of --x. By default it is the first column of dates, else the first of
// several columns of numbers, else the row number from 1. The outputs are the columns of --y. By default they are, if holes is set, the
// other columns of numbers with missing values, else the last column of numbers. If m is not nil, the default columns are the columns
// with the model's names, and x has the origin and the unit of the model's input.
func readSeries(
	ctx context.Context, env *cli.Env, path string, c datafile.Columns, holes bool, m *series.Model, g *regressors,
) (*timeSeries, error) {
	if !datafile.IsTable(path) { // reading it as a recording returns an error that describes the file
		if info, err := os.Stat(path); err == nil && info.IsDir() && env.Served == nil {
			return nil, cli.Mistake("%s is a folder; must be a table (.%s)", path, strings.Join(cli.TableFiles, ", ."))
		}
		_, err := datafile.ReadAudio(ctx, env, path)
		if err == nil {
			err = cli.Mistake("%s is a recording, not a table; repair fills gaps in recordings, and fit models them", path)
		}
		return nil, err
	}
	t, err := c.Read(ctx, env, path)
	if err != nil {
		return nil, err
	}
	c.TakeRow(t)
	c.Regressors = g.Columns
	r := &timeSeries{path: cli.InputName(path), table: t, known: &known{regressors: g}, cuts: !holes && m == nil}
	if m == nil {
		r.memory = cli.MemoryLimit(0)
	}
	r.xName, r.axis = datafile.RowName, &table.Axis{Unit: datafile.RowUnit}
	var like *table.Axis
	if m != nil {
		if like, err = c.Like(t, m); err != nil {
			return nil, err
		}
	}
	chosen, err := c.OfSeries(t, r.path, holes)
	if err != nil {
		return nil, err
	}
	if m != nil && ((len(chosen.X) == 1) != (like != nil) || len(chosen.Y) != m.Outputs()) {
		return nil, cli.Mistake("%s: %s and %s are selected, but the model has the input %s and %s; choose with --x and --y", r.path,
			cli.Counted(len(chosen.X), "input"), cli.Counted(len(chosen.Y), "output"), m.XName, cli.Counted(m.Outputs(), "output"))
	}
	g.Columns = datafile.NamesOf(t, chosen.Regressors) // the flag may have given numbers
	r.yCols, r.yNames = chosen.Y, datafile.NamesOf(t, chosen.Y)
	r.chosen, r.left, r.byName = chosen, c.LeftOut(t, chosen), strings.Join(datafile.NamesOf(t, chosen.By), "")
	return r, r.read(like, c.X == nil)
}

// read reads the chosen columns. like is the axis of a model's input, nil without a model.
func (r *timeSeries) read(like *table.Axis, guessed bool) (err error) {
	t := r.table
	r.x = make([]float64, t.Rows)
	rows := make([]int, t.Rows)
	for n := range rows {
		r.x[n], rows[n] = float64(n+1), n
	}
	if cols := r.chosen.X; len(cols) > 0 {
		if r.axis, r.x, err = t.Input(cols[0], like); err != nil && guessed && like == nil {
			return fmt.Errorf("%w; the column was selected as the input by default; "+howToChoose, err)
		} else if err != nil {
			return err
		}
		r.xName = t.Names[cols[0]]
	}
	if r.columns, err = datafile.NumbersOf(t, slices.Concat(r.yCols, r.chosen.Errors, r.chosen.Regressors)); err != nil {
		return err
	}
	for _, col := range r.chosen.By {
		if r.by, err = t.Words(col); err != nil {
			return err
		}
		if n := slices.Index(r.by, ""); n >= 0 {
			return cli.Mistake("%s: row %d (from 1) has no value of %s; must be the name of a series", r.path, n+1, r.byName)
		}
	}
	r.take(rows)
	return nil
}

// maxDecimals is the maximum number of decimals of measured values. Values with more decimals are computed.
const maxDecimals = 9

// picked returns the values of the given rows, which increase. If these are all rows, it returns values itself.
func picked[T any](values []T, rows []int) []T {
	if len(rows) == len(values) {
		return values
	}
	all := make([]T, len(rows))
	for i, n := range rows {
		all[i] = values[n]
	}
	return all
}

// take sets the series to the given rows of the table.
func (r *timeSeries) take(rows []int) {
	x, columns := picked(r.x, rows), make([][]float64, len(r.columns))
	for i, c := range r.columns {
		columns[i] = picked(c, rows)
	}
	if len(r.chosen.X) == 0 {
		for k := range x {
			x[k] = float64(k + 1)
		}
	}
	outputs, regressors := len(r.yCols), len(r.yCols)+len(r.chosen.Errors)
	r.known = &known{regressors: r.known.regressors, path: r.path, axis: r.axis, step: r.axis.Grid(x).Step}
	r.known.take(x, columns[regressors:])
	if r.cuts && (r.byName == "" || r.name != "") {
		past := r.past(x, columns[:outputs])
		x, rows = picked(x, past), picked(rows, past)
		for i, c := range columns {
			columns[i] = picked(c, past)
		}
	}
	r.rows, r.Series = rows, series.Series{X: x, Y: columns[:outputs]}
	if regressors > outputs {
		r.Err = columns[outputs:regressors]
	}
	for j, values := range columns[regressors:] {
		r.Regressors = append(r.Regressors, series.Regressor{Name: r.known.Columns[j], Values: values})
	}
	r.missing, r.decimals = make([]int, len(r.yCols)), make([]int, len(r.yCols))
	for d, y := range r.Y {
		for _, v := range y {
			if math.IsNaN(v) {
				r.missing[d]++
			} else if text := strconv.FormatFloat(v, 'f', -1, 64); strings.Contains(text, ".") {
				r.decimals[d] = max(r.decimals[d], len(text)-1-strings.Index(text, "."))
			}
		}
		if r.decimals[d] > maxDecimals {
			r.decimals[d] = 0
		}
	}
	r.grid = r.axis.Grid(r.X)
}

// split returns the series that --by identifies, in the order of their first rows.
func (r *timeSeries) split() (all []*timeSeries) {
	rows := map[string][]int{}
	for n, name := range r.by {
		if rows[name] == nil {
			one := *r
			one.path, one.name = r.path+": "+r.byName+" "+name, name
			all = append(all, &one)
		}
		rows[name] = append(rows[name], n)
	}
	for _, one := range all {
		one.take(rows[one.name])
	}
	return all
}

// labeled returns the cells after the cell by or, without --by, only the cells.
func (r *timeSeries) labeled(by string, cells ...string) []string {
	if r.byName == "" {
		return cells
	}
	return append([]string{by}, cells...)
}

// showing returns a function that shows the progress of a task on the series, unless there are several series.
func (r *timeSeries) showing(env *cli.Env, format string, args ...any) func(share float64) {
	return func(share float64) {
		if r.name == "" {
			env.ShowProgress(share, format, args...)
		}
	}
}

// fewestValues is the minimum number of values of an output for a fit.
const fewestValues = 4

// check returns an error if a column has too few values, if a value is negative with --positive, or if a standard
// deviation is out of range.
func (r *timeSeries) check(positive bool) error {
	for i, name := range r.yNames {
		if seen := len(r.X) - r.missing[i]; seen < fewestValues {
			return cli.Mistake("%s: column %.40q has %s in %s; at least %d are required", r.path, name, cli.Counted(seen, "value"),
				cli.Counted(len(r.X), "row"), fewestValues)
		}
	}
	for n := range r.X {
		for d, y := range r.Y {
			if positive && y[n] < 0 {
				return cli.Mistake("%s: row %d (from 1): %s is %v; must be 0 or more with --positive", r.path, r.rows[n]+1,
					r.yNames[d], y[n])
			}
		}
		for d, all := range r.Err {
			if e := all[n]; !(e > 0 && e < series.MaxValue) && !math.IsNaN(r.Y[d][n]) {
				return cli.Mistake("%s: row %d (from 1): the standard deviation of %.40q is %v; must be a positive number below %v",
					r.path, r.rows[n]+1, r.yNames[d], e, series.MaxValue)
			}
		}
	}
	switch g := &r.grid; {
	case g.First == g.Last:
		return cli.Mistake("%s: all rows have the same %s, %s; at least two values are required", r.path, r.xName,
			r.axis.Format(g.First))
	case g.Last+g.Step == g.Last || g.First-g.Step == g.First:
		return cli.Mistake("%s: the usual step of %s, %v, is too small for its range, %v to %v; it must be above "+
			"1e-16 of the magnitude of %[2]s", r.path, r.xName, g.Step, g.First, g.Last)
	}
	return nil
}

// howToChoose is the end of errors about a default input column.
const howToChoose = "choose the input with --x COLUMN, or --x row for the row number"

// checkGuess returns an error if the default input column has repeated values because the table has several series
// or, if ordered is set, if it neither increases nor decreases. The order of several series is checked by each, so
// that one does not stop the others.
func (r *timeSeries) checkGuess(env *cli.Env, ordered bool) error {
	r.ordered = ordered
	repeats, err := r.checkRepeats()
	if err == nil && r.byName == "" {
		err = r.checkOrder()
	}
	if err != nil {
		if reading, typo := r.table.Reading(r.chosen.X[0], true); typo { // the likely cause
			err = cli.Mistake("%w; %s", err, reading)
		}
		return err
	}
	if repeats != "" && r.check(false) == nil {
		env.Warn("repeats", "%s", repeats)
	}
	return nil
}

// noteDates prints a warning if the input is the row number although a column of text looks like dates.
func (r *timeSeries) noteDates(env *cli.Env) {
	for _, col := range r.table.OfKind(table.Text) {
		if date := r.table.DateLike(col); date != "" && r.xName == datafile.RowName {
			env.Warn("rows", "%s: the input is the row number, because %.40q in column %s is not read as a date; use dates such as "+
				"2024-01-31 or 31 Jan 2024, or --x COLUMN", r.path, date, r.table.Names[col])
		}
	}
}

// checkOrder returns an error if the input column must increase or decrease and does not. It names the first row
// against the direction of most rows, or the row before it if the others around them are then in order.
func (r *timeSeries) checkOrder() error {
	slack := 0.0 // local times go back by an hour at the end of daylight saving time
	if r.axis.Dates() && units[r.axis.Unit] <= units["h"] {
		slack = units["h"] / units[r.axis.Unit]
	}
	rises, falls := 0, 0 // numbers of rows whose x is above or below the previous x
	rise, fall := 0, 0   // the first of them
	for n := 1; n < len(r.X); n++ {
		switch d := r.X[n] - r.X[n-1]; {
		case d > slack:
			rises, rise = rises+1, cmp.Or(rise, n)
		case d < -slack:
			falls, fall = falls+1, cmp.Or(fall, n)
		}
	}
	if !r.ordered || rises == 0 || falls == 0 {
		return nil
	}
	n, sign, direction := fall, 1.0, "increasing"
	if falls > rises {
		n, sign, direction = rise, -1, "decreasing"
	}
	sorted := func(i, j int) bool { return i < 0 || j == len(r.X) || sign*(r.X[j]-r.X[i]) >= 0 }
	wrong, other, place := n, n-1, "after"
	if sorted(n-2, n) && !sorted(n-1, n+1) {
		wrong, other, place = n-1, n, "before"
	}
	return cli.Mistake("%s: the default input column %s is not %s: row %d (from 1) has %s %s %s; "+howToChoose,
		r.path, r.xName, direction, r.rows[wrong]+1, r.axis.Format(r.X[wrong]), place, r.axis.Format(r.X[other]))
}

// checkRepeats returns an error if rows with the same x differ in another column, which suggests several series. For other repeats, it
// returns a note. It ignores a few repeats, such as those at the end of daylight saving time.
func (r *timeSeries) checkRepeats() (note string, err error) {
	type place struct {
		x         float64
		by, other string // of other columns
	}
	at := func(n int, other string) place {
		p := place{r.X[n], "", other}
		if r.by != nil {
			p.by = r.by[n]
		}
		return p
	}
	times, repeats, first, second := make(map[place]int, len(r.X)), 0, 0, 0
	for n := range r.X {
		if before, again := times[at(n, "")]; !again {
			times[at(n, "")] = n
		} else if repeats++; repeats == 1 {
			first, second = before, n
		}
	}
	const few = 0.01
	if float64(repeats) <= few*float64(len(r.X)) {
		return "", nil
	}
	chosen := slices.Concat(r.chosen.X, r.chosen.Y, r.chosen.Errors, r.chosen.Regressors, r.chosen.By)
	for col := range r.table.Cols {
		if kind := r.table.Kind(col); slices.Contains(chosen, col) || kind != table.Text &&
			!(kind == table.Numbers && r.table.Integers(col)) {
			continue
		}
		words, err := r.table.Words(col)
		if err != nil {
			continue // such as a column without a name, which no flag can choose
		}
		pairs := map[place]bool{}
		for n := range r.X {
			pairs[at(n, words[r.rows[n]])] = true
		}
		if 2*(len(pairs)-len(times)) >= repeats {
			return "", cli.Mistake("%s: the default input column %s has %s in rows %d and %d (from 1), which differ in column %s; "+
				"keep the rows of one series, or use vssgp forecast --by %[6]s, or "+howToChoose,
				r.path, r.xName, r.axis.Format(r.X[first]), r.rows[first]+1, r.rows[second]+1, r.table.Names[col])
		}
	}
	return fmt.Sprintf("%s: %s repeats the value of another row in %s of %d, such as %s in rows %d and %d "+
		"(from 1); these are treated as repeated measurements", r.path, r.xName, cli.Counted(repeats, "row"), len(r.X),
		r.axis.Format(r.X[first]), r.rows[first]+1, r.rows[second]+1), nil
}
