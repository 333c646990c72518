package main

import (
	"context"
	"iter"
	"math"
	"strings"

	"github.com/vssgp/vssgp/internal/table"
)

// places are the rows to predict at. They are read part by part for each pass over them:
// memory does not grow with their number.
type places struct {
	names []string // of the inputs [Q]
	rows  int
	parts func(ctx context.Context) iter.Seq2[[]float64, error] // [·,Q], whole rows
	axes  []*table.Axis                                         // of a table's inputs
}

// each visits the parts, n being the number of the first row of x.
func (p *places) each(ctx context.Context, visit func(n int, x []float64) error) error {
	n := 0
	for x, err := range p.parts(ctx) {
		if err == nil {
			err = visit(n, x)
		}
		if err != nil {
			return err
		}
		n += len(x) / len(p.names)
	}
	return nil
}

// all returns the rows of all parts [rows,Q].
func (p *places) all(ctx context.Context) (x []float64, err error) {
	return x, p.each(ctx, func(_ int, part []float64) error {
		x = append(x, part...)
		return nil
	})
}

// secondsName is the input of a model of a recording.
const secondsName = "seconds"

// secondsOf returns the times of n samples as places.
func secondsOf(n, rate int) *places {
	return &places{names: []string{secondsName}, rows: n, parts: func(ctx context.Context) iter.Seq2[[]float64, error] {
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

// placesAlong finds where to predict along the one input of a series.
func (a *app) placesAlong(ctx context.Context, path string, c columns, name string, axis *table.Axis) (*places, error) {
	if !isTable(path) {
		return nil, mistake("%s: not a table; want .%s", path, strings.Join(tableFiles, ", ."))
	}
	s, err := a.openTable(ctx, path)
	if err != nil {
		return nil, err
	}
	return tablePlaces(ctx, s, inputName(path), c, 1, []string{name}, []*table.Axis{axis})
}

// tablePlaces returns the rows of the table's columns that are the q inputs of a model.
// own are the model's names for them, if it has names, and like its axes.
func tablePlaces(ctx context.Context, s *table.Stream, path string, c columns, q int, own []string, like []*table.Axis) (*places, error) {
	x, _, err := c.named(s)
	if x == nil {
		x = withNames(s, own)
	}
	if err == nil {
		err = s.Survey(ctx, x)
	}
	if err != nil {
		return nil, err
	}
	if x, err = c.inputs(s, path, q, own); err != nil {
		return nil, err
	}
	axes, picks, err := axesOf(s, choice{x: x}, like)
	if err != nil {
		return nil, err
	}
	parts := func(ctx context.Context) iter.Seq2[[]float64, error] { return s.Parts(ctx, picks) }
	return &places{names: namesOf(s, x), rows: s.Rows, parts: parts, axes: axes}, nil
}

// sampleRate returns how many of the inputs, which rise evenly, make one unit.
func sampleRate(ctx context.Context, at *places) (int, error) {
	var first, last float64
	err := at.each(ctx, func(n int, x []float64) error {
		if n == 0 {
			first = x[0]
		}
		last = x[len(x)-1]
		return nil
	})
	if err != nil {
		return 0, err
	}
	if len(at.names) != 1 || at.rows < 2 || !(last > first) {
		return 0, mistake("a recording needs one input that rises evenly in seconds; the inputs have %d columns and %d rows: want .csv or .npy",
			len(at.names), at.rows)
	}
	rate := math.Round(float64(at.rows-1) / (last - first))
	const tolerance = 0.01 // in samples, for the rounding of the inputs
	err = at.each(ctx, func(n int, x []float64) error {
		for i, v := range x {
			if off := (v-first)*rate - float64(n+i); !(math.Abs(off) <= tolerance) || rate < 1 || rate > math.MaxInt32 {
				return mistake("a recording needs inputs that rise by 1/rate seconds; input %d (%v) is not a sample time at %.0f samples a second: want .csv or .npy", n+i, v, rate)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return int(rate), nil
}
