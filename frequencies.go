package vssgp

import (
	"cmp"
	"math"
	"slices"
)

// A Frequency is what a model believes of one feature's frequency, in the
// data's units.
type Frequency struct {
	Feature   int       `json:"feature"`      // k, from 0 to M−1
	Component int       `json:"-"`            // i = k/K
	Location  []float64 `json:"location"`     // [Q] z, units of x
	Mean      []float64 `json:"frequency"`    // [Q] |μ/l + 2πp|/2π, cycles per unit of x
	SD        []float64 `json:"frequency_sd"` // [Q] √Σ/(2πl), cycles per unit of x; 0: a point frequency
	Period    []float64 `json:"period"`       // [Q] 1/Mean, units of x; +Inf: none
	PeriodSD  []float64 `json:"period_sd"`    // [Q] SD/Mean², to first order
	Reach     []float64 `json:"reach"`        // [Q] l/√Σ, units of x: how far from z the feature lives; +Inf: everywhere
}

// spread is the squared length of SD.
func (f Frequency) spread() (sum float64) {
	for _, sd := range f.SD {
		sum += sd * sd
	}
	return sum
}

// Frequencies are the posteriors of all features' frequencies, those first of
// which the model is most confident: with the smallest standard deviation, over
// the inputs its length. Of a model that is none there are none.
func (m *Model) Frequencies() []Frequency {
	if m.check() != nil {
		return nil
	}
	p := m.Params
	out := make([]Frequency, p.M())
	for k := range out {
		f := Frequency{Feature: k, Component: k / p.K}
		for q, unit := range m.X.Scale {
			at, l := k*p.Q+q, p.Lengthscale[k/p.K*p.Q+q]*unit
			mean, sd := math.Abs(p.FreqMean[at]/(2*math.Pi*l)+p.Frequency[k/p.K*p.Q+q]/unit), math.Sqrt(p.FreqVar[at])/(2*math.Pi*l)
			f.Location = append(f.Location, m.X.Offset[q]+unit*p.Location[at])
			f.Mean, f.SD = append(f.Mean, mean), append(f.SD, sd)
			f.Period, f.PeriodSD = append(f.Period, 1/mean), append(f.PeriodSD, sd/(mean*mean))
			f.Reach = append(f.Reach, l/math.Sqrt(p.FreqVar[at]))
		}
		out[k] = f
	}
	slices.SortStableFunc(out, func(a, b Frequency) int { return cmp.Compare(a.spread(), b.spread()) })
	return out
}

// A Component is what a model has learnt of one component of the covariance, in
// the data's units.
type Component struct {
	SD          []float64 `json:"sd"`               // [D] σ, units of y
	Lengthscale []float64 `json:"lengthscale"`      // [Q] l, units of x
	Period      []float64 `json:"period"`           // [Q] 1/|p|, units of x; +Inf: none
	Window      *int      `json:"window,omitempty"` // its window's index; nil without windows
}

// Components are the model's components in their own order.
func (m *Model) Components() []Component {
	if m.check() != nil {
		return nil
	}
	p := m.Params
	out := make([]Component, p.L)
	for i := range out {
		c := &out[i]
		for _, unit := range m.Y.Scale {
			c.SD = append(c.SD, math.Sqrt(p.Variance[i])*unit)
		}
		for q, unit := range m.X.Scale {
			c.Lengthscale = append(c.Lengthscale, p.Lengthscale[i*p.Q+q]*unit)
			c.Period = append(c.Period, unit/math.Abs(p.Frequency[i*p.Q+q]))
		}
		if p.ComponentWindow != nil {
			window := p.ComponentWindow[i]
			c.Window = &window
		}
	}
	return out
}

// NoiseSD is the noise's standard deviation in each output, in its units.
func (m *Model) NoiseSD() []float64 {
	if m.check() != nil {
		return nil
	}
	sd := make([]float64, 0, m.Params.D)
	for _, unit := range m.Y.Scale {
		sd = append(sd, unit/math.Sqrt(m.Params.NoisePrecision[0]))
	}
	return sd
}
