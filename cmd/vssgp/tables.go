package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// isTable reports whether a path names a table: by its extension, or because it is stdin.
func isTable(path string) bool { return slices.Contains(tableFiles, formatOf(path)) }

// openTable opens the table at a path, or on stdin, and reads the names of its columns.
func (a *app) openTable(ctx context.Context, path string) (*table.Stream, error) {
	f, err := a.tableFile(ctx, path)
	if err != nil {
		return nil, err
	}
	return table.OpenStream(ctx, f)
}

func (a *app) tableFile(ctx context.Context, path string) (*table.File, error) {
	if a.memory != nil {
		f, err := a.memory.file(path)
		if err != nil {
			return nil, err
		}
		return table.In(f, f.Size(), path), nil
	}
	if path != fromStdin {
		return table.At(path)
	}
	if a.held == nil {
		var err error
		if a.held, err = hold(ctx, a.stdin); err != nil {
			return nil, err
		}
	}
	info, err := a.held.Stat()
	if err != nil {
		return nil, err
	}
	return table.In(a.held, info.Size(), inputName(path)), nil
}

// A dataset is data with the axes of their inputs, nil for those of a recording.
type dataset struct {
	*vssgp.Data
	axes []*table.Axis
}

// readTable reads the chosen columns of a table. like are the axes of a model; nil if there is none. Rows without
// all outputs are left out.
func (a *app) readTable(ctx context.Context, path string, c columns, choose chooser, like []*table.Axis) (*dataset, error) {
	s, err := a.openTable(ctx, path)
	if err != nil {
		return nil, err
	}
	path = inputName(path)
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
	if left := c.leftOut(s, chosen); left != "" && like == nil { // a model's own columns are no surprise
		a.note("%s: left out %s; choose with --x and --y", path, left)
	}
	axes, picks, err := axesOf(s, chosen, like)
	if err != nil {
		return nil, err
	}
	q, d := len(chosen.x), len(chosen.y)
	data := &dataset{&vssgp.Data{Q: q, D: d, XNames: namesOf(s, chosen.x), YNames: namesOf(s, chosen.y)}, axes}
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
		return nil, mistake("%s: no row has a value of %s; want some", path, listed(data.YNames))
	} else if lost > 0 {
		a.note("%s: left out %s of %d that have no value of %s", path, counted(lost, "row"), s.Rows, listed(data.YNames))
	}
	return data, nil
}

// axesOf returns the axes of the inputs, and checks that the chosen columns can be read by them.
func axesOf(s *table.Stream, c choice, like []*table.Axis) (axes []*table.Axis, picks []table.Pick, err error) {
	for i, col := range c.x {
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
	for _, col := range slices.Concat(c.y, c.errors) {
		picks = append(picks, table.Pick{Col: col})
	}
	return axes, picks, s.Check(picks)
}

// axesName is the entry of a model file's metadata that holds the axes of its inputs as JSON, null for those of numbers.
const axesName = "app.axes"

// axesText writes the axes of inputs of which some are dates as JSON, null for numbers; "" if all are numbers.
func axesText(axes []*table.Axis) (string, error) {
	if !slices.ContainsFunc(axes, (*table.Axis).Dates) {
		return "", nil
	}
	kept := slices.Clone(axes)
	for i, axis := range kept {
		if !axis.Dates() {
			kept[i] = nil
		}
	}
	text, err := json.Marshal(kept)
	return string(text), err
}

// axesFrom reads what axesText has written of q inputs; what names its place in the file.
func axesFrom(text, what string, q int) ([]*table.Axis, error) {
	axes := make([]*table.Axis, q)
	if text != "" {
		if err := json.Unmarshal([]byte(text), &axes); err != nil || len(axes) != q {
			return nil, mistake("the model's %s is %.60q; want a JSON list of %d axes", what, text, q)
		}
	}
	for i, axis := range axes {
		if axis == nil {
			axes[i] = &table.Axis{}
		} else if err := axis.Check(); err != nil {
			return nil, fmt.Errorf("the model's %s: %w", what, err)
		}
	}
	return axes, nil
}

// keepAxes notes the axes of inputs that are dates in the model.
func keepAxes(m *vssgp.Model, axes []*table.Axis) error {
	text, err := axesText(axes)
	if err != nil || text == "" {
		return err
	}
	return keep(m, axesName, json.RawMessage(text))
}

// keep adds an entry to the metadata of a model's file.
func keep(m *vssgp.Model, name string, value any) error {
	text, err := json.Marshal(value)
	if err == nil {
		if m.Metadata == nil {
			m.Metadata = map[string]string{}
		}
		m.Metadata[name] = string(text)
	}
	return err
}

// rangeName is the entry of an older model file's metadata that holds the range of its one input, of a table, as a JSON list of two numbers.
const rangeName = "app.range"

// rangeOfModel returns the least and the greatest of each input in a model's data; nil if they are not known.
func rangeOfModel(m *vssgp.Model) [][2]float64 {
	var ends []float64
	if m.Range == nil && json.Unmarshal([]byte(m.Metadata[rangeName]), &ends) == nil && len(ends) == 2 {
		return [][2]float64{{ends[0], ends[1]}}
	}
	return m.Range
}

// axesOfModel returns the axes of a model's inputs [Q].
func axesOfModel(m *vssgp.Model) ([]*table.Axis, error) {
	return axesFrom(m.Metadata[axesName], "metadata "+axesName, m.Params.Q)
}

// axisNote is the note of a series' model file that holds the axis of its input as JSON.
const axisNote = "axis"

// axisOfSeries is the axis of a series' model file.
func axisOfSeries(m *series.Model) (*table.Axis, error) {
	axis := &table.Axis{}
	if text := m.Notes[axisNote]; text != "" {
		if err := json.Unmarshal([]byte(text), axis); err != nil {
			return nil, mistake("the model's note %s is %.60q; want an axis as JSON", axisNote, text)
		}
	}
	if err := axis.Check(); err != nil {
		return nil, fmt.Errorf("the model's note %s: %w", axisNote, err)
	}
	return axis, nil
}

// newTable writes a table in the format of a path: its first columns on the axes.
func newTable(w io.Writer, path string, shape []int, names []string, axes []*table.Axis) (table.Writer, error) {
	switch formatOf(path) {
	case "npy":
		return table.NewNPYWriter(w, shape)
	case "tsv":
		return table.NewTextWriter(w, names, '\t', axes)
	}
	return table.NewTextWriter(w, names, ',', axes)
}
