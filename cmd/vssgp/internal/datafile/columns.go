package datafile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// Columns are --x and --y, and for a series --yerr: names of a table's columns, or their numbers from 0.
// A column cannot have a number as its name (package table refuses it).
type Columns struct {
	X, Y, Errors []string
	Regressors   []string // columns of regressors of a series
	By           string   // a column whose values name several series; "": none
	names        []string // --names
	dayFirst     *bool    // --dayfirst; nil: as the dates show
	rows         bool     // --x row: the number of the row is the input
	Ordered      bool     // rows are in the order of time: a guessed input has to rise
}

// Add defines the flags.
func (c *Columns) Add(f *pflag.FlagSet) {
	f.StringSliceVar(&c.X, "x", nil,
		"input `columns` of a table, by name or by number from 0, such as t or 0,1 (default: the first of dates, or all of numbers that are "+
			"not outputs)")
	f.StringSliceVar(&c.Y, "y", nil, "output `columns` of a table (default: the last of numbers)")
	f.StringSliceVar(&c.names, "names", nil,
		"the `columns` of the table, all in their order, in place of its own names (an NPY file has none)")
	c.AddDayFirst(f)
}

// AddDayFirst defines --dayfirst.
func (c *Columns) AddDayFirst(f *pflag.FlagSet) {
	f.Var(&cli.Value{Kind: "bool", Parse: func(text string) error {
		first, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("must be true or false")
		}
		c.dayFirst = &first
		return nil
	}}, "dayfirst", "dates such as 1/2/2024 have the day first; with =false the month")
	f.Lookup("dayfirst").NoOptDefVal = "true"
}

// A Choice is the columns to read, by number. errors are the standard deviations of y; nil: none are known.
// By is the column of --by.
type Choice struct{ X, Y, Errors, Regressors, By []int }

// A chooser chooses columns of a table.
type chooser func(t *table.Table, path string) (Choice, error)

// Split chooses the inputs and outputs of a table for a fit. By default y is the last column
// of numbers; x the first of dates or, without one, all columns of numbers that are not outputs.
func (c Columns) Split(t *table.Table, path string) (Choice, error) {
	x, y, err := c.named(t)
	if err != nil {
		return Choice{}, err
	}
	if numbers := t.OfKind(table.Numbers); y == nil && len(numbers) > 0 {
		y = numbers[len(numbers)-1:]
	}
	if x == nil {
		x = others(t.OfKind(table.Numbers), y)
		if dates := others(t.OfKind(table.Dates), y); len(dates) > 0 {
			x = dates[:1]
		}
	}
	return Choice{X: x, Y: y}.check(t, path)
}

// Match takes the columns that a model of q inputs and d outputs needs: those
// of --x and --y; else those with the model's own names; else, in a table of
// q+d columns of numbers and dates, the first q and the rest.
func (c Columns) Match(t *table.Table, path string, m *vssgp.Model, d int) (Choice, error) {
	q := m.Params.Q
	x, y, err := c.named(t)
	if err != nil {
		return Choice{}, err
	}
	usable := t.OfKind(table.Numbers, table.Dates)
	own := withNames(t, m.XNames) != nil && withNames(t, m.YNames) != nil
	switch {
	case x == nil && y == nil && !own && len(usable) == q+d:
		x, y = usable[:q], usable[q:]
	case x != nil || y != nil || own:
		x = orOwn(t, x, m.XNames, y)
		y = orOwn(t, y, m.YNames, x)
	}
	if len(x) != q || len(y) != d {
		return Choice{},
			cli.Mistake("%s: %d columns (%s), of which %d inputs and %d outputs are chosen; the model has %d and %d: choose with --x and --y",
				path, t.Cols, Listed(t.Names), len(x), len(y), q, d)
	}
	return Choice{X: x, Y: y}.check(t, path)
}

