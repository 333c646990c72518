// Package gapfill is the harness of every measurement that cuts gaps into recordings: it fills them by methods that differ in settings
// alone, and scores the fills against what was there.
package gapfill

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/timewarp"
)

// Level is the rms that excerpts are scaled to.
const Level = 0.1

// A Signal is an undamaged recording, or an excerpt of one, and the gaps to fill in it.
type Signal struct {
	Name string
	Rate int // samples a second
	Y    []float64
	Gaps []audio.Gap
}

// Scale scales samples to Level; it cannot scale silence.
func Scale(x []float64) ([]float64, error) {
	level := bayes.RMS(x)
	if level == 0 {
		return nil, fmt.Errorf("silence in %d samples, want a sound", len(x))
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = Level / level * v
	}
	return y, nil
}

// A Fill is the mean of every sample, NaN if a method says nothing of it, and with a model its standard deviation and the fit.
type Fill struct {
	Mean, SD   []float64
	Bound      float64
	Rows, V, M int // rows fitted to, windows and features, in all excerpts
	Iterations int
}

// A Method fills the gaps of a signal and looks at nothing that is in them.
type Method func(ctx context.Context, s *Signal) (*Fill, error)

// Zeros predicts silence in the gaps and outside them.
func Zeros(_ context.Context, s *Signal) (*Fill, error) {
	return &Fill{Mean: make([]float64, len(s.Y))}, nil
}

// Linear fills by straight lines.
func Linear(_ context.Context, s *Signal) (*Fill, error) {
	return &Fill{Mean: audio.FillLinear(s.Y, s.Gaps)}, nil
}

// AR is an autoregressive fill by the options of a rate.
func AR(options func(rate int) audio.AROptions) Method {
	return func(_ context.Context, s *Signal) (*Fill, error) {
		mean, err := audio.FillAR(s.Y, s.Gaps, options(s.Rate))
		return &Fill{Mean: mean}, err
	}
}

// VSSGP is package restore's fill by that method.
func VSSGP(o restore.Options) Method {
	o.Method = restore.VSSGP
	return func(ctx context.Context, s *Signal) (*Fill, error) {
		r, err := restore.Fill(ctx, [][]float64{audio.FillSilence(s.Y, s.Gaps)}, s.Rate, s.Gaps, o)
		if err != nil {
			return nil, err
		}
		f := &Fill{Mean: r.Fit[0], SD: r.SD[0], Bound: r.Bound, Iterations: r.Iterations}
		for _, e := range r.Excerpts {
			p := e.Model.Params
			f.V, f.M = f.V+p.Windows.Count(), f.M+p.M()
			f.Rows += e.End - e.Start - audio.Missing(e.Gaps)
		}
		return f, nil
	}
}

// Warp is package timewarp's fill, one goroutine at a time.
func Warp(filler *timewarp.Filler) Method {
	return func(ctx context.Context, s *Signal) (*Fill, error) {
		z, gaps := audio.FillSilence(s.Y, s.Gaps), make([][2]int, len(s.Gaps))
		for i, g := range s.Gaps {
			gaps[i] = [2]int{g.Start, g.End}
		}
		if len(gaps) > 1 { // a fill looks at guesses in the other gaps, not at its own
			for i, g := range gaps {
				copy(z[g[0]:], filler.Guess(ctx, z, gaps, i))
			}
		}
		out := &Fill{Mean: unknown(len(z)), SD: unknown(len(z)), Rows: len(z) - audio.Missing(s.Gaps)}
		for i, g := range gaps {
			r, err := filler.Fill(ctx, z, gaps, i, 0, 0)
			if err != nil {
				return nil, err
			}
			copy(out.Mean[g[0]:], r.Mean)
			for k, v := range r.Variance {
				out.SD[g[0]+k] = math.Sqrt(v)
			}
		}
		return out, nil
	}
}

// Alone has a method fill each gap from an excerpt of its own, as if it were the only one: what is in the others is seen. reach is how
// many samples an excerpt has on either side of a gap of n.
func Alone(reach func(n int, rate float64) int, fill Method) Method {
	return func(ctx context.Context, s *Signal) (*Fill, error) {
		out := &Fill{Mean: unknown(len(s.Y))}
		for _, g := range s.Gaps {
			around := reach(g.Len(), float64(s.Rate))
			from, to := max(0, g.Start-around), min(len(s.Y), g.End+around)
			inside := audio.Gap{Start: g.Start - from, End: g.End - from}
			f, err := fill(ctx, &Signal{Name: s.Name, Rate: s.Rate, Y: s.Y[from:to], Gaps: []audio.Gap{inside}})
			if err != nil {
				return nil, fmt.Errorf("gap %v: %w", g, err)
			}
			copy(out.Mean[g.Start:], f.Mean[inside.Start:inside.End])
			if f.SD != nil {
				if out.SD == nil {
					out.SD = unknown(len(s.Y))
				}
				copy(out.SD[g.Start:], f.SD[inside.Start:inside.End])
			}
			out.Bound, out.Iterations = out.Bound+f.Bound, out.Iterations+f.Iterations
			out.Rows, out.V, out.M = out.Rows+f.Rows, out.V+f.V, out.M+f.M
		}
		return out, nil
	}
}

// unknown is n samples of which nothing is said.
func unknown(n int) []float64 { return slices.Repeat([]float64{math.NaN()}, n) }

// Mask says of each sample whether it is missing.
func (s *Signal) Mask() []bool { return audio.Mask(s.Gaps, len(s.Y)) }

// In returns the samples of v that lie in the gaps; of nil none.
func (s *Signal) In(v []float64) (in []float64) {
	for _, g := range s.Gaps {
		if v != nil {
			in = append(in, v[g.Start:g.End]...)
		}
	}
	return in
}

// RMSE is the error of a fill in the gaps, and of silence there.
func (s *Signal) RMSE(f *Fill) (rmse, silence float64) {
	was := s.In(s.Y)
	return bayes.RMSE(s.In(f.Mean), was), bayes.RMS(was)
}

// Intervals returns the coverage of a fill's 95 % intervals and its mean negative log predictive density, over the gaps; ok is false for a
// fill without intervals.
func (s *Signal) Intervals(f *Fill) (coverage, nlpd float64, ok bool) {
	if f.SD == nil {
		return 0, 0, false
	}
	mean, sd, y := s.In(f.Mean), s.In(f.SD), s.In(s.Y)
	return bayes.Coverage(mean, sd, y), bayes.NLPD(mean, sd, y), true
}
