package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/table"
)

func addColumnFlags(f *pflag.FlagSet, c *columns) {
	f.StringSliceVar(&c.x, "x", nil, "input `columns` of a table, by name or by number from 0, such as t or 0,1 (default: all that are not outputs)")
	f.StringSliceVar(&c.y, "y", nil, "output `columns` of a table (default: the last)")
}

// isTable reports whether a path names a table, by its extension.
func isTable(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".csv" || ext == ".npy"
}

// readToFit reads a table or a recording to fit a model to. A recording's
// input is the time in seconds, its outputs are the channels; rate is its
// samples a second, 0 for a table.
func readToFit(ctx context.Context, path string, c columns) (data *vssgp.Data, rate int, err error) {
	if !isTable(path) {
		if c.x != nil || c.y != nil {
			return nil, 0, mistake("%s: --x and --y choose columns of a table, this is taken for a recording (want .csv or .npy)", path)
		}
		data, rate, err := readAudio(ctx, path)
		return data, rate, orTable(err)
	}
	t, err := openTable(ctx, path)
	if err != nil {
		return nil, 0, err
	}
	data, err = c.split(t, path)
	return data, 0, err
}

// openTable reads a table until it is interrupted.
func openTable(ctx context.Context, path string) (*table.Table, error) {
	t, err := table.OpenContext(ctx, path)
	if errors.Is(err, context.Canceled) {
		return nil, &interruption{" while reading " + path}
	}
	return t, err
}

// orTable adds to an error about a recording what a table would have to be called.
func orTable(err error) error {
	if errors.Is(err, audio.ErrFormat) {
		return fmt.Errorf("%w (a table's name ends in .csv or .npy)", err)
	}
	return err
}

// readFor reads a table or a recording that a model is to be held against.
func readFor(ctx context.Context, m *vssgp.Model, path string, c columns) (*vssgp.Data, error) {
	if !isTable(path) {
		if c.x != nil || c.y != nil {
			return nil, mistake("%s: --x and --y choose columns of a table, this is taken for a recording (want .csv or .npy)", path)
		}
		data, _, err := readAudio(ctx, path)
		if err == nil && data.D != m.Params.D && openOutputs(m) {
			setOutputs(m, data.D)
		}
		return data, orTable(err)
	}
	t, err := openTable(ctx, path)
	if err != nil {
		return nil, err
	}
	d := m.Params.D
	if openOutputs(m) {
		switch {
		case c.y != nil:
			d = len(c.y)
		case c.x != nil:
			d = max(d, t.Cols-len(c.x))
		default:
			d = max(d, t.Cols-m.Params.Q)
		}
	}
	data, err := c.match(t, path, m, d)
	if err == nil && data.D != m.Params.D {
		setOutputs(m, data.D)
	}
	return data, err
}

// openOutputs reports whether nothing in the model file says how many outputs
// the model has: no coefficients, no names, no maps.
func openOutputs(m *vssgp.Model) bool {
	p := m.Params
	if p.D != 1 || len(p.CoefMean) != 0 || len(m.YNames) != 0 || m.Y.Offset[0] != 0 || m.Y.Scale[0] != 1 {
		return false
	}
	_, err := m.PredictRows(make([]float64, p.Q), 1)
	return errors.Is(err, vssgp.ErrUnfitted)
}

// setOutputs gives such a model d outputs in the data's own units.
func setOutputs(m *vssgp.Model, d int) {
	m.Params.D = d
	m.Y = vssgp.Affine{Offset: make([]float64, d), Scale: make([]float64, d)}
	for i := range m.Y.Scale {
		m.Y.Scale[i] = 1
	}
}
