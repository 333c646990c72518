// Package datafile reads the tables and recordings of a command line.
package datafile

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/report"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/series"
)

// IsTable reports whether a path is stdin or has the extension of a table.
func IsTable(path string) bool { return slices.Contains(cli.TableFiles, cli.FormatOf(path)) }

// tableFile returns the table at a path, or on stdin.
func tableFile(ctx context.Context, env *cli.Env, path string) (*table.File, error) {
	var f io.ReaderAt
	var size int64
	var err error
	switch {
	case env.Served != nil:
		f, size, err = env.Served.Open(path)
	case path == cli.FromStdin:
		f, size, err = env.StdinFile(ctx)
	default:
		return table.At(path)
	}
	if err != nil {
		return nil, err
	}
	return table.In(f, size, cli.InputName(path)), nil
}

// Read reads the table at a path, or on stdin.
func (c *Columns) Read(ctx context.Context, env *cli.Env, path string) (*table.Table, error) {
	if a := c.ahead; a != nil && a.table != nil && a.path == path {
		t := a.table
		a.table = nil // so that it can be freed even if c was copied
		return t, nil
	}
	f, err := tableFile(ctx, env, path)
	if err != nil {
		return nil, err
	}
	t, err := table.Read(ctx, f)
	if err == nil {
		err = c.prepare(t)
	}
	return t, WhileReading(path, err)
}

// prepare applies --names, --dayfirst and --decimal to a table.
func (c *Columns) prepare(t *table.Table) error {
	t.DayFirst, t.Decimal = c.dayFirst, map[string]byte{"comma": ',', "point": '.'}[c.decimal]
	if c.names == nil {
		return nil
	}
	if err := t.Rename(c.names); err != nil {
		return fmt.Errorf("--names: %w", err)
	}
	return nil
}

// A Dataset contains data and the axes of their inputs, nil for a recording.
type Dataset struct {
	*vssgp.Data
	Axes []*table.Axis
}

// readTable reads the selected columns of a table. like are the axes of a model, nil without a model. It leaves out rows with a missing
// output.
func readTable(ctx context.Context, env *cli.Env, path string, c Columns, choose chooser, like []*table.Axis) (*Dataset, error) {
	t, err := c.Read(ctx, env, path)
	if err = cmp.Or(err, ctx.Err()); err != nil { // each step takes seconds for millions of rows
		return nil, err
	}
	path = cli.InputName(path)
	chosen, err := choose(t, path)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	if left := c.LeftOut(t, chosen); left != "" && like == nil { // a model determines the columns
		env.Note("%s: left out %s; choose with --x and --y", path, left)
	}
	if like == nil {
		c.NoteReading(env, t, chosen)
	}
	axes, err := axesOf(t, chosen.X, like)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	x, err := t.Inputs(chosen.X, axes)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	y, err := NumbersOf(t, chosen.Y)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	q := len(chosen.X)
	data := &Dataset{&vssgp.Data{X: x[:0], Q: q, D: len(y), XNames: NamesOf(t, chosen.X), YNames: NamesOf(t, chosen.Y)}, axes}
	for n := range t.Rows {
		if !slices.ContainsFunc(y, func(y []float64) bool { return math.IsNaN(y[n]) }) {
			data.X = append(data.X, x[n*q:(n+1)*q]...)
			for _, y := range y {
				data.Y = append(data.Y, y[n])
			}
			data.N++
		}
	}
	if lost := t.Rows - data.N; data.N == 0 {
		return nil, cli.Mistake("%s: no row has a value of %s; at least one is required", path, Listed(data.YNames))
	} else if lost > 0 {
		env.Note("%s: left out %s of %d without a value of %s", path, cli.Counted(lost, "row"), t.Rows, Listed(data.YNames))
	}
	return data, nil
}

// NoteReading prints how inputs and default outputs are read that may have either numbers or dates.
func (c Columns) NoteReading(env *cli.Env, t *table.Table, chosen Choice) {
	cols := chosen.X
	if c.Y == nil {
		cols = slices.Concat(cols, chosen.Y)
	}
	for i, col := range cols {
		switch reading, typo := t.Reading(col, i < len(chosen.X)); {
		case typo:
			env.Warn("dates", "%s", reading)
		case reading != "":
			env.Note("%s", reading)
		}
	}
}

