package vssgp

import (
	"cmp"
	"math"
	"slices"
)

// A Frequency is what a model believes of one feature's frequency, in the
// data's units.
type Frequency struct {
	Feature, Component int       // their indices k, from 0 to M−1, and i = k/K
	Location           []float64 // [Q] z, units of x
	Mean               []float64 // [Q] |μ/l + 2πp|/2π, cycles per unit of x
	SD                 []float64 // [Q] √Σ/(2πl), cycles per unit of x; 0: a point frequency
	Reach              []float64 // [Q] l/√Σ, units of x: how far from z the feature lives; +Inf: everywhere
}

// spread is the squared length of SD.
func (f Frequency) spread() float64 { return dotSelf(f.SD) }

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
			f.Location = append(f.Location, m.X.Offset[q]+unit*p.Location[at])
			f.Mean = append(f.Mean, math.Abs(p.FreqMean[at]/(2*math.Pi*l)+p.Frequency[k/p.K*p.Q+q]/unit))
			f.SD = append(f.SD, math.Sqrt(p.FreqVar[at])/(2*math.Pi*l))
			f.Reach = append(f.Reach, l/math.Sqrt(p.FreqVar[at]))
		}
		out[k] = f
	}
	slices.SortStableFunc(out, func(a, b Frequency) int { return cmp.Compare(a.spread(), b.spread()) })
	return out
}
