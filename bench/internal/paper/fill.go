package paper

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/internal/ar"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/timewarp"
)

// A filling contains the predicted mean of every sample. It is NaN for samples without a prediction. For a probabilistic method it also
// contains the standard deviations and information about the fit.
type filling struct {
	Mean, SD   []float64
	Bound      float64
	Rows, M    int // number of fitted rows and of features in all excerpts
	Iterations int
}

// A filler fills the gaps of a signal. It must not use the samples in the gaps.
type filler func(ctx context.Context, s *signal) (*filling, error)

// fillZeros predicts zero for all samples.
func fillZeros(_ context.Context, s *signal) (*filling, error) {
	return &filling{Mean: make([]float64, len(s.Y))}, nil
}

// fillLinear fills by linear interpolation.
func fillLinear(_ context.Context, s *signal) (*filling, error) {
	return &filling{Mean: audio.FillLinear(s.Y, s.Gaps)}, nil
}

// fillAR fills by the autoregressive interpolation of Janssen, Veldhuis and Vries (1986), with settings that are common for speech: three
// rounds, an order of 9 ms, which covers a pitch period, and 25 ms of context before and after a gap.
func fillAR(ctx context.Context, s *signal) (*filling, error) {
	y, gaps := audio.FillLinear(s.Y, s.Gaps), make([][2]int, len(s.Gaps))
	for i, g := range s.Gaps {
		gaps[i] = [2]int{g.Start, g.End}
	}
	ar.Filling{Order: audio.SamplesIn(0.009, s.Rate), Reach: audio.SamplesIn(0.025, s.Rate), Rounds: 3}.Fill(ctx, y, gaps)
	return &filling{Mean: y}, ctx.Err()
}

// fillVSSGP fills by method VSSGP of package restore.
func fillVSSGP(o restore.Options) filler {
	o.Method = restore.VSSGP
	return func(ctx context.Context, s *signal) (*filling, error) {
		r, err := restore.Fill(ctx, [][]float64{s.Y}, s.Rate, s.Gaps, o)
		if err != nil {
			return nil, err
		}
		f := &filling{Mean: unknown(len(s.Y)), SD: unknown(len(s.Y)), Bound: r.Bound, Iterations: r.Iterations}
		for _, e := range r.Excerpts {
			copy(f.Mean[e.Start:], e.Fit[0])
			copy(f.SD[e.Start:], e.SD[0])
			p := e.Model.Params
			f.M += p.M()
			f.Rows += e.End - e.Start - audio.Missing(e.Gaps)
		}
		return f, nil
	}
}

// fillWarp fills the only gap of a signal by package timewarp. The filler must not be used concurrently.
func fillWarp(by *timewarp.Filler) filler {
	return func(ctx context.Context, s *signal) (*filling, error) {
		g := s.Gaps[0]
		r, err := by.Fill(ctx, s.Y, [][2]int{{g.Start, g.End}}, 0, 0, 0)
		if err != nil {
			return nil, err
		}
		out := &filling{Mean: unknown(len(s.Y)), SD: unknown(len(s.Y)), Rows: len(s.Y) - g.Len()}
		copy(out.Mean[g.Start:], r.Mean)
		for k, v := range r.Variance {
			out.SD[g.Start+k] = math.Sqrt(v)
		}
		return out, nil
	}
}

// fillSeparately fills each gap from a separate excerpt, in which the samples of the other gaps are observed. reach returns the number of
// samples before and after a gap of n samples.
func fillSeparately(reach func(n int, rate float64) int, fill filler) filler {
	return func(ctx context.Context, s *signal) (*filling, error) {
		out := &filling{Mean: unknown(len(s.Y))}
		for _, g := range s.Gaps {
			around := reach(g.Len(), float64(s.Rate))
			from, to := max(0, g.Start-around), min(len(s.Y), g.End+around)
			inside := audio.Gap{Start: g.Start - from, End: g.End - from}
			f, err := fill(ctx, &signal{Name: s.Name, Rate: s.Rate, Y: s.Y[from:to], Gaps: []audio.Gap{inside}})
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
			out.Rows, out.M = out.Rows+f.Rows, out.M+f.M
		}
		return out, nil
	}
}

// unknown returns n samples without a prediction.
func unknown(n int) []float64 { return slices.Repeat([]float64{math.NaN()}, n) }

// missing reports for each sample whether it is in a gap.
func (s *signal) missing() []bool { return audio.Mask(s.Gaps, len(s.Y)) }

// in returns the samples of v in the gaps, or nil if v is nil.
func (s *signal) in(v []float64) (out []float64) {
	for _, g := range s.Gaps {
		if v != nil {
			out = append(out, v[g.Start:g.End]...)
		}
	}
	return out
}

// rmse returns the RMSE of a fill in the gaps.
func (s *signal) rmse(f *filling) float64 {
	return bayes.RMSE(s.in(f.Mean), s.in(s.Y))
}

// intervals returns the coverage of a fill's 95 % intervals and its NLPD in the gaps. ok is false if the fill has no intervals.
func (s *signal) intervals(f *filling) (coverage, nlpd float64, ok bool) {
	if f.SD == nil {
		return 0, 0, false
	}
	mean, sd, y := s.in(f.Mean), s.in(f.SD), s.in(s.Y)
	return bayes.Coverage(mean, sd, y), bayes.NLPD(mean, sd, y), true
}