// axesOf returns the axes of inputs. like are the axes of a model, nil without a model.
func axesOf(t *table.Table, cols []int, like []*table.Axis) (axes []*table.Axis, err error) {
	axes = make([]*table.Axis, len(cols))
	for i, col := range cols {
		var as *table.Axis
		if like != nil {
			as = like[i]
		}
		if axes[i], err = t.Axis(col, as); err != nil {
			return nil, err
		}
	}
	return axes, nil
}

// NumbersOf returns columns of numbers, with NaN for missing values.
func NumbersOf(t *table.Table, cols []int) (all [][]float64, err error) {
	all = make([][]float64, len(cols))
	for i, col := range cols {
		if all[i], err = t.Numbers(col); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// TableFile returns a file of rows, or of an array of the shape, in the format of its path. axes are the axes of the first columns.
func TableFile(path string, shape []int, names []string, axes []*table.Axis, rows func(write func([]float64) error) error) fileio.File {
	return fileio.File{Path: path, Write: func(w io.Writer) (err error) {
		var to *table.Writer
		switch cli.FormatOf(path) {
		case "npy":
			to, err = table.NewNPYWriter(w, shape)
		case "tsv":
			to, err = table.NewTextWriter(w, names, '\t', axes)
		default:
			to, err = table.NewTextWriter(w, names, ',', axes)
		}
		if err == nil {
			err = rows(to.Write)
		}
		if err != nil {
			return err
		}
		return to.Close()
	}}
}

// InputNames returns the model's names of its inputs, or x, or x0, x1, … if it has none.
func InputNames(m *vssgp.Model) []string { return report.Names(m.XNames, m.Params.Q, "x") }

// OutputNames returns the model's names of its outputs, or y, or y0, y1, … if it has none.
func OutputNames(m *vssgp.Model) []string { return report.Names(m.YNames, m.Params.D, "y") }

// axesName is the key of the model file's metadata with the axes of its inputs as JSON, null for numbers.
const axesName = "app.axes"

// KeepAxes stores the axes of the inputs in the model's metadata, if some are dates.
func KeepAxes(m *vssgp.Model, axes []*table.Axis) error {
	if !slices.ContainsFunc(axes, (*table.Axis).Dates) {
		return nil
	}
	kept := slices.Clone(axes)
	for i, axis := range kept {
		if !axis.Dates() {
			kept[i] = nil
		}
	}
	text, err := json.Marshal(kept)
	if m.Metadata == nil {
		m.Metadata = map[string]string{}
	}
	m.Metadata[axesName] = string(text)
	return err
}

// AxesOfModel returns the axes of a model's inputs [Q].
func AxesOfModel(m *vssgp.Model) ([]*table.Axis, error) {
	axes := make([]*table.Axis, m.Params.Q)
	if text := m.Metadata[axesName]; text != "" {
		if err := json.Unmarshal([]byte(text), &axes); err != nil || len(axes) != m.Params.Q {
			return nil, cli.Mistake("the model's metadata %s is %.60q; must be a JSON list of %d axes", axesName, text, m.Params.Q)
		}
	}
	for i, axis := range axes {
		if axis == nil {
			axes[i] = &table.Axis{}
		} else if err := axis.Check(); err != nil {
			return nil, fmt.Errorf("the model's metadata %s: %w", axesName, err)
		}
	}
	return axes, nil
}

// AxisNote is the key of the note in a series' model file with the axis of its input as JSON.
const AxisNote = "axis"

// AxisOf returns the axis in a series' model file.
func AxisOf(m *series.Model) (*table.Axis, error) {
	axis := &table.Axis{}
	if text := m.Notes[AxisNote]; text != "" {
		if err := json.Unmarshal([]byte(text), axis); err != nil {
			return nil, cli.Mistake("the model's note %s is %.60q; must be an axis as JSON", AxisNote, text)
		}
	}
	if err := axis.Check(); err != nil {
		return nil, fmt.Errorf("the model's note %s: %w", AxisNote, err)
	}
	return axis, nil
}
