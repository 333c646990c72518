package datafile

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// RowName is the value of --x for the number of the row, unless a column has this name.
const RowName = "row"

// TakeRow turns --x row into no column and rows.
func (c *Columns) TakeRow(s *table.Stream) {
	if len(c.X) == 1 && strings.TrimSpace(c.X[0]) == RowName && !slices.Contains(s.Names, RowName) {
		c.X, c.rows = nil, true
	}
}

// HasOneInput reports whether a fit of a table has one input: a column or, of a table of one column, the rows' number.
func HasOneInput(ctx context.Context, env *cli.Env, path string, c Columns) (bool, error) {
	s, err := OpenTable(ctx, env, path)
	if err == nil {
		err = c.rename(s)
	}
	if c.TakeRow(s); c.rows {
		return true, err
	}
	if err == nil {
		err = c.survey(ctx, s)
	}
	if err != nil {
		return false, WhileReading(path, err)
	}
	x, y, err := c.named(s)
	if err != nil || x != nil {
		return len(x) == 1, err
	}
	numbers := OfKind(s, table.Numbers)
	if y == nil && len(numbers) > 0 {
		y = numbers[len(numbers)-1:]
	}
	free := len(others(numbers, y))
	return len(y) > 0 && (len(others(OfKind(s, table.Dates), y)) > 0 || free == 1 || free == 0 && s.Cols == 1), nil
}

// Like chooses the columns with the model's names, where there are such, and returns the axis of its input; none if that is the rows' number.
func (c *Columns) Like(s *table.Stream, m *series.Model) ([]*table.Axis, error) {
	if c.X == nil && withNames(s, []string{m.XName}) != nil {
		c.X = []string{m.XName}
	}
	if c.Y == nil && withNames(s, m.YNames) != nil {
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
func (c Columns) OfSeries(s *table.Stream, path string, holes bool) (Choice, error) {
	x, y, err := c.named(s)
	if err != nil {
		return Choice{}, err
	}
	if len(x) > 1 {
		return Choice{}, cli.Mistake("--x: %d columns; want the one along which the series runs", len(x))
	}
	numbers := OfKind(s, table.Numbers)
	errors, err := named(s, c.Errors, "--yerr")
	if err != nil {
		return Choice{}, err
	}
	numbers = others(numbers, errors)
	free := others(numbers, y)
	switch dates := others(OfKind(s, table.Dates), y); {
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
		return Choice{}, cli.Mistake("%s: no column of numbers is left for an output among %s; choose with --y", path, Listed(s.Names))
	}
	if slices.ContainsFunc(x, func(col int) bool { return slices.Contains(y, col) }) {
		return Choice{}, cli.Mistake("column %.40q is both the input and an output: choose with --x and --y", s.Names[x[0]])
	}
	if errors != nil && (len(errors) != len(y) || slices.ContainsFunc(errors, func(col int) bool { return slices.Contains(slices.Concat(x, y), col) })) {
		return Choice{}, cli.Mistake("--yerr: %s for %s (%s); want another column for each", cli.Counted(len(errors), "column"), cli.Counted(len(y), "output"), Listed(NamesOf(s, y)))
	}
	return Choice{X: x, Y: y, Errors: errors}, nil
}

// AddSeries defines --x and --y of one series.
func (c *Columns) AddSeries(f *pflag.FlagSet) {
	c.Ordered = true
	f.StringSliceVar(&c.X, "x", nil, "input `column`, by name or by number from 0, or row: the rows' number (default: the first of dates, else the first of several of numbers, else row)")
	f.StringSliceVar(&c.Y, "y", nil, "output `columns`, by name or by number from 0 (default: the last of numbers)")
}

// AxisNote is the note of a series' model file that holds the axis of its input as JSON.
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
