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

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/baseline"
)

// errRows is wrapped where a full GP would take too long.
var errRows = errors.New("does not fit")

const (
	gpStart   = "periodogram"
	gpLength  = 0.010 // seconds, the components' starting length-scale: a few periods of a voice
	gpPadding = 8     // the periodogram's length in those of the excerpt: places of peaks between its bins
)

// gp is the full Gaussian process on an excerpt about each gap, exact: a
// spectral mixture that starts on the peaks of the excerpt's periodogram and is
// optimised.
func (t *gapTask) gp() fit {
	z := t.sizes
	reach := int(math.Round(z.gpReach * float64(t.rate)))
	return t.fit("gp", gpStart, func(ctx context.Context, l *Line) (mean, sd []float64, err error) {
		if n := 2 * reach; n > z.gpRows {
			return nil, nil, fmt.Errorf("%w: N = %d rows for each gap, at most %d", errRows, n, z.gpRows)
		}
		mean, sd = make([]float64, len(t.y)), make([]float64, len(t.y))
		for i := range mean {
			mean[i], sd[i] = math.NaN(), math.NaN()
		}
		l.N = 0
		bound := 0.0
		for _, g := range t.gaps {
			// No other gap is so near: see placeApart.
			cut := audio.Gap{Start: max(0, g.Start-reach), End: min(len(t.y), g.End+reach)}
			f, p, err := t.gpAt(ctx, cut, g)
			if err != nil {
				return nil, nil, fmt.Errorf("gap %v: %w", g, err)
			}
			copy(mean[cut.Start:], p.Mean)
			copy(sd[cut.Start:], p.SD(true))
			bound += f.Bound
			l.Iterations += f.Iterations
			l.N += cut.Len() - g.Len()
		}
		l.Bound = &bound
		return mean, sd, nil
	})
}

// gpAt fits one excerpt and predicts all of it.
func (t *gapTask) gpAt(ctx context.Context, cut, g audio.Gap) (*baseline.Fit, *vssgp.Prediction, error) {
	inside := []audio.Gap{{Start: g.Start - cut.Start, End: g.End - cut.Start}}
	part := &signal{rate: t.rate, y: audio.FillSilence(t.y[cut.Start:cut.End], inside)}
	data, err := part.observed(inside)
	if err != nil {
		return nil, nil, err
	}
	method := baseline.GP{Options: baseline.Options{
		Covariance: peaks(part.y, t.sizes.gpPeaks, gpLength*float64(t.rate)), Iterations: t.sizes.gpIterations,
	}}
	f, err := method.Fit(ctx, data)
	if err != nil {
		return nil, nil, err
	}
	p, err := f.Model.Predict(column(part.grid()))
	return f, p, err
}

// peaks is a spectral mixture on the highest peaks of y's periodogram under a
// Hann window, count at most, weighted by their power; frequencies in cycles
// per sample, length-scales all the same.
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
	total := 0.0
	for _, i := range at {
		total += power[i]
	}
	c := baseline.Covariance{L: len(at), Q: 1}
	for _, i := range at {
		c.Variance = append(c.Variance, power[i]/total)
		c.Lengthscale = append(c.Lengthscale, length)
		c.Frequency = append(c.Frequency, float64(i)/float64(len(padded)))
	}
	return c
}
