package datafile

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
)

// Places are the inputs of a prediction. Each pass reads them block by block, so memory does not grow with their number.
type Places struct {
	Names []string // of the inputs [Q]
	Rows  int
	Parts func(ctx context.Context) iter.Seq2[[]float64, error] // [·,Q], whole rows
	Axes  []*table.Axis                                         // of the inputs of a table or grid
	Grid  []Span                                                // by input [Q]; nil if the places are not a grid
}

// Each calls visit for each block x [·,Q]. n is the index of its first row.
func (p *Places) Each(ctx context.Context, visit func(n int, x []float64) error) error {
	n := 0
	for x, err := range p.Parts(ctx) {
		if err == nil {
			err = visit(n, x)
		}
		if err != nil {
			return err
		}
		n += len(x) / len(p.Names)
	}
	return nil
}

// First returns the first rows [rows,Q].
func (p *Places) First(ctx context.Context, rows int) (x []float64, err error) {
	most := rows * len(p.Names)
	for part, err := range p.Parts(ctx) {
		if err != nil {
			return nil, err
		}
		if x = append(x, part...); len(x) >= most {
			return x[:most], nil
		}
	}
	return x, nil
}

// SecondsName is the input of a model of a recording.
const SecondsName = "seconds"

// SecondsOf returns the times of n samples in seconds.
func SecondsOf(n, rate int) *Places {
	return &Places{Names: []string{SecondsName}, Rows: n, Parts: func(ctx context.Context) iter.Seq2[[]float64, error] {
		return func(yield func([]float64, error) bool) {
			const most = 1 << 15 // samples per block
			x := make([]float64, 0, min(n, most))
			for lo := 0; lo < n; lo += most {
				x = x[:0]
				for i := lo; i < min(n, lo+most); i++ {
					x = append(x, float64(i)/float64(rate))
				}
				if !yield(x, ctx.Err()) {
					return
				}
			}
		}
	}}
}

// Times are the times at which a series is predicted.
type Times struct {
	Name       string // of the input
	Axis       *table.Axis
	X          []float64
	Regressors [][]float64 // in the order of Columns.Regressors
	By         []string    // name of the series of each row, nil if the table has no such column
}

// ReadTimes reads the times of a prediction from a table. name and axis are the name and axis of the series' input.
func ReadTimes(ctx context.Context, env *cli.Env, path string, c Columns, name string, axis *table.Axis) (*Times, error) {
	if !IsTable(path) {
		return nil, cli.Mistake("%s: must be a table (.%s)", path, strings.Join(cli.TableFiles, ", ."))
	}
	t, err := c.Read(ctx, env, path)
	if err != nil {
		return nil, err
	}
	path = cli.InputName(path)
	x, err := c.inputs(t, path, 1, []string{name})
	if err != nil {
		return nil, err
	}
	at := &Times{Name: t.Names[x[0]]}
	if at.Axis, at.X, err = t.Input(x[0], axis); err != nil {
		return nil, err
	}
	regressors, err := named(t, c.Regressors, path+": regressors")
	if err != nil {
		return nil, err
	}
	if at.Regressors, err = NumbersOf(t, regressors); err != nil {
		return nil, err
	}
	if by := slices.Index(t.Names, c.By); by >= 0 {
		at.By, err = t.Words(by)
	}
	return at, err
}

// tablePlaces returns the inputs of a model with q inputs from a table. own are the names of the model's inputs, if it has names, and
// like their axes.
func tablePlaces(ctx context.Context, f *table.File, path string, c Columns, q int, own []string, like []*table.Axis) (*Places, error) {
	p, cols := &Places{}, []int(nil)
	p.Parts = func(ctx context.Context) iter.Seq2[[]float64, error] {
		return func(yield func([]float64, error) bool) {
			for t, err := range table.Blocks(ctx, f) {
				if err == nil && t.Cols <= slices.Max(cols) {
					err = cli.Mistake("%s: the file was changed while it was read", path)
				}
				if err == nil {
					err = c.prepare(t)
				}
				var x []float64
				if err == nil {
					x, err = t.Inputs(cols, p.Axes)
				}
				if !yield(x, err) || err != nil {
					return
				}
			}
		}
	}
	for t, err := range table.Blocks(ctx, f) {
		if err == nil {
			err = c.prepare(t)
		}
		if err == nil && cols == nil {
			if cols, err = c.inputs(t, path, q, own); err == nil {
				p.Names = NamesOf(t, cols)
				p.Axes, err = axesOf(t, cols, like)
			}
		}
		if err == nil {
			_, err = t.Inputs(cols, p.Axes)
		}
		if err != nil {
			return nil, err
		}
		p.Rows += t.Rows
	}
	return p, nil
}

// ReadPlaces returns the inputs of a prediction: the rows of a table or, for a model of a
// recording, the times of a recording's samples in seconds.
func ReadPlaces(ctx context.Context, env *cli.Env, path string, c Columns, m *vssgp.Model) (*Places, error) {
	if IsTable(path) {
		like, err := AxesOfModel(m)
		if err != nil {
			return nil, err
		}
		f, err := tableFile(ctx, env, path)
		if err != nil {
			return nil, err
		}
		return tablePlaces(ctx, f, cli.InputName(path), c, m.Params.Q, m.XNames, like)
	}
	if c.X != nil && IsRecording(path) {
		return nil, cli.Mistake("%s: --x selects columns of a table (.%s), but this file is a recording", path,
			strings.Join(cli.TableFiles, ", ."))
	}
	if own := InputNames(m); len(own) != 1 || len(m.XNames) == 1 && own[0] != SecondsName {
		return nil, cli.Mistake("%s is a recording, whose input is time in seconds, but the model's input is %s; must be a table such as "+
			".csv or .npy",
			path, Listed(own))
	}
	r, file, err := OpenRecording(ctx, env, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return SecondsOf(r.Len(), r.Rate()), nil
}
