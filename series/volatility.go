package series

import (
	"cmp"
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
)

// A volatility is a time-varying scale g = e^{h/2} of a group's innovations and noise, where h is an Ornstein–Uhlenbeck process. It is
// estimated from the squared innovations z² of the model with constant scale: log(z² + ε) is h plus noise with approximately a log
// chi-squared distribution (Harvey, Ruiz & Shephard 1994; ε as in Fuller 1996).
type volatility struct {
	stateSpace         // model of log(z² + ε), in units of its noise
	unit       float64 // this unit, in units of h
	rows       *track  // times and standardized logarithms
	known      float64 // median posterior variance at an observation, in this unit
	mean       float64 // of the logarithms that it was fitted to
}

const (
	volatilityOffset = 0.02 // ε
	logSD            = 1.56 // of log(z² + ε) for a standard normal z
	volatilityRows   = 50   // minimum number of observations
	volatilityGain   = 5    // minimum gain in nats
)

// newVolatility fits a volatility to the innovations of a group's outputs. It returns nil if the evidence does not support one.
func newVolatility(u []float64, innovations [][]float64) *volatility {
	n := len(u)
	if n < volatilityRows {
		return nil
	}
	v := &volatility{unit: logSD / math.Sqrt(float64(len(innovations)))}
	logs := logSquares(innovations)
	v.mean, _ = bayes.MeanSD(logs, 0, 1)
	v.observe(u, logs)
	best := stateSpace{Length: 1}.density(v.rows) + volatilityGain
	for ratio := 0.05; ratio < 4; ratio *= math.Sqrt2 {
		for length := 4.0; length <= u[n-1]-u[0]; length *= 2 {
			at := stateSpace{Ratio: ratio, Length: length}
			if d := at.density(v.rows); d > best {
				best, v.stateSpace = d, at
			}
		}
	}
	if v.Ratio == 0 {
		return nil
	}
	v.known = bayes.Median(smoothedVariances(v.steps(v.rows), onlyMemory))
	return v
}

// logSquares returns the mean over the outputs of log(z² + ε) at each observation.
func logSquares(innovations [][]float64) []float64 {
	logs := make([]float64, len(innovations[0]))
	for i := range logs {
		for _, z := range innovations {
			logs[i] += math.Log(z[i]*z[i]+volatilityOffset) / float64(len(innovations))
		}
	}
	return logs
}

// observe sets the times and the logarithms.
func (v *volatility) observe(u, logs []float64) {
	v.rows = &track{u: u, e: slices.Repeat([]float64{1}, len(u)), y: [][]float64{standardized(logs, v.mean, v.unit)}}
}

// density returns the log density of a track's first output, up to a constant. Quality must be 0.
func (m stateSpace) density(t *track) (sum float64) {
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

// at returns g at sorted times, based on the mean of e^h, or 1 for a nil volatility. The posterior variance of h counts only as far as it
// exceeds the variance at observations, because λ already includes the latter.
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

// change returns a copy of a track with a volatility.
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

// volatilities estimates the volatility of each track at a trial's mode. ok is false if all are constant.
func (s *search) volatilities(t *trial) (all []*volatility, ok bool, err error) {
	innovations, err := s.innovations(t, s.tracks)
	if err != nil {
		return nil, false, err
	}
	for g, track := range s.tracks {
		v := newVolatility(track.u, innovations[g])
		all, ok = append(all, v), ok || v != nil
	}
	return all, ok, nil
}

// innovations returns the standardized innovations [groups][outputs][N] of tracks at a trial's mode.
func (s *search) innovations(t *trial, tracks []*track) (all [][][]float64, err error) {
	l := t.o.layout
	at, err := (&Model{frame: s.frame, layout: l, tracks: tracks}).conditional(s.ctx, t.mode)
	if err != nil {
		return nil, err
	}
	for g, track := range tracks {
		p := at[g]
		steps := p.process.steps(track)
		var innovations [][]float64
		for _, r := range l.residuals(track, p.weights) {
			_, z := filter(steps, r)
			for n := range z {
				z[n] *= steps[n].scale / math.Sqrt(p.lambda)
			}
			innovations = append(innovations, z)
		}
		all = append(all, innovations)
	}
	return all, nil
}

// volatile refits a trial with the volatilities of its innovations. If the gain is sufficient, it keeps them in the
// search and returns the new trial and the changed tracks. The short memory may fit the bursts of the noise, so the
// innovations of a trial without it give a second candidate. The fits are coarse.
func (s *search) volatile(t *trial, whole []*track) (*trial, []*track, error) {
	defer s.coarse()()
	best, found, err := s.refit(t, t, t)
	if err != nil {
		return nil, nil, err
	}
	rest, err := s.memoryless(t, found != nil)
	if err == nil && rest != nil {
		second, others, failed := s.refit(t, rest, cmp.Or(best, t))
		if second != nil && (best == nil || second.fit() > best.fit()) {
			best, found = second, others
		}
		err = failed
	}
	if err != nil {
		return nil, nil, err
	}
	if best == nil {
		return t, whole, nil
	}
	if s.from > 0 { // the volatility was only of those searched
		innovations, err := s.innovations(t, whole)
		if err != nil {
			return nil, nil, err
		}
		for g, v := range found {
			if v != nil {
				v.observe(whole[g].u, logSquares(innovations[g]))
			}
		}
	}
	s.tracks = changeAll(s.tracks, found)
	return best, changeAll(whole, found), nil
}

// changing returns a coarse fit of a trial with the volatilities of its innovations, if the gain is sufficient, and its search.
func (s *search) changing(t *trial) (*search, *trial, error) {
	c := *s
	c.coarse()
	next, found, err := c.refit(t, t, t)
	if err != nil || next == nil {
		return s, t, err
	}
	c.tracks = changeAll(s.tracks, found)
	return &c, next, nil
}

// refit refits a trial with the volatilities of another's innovations, beginning at the mode of a third. The volatilities are nil if they
// are constant or the parts are fixed; the trial is also nil if the gain is insufficient.
func (s *search) refit(t, from, start *trial) (*trial, []*volatility, error) {
	if s.o.certain() {
		return nil, nil, nil
	}
	found, ok, err := s.volatilities(from)
	if err != nil || !ok {
		return nil, nil, err
	}
	constant := s.tracks
	defer func() { s.tracks = constant }()
	s.tracks = changeAll(constant, found)
	next, err := s.trial(t.parts, start)
	if err != nil || next.fit() < t.fit()+minGain {
		return nil, found, err
	}
	return next, found, nil
}

// memoryless returns the best trial without the short memory if the search knows it. Otherwise it returns a trial with
// the other parts of t if asked to fit one, nil if there is no short memory.
func (s *search) memoryless(t *trial, asked bool) (*trial, error) {
	parts := without(t.parts, ShortMemory{})
	if s.rest != nil || !asked || !s.averages() || len(parts) == len(t.parts) {
		return s.rest, nil
	}
	return s.trial(parts, nil)
}

// changeAll returns copies of tracks with their volatilities.
func changeAll(tracks []*track, volatilities []*volatility) (all []*track) {
	for g, v := range volatilities {
		all = append(all, tracks[g].change(v))
	}
	return all
}
