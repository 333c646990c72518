package paper

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/internal/bayes"
)

// A filling contains the predicted mean of every sample. It is NaN for samples without a prediction. For a
// probabilistic method it also contains the standard deviations and information about the fit.
type filling struct {
	Mean, SD   []float64
	Bound      float64
	Rows, M    int // number of fitted rows and of features in all excerpts, of VSSGP
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

// fillBy fills by a method of package restore.
func fillBy(o restore.Options) filler {
	return func(ctx context.Context, s *signal) (*filling, error) {
		r, err := restore.Fill(ctx, [][]float64{s.Y}, s.Rate, s.Gaps, o)
		if err != nil {
			return nil, err
		}
		f := &filling{Mean: unknown(len(s.Y)), SD: unknown(len(s.Y)), Bound: r.Bound, Iterations: r.Iterations}
		for g := range r.All() {
			copy(f.Mean[g.Gap.Start:], g.Mean)
			copy(f.SD[g.Gap.Start:], g.SD)
		}
		for _, e := range r.Excerpts {
			if e.Model == nil {
				continue
			}
			// VSSGP also predicts the observed samples.
			copy(f.Mean[e.Start:], e.Fit[0])
			copy(f.SD[e.Start:], e.SD[0])
			f.M += e.Model.Params.M()
			f.Rows += e.End - e.Start - audio.Missing(e.Gaps)
		}
		return f, nil
	}
}

// fillSeparately fills each gap as if the samples of the other gaps were observed.
func fillSeparately(fill filler) filler {
	return func(ctx context.Context, s *signal) (*filling, error) {
		out := &filling{Mean: unknown(len(s.Y))}
		for _, g := range s.Gaps {
			one := *s
			one.Gaps = []audio.Gap{g}
			f, err := fill(ctx, &one)
			if err != nil {
				return nil, fmt.Errorf("gap %v: %w", g, err)
			}
			copy(out.Mean[g.Start:], f.Mean[g.Start:g.End])
			if f.SD != nil {
				if out.SD == nil {
					out.SD = unknown(len(s.Y))
				}
				copy(out.SD[g.Start:], f.SD[g.Start:g.End])
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

// intervals returns the coverage of a fill's 95 % intervals and its NLPD in the gaps. ok is false if the fill has no
// intervals.
func (s *signal) intervals(f *filling) (coverage, nlpd float64, ok bool) {
	if f.SD == nil {
		return 0, 0, false
	}
	mean, sd, y := s.in(f.Mean), s.in(f.SD), s.in(s.Y)
	return bayes.Coverage(mean, sd, y), bayes.NLPD(mean, sd, y), true
}
