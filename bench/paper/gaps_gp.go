package paper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/baseline"
	"github.com/vssgp/vssgp/bench/internal/gapfill"
)

// errRows is wrapped where a full GP would take too long.
var errRows = errors.New("does not fit")

const (
	gpStart   = "periodogram"
	gpRows    = 1500  // most rows
	gpLength  = 0.010 // seconds, the components' starting length-scale: a few periods of a voice
	gpPadding = 8     // times as long as the excerpt is the padded periodogram: peaks lie between its bins
)

// gpFill is the full Gaussian process on an excerpt about each gap, exact: a spectral mixture that starts on the peaks of the excerpt's
// periodogram and is optimised. reach is in seconds to either side of a gap.
func gpFill(reach float64, iterations, components int) gapfill.Method {
	return func(ctx context.Context, s *gapfill.Signal) (*gapfill.Fill, error) {
		around := int(math.Round(reach * float64(s.Rate)))
		if n := 2 * around; n > gpRows {
			return nil, fmt.Errorf("%w: N = %d rows for each gap, at most %d", errRows, n, gpRows)
		}
		nothing := slices.Repeat([]float64{math.NaN()}, len(s.Y))
		out := &gapfill.Fill{Mean: nothing, SD: slices.Clone(nothing)}
		for _, g := range s.Gaps {
			// No other gap is so near: see placeApart.
			from, to := max(0, g.Start-around), min(len(s.Y), g.End+around)
			inside := []audio.Gap{{Start: g.Start - from, End: g.End - from}}
			part := &signal{Signal: gapfill.Signal{Rate: s.Rate, Y: audio.FillSilence(s.Y[from:to], inside), Gaps: inside}}
			covariance := peaks(part.Y, components, gpLength*float64(s.Rate))
			f, c, err := part.fit(ctx, baseline.GP{Options: baseline.Options{Covariance: covariance, Iterations: iterations}})
			if err != nil {
				return nil, fmt.Errorf("gap %v: %w", g, err)
			}
			copy(out.Mean[from:], c.Mean)
			copy(out.SD[from:], c.SD)
			out.Bound += f.Bound
			out.Iterations += f.Iterations
			out.Rows += to - from - g.Len()
		}
		return out, nil
	}
}

// peaks is a spectral mixture on the highest peaks of y's periodogram under a Hann window, count at most, weighted by their power;
// frequencies in cycles per sample, length-scales all the same.
func peaks(y []float64, count int, length float64) baseline.Covariance {
	padded := make([]float64, gpPadding*len(y))
	for i, v := range y {
		padded[i] = v * (0.5 - 0.5*math.Cos(2*math.Pi*(float64(i)+0.5)/float64(len(y))))
	}
	transform := fourier.NewFFT(len(padded)).Coefficients(nil, padded)
	power := make([]float64, len(transform))
	for i, c := range transform {
		power[i] = cmplx.Abs(c) * cmplx.Abs(c)
	}
	var at []int
	for i := 1; i+1 < len(power); i++ {
		if power[i] > power[i-1] && power[i] >= power[i+1] {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(power[b], power[a]) })
	at = at[:min(count, len(at))]
	if len(at) == 0 { // silence
		return baseline.SE(1, length)
	}
	c, total := baseline.Covariance{L: len(at), Q: 1}, 0.0
	for _, i := range at {
		total += power[i]
	}
	for _, i := range at {
		c.Variance = append(c.Variance, power[i]/total)
		c.Lengthscale = append(c.Lengthscale, length)
		c.Frequency = append(c.Frequency, float64(i)/float64(len(padded)))
	}
	return c
}
