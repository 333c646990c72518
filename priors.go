package vssgp

import (
	"cmp"
	"fmt"
	"math"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/optimize"

	"github.com/vssgp/vssgp/backend"
)

// A Prior is the log-normal prior of a hyper-parameter θ: log θ ~ N(log Median, SD²).
// The zero value is a weak prior chosen from the data; an SD of +Inf is a flat prior.
type Prior struct {
	Median float64 // of θ, in the data's units
	SD     float64 // of log θ
}

// Priors are those of a model's hyper-parameters, in the data's units. Each holds
// for every component and input; for the units of y the first output's count.
type Priors struct {
	Amplitude   Prior // of σ, the root of kernel.variance; default √(var(y)/components)
	Lengthscale Prior // of l; default: ten times each input's range, or the windows' length
	Noise       Prior // of the noise's standard deviation τ^−½; default sd(y)/10
}

// NoPriors says nothing of any hyper-parameter: a fit then maximizes the bound
// alone.
func NoPriors() Priors {
	none := Prior{SD: math.Inf(1)}
	return Priors{none, none, none}
}

const (
	// weakSD is the standard deviation of the logarithms under the weak priors.
	weakSD = 3
	// weakLength is the median length-scale in ranges of the input, and weakNoise the
	// noise's median in standard deviations of the output.
	weakLength, weakNoise = 10, 0.1
)

// priorLeast bounds medians in the model's units from below, and its inverse from
// above, so that their squares are numbers of float64.
const priorLeast = 1e-60

// check reports priors that are none in the units x and y.
func (s *Priors) check(x, y Affine) error {
	for _, p := range []struct {
		name string
		Prior
		unit []float64
	}{{"amplitudes", s.Amplitude, y.Scale[:1]}, {"length-scales", s.Lengthscale, x.Scale}, {"noise", s.Noise, y.Scale[:1]}} {
		if p.Prior == (Prior{}) || math.IsInf(p.SD, 1) {
			continue
		}
		if err := bayes.Prior(p.Prior).Check(); err != nil {
			return fmt.Errorf("the prior of the %s: %w", p.name, err)
		}
		for _, unit := range p.unit {
			if m := p.Median / unit; m < priorLeast || m > 1/priorLeast {
				return fmt.Errorf("the prior of the %s has the median %v, which is %v in the model's units; want one from %g to %g", p.name, p.Median, m, priorLeast, 1/priorLeast)
			}
		}
	}
	return nil
}

// of are the priors in the units x and y, in which rows are, for a model of p's
// shape. A prior of σ or of the noise's standard deviation is one of its square,
// whose logarithm varies twice as much.
func (s *Priors) of(x, y Affine, rows *backend.Data, p *Params) (out optimize.Priors) {
	square := func(p bayes.Prior) bayes.Prior { return bayes.Prior{Median: p.Median * p.Median, SD: 2 * p.SD} }
	variance := 0.0
	for d := range rows.D {
		_, sd := bayes.MeanSD(rows.Y, d, rows.D)
		variance += sd * sd / float64(rows.D)
	}
	sd := cmp.Or(math.Sqrt(variance), 1) // constant outputs: any will do
	perWindow := float64(p.L) / float64(p.Windows.Count())
	out.Variance = square(inUnits(s.Amplitude, y.Scale[0], sd/math.Sqrt(perWindow)))
	out.Noise = square(inUnits(s.Noise, y.Scale[0], weakNoise*sd))
	for q, unit := range x.Scale {
		lo, hi := rows.Extent(q)
		length := weakLength * (hi - lo)
		if len(p.Windows.Center) > 1 && q == p.Windows.Dim {
			length = p.Windows.Length
		}
		one := inUnits(s.Lengthscale, unit, length)
		if length == 0 && s.Lengthscale == (Prior{}) {
			one = bayes.Prior{} // a constant input says nothing of its length-scale
		}
		out.Lengthscale = append(out.Lengthscale, one)
	}
	return out
}

// inUnits is a prior in units of the data's, or the weak one about a median that is
// in these units already. What says nothing becomes Prior{}.
func inUnits(p Prior, unit, median float64) bayes.Prior {
	switch {
	case p == (Prior{}):
		return bayes.Prior{Median: median, SD: weakSD}
	case math.IsInf(p.SD, 1):
		return bayes.Prior{}
	}
	return bayes.Prior{Median: p.Median / unit, SD: p.SD}
}