// inputs returns the columns at which a model of q inputs predicts: the columns of --x; else
// those with the model's own names; else all of numbers and dates, if there are q.
func (c Columns) inputs(t *table.Table, path string, q int, own []string) ([]int, error) {
	x, _, err := c.named(t)
	if err != nil {
		return nil, err
	}
	x = orOwn(t, x, own, nil)
	if len(x) != q {
		return nil, cli.Mistake("%s: %d input columns (%s); the model has %d inputs: choose with --x", path, len(x), Listed(NamesOf(t, x)),
			q)
	}
	return x, nil
}

// orOwn returns the given columns; else those with the model's own names; else those of
// numbers and dates that are not taken.
func orOwn(t *table.Table, given []int, own []string, taken []int) []int {
	if given != nil {
		return given
	}
	if named := withNames(t, own); named != nil {
		return named
	}
	return others(t.OfKind(table.Numbers, table.Dates), taken)
}

// named returns the columns of --x and --y; nil if the flag is not given.
func (c Columns) named(t *table.Table) (x, y []int, err error) {
	if x, err = named(t, c.X, "--x"); err == nil {
		y, err = named(t, c.Y, "--y")
	}
	return x, y, err
}

// named turns a flag's names and numbers into columns.
func named(t *table.Table, given []string, flag string) (out []int, err error) {
	if len(given) == 0 {
		return nil, nil
	}
	for _, text := range given {
		text = strings.TrimSpace(text)
		col := slices.Index(t.Names, text)
		known := col >= 0
		if i, err := strconv.Atoi(text); err == nil && !known {
			if i < 0 || i >= t.Cols {
				return nil, cli.Mistake("%s: there is no column %d; want 0 to %d", flag, i, t.Cols-1)
			}
			col, known = i, true
		}
		if !known && flag == "--x" && text == RowName {
			return nil, cli.Mistake("--x row: the numbers of the rows are an input of forecast, fill, backtest and fit --method structural "+
				"alone; want some of %s", Listed(t.Names))
		}
		if !known {
			return nil, cli.Mistake("%s: no column %.40q; want some of %s", flag, text, Listed(t.Names))
		}
		out = append(out, col)
	}
	taken := make(map[int]bool, len(out))
	for i, col := range out {
		if taken[col] {
			return nil, cli.Mistake("%s: column %.40q is named twice", flag, given[i])
		}
		taken[col] = true
	}
	return out, nil
}

// check refuses a choice that nothing can be fitted to.
func (c Choice) check(t *table.Table, path string) (Choice, error) {
	inputs := setOf(c.X)
	for _, col := range c.Y {
		if inputs[col] {
			return c, cli.Mistake("column %.40q is both an input and an output: choose with --x and --y", t.Names[col])
		}
	}
	if len(c.X) == 0 || len(c.Y) == 0 {
		return c, cli.Mistake("%s: with %d columns (%s) there are %d inputs and %d outputs of numbers or dates; want at least one of each",
			path, t.Cols, Listed(t.Names), len(c.X), len(c.Y))
	}
	return c, nil
}

// LeftOut lists the columns that a default choice leaves out; "" if it takes all.
func (c Columns) LeftOut(t *table.Table, chosen Choice) string {
	if (c.X != nil || c.rows) && c.Y != nil {
		return ""
	}
	taken, kinds := slices.Concat(chosen.X, chosen.Y, chosen.Errors, chosen.Regressors, chosen.By), []string{}
	for _, k := range []struct {
		kind table.Kind
		what string
	}{{table.Text, "text"}, {table.Empty, "nothing"}, {table.Dates, "dates"}, {table.Numbers, "numbers"}} {
		// Outputs or inputs that were chosen leave out the others of numbers in so many words.
		if left := others(t.OfKind(k.kind), taken); len(left) > 0 && (k.kind != table.Numbers || c.X == nil) {
			kinds = append(kinds, Listed(NamesOf(t, left))+" ("+k.what+")")
		}
	}
	return strings.Join(kinds, ", ")
}

