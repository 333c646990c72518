package fit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/series"
)

// A model is the model of a file. The commands predict, evaluate and info do not know its kind. A method returns an error if a flag does
// not apply to the model.
type model interface {
	// predict writes the predictions at the inputs of a table or recording.
	predict(ctx context.Context, env *cli.Env, path string, o *predictFlags) (*cli.Predicted, error)
	// evaluate scores the model on the rows of a table or recording.
	evaluate(ctx context.Context, env *cli.Env, path string, o *evaluateFlags) (*cli.Evaluation, error)
	// info prints the model and writes its plot, unless the path is empty.
	info(ctx context.Context, env *cli.Env, top int, plot string) error
}

type vssgpModel struct {
	*vssgp.Model
	cli.ModelFile
}

type seriesModel struct {
	*series.Model
	cli.ModelFile
}

// readModel reads a model file of any kind. A model of package vssgp uses backend b; nil is the CPU.
func readModel(env *cli.Env, path string, b backend.Backend) (m model, err error) {
	f, size, err := env.Served.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	defer f.Close()
	metadata, err := safetensors.Metadata(f, size)
	file := cli.ModelFile{Path: path, Version: metadata["version"]}
	switch {
	case err != nil:
	case strings.HasPrefix(metadata["format"], "vssgp-series/"): // of any version, about which series.Read decides
		one := seriesModel{ModelFile: file}
		if one.Model, err = series.Read(f, size); err == nil {
			_, err = datafile.AxisOf(one.Model)
		}
		m = one
	default:
		one := vssgpModel{ModelFile: file}
		if one.Model, err = vssgp.Read(f, size); err == nil {
			one.Backend = b
			_, err = datafile.AxesOfModel(one.Model)
		}
		m = one
	}
	switch {
	case err == nil:
		return m, nil
	case errors.Is(err, safetensors.ErrFormat) && datafile.IsTable(path):
		return nil, cli.Mistake("read model: %s is a table; must be a model file written by fit or forecast -m", path)
	case errors.Is(err, safetensors.ErrFormat) && datafile.IsRecording(path):
		return nil, cli.Mistake("read model: %s is a recording; must be a model file written by fit or forecast -m", path)
	}
	return nil, fmt.Errorf("read model: %s: %w", path, err)
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

// loadModel reads a model file of any kind. The model uses the backend of --device.
func loadModel(env *cli.Env, path string) (model, error) {
	b, err := env.Device.Backend()
	if err != nil {
		return nil, err
	}
	return readModel(env, path, b)
}

// read reads the table or recording on which the model is evaluated. If the model file does not define the number of outputs (it has no
// coefficients, names or scaling), read sets it to the number of outputs of the data.
func (m vssgpModel) read(
	ctx context.Context, env *cli.Env, path string, c datafile.Columns,
) (*datafile.Dataset, error) {
	p := m.Params
	open := p.D == 1 && len(p.CoefMean) == 0 && len(m.YNames) == 0 && m.Y.Offset[0] == 0 && m.Y.Scale[0] == 1 && !m.Fitted()
	like, err := datafile.AxesOfModel(m.Model)
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
		return c.Match(t, path, m.Model, d)
	}, like)
	if err != nil || !open {
		return data, err
	}
	p.D = data.D
	m.Y = vssgp.Affine{Offset: make([]float64, p.D), Scale: slices.Repeat([]float64{1}, p.D)}
	return data, nil
}
