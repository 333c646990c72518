package vssgp

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Progress says where a fit stands.
type Progress struct {
	Start, Starts         int           // which of how many starts, from 1
	Stage                 string        // what is free: "frequencies", "all", …
	Iteration, Iterations int           // of this start, over all stages
	Bound                 float64       // so far, of this start, in nats
	NoiseSD               float64       // τ^−½ in units of y (of the first output)
	Elapsed, Left         time.Duration // since the fit began; expected until it ends
}

// Result says how a fit went.
type Result struct {
	Bound float64 // of the start that was kept, in nats, of y in the model's units
	Terms []Term  // they add up to Bound
	// LogPrior is the log density of the optimized hyper-parameters' logarithms
	// under Options.Priors. A fit maximizes Bound + LogPrior; 0 without priors.
	LogPrior   float64
	Iterations int           // of the start that was kept
	Starts     []StartResult // in the order they were made
	Kept       int           // index in Starts
	Jitter     float64       // in A at the end, 0 as a rule
	// Sums says how the last bound's sums over rows were taken: "tables" if from tables of the rows' Fourier sums, whose
	// cost does not grow with the number of rows (one input, no windows, exact inference on the CPU), else "rows".
	Sums string
	// NoiseFloor is the least noise that float64 can tell from none, as a standard
	// deviation in units of y (of the first output), if the fit ended within twice
	// that variance and its bound would rise with less noise: the model then explains
	// the data to their last digits. Otherwise it is 0.
	NoiseFloor float64
	Device     string        // what computed: the backend's name
	Elapsed    time.Duration // of all runs of a fit that was resumed
	// NoPosterior is why the model has no Posterior; "" if it has one.
	NoPosterior string
	// HeldOut compares a fit of one input with straight lines between neighbors,
	// if the posterior is small enough to be computed once more. Otherwise it has no
	// rows.
	HeldOut HeldOut
	// Resumed is the number of iterations that the running start had taken in the
	// checkpoint from which the fit was resumed; −1 if it was not resumed.
	Resumed int
	// Unsaved is why the last checkpoint could not be written; nil if it was.
	Unsaved error
}

// StartResult is one start's end.
type StartResult struct {
	Seed  uint64  `json:"seed"`  // that the start's random numbers came from
	Bound float64 `json:"bound"` // at its end, in nats
	// Ended is why the optimisation ended, or "collapsed: …" if the result was
	// recognized as one of the bad optima.
	Ended string `json:"ended"`
}

// A HeldOut says how well a fit of one input predicts rows from the others around
// them. A tenth of the rows is held out, in intervals as long as the data's own
// gaps. The fitted covariance and noise, which have seen all rows, are conditioned
// on the rest and predict them. See DESIGN.md, "Is the fit better than a line?".
type HeldOut struct {
	Rows int // held out
	// RMSE is the error there, raised because the point estimates had seen these rows
	// (Akaike's final prediction error, 1970). Line is the error of straight lines
	// between the neighbors that are left. Both are in the model's units of y:
	// standard deviations, unless the fit was Raw.
	RMSE, Line float64
}

const (
	// heldTry times the line's error is enough for another start, and heldWorse
	// for Worse; so is neither up to heldSmall standard deviations: where data
	// have next to no noise a line's error is next to nothing, and so is ours.
	heldTry, heldWorse = 1.0, 1.1
	heldSmall          = 1e-3
)

// Worse reports whether the fit is clearly worse than straight lines between
// neighbors: by a tenth, and more than a thousandth of a standard deviation.
func (h HeldOut) Worse() bool { return h.above(heldWorse) }

func (h HeldOut) above(margin float64) bool {
	return h.RMSE > margin*h.Line && h.RMSE > heldSmall
}

// A Frequency describes one feature's frequency under the posterior, in the data's
// units.
type Frequency struct {
	Feature   int       `json:"feature"`      // k, from 0 to M−1
	Component int       `json:"-"`            // i = k/K
	Location  []float64 `json:"location"`     // [Q] z, units of x
	Mean      []float64 `json:"frequency"`    // [Q] |μ/l + 2πp|/2π, cycles per unit of x
	SD        []float64 `json:"frequency_sd"` // [Q] under Model.Posterior, cycles per unit of x; nil without it
	Period    []float64 `json:"period"`       // [Q] 1/Mean, units of x; +Inf: none
	PeriodSD  []float64 `json:"period_sd"`    // [Q] SD/Mean², to first order; nil without SD
	Spread    []float64 `json:"-"`            // [Q] √Σ/(2πl), of q(w) alone: too little where the hyper-parameters are uncertain
	Reach     []float64 `json:"reach"`        // [Q] l/√Σ, units of x: how far from z the feature lives; +Inf: everywhere
}

// length is the squared length of SD, or of Spread without it.
func (f Frequency) length() (sum float64) {
	of := f.SD
	if of == nil {
		of = f.Spread
	}
	for _, sd := range of {
		sum += sd * sd
	}
	return sum
}

// Frequencies are the posteriors of all features' frequencies. The most confident
// come first: those whose vector of standard deviations is shortest, or of spreads
// if the model has no Posterior. An invalid model has none.
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
			mean := math.Abs(p.FreqMean[at]/(2*math.Pi*l) + p.Frequency[k/p.K*p.Q+q]/unit)
			f.Location = append(f.Location, m.X.Offset[q]+unit*p.Location[at])
			f.Mean, f.Period = append(f.Mean, mean), append(f.Period, 1/mean)
			f.Spread = append(f.Spread, math.Sqrt(p.FreqVar[at])/(2*math.Pi*l))
			if m.hyper != nil && m.hyper.Features != nil {
				sd := m.hyper.Features[at] / unit
				f.SD, f.PeriodSD = append(f.SD, sd), append(f.PeriodSD, sd/(mean*mean))
			}
			f.Reach = append(f.Reach, l/math.Sqrt(p.FreqVar[at]))
		}
		out[k] = f
	}
	slices.SortStableFunc(out, func(a, b Frequency) int { return cmp.Compare(a.length(), b.length()) })
	return out
}

// A Component describes one component of the fitted covariance, in the data's units.
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
