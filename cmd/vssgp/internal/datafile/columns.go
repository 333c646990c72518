package datafile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// Columns are the values of --x, --y and, for a series, --yerr. They are names of a table's columns or numbers from 0.
// The name of a column cannot be a number (package table refuses it).
type Columns struct {
	X, Y, Errors []string
	Regressors   []string // columns of regressors of a series
	By           string   // column with the names of several series, "" if there is none
	names        []string // --names
	dayFirst     *bool    // --dayfirst; nil to detect the order
	decimal      string   // --decimal: point, comma, or "" to detect the sign
	rows         bool     // --x row: the row number is the input
	Ordered      bool     // rows are in the order of time, so a default input must increase
	other        bool     // of another table than the one that --x refers to
	ahead        *ahead   // the table that HasOneInput has read, or nil
}

// Add defines the flags of a model with several inputs.
func (c *Columns) Add(f *pflag.FlagSet) {
	f.StringSliceVar(&c.X, "x", nil,
		"input `columns`, by name or number from 0 (default: all but the outputs)")
	f.StringSliceVar(&c.Y, "y", nil, "output `columns` (default: the last column of numbers)")
	f.StringSliceVar(&c.names, "names", nil,
		"`names` of all columns, which replace the table's names")
	c.AddNotation(f)
}

// AddSeries defines the flags of time series.
func (c *Columns) AddSeries(f *pflag.FlagSet) {
	c.Ordered = true
	f.StringSliceVar(&c.X, "x", nil,
		"input `column`, by name or number from 0, or row for the row number")
	f.StringSliceVar(&c.Y, "y", nil, "output `columns` (default: the last column of numbers)")
	f.StringVar(&c.By, "by", "", "`column` that identifies several series; each gets its own model")
	c.AddNotation(f)
}

// AddNotation defines --dayfirst and --decimal.
func (c *Columns) AddNotation(f *pflag.FlagSet) {
	f.Var(&cli.Value{Kind: "bool", Parse: func(text string) error {
		first, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("must be true or false")
		}
		c.dayFirst = &first
		return nil
	}}, "dayfirst", "read 1/2/2024 as day/month/year; with =false as month/day/year")
	f.Lookup("dayfirst").NoOptDefVal = "true"
	f.Var(cli.OneOf(&c.decimal, "comma", "point"), "decimal", "decimal `sign`, comma or point; the other "+
		"separates thousands")
}

// OfOther returns the columns of another table, with the same --dayfirst and --decimal.
func (c *Columns) OfOther() *Columns {
	return &Columns{dayFirst: c.dayFirst, decimal: c.decimal, other: true}
}

// A Choice contains the numbers of the selected columns. Errors are the standard deviations of Y. By contains the column of --by.
type Choice struct{ X, Y, Errors, Regressors, By []int }

// A chooser selects columns of a table.
type chooser func(t *table.Table, path string) (Choice, error)

// flags returns the columns of the flags, nil for flags that are not given. It returns an error if two flags name the same column.
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
				return chosen, cli.Mistake("%s %.40s: the column is also given by %s; must be another column", f.flag, t.Names[col], other)
			}
			users[col] = f.flag
		}
	}
	return chosen, nil
}

// named returns the columns of a flag, which are given by name or number. It returns nil if the flag is not given.
func named(t *table.Table, given []string, flag string) (cols []int, err error) {
	for _, text := range given {
		text = strings.TrimSpace(text)
		col := slices.Index(t.Names, text)
		if number, err := strconv.Atoi(text); err == nil && col < 0 {
			if col = number; col < 0 || col >= t.Cols {
				return nil, cli.Mistake("%s: there is no column %d; must be from 0 to %d", flag, col, t.Cols-1)
			}
		}
		switch {
		case col < 0 && flag == "--x" && text == RowName:
			return nil, cli.Mistake("--x row: only forecast, fill, backtest and fit --method structural accept the row number as input; "+
				"must be columns of %s", Listed(t.Names))
		case col < 0:
			return nil, cli.Mistake("%s: there is no column %.40q; must be one of %s", flag, text, Listed(t.Names))
		case slices.Contains(cols, col):
			return nil, cli.Mistake("%s: column %.40q is named twice", flag, text)
		}
		cols = append(cols, col)
	}
	return cols, nil
}

