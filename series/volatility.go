package series

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
)

// A volatility is how the size of a group's short memory and noise changes in time: both are multiplied by g = e^{h/2}, where h is an
// Ornstein–Uhlenbeck process. Rows divided by g have a memory and noise of constant size, so everything else stays the same. h is
// estimated from the squared innovations z² of the model without it: log(z² + ε) is h plus noise that is close to the logarithm of a
// chi-squared variable (Harvey, Ruiz & Shephard 1994; ε as in Fuller 1996).
type volatility struct {
	memory         // of the logarithms, with their noise as the unit
	unit   float64 // from that unit to h
	rows   *track  // times, and the logarithms
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
	for i := range logs {
		logs[i] = (logs[i] - mean) / v.unit
	}
	v.rows = &track{u: u, e: e, y: [][]float64{logs}}
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
	return v
}

// density is the log density of a track's first output under a memory without derivative and its noise, but for a constant.
func (m memory) density(t *track) (sum float64) {
	k, state := m.kalman(), 0.0
	for i, c := range t.y[0] {
		k.to(t.u[i], t.e[i])
		a := k.f[0][0] * state
		v := c - a
		state = a + k.gain[0]*v
		sum -= 0.5 * (k.log + v*v*k.scale*k.scale)
	}
	return sum
}

// at returns g, by the posterior mean of h, at sorted times; 1 without a volatility.
func (v *volatility) at(u []float64) []float64 {
	g := slices.Repeat([]float64{1}, len(u))
	if v == nil || len(u) == 0 {
		return g
	}
	w := v.window(v.rows, u)
	for i, h := range smooth(w.steps, w.column(v.rows.y[0][w.lo:])) {
		if q := w.query[i]; q >= 0 {
			g[q] = math.Exp(0.5 * v.unit * h)
		}
	}
	return g
}

// change divides a track by g at its rows.
func (t *track) change(v *volatility) *track {
	if v == nil {
		return t
	}
	c := &track{u: t.u, e: t.e, outputs: t.outputs, volatility: v, inverse: make([]float64, len(t.u))}
	for n, g := range v.at(t.u) {
		c.inverse[n] = 1 / g
	}
	divide := func(columns [][]float64) (all [][]float64) {
		for _, column := range columns {
			divided := make([]float64, len(column))
			for n, x := range column {
				divided[n] = x * c.inverse[n]
			}
			all = append(all, divided)
		}
		return all
	}
	c.y, c.regressors = divide(t.y), divide(t.regressors)
	return c
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
		steps := p.memory.steps(track.u, track.e)
		var innovations [][]float64
		for _, r := range l.residuals(track, p.weights) {
			z, state := make([]float64, len(r)), state{}
			for n := range r {
				f := steps[n].next(state)
				v := r[n] - f[0]
				state = [2]float64{f[0] + steps[n].gain[0]*v, f[1] + steps[n].gain[1]*v}
				z[n] = v * steps[n].scale / math.Sqrt(p.lambda)
			}
			innovations = append(innovations, z)
		}
		v := newVolatility(track.u, innovations)
		all, ok = append(all, v), ok || v != nil
	}
	return all, ok, nil
}

// volatile divides the search's rows and all rows by the volatilities of a trial, and returns the trial of its parts with them, if that has
// more evidence.
func (s *search) volatile(t *trial, whole []*track) (*trial, []*track, error) {
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
