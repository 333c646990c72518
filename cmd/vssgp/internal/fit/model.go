package fit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/series"
)

// A fitted is the model of a file. Exactly one of its fields is not nil.
type fitted struct {
	model  *vssgp.Model
	series *series.Model
}

// readAny reads a model file of any kind. The backend of the model is the CPU.
func readAny(env *cli.Env, path string) (m fitted, err error) {
	f, size, err := env.Served.Open(path)
	if err != nil {
		return m, fmt.Errorf("read model: %w", err)
	}
	defer f.Close()
	metadata, err := safetensors.Metadata(f, size)
	if err == nil {
		if metadata["format"] == series.FileFormat {
			if m.series, err = series.Read(f, size); err == nil {
				_, err = datafile.AxisOf(m.series)
			}
		} else if m.model, err = vssgp.Read(f, size); err == nil {
			_, err = datafile.AxesOfModel(m.model)
		}
	}
	switch {
	case err == nil:
		return m, nil
	case errors.Is(err, safetensors.ErrFormat) && datafile.IsTable(path):
		return m, cli.Mistake("read model: %s is a table; must be a model file written by fit or forecast -m", path)
	case errors.Is(err, safetensors.ErrFormat) && datafile.IsRecording(path):
		return m, cli.Mistake("read model: %s is a recording; must be a model file written by fit or forecast -m", path)
	}
	return m, fmt.Errorf("read model: %s: %w", path, err)
}

// ofModel adds the path of the model to an error of a computation with it, unless the error names a file.
func ofModel(path, data string, err error) error {
	switch {
	case err == nil || strings.Contains(err.Error(), path):
		return err
	case errors.Is(err, vssgp.ErrBound):
		return cli.Mistake("%s: the bound cannot be evaluated on %s; the scale of the data differs from the model's data, or the model file is "+
			"damaged", path, cli.InputName(data))
	case errors.Is(err, series.ErrFile), errors.Is(err, vssgp.ErrUnfitted), errors.Is(err, datafile.ErrSameName),
		(errors.Is(err, vssgp.ErrData) || errors.Is(err, table.ErrFormat)) && !strings.Contains(err.Error(), data):
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// loadAny reads a model file of any kind. The model uses the backend of --device.
func loadAny(env *cli.Env, path string) (m fitted, err error) {
	b, err := env.Device.Backend()
	if err != nil {
		return m, err
	}
	if m, err = readAny(env, path); err != nil {
		return m, err
	}
	if m.model != nil {
		m.model.Backend = b
	}
	return m, nil
}

// readFor reads the table or recording on which a model is evaluated. If the model file does
// not define the number of outputs (it has no coefficients, names or scaling), readFor sets it
// to the number of outputs of the data.
func readFor(ctx context.Context, env *cli.Env, m *vssgp.Model, path string, c datafile.Columns) (*datafile.Dataset, error) {
	p := m.Params
	open := p.D == 1 && len(p.CoefMean) == 0 && len(m.YNames) == 0 && m.Y.Offset[0] == 0 && m.Y.Scale[0] == 1 && !m.Fitted()
	like, err := datafile.AxesOfModel(m)
	if err != nil {
		return nil, err
	}
	data, err := datafile.ReadData(ctx, env, path, c, func(t *table.Table, _ string) (datafile.Choice, error) {
		d, usable := p.D, len(t.OfKind(table.Numbers, table.Dates))
		switch {
		case open && c.Y != nil:
			d = len(c.Y)
		case open && c.X != nil:
			d = max(d, usable-len(c.X))
		case open:
			d = max(d, usable-p.Q)
		}
		return c.Match(t, path, m, d)
	}, like)
	if err != nil || !open {
		return data, err
	}
	p.D = data.D
	m.Y = vssgp.Affine{Offset: make([]float64, p.D), Scale: slices.Repeat([]float64{1}, p.D)}
	return data, nil
}
