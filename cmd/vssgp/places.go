package main

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/table"
)

// places are the rows to predict at, which are read part by part as often as
// they are wanted: memory does not grow with their number.
type places struct {
	names []string // of the inputs [Q]
	rows  int
	parts func(ctx context.Context) iter.Seq2[[]float64, error] // [·,Q], whole rows
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

// readPlaces finds where to predict: at the rows of a table, which is read
// through, or at the times of a recording's samples in seconds for a model of a
// recording.
func readPlaces(ctx context.Context, path string, c columns, m *vssgp.Model) (*places, error) {
	if isTable(path) {
		return tablePlaces(ctx, path, c, m.Params.Q, m.XNames)
	}
	if c.x != nil {
		return nil, mistake("%s: --x chooses columns of a table, but this file is read as a recording (want .csv or .npy)", path)
	}
	if own := inputNames(m); len(own) != 1 || len(m.XNames) == 1 && own[0] != secondsName {
		return nil, mistake("%s: read as a recording, whose input is time in seconds, but the model's input is %s: want a table, .csv or .npy",
			path, strings.Join(clip(own), ", "))
	}
	r, err := openRecording(ctx, path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return secondsOf(r.Len(), r.Rate()), nil
}

// secondsOf are the times of n samples.
func secondsOf(n, rate int) *places {
	return &places{names: []string{secondsName}, rows: n, parts: func(ctx context.Context) iter.Seq2[[]float64, error] {
		return func(yield func([]float64, error) bool) {
			const most = 1 << 15
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

// tablePlaces are the rows of a table's columns that are the q inputs of a model,
// whose own names for them may be given.
func tablePlaces(ctx context.Context, path string, c columns, q int, own []string) (*places, error) {
	s, err := table.OpenStream(ctx, path)
	if err != nil {
		return nil, err
	}
	names, err := c.inputs(&table.Table{Names: s.Names, Cols: s.Cols}, path, q, own)
	if err != nil {
		return nil, err
	}
	from := make([]int, len(names))
	for i, n := range names {
		from[i] = slices.Index(s.Names, n)
	}
	return &places{names, s.Rows, func(ctx context.Context) iter.Seq2[[]float64, error] {
		return func(yield func([]float64, error) bool) {
			var x []float64
			for part, err := range s.Parts(ctx) {
				x = x[:0]
				for ; len(part) > 0; part = part[s.Cols:] {
					for _, i := range from {
						x = append(x, part[i])
					}
				}
				if !yield(x, err) {
					return
				}
			}
		}
	}}, nil
}
