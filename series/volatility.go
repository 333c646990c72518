package series

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
)

// A volatility is how the size of a group's innovations and noise changes in time: they are multiplied by g = e^{h/2}, where h is an
// Ornstein–Uhlenbeck process. It is estimated from the squared innovations z² of the model without it: log(z² + ε) is h plus noise that is
// close to the logarithm of a chi-squared variable (Harvey, Ruiz & Shephard 1994; ε as in Fuller 1996).
type volatility struct {
	memory         // of the logarithms, with their noise as the unit
	unit   float64 // from that unit to h
	rows   *track  // times, and the logarithms
	known  float64 // the usual posterior variance at a row, in that unit
}

const (
	volatilityOffset = 0.02 // ε
	logSD            = 1.56 // of log(z² + ε) for a standard normal z
	volatilityRows   = 50   // the fewest
	volatilityGain   = 5    // nats that it has to gain
)

// newVolatility fits a volatility to the innovations of a group's outputs; nil if there is not enough evidence that their size changes.
func newVolatility(u []float64, innovations [][]float64) *volatility {
	n := len(u)
	if n < volatilityRows {
		return nil
	}
	v := &volatility{unit: logSD / math.Sqrt(float64(len(innovations)))}
	logs, e := make([]float64, n), make([]float64, n)
	for i := range logs {
		e[i] = 1
		for _, z := range innovations {
			logs[i] += math.Log(z[i]*z[i]+volatilityOffset) / float64(len(innovations))
		}
	}
	mean, _ := bayes.MeanSD(logs, 0, 1)
	v.rows = &track{u: u, e: e, y: [][]float64{standardized(logs, mean, v.unit)}}
	best := memory{Length: 1}.density(v.rows) + volatilityGain
	for ratio := 0.05; ratio < 4; ratio *= math.Sqrt2 {
		for length := 4.0; length <= u[n-1]-u[0]; length *= 2 {
			at := memory{Ratio: ratio, Length: length}
			if d := at.density(v.rows); d > best {
				best, v.memory = d, at
			}
		}
	}
	if v.Ratio == 0 {
		return nil
	}
	v.known = median(smoothedVariances(v.steps(v.rows), onlyMemory))
	return v
}

// density is the log density of a track's first output under a memory without derivative and its noise, but for a constant.
func (m memory) density(t *track) (sum float64) {
	k, state := m.kalman(), 0.0
	for i, c := range t.y[0] {
		k.to(t.u[i], t.e[i], 1)
		a := k.f[0][0] * state
		v := c - a
		state = a + k.gain[0]*v
		sum -= 0.5 * (k.log + v*v*k.scale*k.scale)
	}
	return sum
}

// at returns g at sorted times, by the mean of e^h; 1 without a volatility. Uncertainty of h counts where it is more than at the rows, to
// which λ is fitted.
func (v *volatility) at(u []float64) []float64 {
	g := slices.Repeat([]float64{1}, len(u))
	if v == nil || len(u) == 0 {
		return g
	}
	w := v.window(v.rows, u)
	variances := smoothedVariances(w.steps, onlyMemory)
	for i, h := range smooth(w.steps, w.column(v.rows.y[0][w.lo:]), onlyMemory) {
		if q := w.query[i]; q >= 0 {
			g[q] = math.Exp(0.5*v.unit*h + 0.25*v.unit*v.unit*max(0, variances[i]-v.known))
		}
	}
	return g
}

// change gives a track a volatility.
func (t *track) change(v *volatility) *track {
	if v == nil {
		return t
	}
	c := *t
	c.volatility, c.g, c.e = v, v.at(t.u), slices.Clone(t.e)
	for n, g := range c.g {
		c.e[n] *= g
	}
	return &c
}

// volatilities returns the volatility of each track at a trial's mode; ok is false if none changes.
func (s *search) volatilities(t *trial) (all []*volatility, ok bool, err error) {
	l := t.o.layout
	m := &Model{frame: s.frame, layout: l, tracks: s.tracks}
	at, err := m.conditional(s.ctx, t.mode)
	if err != nil {
		return nil, false, err
	}
	for g, track := range s.tracks {
		p := at[g]
		steps := p.memory.steps(track)
		var innovations [][]float64
		for _, r := range l.residuals(track, p.weights) {
			_, z := filter(steps, r)
			for n := range z {
				z[n] *= steps[n].scale / math.Sqrt(p.lambda)
			}
			innovations = append(innovations, z)
		}
		v := newVolatility(track.u, innovations)
		all, ok = append(all, v), ok || v != nil
	}
	return all, ok, nil
}

// volatile gives the search's rows and all rows the volatilities at a trial's mode, and returns the trial of its parts with them, if that has
// more evidence, unless the parts are certain.
func (s *search) volatile(t *trial, whole []*track) (*trial, []*track, error) {
	if s.o.certain() {
		return t, whole, nil
	}
	all, ok, err := s.volatilities(t)
	if err != nil || !ok {
		return t, whole, err
	}
	before, changed := s.tracks, make([]*track, len(whole))
	s.tracks = nil
	for g, v := range all {
		s.tracks, changed[g] = append(s.tracks, before[g].change(v)), whole[g].change(v)
	}
	next, err := s.trial(t.parts, t)
	if err != nil || next.fit() < t.fit()+minGain {
		s.tracks = before
		return t, whole, err
	}
	return next, changed, nil
}
