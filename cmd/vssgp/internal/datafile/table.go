// Package datafile reads the tables and recordings that a command line names.
package datafile

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/report"
	"github.com/vssgp/vssgp/internal/table"
)

// IsTable reports whether a path names a table: by its extension, or because it is stdin.
func IsTable(path string) bool { return slices.Contains(cli.TableFiles, cli.FormatOf(path)) }

// OpenTable opens the table at a path, or on stdin, and reads the names of its columns.
func OpenTable(ctx context.Context, env *cli.Env, path string) (*table.Stream, error) {
	f, err := tableFile(ctx, env, path)
	if err != nil {
		return nil, err
	}
	return table.OpenStream(ctx, f)
}

func tableFile(ctx context.Context, env *cli.Env, path string) (*table.File, error) {
	if env.Served != nil {
		f, err := env.Served.File(path)
		if err != nil {
			return nil, err
		}
		return table.In(f, f.Size(), path), nil
	}
	if path != cli.FromStdin {
		return table.At(path)
	}
	f, size, err := env.StdinFile(ctx)
	if err != nil {
		return nil, err
	}
	return table.In(f, size, cli.InputName(path)), nil
}

// A Dataset is data with the axes of their inputs, nil for a recording.
type Dataset struct {
	*vssgp.Data
	Axes []*table.Axis
}

// readTable reads the chosen columns of a table. like are the axes of a model; nil if there is none. Rows without
// all outputs are left out.
func readTable(ctx context.Context, env *cli.Env, path string, c Columns, choose chooser, like []*table.Axis) (*Dataset, error) {
	s, err := OpenTable(ctx, env, path)
	if err != nil {
		return nil, err
	}
	path = cli.InputName(path)
	if err := c.rename(s); err != nil {
		return nil, err
	}
	if err := c.survey(ctx, s); err != nil {
		return nil, err
	}
	chosen, err := choose(s, path)
	if err != nil {
		return nil, err
	}
	if left := c.LeftOut(s, chosen); left != "" && like == nil { // a model's own columns are no surprise
		env.Note("%s: left out %s; choose with --x and --y", path, left)
	}
	axes, picks, err := AxesOf(s, chosen, like)
	if err != nil {
		return nil, err
	}
	q, d := len(chosen.X), len(chosen.Y)
	data := &Dataset{&vssgp.Data{Q: q, D: d, XNames: NamesOf(s, chosen.X), YNames: NamesOf(s, chosen.Y)}, axes}
	for part, err := range s.Parts(ctx, picks) {
		if err != nil {
			return nil, err
		}
		for ; len(part) > 0; part = part[q+d:] {
			if y := part[q : q+d]; !slices.ContainsFunc(y, math.IsNaN) {
				data.X, data.Y = append(data.X, part[:q]...), append(data.Y, y...)
				data.N++
			}
		}
	}
	if lost := s.Rows - data.N; data.N == 0 {
		return nil, cli.Mistake("%s: no row has a value of %s; want some", path, Listed(data.YNames))
	} else if lost > 0 {
		env.Note("%s: left out %s of %d that have no value of %s", path, cli.Counted(lost, "row"), s.Rows, Listed(data.YNames))
	}
	return data, nil
}

// TableFile returns a file of rows, or of an array of the shape, in the format of its path. The first columns are on the axes.
func TableFile(path string, shape []int, names []string, axes []*table.Axis, rows func(write func([]float64) error) error) fileio.File {
	return fileio.File{Path: path, Write: func(w io.Writer) (err error) {
		var to table.Writer
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

// AxesOf returns the axes of the inputs, and checks that the chosen columns can be read by them.
func AxesOf(s *table.Stream, c Choice, like []*table.Axis) (axes []*table.Axis, picks []table.Pick, err error) {
	for i, col := range c.X {
		var as *table.Axis
		if like != nil {
			as = like[i]
		}
		axis, err := s.Axis(col, as)
		if err != nil {
			return nil, nil, err
		}
		axes, picks = append(axes, axis), append(picks, table.Pick{Col: col, Axis: axis})
	}
	for _, col := range slices.Concat(c.Y, c.Errors, c.Regressors) {
		picks = append(picks, table.Pick{Col: col})
	}
	return axes, picks, s.Check(picks)
}

// axesName is the entry of a model file's metadata with the axes of its inputs as JSON, null for numbers.
const axesName = "app.axes"

// KeepAxes notes the axes of inputs in the model, if some are dates.
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

// rangeName is the entry of an older model file's metadata with the range of its one input, of a table, as a JSON list of two
// numbers.
const rangeName = "app.range"

// RangeOfModel returns the least and the greatest of each input in a model's data; nil if they are not known.
func RangeOfModel(m *vssgp.Model) [][2]float64 {
	var ends []float64
	if m.Range == nil && json.Unmarshal([]byte(m.Metadata[rangeName]), &ends) == nil && len(ends) == 2 {
		return [][2]float64{{ends[0], ends[1]}}
	}
	return m.Range
}

// AxesOfModel returns the axes of a model's inputs [Q].
func AxesOfModel(m *vssgp.Model) ([]*table.Axis, error) {
	axes := make([]*table.Axis, m.Params.Q)
	if text := m.Metadata[axesName]; text != "" {
		if err := json.Unmarshal([]byte(text), &axes); err != nil || len(axes) != m.Params.Q {
			return nil, cli.Mistake("the model's metadata %s is %.60q; want a JSON list of %d axes", axesName, text, m.Params.Q)
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