// split selects inputs and outputs. By default y is the last column of numbers. x is the first column of dates or, without one, all
// columns of numbers that are not outputs.
func (c Columns) split(t *table.Table) (Choice, error) {
	chosen, err := c.flags(t)
	if err != nil {
		return chosen, err
	}
	c.outputAsNumbers(t, chosen)
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

// outputAsNumbers makes the table read a column of dates without separators as numbers if it is the default output.
// This is so if --x is given and no column of numbers is left, or if the column is the last one of numbers and dates,
// it does not have the name of a date, and an earlier column has dates or increasing numbers, which can be the input.
func (c Columns) outputAsNumbers(t *table.Table, chosen Choice) {
	taken := slices.Concat(chosen.Errors, chosen.Regressors, chosen.By)
	usable := others(t.OfKind(table.Numbers, table.Dates), taken)
	left := others(usable, chosen.X)
	if chosen.Y != nil || len(left) == 0 {
		return
	}
	last, hasInput, hasNumbers := left[len(left)-1], false, false
	for _, col := range usable {
		increasing, _ := t.Increasing(col)
		hasInput = hasInput || col < last && (t.Kind(col) == table.Dates || increasing)
		hasNumbers = hasNumbers || t.Kind(col) == table.Numbers && !slices.Contains(chosen.X, col)
	}
	given := chosen.X != nil || c.rows
	if may, named := t.MayBeNumbers(last); may && (given && !hasNumbers || !named && hasInput) {
		t.AsNumbers(last)
	}
}

// Split selects the inputs and outputs of a table for a fit.
func (c Columns) Split(t *table.Table, path string) (Choice, error) {
	chosen, err := c.split(t)
	if err != nil {
		return chosen, err
	}
	return chosen.check(t, path)
}

// ahead caches the table that HasOneInput has read for the next Read of the same path.
type ahead struct {
	path  string
	table *table.Table
}

// HasOneInput reports whether a fit of a table has one input, which is a column or, in a table with one column, the row number.
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

// Match selects the columns for a model with d outputs and q inputs. They are the columns of --x and --y; else the columns with the
// model's names; else, in a table with q+d columns of numbers and dates, the first q columns and the rest.
func (c Columns) Match(t *table.Table, path string, m *vssgp.Model, d int) (Choice, error) {
	q := m.Params.Q
	chosen, err := c.flags(t)
	if err == nil {
		err = cmp.Or(inOrder(t, "--x", chosen.X, m.XNames), inOrder(t, "--y", chosen.Y, m.YNames))
	}
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
			cli.Mistake("%s: of %d columns (%s), %d inputs and %d outputs are selected; the model has %d and %d; choose with --x and --y",
				path, t.Cols, Listed(t.Names), len(chosen.X), len(chosen.Y), q, d)
	}
	return chosen.check(t, path)
}

// check returns an error if an output is also an input, or if there are no inputs or outputs.
func (c Choice) check(t *table.Table, path string) (Choice, error) {
	for _, col := range c.Y {
		if slices.Contains(c.X, col) {
			return c, cli.Mistake("column %.40q is both an input and an output; choose with --x and --y", t.Names[col])
		}
	}
	if len(c.Y) == 0 {
		if err := notRead(t, t.OfKind(table.Text)); err != nil {
			return c, err
		}
	}
	if len(c.X) == 0 || len(c.Y) == 0 {
		return c, cli.Mistake("%s: %d columns (%s) give %d inputs and %d outputs of numbers or dates; at least one of each is required",
			path, t.Cols, Listed(t.Names), len(c.X), len(c.Y))
	}
	return c, nil
}

// inputs returns the columns of the q inputs of a model. They are the columns of --x; else the columns with the model's
// names; else, if the model or the table has no names, all columns of numbers and dates, if there are q.
func (c Columns) inputs(t *table.Table, path string, q int, own []string) ([]int, error) {
	x, err := named(t, c.X, "--x")
	if err == nil {
		err = inOrder(t, "--x", x, own)
	}
	if err != nil {
		return nil, err
	}
	hint := ", or choose it with --x"
	if c.other {
		hint = ""
	}
	for _, name := range own {
		if x == nil && !unnamed(own) && !unnamed(t.Names) && !slices.Contains(t.Names, name) {
			return nil, cli.Mistake("%s: there is no column %.40q, the input of the model, among %s; rename the column%s",
				path, name, Listed(t.Names), hint)
		}
	}
	if x = orOwn(t, x, own, nil); len(x) != q {
		return nil, cli.Mistake("%s: %s (%s), but the model has %s; choose with --x", path, cli.Counted(len(x), "input column"),
			Listed(NamesOf(t, x)), cli.Counted(q, "input"))
	}
	return x, nil
}

// inOrder returns an error if a column of a flag has the name of another input or output of the model than the one for
// which it is given. The names of tables without names are not compared.
func inOrder(t *table.Table, flag string, cols []int, own []string) error {
	for i, col := range cols {
		if at := slices.Index(own, t.Names[col]); at >= 0 && at != i && !unnamed(own) {
			return cli.Mistake("%s: column %.40q is given as number %d, but the model's order is %s; "+
				"give the columns in this order", flag, t.Names[col], i+1, Listed(own))
		}
	}
	return nil
}

