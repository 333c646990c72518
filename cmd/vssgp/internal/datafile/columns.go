package datafile

import (
	"context"
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
	ahead        *ahead   // nil: HasOneInput has read no table
}

// Add defines the flags.
func (c *Columns) Add(f *pflag.FlagSet) {
	f.StringSliceVar(&c.X, "x", nil,
		"input `columns`, by name or number from 0 (default: all but the outputs)")
	f.StringSliceVar(&c.Y, "y", nil, "output `columns` (default: the last of numbers)")
	f.StringSliceVar(&c.names, "names", nil,
		"`names` of all columns, in place of the table's own")
	c.AddDayFirst(f)
}

// AddSeries defines --x and --y of one series.
func (c *Columns) AddSeries(f *pflag.FlagSet) {
	c.Ordered = true
	f.StringSliceVar(&c.X, "x", nil,
		"input `column`, by name or number from 0, or row for the row number")
	f.StringSliceVar(&c.Y, "y", nil, "output `columns` (default: the last of numbers)")
	f.StringVar(&c.By, "by", "", "`column` that tells several series apart; each gets a model")
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
	}}, "dayfirst", "dates such as 1/2/2024 have the day first; =false: the month")
	f.Lookup("dayfirst").NoOptDefVal = "true"
}

// OfOther returns the columns of another table, whose dates have the same order of day and month.
func (c *Columns) OfOther() *Columns { return &Columns{dayFirst: c.dayFirst} }

// A Choice is the columns to read, by number. Errors are the standard deviations of Y; By has the column of --by.
type Choice struct{ X, Y, Errors, Regressors, By []int }

// A chooser chooses columns of a table.
type chooser func(t *table.Table, path string) (Choice, error)

// flags returns the columns that flags name; nil for flags that are not given. No two flags name the same column.
func (c Columns) flags(t *table.Table) (chosen Choice, err error) {
	var by []string
	if c.By != "" {
		by = []string{c.By}
	}
	users := map[int]string{} // flags by their columns
	for _, f := range []struct {
		flag  string
		given []string
		to    *[]int
	}{
		{"--x", c.X, &chosen.X}, {"--y", c.Y, &chosen.Y}, {"--yerr", c.Errors, &chosen.Errors},
		{"--regressor", c.Regressors, &chosen.Regressors}, {"--by", by, &chosen.By},
	} {
		if *f.to, err = named(t, f.given, f.flag); err != nil {
			return chosen, err
		}
		for _, col := range *f.to {
			if other := users[col]; other != "" {
				return chosen, cli.Mistake("%s %.40s: the column is chosen by %s, too; must be another column", f.flag, t.Names[col], other)
			}
			users[col] = f.flag
		}
	}
	return chosen, nil
}

// named returns the columns of a flag, which are given by name or number; nil if none are.
func named(t *table.Table, given []string, flag string) (cols []int, err error) {
	for _, text := range given {
		text = strings.TrimSpace(text)
		col := slices.Index(t.Names, text)
		if number, err := strconv.Atoi(text); err == nil && col < 0 {
			if col = number; col < 0 || col >= t.Cols {
				return nil, cli.Mistake("%s: there is no column %d; want 0 to %d", flag, col, t.Cols-1)
			}
		}
		switch {
		case col < 0 && flag == "--x" && text == RowName:
			return nil, cli.Mistake("--x row: the numbers of the rows are an input of forecast, fill, backtest and fit --method structural "+
				"alone; want some of %s", Listed(t.Names))
		case col < 0:
			return nil, cli.Mistake("%s: no column %.40q; want some of %s", flag, text, Listed(t.Names))
		case slices.Contains(cols, col):
			return nil, cli.Mistake("%s: column %.40q is named twice", flag, text)
		}
		cols = append(cols, col)
	}
	return cols, nil
}

// split chooses inputs and outputs. By default y is the last column of numbers; x the first of dates or, without one, all columns of
// numbers that are not outputs.
func (c Columns) split(t *table.Table) (Choice, error) {
	chosen, err := c.flags(t)
	if err != nil {
		return chosen, err
	}
	if numbers := t.OfKind(table.Numbers); chosen.Y == nil && len(numbers) > 0 {
		chosen.Y = numbers[len(numbers)-1:]
	}
	if chosen.X == nil {
		chosen.X = others(t.OfKind(table.Numbers), chosen.Y)
		if dates := others(t.OfKind(table.Dates), chosen.Y); len(dates) > 0 {
			chosen.X = dates[:1]
		}
	}
	return chosen, nil
}

