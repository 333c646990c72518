package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/table"
)

// isTable reports whether a path names a table, by its extension.
func isTable(path string) bool {
	return path != toStdout && slices.Contains(tableFiles, formatOf(path))
}

// readToFit reads a table or a recording to fit a model to. A recording's
// input is the time in seconds, its outputs are the channels.
func (a *app) readToFit(ctx context.Context, path string, c columns) (*vssgp.Data, error) {
	return a.readData(ctx, path, c, func(t *table.Table) (*vssgp.Data, error) { return c.split(t, path) })
}

// readData reads a recording, or a table whose columns pick chooses.
func (a *app) readData(ctx context.Context, path string, c columns, pick func(*table.Table) (*vssgp.Data, error)) (*vssgp.Data, error) {
	var t *table.Table
	var data *vssgp.Data
	var err error
	switch {
	case isTable(path):
		if err = withoutTimes(a.flags); err == nil {
			t, err = table.OpenContext(ctx, path)
		}
		if err == nil {
			data, err = pick(t)
		}
	case c.x != nil || c.y != nil:
		return nil, mistake("%s: --x and --y choose columns of a table, but this file is read as a recording (want .csv or .npy)", path)
	default:
		data, err = readAudio(ctx, path)
	}
	if errors.Is(err, context.Canceled) {
		return nil, &interruption{" while reading " + path}
	}
	if errors.Is(err, audio.ErrFormat) {
		return nil, fmt.Errorf("%w (a table's name ends in .csv or .npy)", err)
	}
	return data, err
}

// readFor reads a table or a recording to evaluate a model on. Where
// nothing in the model file says how many outputs the model has (no coefficients, no
// names, no maps), it has as many as the data.
func (a *app) readFor(ctx context.Context, m *vssgp.Model, path string, c columns) (*vssgp.Data, error) {
	p := m.Params
	open := p.D == 1 && len(p.CoefMean) == 0 && len(m.YNames) == 0 && m.Y.Offset[0] == 0 && m.Y.Scale[0] == 1 && !m.Fitted()
	data, err := a.readData(ctx, path, c, func(t *table.Table) (*vssgp.Data, error) {
		d := p.D
		switch {
		case open && c.y != nil:
			d = len(c.y)
		case open && c.x != nil:
			d = max(d, t.Cols-len(c.x))
		case open:
			d = max(d, t.Cols-p.Q)
		}
		return c.match(t, path, m, d)
	})
	if err != nil || !open {
		return data, err
	}
	p.D = data.D
	m.Y = vssgp.Affine{Offset: make([]float64, p.D), Scale: make([]float64, p.D)}
	for i := range m.Y.Scale {
		m.Y.Scale[i] = 1
	}
	return data, nil
}

// load reads a model file and gives it the backend of --device.
func (a *app) load(path string) (*vssgp.Model, error) {
	b, err := a.computer.get()
	if err != nil {
		return nil, err
	}
	m, err := readModel(path)
	if err != nil {
		return nil, err
	}
	m.Backend = b
	return m, nil
}

// readModel reads a model file; what it computes, it computes on the CPU.
func readModel(path string) (*vssgp.Model, error) {
	m, err := vssgp.Load(path)
	if err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	return m, nil
}
