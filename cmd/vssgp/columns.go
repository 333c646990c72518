package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/table"
)

// columns are --x and --y: names of a table's columns, or their numbers from 0.
// A column cannot have a number as its name (package table refuses it).
type columns struct{ x, y []string }

func (c *columns) add(f *pflag.FlagSet) {
	f.StringSliceVar(&c.x, "x", nil, "input `columns` of a table, by name or by number from 0, such as t or 0,1 (default: all that are not outputs)")
	f.StringSliceVar(&c.y, "y", nil, "output `columns` of a table (default: the last)")
}

// split takes the inputs and outputs out of a table for a fit. By default y is the last
// column, and x all columns that are not outputs.
func (c columns) split(t *table.Table, path string) (*vssgp.Data, error) {
	x, y, err := c.named(t)
	if err != nil {
		return nil, err
	}
	if y == nil {
		y = t.Names[t.Cols-1:]
	}
	if x == nil {
		x = others(t.Names, y)
	}
	return pick(t, path, x, y)
}

// match takes the columns that a model of q inputs and d outputs needs: those
// of --x and --y; else those with the model's own names; else, in a table of
// q+d columns, the first q and the rest.
func (c columns) match(t *table.Table, path string, m *vssgp.Model, d int) (*vssgp.Data, error) {
	q := m.Params.Q
	x, y, err := c.named(t)
	if err != nil {
		return nil, err
	}
	own := hasAll(t, m.XNames) && hasAll(t, m.YNames)
	switch {
	case x == nil && y == nil && !own && t.Cols == q+d:
		x, y = t.Names[:q], t.Names[q:]
	case x != nil || y != nil || own:
		x = orOwn(t, x, m.XNames, y)
		y = orOwn(t, y, m.YNames, x)
	}
	if len(x) != q || len(y) != d {
		return nil, mistake("%s: %d columns (%s), of which %d inputs and %d outputs are chosen; the model has %d and %d: choose with --x and --y",
			path, t.Cols, listed(t.Names), len(x), len(y), q, d)
	}
	return pick(t, path, x, y)
}

// inputs returns the columns at which a model of q inputs predicts: those of --x; else
// those with the model's own names; else all, if there are q. It looks only at the
// names of the table.
func (c columns) inputs(t *table.Table, path string, q int, own []string) ([]string, error) {
	x, _, err := c.named(t)
	if err != nil {
		return nil, err
	}
	x = orOwn(t, x, own, nil)
	if len(x) != q {
		return nil, mistake("%s: %d input columns (%s); the model has %d inputs: choose with --x", path, len(x), listed(x), q)
	}
	return x, nil
}

// orOwn returns the given columns; else those with the model's own names; else those that
// are not taken.
func orOwn(t *table.Table, given, own, taken []string) []string {
	switch {
	case given != nil:
		return given
	case hasAll(t, own):
		return own
	}
	return others(t.Names, taken)
}

// named returns the names of the columns of --x and --y; nil if the flag is not given.
func (c columns) named(t *table.Table) (x, y []string, err error) {
	if x, err = named(t, c.x, "--x"); err == nil {
		y, err = named(t, c.y, "--y")
	}
	return x, y, err
}

// named turns a flag's names and numbers into names of columns.
func named(t *table.Table, given []string, flag string) (out []string, err error) {
	at, taken := t.Index(), make(map[string]bool, len(given))
	for _, s := range given {
		s = strings.TrimSpace(s)
		_, known := at[s]
		if i, err := strconv.Atoi(s); err == nil && !known {
			if i < 0 || i >= t.Cols {
				return nil, mistake("%s: there is no column %d; want 0 to %d", flag, i, t.Cols-1)
			}
			s, known = t.Names[i], true
		}
		if !known {
			return nil, mistake("%s: no column %.40q; want some of %s", flag, s, listed(t.Names))
		}
		if taken[s] {
			return nil, mistake("%s: column %.40q is named twice", flag, s)
		}
		out, taken[s] = append(out, s), true
	}
	return out, nil
}

// pick copies the columns into data.
func pick(t *table.Table, path string, x, y []string) (*vssgp.Data, error) {
	inputs := setOf(x)
	for _, n := range y {
		if inputs[n] {
			return nil, mistake("column %.40q is both an input and an output: choose with --x and --y", n)
		}
	}
	if len(x) == 0 || len(y) == 0 {
		return nil, mistake("%s: with %d columns there are %d inputs and %d outputs; want at least one of each", path, t.Cols, len(x), len(y))
	}
	xs, err := t.Select(x...)
	if err != nil {
		return nil, err
	}
	ys, err := t.Select(y...)
	if err != nil {
		return nil, err
	}
	return &vssgp.Data{N: t.Rows, Q: len(x), D: len(y), X: xs.Data, Y: ys.Data, XNames: xs.Names, YNames: ys.Names}, nil
}

// others returns the names that are not in taken, in their order.
func others(names, taken []string) []string {
	gone := setOf(taken)
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return gone[n] })
}

// hasAll reports whether the table has columns with a model's names, if the model has names.
func hasAll(t *table.Table, names []string) bool {
	at := t.Index()
	missing := func(n string) bool { _, ok := at[n]; return !ok }
	return len(names) > 0 && !slices.ContainsFunc(names, missing)
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

// listed writes the first names of a list for a message.
func listed(names []string) string {
	const most = 8
	if len(names) > most {
		names = slices.Concat(names[:most], []string{"…"})
	}
	return strings.Join(names, ", ")
}