// unnamed reports whether columns have the names x0, x1, …, as in a table without a line of names.
func unnamed(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		number, ok := strings.CutPrefix(name, "x")
		_, err := strconv.Atoi(number)
		return !ok || err != nil
	})
}

// orOwn returns the given columns; else the columns with the model's names; else the columns of numbers and dates that are not taken.
func orOwn(t *table.Table, given []int, own []string, taken []int) []int {
	if given != nil {
		return given
	}
	if named := withNames(t, own); named != nil {
		return named
	}
	return others(t.OfKind(table.Numbers, table.Dates), taken)
}

// withNames returns the columns with a model's names, nil if the model has no names or the table lacks one of them.
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

// OfSeries selects the columns of a series, with at most one input. If holes is set, columns with missing values are default outputs.
func (c Columns) OfSeries(t *table.Table, path string, holes bool) (Choice, error) {
	chosen, err := c.flags(t)
	if err != nil {
		return chosen, err
	}
	if len(chosen.X) > 1 {
		return chosen, cli.Mistake("--x: %d columns; must be one column, the time of the series", len(chosen.X))
	}
	taken := slices.Concat(chosen.Errors, chosen.Regressors, chosen.By)
	c.outputAsNumbers(t, chosen)
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
			if len(free) > 1 {
				break
			}
			if err := lostOutput(t, free[0], others(t.OfKind(table.Text), taken)); err != nil {
				return chosen, err
			}
		default:
			if err := notRead(t, others(t.OfKind(table.Text), taken)); err != nil {
				return chosen, err
			}
			return chosen, cli.Mistake("%s: there is no column of numbers for an output among %s; choose with --y", path, Listed(t.Names))
		}
	}
	if chosen.Errors != nil && len(chosen.Errors) != len(chosen.Y) {
		return chosen, cli.Mistake("--yerr: %s for %s (%s); must be one column for each", cli.Counted(len(chosen.Errors), "column"),
			cli.Counted(len(chosen.Y), "output"), Listed(NamesOf(t, chosen.Y)))
	}
	return chosen, nil
}

// lostOutput returns an error if the default output, the only column of numbers, is probably the input, because one
// of the columns of text has numbers in a form that is not read. An input increases: in equal steps, or before the
// column of text. A column of addresses, which also begin with digits, is accepted next to values that do not.
func lostOutput(t *table.Table, output int, words []int) error {
	increasing, even := t.Increasing(output)
	return notRead(t, slices.DeleteFunc(words, func(col int) bool { return !increasing || !even && output > col }))
}

// notRead returns an error about the last column of text that has numbers in a form that is not read. It is probably
// the output.
func notRead(t *table.Table, words []int) error {
	for _, col := range slices.Backward(words) {
		if err := t.NotRead(col); err != nil {
			return fmt.Errorf("%w; choose the output with --y if it is another column", err)
		}
	}
	return nil
}

// RowName is the value of --x for the row number, unless a column has this name. RowUnit is the unit of its axis.
const RowName, RowUnit = "row", "rows"

// TakeRow replaces --x row, unless a column has this name, by no column with rows set.
func (c *Columns) TakeRow(t *table.Table) {
	if len(c.X) == 1 && strings.TrimSpace(c.X[0]) == RowName && !slices.Contains(t.Names, RowName) {
		c.X, c.rows = nil, true
	}
}

// Like selects the columns with the model's names, if they exist, and returns the axis of its input, nil for the row number.
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

// LeftOut returns a list of the columns that a default choice leaves out, "" if there are none or --x is given.
func (c Columns) LeftOut(t *table.Table, chosen Choice) string {
	if c.X != nil || c.rows && c.Y != nil {
		return ""
	}
	taken, kinds := slices.Concat(chosen.X, chosen.Y, chosen.Errors, chosen.Regressors, chosen.By), []string{}
	for i, kind := range []table.Kind{table.Text, table.Empty, table.Dates, table.Numbers} {
		if left := others(t.OfKind(kind), taken); len(left) > 0 {
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

// Listed formats the first names of a list for a message.
func Listed(names []string) string {
	const most = 8
	if len(names) > most {
		names = slices.Concat(names[:most], []string{"…"})
	}
	return strings.Join(names, ", ")
}

// PredictedNames returns the column names of a prediction: inputs and, by output, mean, sd and, if ends is set, the interval's bounds.
func PredictedNames(inputs, outputs []string, ends bool) []string {
	names := slices.Clone(inputs)
	for _, y := range outputs {
		if names = append(names, y+"_mean", y+"_sd"); ends {
			names = append(names, y+"_lower", y+"_upper")
		}
	}
	return names
}

// ErrSameName is wrapped by the error for an output with two columns of the same name.
var ErrSameName = errors.New("columns of the same name")

// WithDraws adds the column names of n draws. It returns an error that wraps ErrSameName if two names are equal.
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