// others returns the columns that are not in taken, in their order.
func others(cols, taken []int) []int {
	gone := setOf(taken)
	return slices.DeleteFunc(slices.Clone(cols), func(n int) bool { return gone[n] })
}

// withNames returns the columns with a model's names; nil if the model has none or the table lacks one.
func withNames(t *table.Table, names []string) (cols []int) {
	if len(names) == 0 {
		return nil
	}
	for _, n := range names {
		i := slices.Index(t.Names, n)
		if i < 0 {
			return nil
		}
		cols = append(cols, i)
	}
	return cols
}

// NamesOf returns the names of columns.
func NamesOf(t *table.Table, cols []int) []string {
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = t.Names[c]
	}
	return names
}

func setOf(cols []int) map[int]bool {
	set := make(map[int]bool, len(cols))
	for _, n := range cols {
		set[n] = true
	}
	return set
}

// Listed writes the first names of a list for a message.
func Listed(names []string) string {
	const most = 8
	if len(names) > most {
		names = slices.Concat(names[:most], []string{"…"})
	}
	return strings.Join(names, ", ")
}

// PredictedNames are the inputs and, for each output, its mean, standard deviation and, if ends is set, the ends of its interval.
func PredictedNames(inputs, outputs []string, ends bool) []string {
	names := slices.Clone(inputs)
	for _, y := range outputs {
		if names = append(names, y+"_mean", y+"_sd"); ends {
			names = append(names, y+"_lower", y+"_upper")
		}
	}
	return names
}

// WithDraws adds the columns of n draws. It refuses an input with the name of another column.
func WithDraws(names, y []string, n int) ([]string, error) {
	for i := range n {
		for _, d := range y {
			names = append(names, fmt.Sprintf("%s_draw%d", d, i+1))
		}
	}
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			return names, cli.Mistake("the output would have two columns named %.40q; want other names for the inputs", n)
		}
		seen[n] = true
	}
	return names, nil
}

// RowName is the value of --x for the number of the row, unless a column has this name.
const RowName = "row"

// TakeRow turns --x row into no column and rows.
func (c *Columns) TakeRow(t *table.Table) {
	if len(c.X) == 1 && strings.TrimSpace(c.X[0]) == RowName && !slices.Contains(t.Names, RowName) {
		c.X, c.rows = nil, true
	}
}

// HasOneInput reports whether a fit of a table has one input: a column or, of a table of one column, the rows' number.
func HasOneInput(ctx context.Context, env *cli.Env, path string, c Columns) (bool, error) {
	t, err := c.Read(ctx, env, path)
	if err != nil {
		return false, err
	}
	if c.TakeRow(t); c.rows {
		return true, nil
	}
	x, y, err := c.named(t)
	if err != nil || x != nil {
		return len(x) == 1, err
	}
	numbers := t.OfKind(table.Numbers)
	if y == nil && len(numbers) > 0 {
		y = numbers[len(numbers)-1:]
	}
	free := len(others(numbers, y))
	return len(y) > 0 && (len(others(t.OfKind(table.Dates), y)) > 0 || free == 1 || free == 0 && t.Cols == 1), nil
}

// Like chooses the columns with the model's names, where there are such, and returns the axis of its input; none if that is the rows'
// number.
func (c *Columns) Like(t *table.Table, m *series.Model) ([]*table.Axis, error) {
	if c.X == nil && withNames(t, []string{m.XName}) != nil {
		c.X = []string{m.XName}
	}
	if c.Y == nil && withNames(t, m.YNames) != nil {
		c.Y = m.YNames
	}
	axis, err := AxisOf(m)
	if err != nil || axis.Unit == RowUnit && c.X == nil {
		c.rows = true
		return nil, err
	}
	return []*table.Axis{axis}, nil
}

// RowUnit is the unit of the axis of rows' numbers.
const RowUnit = "rows"