// Split chooses the inputs and outputs of a table for a fit.
func (c Columns) Split(t *table.Table, path string) (Choice, error) {
	chosen, err := c.split(t)
	if err != nil {
		return chosen, err
	}
	return chosen.check(t, path)
}

// ahead is a table that HasOneInput has read, for the next Read of the same path.
type ahead struct {
	path  string
	table *table.Table
}

// HasOneInput reports whether a fit of a table has one input: a column or, of a table of one column, the rows' number.
func (c *Columns) HasOneInput(ctx context.Context, env *cli.Env, path string) (bool, error) {
	t, err := c.Read(ctx, env, path)
	if err != nil {
		return false, err
	}
	c.ahead = &ahead{path, t}
	row := *c
	row.TakeRow(t)
	chosen, err := row.split(t)
	return row.rows || len(chosen.X) == 1 && (row.X != nil || len(chosen.Y) > 0) || len(chosen.Y) == 1 && t.Cols == 1, err
}

// Match takes the columns that a model of q inputs and d outputs needs: those of --x and --y; else those with the model's own names;
// else, in a table of q+d columns of numbers and dates, the first q and the rest.
func (c Columns) Match(t *table.Table, path string, m *vssgp.Model, d int) (Choice, error) {
	q := m.Params.Q
	chosen, err := c.flags(t)
	if err != nil {
		return chosen, err
	}
	given := chosen.X != nil || chosen.Y != nil
	own := withNames(t, m.XNames) != nil && withNames(t, m.YNames) != nil
	if usable := t.OfKind(table.Numbers, table.Dates); !given && !own && len(usable) == q+d {
		chosen.X, chosen.Y = usable[:q], usable[q:]
	} else if given || own {
		chosen.X = orOwn(t, chosen.X, m.XNames, chosen.Y)
		chosen.Y = orOwn(t, chosen.Y, m.YNames, chosen.X)
	}
	if len(chosen.X) != q || len(chosen.Y) != d {
		return chosen,
			cli.Mistake("%s: %d columns (%s), of which %d inputs and %d outputs are chosen; the model has %d and %d: choose with --x and --y",
				path, t.Cols, Listed(t.Names), len(chosen.X), len(chosen.Y), q, d)
	}
	return chosen.check(t, path)
}

// check refuses a choice that nothing can be fitted to.
func (c Choice) check(t *table.Table, path string) (Choice, error) {
	for _, col := range c.Y {
		if slices.Contains(c.X, col) {
			return c, cli.Mistake("column %.40q is both an input and an output: choose with --x and --y", t.Names[col])
		}
	}
	if len(c.X) == 0 || len(c.Y) == 0 {
		return c, cli.Mistake("%s: with %d columns (%s) there are %d inputs and %d outputs of numbers or dates; want at least one of each",
			path, t.Cols, Listed(t.Names), len(c.X), len(c.Y))
	}
	return c, nil
}

// inputs returns the columns at which a model of q inputs predicts: the columns of --x; else those with the model's own names; else all
// of numbers and dates, if there are q.
func (c Columns) inputs(t *table.Table, path string, q int, own []string) ([]int, error) {
	x, err := named(t, c.X, "--x")
	if err != nil {
		return nil, err
	}
	if x = orOwn(t, x, own, nil); len(x) != q {
		return nil, cli.Mistake("%s: %s (%s); the model has %s: choose with --x", path, cli.Counted(len(x), "input column"),
			Listed(NamesOf(t, x)), cli.Counted(q, "input"))
	}
	return x, nil
}

// orOwn returns the given columns; else those with the model's own names; else those of numbers and dates that are not taken.
func orOwn(t *table.Table, given []int, own []string, taken []int) []int {
	if given != nil {
		return given
	}
	if named := withNames(t, own); named != nil {
		return named
	}
	return others(t.OfKind(table.Numbers, table.Dates), taken)
}

// withNames returns the columns with a model's names; nil if the model has none or the table lacks one.
func withNames(t *table.Table, names []string) (cols []int) {
	for _, name := range names {
		col := slices.Index(t.Names, name)
		if col < 0 {
			return nil
		}
		cols = append(cols, col)
	}
	return cols
}

