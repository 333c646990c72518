package datafile

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/table"
)

// Places are the rows to predict at. They are read part by part for each pass over them:
// memory does not grow with their number.
type Places struct {
	Names []string // of the inputs [Q]
	Rows  int
	Parts func(ctx context.Context) iter.Seq2[[]float64, error] // [·,Q], whole rows
	By    map[string]float64                                    // of a column of words, which comes last: their numbers; nil: there is none
	Axes  []*table.Axis                                         // of a table's inputs
}

// Each visits the parts, n being the number of the first row of x.
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

// All returns the rows of all parts [rows,Q].
func (p *Places) All(ctx context.Context) (x []float64, err error) {
	return x, p.Each(ctx, func(_ int, part []float64) error {
		x = append(x, part...)
		return nil
	})
}

// Along returns the rows of one input, and the columns after it.
func (p *Places) Along(ctx context.Context) (x []float64, columns [][]float64, err error) {
	all, err := p.All(ctx)
	if n := len(p.Names) - 1; n > 0 {
		columns = make([][]float64, n)
	}
	for row := range slices.Chunk(all, len(p.Names)) {
		x = append(x, row[0])
		for j := range columns {
			columns[j] = append(columns[j], row[1+j])
		}
	}
	return x, columns, err
}

// SecondsName is the input of a model of a recording.
const SecondsName = "seconds"

// SecondsOf returns the times of n samples as places.
func SecondsOf(n, rate int) *Places {
	return &Places{Names: []string{SecondsName}, Rows: n, Parts: func(ctx context.Context) iter.Seq2[[]float64, error] {
		return func(yield func([]float64, error) bool) {
			const most = 1 << 15 // samples in a part
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

// PlacesAlong finds where to predict along the one input of a series.
func PlacesAlong(ctx context.Context, env *cli.Env, path string, c Columns, name string, axis *table.Axis) (*Places, error) {
	if !IsTable(path) {
		return nil, cli.Mistake("%s: not a table; want .%s", path, strings.Join(cli.TableFiles, ", ."))
	}
	s, err := OpenTable(ctx, env, path)
	if err != nil {
		return nil, err
	}
	return tablePlaces(ctx, s, cli.InputName(path), c, 1, []string{name}, []*table.Axis{axis})
}

// tablePlaces returns the rows of the table's columns that are the q inputs of a model, and of c.Regressors.
// own are the model's names for the inputs, if it has names, and like its axes.
func tablePlaces(ctx context.Context, s *table.Stream, path string, c Columns, q int, own []string, like []*table.Axis) (*Places, error) {
	x, _, err := c.named(s)
	if x == nil {
		x = withNames(s, own)
	}
	if err != nil {
		return nil, err
	}
	regressors, err := named(s, c.Regressors, path+": regressors")
	if err != nil {
		return nil, err
	}
	further, by := slices.Clone(regressors), slices.Index(s.Names, c.By)
	if by >= 0 {
		further = append(further, by)
	}
	surveyed := x
	if x != nil {
		surveyed = slices.Concat(x, further)
	}
	if err := s.Survey(ctx, surveyed); err != nil {
		return nil, err
	}
	if x, err = c.inputs(s, path, q, own); err != nil {
		return nil, err
	}
	axes, picks, err := AxesOf(s, Choice{X: x, Regressors: regressors}, like)
	if err != nil {
		return nil, err
	}
	p := &Places{Names: NamesOf(s, slices.Concat(x, further)), Rows: s.Rows, Axes: axes}
	if by >= 0 {
		p.By = map[string]float64{}
		picks = append(picks, table.Pick{Col: by, Words: p.By})
	}
	p.Parts = func(ctx context.Context) iter.Seq2[[]float64, error] { return s.Parts(ctx, picks) }
	return p, nil
}

// ReadPlaces finds where to predict: at the rows of a table or, for a model of a
// recording, at the times of a recording's samples in seconds.
func ReadPlaces(ctx context.Context, env *cli.Env, path string, c Columns, m *vssgp.Model) (*Places, error) {
	if IsTable(path) {
		like, err := AxesOfModel(m)
		if err != nil {
			return nil, err
		}
		s, err := OpenTable(ctx, env, path)
		if err != nil {
			return nil, err
		}
		return tablePlaces(ctx, s, path, c, m.Params.Q, m.XNames, like)
	}
	if c.X != nil && IsRecording(path) {
		return nil, cli.Mistake("%s: --x chooses columns of a table, but this file is read as a recording (want .%s)", path,
			strings.Join(cli.TableFiles, ", ."))
	}
	if own := InputNames(m); len(own) != 1 || len(m.XNames) == 1 && own[0] != SecondsName {
		return nil, cli.Mistake("%s: read as a recording, whose input is time in seconds, but the model's input is %s: want a table, such as "+
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