// OfSeries chooses the columns of a series: one input or none.
func (c Columns) OfSeries(t *table.Table, path string, holes bool) (Choice, error) {
	x, y, err := c.named(t)
	if err != nil {
		return Choice{}, err
	}
	if len(x) > 1 {
		return Choice{}, cli.Mistake("--x: %d columns; want the one along which the series runs", len(x))
	}
	numbers := t.OfKind(table.Numbers)
	errors, err := named(t, c.Errors, "--yerr")
	if err != nil {
		return Choice{}, err
	}
	regressors, err := named(t, c.Regressors, "--regressor")
	if err != nil {
		return Choice{}, err
	}
	for _, col := range regressors {
		if slices.Contains(slices.Concat(x, y, errors), col) {
			return Choice{}, cli.Mistake("--regressor %s: the column is chosen by another flag, too; must be another column", t.Names[col])
		}
	}
	var by []int
	if c.By != "" {
		if by, err = named(t, []string{c.By}, "--by"); err != nil {
			return Choice{}, err
		}
		if slices.Contains(slices.Concat(x, y, errors, regressors), by[0]) {
			return Choice{}, cli.Mistake("--by %s: the column is chosen by another flag, too; must be one that names the series", c.By)
		}
	}
	numbers = others(numbers, slices.Concat(errors, regressors, by))
	free := others(numbers, y)
	switch dates := others(t.OfKind(table.Dates), slices.Concat(y, regressors, by)); {
	case x != nil || c.rows:
	case len(dates) > 0:
		x = dates[:1]
	case y == nil && len(numbers) > 1, y != nil && len(free) > 0:
		x = free[:1]
	}
	if y == nil {
		free = others(numbers, x)
		withHoles := slices.DeleteFunc(slices.Clone(free), func(col int) bool { return t.Missing(col) == 0 })
		switch {
		case holes && len(withHoles) > 0:
			y = withHoles
		case len(free) > 0:
			y = free[len(free)-1:]
		}
	}
	if len(y) == 0 {
		return Choice{}, cli.Mistake("%s: no column of numbers is left for an output among %s; choose with --y", path, Listed(t.Names))
	}
	if slices.ContainsFunc(x, func(col int) bool { return slices.Contains(y, col) }) {
		return Choice{}, cli.Mistake("column %.40q is both the input and an output: choose with --x and --y", t.Names[x[0]])
	}
	if errors != nil && (len(errors) != len(y) || slices.ContainsFunc(errors,
		func(col int) bool { return slices.Contains(slices.Concat(x, y), col) })) {
		return Choice{}, cli.Mistake("--yerr: %s for %s (%s); want another column for each", cli.Counted(len(errors), "column"),
			cli.Counted(len(y), "output"), Listed(NamesOf(t, y)))
	}
	return Choice{X: x, Y: y, Errors: errors, Regressors: regressors, By: by}, nil
}

// AddSeries defines --x and --y of one series.
func (c *Columns) AddSeries(f *pflag.FlagSet) {
	c.Ordered = true
	f.StringSliceVar(&c.X, "x", nil,
		"input `column`, by name or number from 0, or row: the rows' number")
	f.StringSliceVar(&c.Y, "y", nil, "output `columns`, by name or number from 0 (default: the last of numbers)")
	f.StringVar(&c.By, "by", "", "`column` that names several series: a model for each")
	c.AddDayFirst(f)
}

// AxisNote is the note of a series' model file with the axis of its input as JSON.
const AxisNote = "axis"

// AxisOf is the axis of a series' model file.
func AxisOf(m *series.Model) (*table.Axis, error) {
	axis := &table.Axis{}
	if text := m.Notes[AxisNote]; text != "" {
		if err := json.Unmarshal([]byte(text), axis); err != nil {
			return nil, cli.Mistake("the model's note %s is %.60q; want an axis as JSON", AxisNote, text)
		}
	}
	if err := axis.Check(); err != nil {
		return nil, fmt.Errorf("the model's note %s: %w", AxisNote, err)
	}
	return axis, nil
}
