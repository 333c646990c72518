package datafile

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/report"
	"github.com/vssgp/vssgp/internal/table"
)

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
	for _, col := range slices.Concat(c.Y, c.Errors) {
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
			return nil, cli.Mistake("the model's %s is %.60q; want a JSON list of %d axes", what, text, q)
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

// KeepAxes notes the axes of inputs that are dates in the model.
func KeepAxes(m *vssgp.Model, axes []*table.Axis) error {
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
	return axesFrom(m.Metadata[axesName], "metadata "+axesName, m.Params.Q)
}