// OfSeries chooses the columns of a series: one input or none; if holes, all columns with missing values are outputs by default.
func (c Columns) OfSeries(t *table.Table, path string, holes bool) (Choice, error) {
	chosen, err := c.flags(t)
	if err != nil {
		return chosen, err
	}
	if len(chosen.X) > 1 {
		return chosen, cli.Mistake("--x: %d columns; want the one along which the series runs", len(chosen.X))
	}
	taken := slices.Concat(chosen.Errors, chosen.Regressors, chosen.By)
	numbers, dates := others(t.OfKind(table.Numbers), taken), others(t.OfKind(table.Dates), slices.Concat(taken, chosen.Y))
	free := others(numbers, chosen.Y)
	switch {
	case chosen.X != nil || c.rows:
	case len(dates) > 0:
		chosen.X = dates[:1]
	case chosen.Y == nil && len(free) > 1, chosen.Y != nil && len(free) > 0:
		chosen.X = free[:1]
	}
	if chosen.Y == nil {
		free = others(numbers, chosen.X)
		withHoles := slices.DeleteFunc(slices.Clone(free), func(col int) bool { return t.Missing(col) == 0 })
		switch {
		case holes && len(withHoles) > 0:
			chosen.Y = withHoles
		case len(free) > 0:
			chosen.Y = free[len(free)-1:]
		default:
			return chosen, cli.Mistake("%s: no column of numbers is left for an output among %s; choose with --y", path, Listed(t.Names))
		}
	}
	if chosen.Errors != nil && len(chosen.Errors) != len(chosen.Y) {
		return chosen, cli.Mistake("--yerr: %s for %s (%s); want another column for each", cli.Counted(len(chosen.Errors), "column"),
			cli.Counted(len(chosen.Y), "output"), Listed(NamesOf(t, chosen.Y)))
	}
	return chosen, nil
}

// RowName is the value of --x for the number of the row, unless a column has this name. RowUnit is the unit of its axis.
const RowName, RowUnit = "row", "rows"

// TakeRow turns --x row into no column and rows.
func (c *Columns) TakeRow(t *table.Table) {
	if len(c.X) == 1 && strings.TrimSpace(c.X[0]) == RowName && !slices.Contains(t.Names, RowName) {
		c.X, c.rows = nil, true
	}
}

// Like chooses the columns with the model's names, if there are such, and returns the axis of its input; nil if that is the rows' number.
func (c *Columns) Like(t *table.Table, m *series.Model) (*table.Axis, error) {
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
	return axis, nil
}

// LeftOut lists the columns that a default choice leaves out; "" if it takes all.
func (c Columns) LeftOut(t *table.Table, chosen Choice) string {
	if (c.X != nil || c.rows) && c.Y != nil {
		return ""
	}
	taken, kinds := slices.Concat(chosen.X, chosen.Y, chosen.Errors, chosen.Regressors, chosen.By), []string{}
	for i, kind := range []table.Kind{table.Text, table.Empty, table.Dates, table.Numbers} {
		// --x leaves out the other columns of numbers in so many words.
		if left := others(t.OfKind(kind), taken); len(left) > 0 && (kind != table.Numbers || c.X == nil) {
			kinds = append(kinds, Listed(NamesOf(t, left))+" ("+[]string{"text", "nothing", "dates", "numbers"}[i]+")")
		}
	}
	return strings.Join(kinds, ", ")
}

// others returns the columns that are not in taken, in their order.
func others(cols, taken []int) []int {
	gone := make(map[int]bool, len(taken))
	for _, col := range taken {
		gone[col] = true
	}
	return slices.DeleteFunc(slices.Clone(cols), func(col int) bool { return gone[col] })
}

// NamesOf returns the names of columns.
func NamesOf(t *table.Table, cols []int) []string {
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = t.Names[c]
	}
	return names
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

// ErrSameName is wrapped by the error of an output with two columns of the same name.
var ErrSameName = errors.New("columns of the same name")

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
			return names, cli.Mistake("the output would have two %w, %.40q; the names of inputs and outputs must differ", ErrSameName, n)
		}
		seen[n] = true
	}
	return names, nil
}
