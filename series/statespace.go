package series

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// A stateSpace is the state-space model of the OU residual o (ShortMemory), the random walk w and the noise. Variances are in units of the
// noise variance λ. o is a stationary Gaussian process with variance Ratio²: an Ornstein–Uhlenbeck process if Quality is 0, else a damped
// oscillator. w is Brownian motion whose variance grows by Walk² per step, from 0 at −start. The noise of observation n has variance
// e_n². The state contains o, its derivative (unless Quality is 0) and w. A volatility g_n multiplies the innovations and the noise. Let
// F_n and W_n be the transition matrix and the innovation covariance from observation n−1 to n, including g_n, and let H sum o and w. The
// Kalman filter computes the innovations v_n of any column c in O(N):
//
//	P_n = F_n Q_{n−1} F_nᵀ + W_n    S_n = H P_n Hᵀ + e_n²    k_n = P_n Hᵀ/S_n    Q_n = P_n − k_n H P_n
//	v_n = c_n − H F_n f_{n−1}       f_n = F_n f_{n−1} + k_n v_n
//
// The whitened column v_n/√S_n equals L⁻¹c, where L Lᵀ = K_o is the covariance of o, w and the noise.
//
// The slope s of the level is an Ornstein–Uhlenbeck process whose integral from −start is part of w. The standard deviation of the change
// of this integral over span is Rise.
type stateSpace struct {
	Ratio, Length, Quality float64 // of o
	Walk                   float64 // of w
	Rise, Return           float64 // of s; Return is its correlation length
	start, span            float64
}

// states is the number of states: o, its derivative, w, s.
const states = 4

type (
	state  [states]float64
	square [states][states]float64
)

// A selection contains the coefficients of a sum of states.
type selection state

var (
	everyState = selection{1, 0, 1, 0}
	onlyMemory = selection{1, 0, 0, 0}
	onlyWalk   = selection{0, 0, 1, 0}
)

// of returns the selected sum.
func (s selection) of(f *state) float64 { return s[0]*f[0] + s[2]*f[2] }

// variance returns the variance of the selected sum.
func (s selection) variance(p *square) float64 {
	return s[0]*p[0][0] + 2*s[0]*s[2]*p[0][2] + s[2]*p[2][2]
}

// transition returns F and W over time tau.
func (m stateSpace) transition(tau float64) (f, w square) {
	variance := m.Ratio * m.Ratio
	if m.Quality == 0 {
		f[0][0], w[0][0] = math.Exp(-tau/m.Length), -variance*math.Expm1(-2*tau/m.Length)
	} else {
		t := oscillator(m.rates(), tau)
		for i := range 2 {
			for j := range 2 {
				f[i][j], w[i][j] = t.f[i][j], variance*t.q[i][j]
			}
		}
	}
	f[2][2], w[2][2] = 1, m.Walk*m.Walk*tau
	if m.Rise > 0 {
		m.drift(tau, &f, &w)
	}
	return f, w
}

// drift adds the transition of the slope and its integral over time tau.
func (m stateSpace) drift(tau float64, f, w *square) {
	l, t := m.Return, tau/m.Return
	a := -math.Expm1(-t) // 1 − e^{−τ/L}
	f[2][3], f[3][3] = l*a, 1-a
	variance := m.slopeVariance()
	w[2][2] += variance * l * l * integrated(t)
	w[2][3] = variance * l * a * a
	w[3][2] = w[2][3]
	w[3][3] = variance * a * (2 - a)
}

// integrated returns 2t − 3 + 4e^{−t} − e^{−2t}: the variance of the integral of an Ornstein–Uhlenbeck process with variance
// and length 1 over time t, given its first value. For small t, which cancels, it is a power series.
func integrated(t float64) float64 {
	if t > 0.5 {
		return 2*t - 3 + 4*math.Exp(-t) - math.Exp(-2*t)
	}
	sum, term, power := 0.0, 0.5*t*t, 4.0 // t^k/k!, 2^k
	for k := 3.0; k < 20; k++ {
		term *= -t / k
		power *= 2
		sum -= (power - 4) * term
	}
	return sum
}

// slopeVariance returns the variance of s.
func (m stateSpace) slopeVariance() float64 {
	return m.Rise * m.Rise / (m.Return * m.Return * risen(m.span/m.Return))
}

// risen returns 2(t − 1 + e^{−t}): the variance of the integral of a stationary Ornstein–Uhlenbeck process with variance
// and length 1 over time t. For small t, which cancels, it is a power series.
func risen(t float64) float64 {
	if t > 0.5 {
		return 2 * (t + math.Expm1(-t))
	}
	sum, term := 0.0, -t
	for k := 2.0; k < 18; k++ {
		term *= -t / k
		sum += 2 * term
	}
	return sum
}

// prior returns the prior covariance of the state at time u.
func (m stateSpace) prior(u float64) (p square) {
	variance := m.Ratio * m.Ratio
	p[0][0], p[2][2] = variance, m.Walk*m.Walk*(u+m.start)
	if m.Quality > 0 {
		omega := m.rates().omega
		p[1][1] = variance * omega * omega
	}
	if m.Rise > 0 {
		v, l := m.slopeVariance(), m.Return
		p[2][2] += v * l * l * risen((u+m.start)/l)
		p[2][3] = -v * l * math.Expm1(-(u+m.start)/l)
		p[3][2], p[3][3] = p[2][3], v
	}
	return p
}

// rates returns γ and ω of the oscillator. Quality must not be 0.
func (m stateSpace) rates() (r rates) {
	return rates{1 / (2 * m.Quality * m.Quality * m.Length), 1 / (m.Quality * m.Length)}
}

// none reports whether there is neither an OU residual nor a random walk nor a slope.
func (m stateSpace) none() bool { return m.Ratio == 0 && m.Walk == 0 && m.Rise == 0 }

// reach returns the distance in steps beyond which an observation does not influence the state, to about 1e-16: forty times the slower of
// the decay times of the OU correlation and of the random walk's filter gain.
func (m stateSpace) reach() float64 {
	slowest := 0.0
	if m.Ratio > 0 {
		slowest = m.Length
		if m.Quality > 0 {
			r := m.rates()
			slowest = 1 / r.gamma
			if r.gamma > r.omega {
				slowest = (r.gamma + math.Sqrt(r.gamma*r.gamma-r.omega*r.omega)) / (r.omega * r.omega)
			}
		}
	}
	if m.Walk > 0 {
		slowest = max(slowest, math.Sqrt(1+2*m.Ratio*m.Ratio*m.Length)/m.Walk)
	}
	if m.Rise > 0 { // of the filter of an integrated random walk with the same innovations
		slowest = max(slowest, 2*math.Pow(m.slopeVariance()*2/m.Return, -0.25))
	}
	return 40 * slowest
}

// A step is one step of the Kalman filter: F, the gain k, 1/√S, log S, and the covariances P (predicted) and Q (filtered). A missing
// value has k = 0 and 1/√S = 0.
type step struct {
	f          square
	gain       state
	scale, log float64
	p, q       square
}

// A kalman is the Kalman filter of a stateSpace at increasing times.
type kalman struct {
	stateSpace
	step
	begun  bool
	u, gap float64
	moved  square // F
	added  square // W
}

func (m stateSpace) kalman() *kalman { return &kalman{stateSpace: m, gap: math.NaN()} }

// to advances the filter to an observation at time u with noise sd e and volatility g. If e is 0, the value is missing.
func (k *kalman) to(u, e, g float64) {
	k.predict(u, g)
	if e == 0 {
		k.gain, k.scale, k.log, k.q = state{}, 0, 0, k.p
		return
	}
	cross := k.cross()
	s := cross[0] + cross[2] + e*e
	k.scale, k.log = 1/math.Sqrt(s), math.Log(s)
	for i := range states {
		k.gain[i] = cross[i] / s
		for j := range states {
			k.q[i][j] = k.p[i][j] - cross[i]*cross[j]/s
		}
	}
}

// cross returns P Hᵀ.
func (s *step) cross() (c state) {
	for i := range states {
		c[i] = s.p[i][0] + s.p[i][2]
	}
	return c
}

// predict advances the filter to time u without an update.
func (k *kalman) predict(u, g float64) {
	if !k.begun {
		k.begun, k.f, k.p, k.u = true, square{}, k.prior(u), u
		for i := range 2 {
			for j := range 2 {
				k.p[i][j] *= g * g
			}
		}
		return
	}
	if gap := u - k.u; gap != k.gap {
		k.gap = gap
		k.moved, k.added = k.transition(gap)
	}
	k.f, k.p, k.u = k.moved, k.moved.carry(&k.q), u
	k.p.add(g*g, &k.added)
}

func (p *square) add(factor float64, q *square) {
	for i := range states {
		for j := range states {
			p[i][j] += factor * q[i][j]
		}
	}
}

// around returns G Q Gᵀ.
func (g *square) around(q *square) (p square) {
	var a square
	for i := range states {
		for j := range states {
			a[i][j] = g[i][0]*q[0][j] + g[i][1]*q[1][j] + g[i][2]*q[2][j] + g[i][3]*q[3][j]
		}
	}
	for i := range states {
		for j := range i + 1 {
			p[i][j] = a[i][0]*g[j][0] + a[i][1]*g[j][1] + a[i][2]*g[j][2] + a[i][3]*g[j][3]
			p[j][i] = p[i][j]
		}
	}
	return p
}

// carry returns F Q Fᵀ of a transition F, which is a block of o and its derivative and a triangle of w and s.
func (f *square) carry(q *square) (p square) {
	var a square // F Q
	for j := range states {
		a[0][j] = f[0][0]*q[0][j] + f[0][1]*q[1][j]
		a[1][j] = f[1][0]*q[0][j] + f[1][1]*q[1][j]
		a[2][j] = f[2][2]*q[2][j] + f[2][3]*q[3][j]
		a[3][j] = f[3][3] * q[3][j]
	}
	for i := range states {
		p[i][0] = a[i][0]*f[0][0] + a[i][1]*f[0][1]
		p[i][1] = a[i][0]*f[1][0] + a[i][1]*f[1][1]
		p[i][2] = a[i][2]*f[2][2] + a[i][3]*f[2][3]
		p[i][3] = a[i][3] * f[3][3]
	}
	for i := range states {
		for j := range i {
			p[j][i] = p[i][j]
		}
	}
	return p
}

// steps returns the filter steps at the observations of a track.
func (m stateSpace) steps(t *track) []step {
	k, all := m.kalman(), make([]step, len(t.u))
	for n := range t.u {
		k.to(t.u[n], t.e[n], t.size(n))
		all[n] = k.step
	}
	return all
}

// next returns F f of a transition.
func (f *square) next(from *state) (to state) {
	to[0] = f[0][0]*from[0] + f[0][1]*from[1]
	to[1] = f[1][0]*from[0] + f[1][1]*from[1]
	to[2] = f[2][2]*from[2] + f[2][3]*from[3]
	to[3] = f[3][3] * from[3]
	return to
}

// update updates a predicted state with the value c and returns the innovation.
func (s *step) update(f *state, c float64) (v float64) {
	v = c - f[0] - f[2]
	for i, k := range s.gain {
		f[i] += k * v
	}
	return v
}

// filter returns the filtered states and the innovations of a column [N]. Missing observations are ignored.
func filter(steps []step, c []float64) (all []state, innovations []float64) {
	all, innovations = make([]state, len(steps)), make([]float64, len(steps))
	var f state
	for n := range steps {
		f = steps[n].f.next(&f)
		innovations[n] = steps[n].update(&f, c[n])
		all[n] = f
	}
	return all, innovations
}

// cholesky returns the lower Cholesky factor of p. A state whose conditional variance is at most 1e-13 of its variance in scale has a
// zero column.
func (p *square) cholesky(scale *square) (l square) {
	const certain = 1e-13
	for j := range states {
		for i := j; i < states; i++ {
			v := p[i][j]
			for k := range j {
				v -= l[i][k] * l[j][k]
			}
			if i > j {
				l[i][j] = v / l[j][j]
			} else if v <= certain*scale[j][j] || v <= 0 {
				break
			} else {
				l[j][j] = math.Sqrt(v)
			}
		}
	}
	return l
}

// back returns the smoother gain Q_n F_{n+1}ᵀ P_{n+1}⁻¹ (Rauch, Tung & Striebel 1965). It ignores states that are certain given the
// others.
func back(here, after *step) (gain square) {
	l := after.p.cholesky(&after.p)
	for i := range states {
		x := after.f.next((*state)(&here.q[i])) // row i of Q Fᵀ
		for j := range states {                 // L y = x
			if l[j][j] == 0 {
				x[j] = 0
				continue
			}
			for k := range j {
				x[j] -= l[j][k] * x[k]
			}
			x[j] /= l[j][j]
		}
		for j := states - 1; j >= 0; j-- { // Lᵀ z = y
			if l[j][j] == 0 {
				continue
			}
			for k := j + 1; k < states; k++ {
				x[j] -= l[k][j] * x[k]
			}
			x[j] /= l[j][j]
		}
		gain[i] = x
	}
	return gain
}

// smoothed turns a filtered state into the smoothed state, given the smoothed state of the next observation.
func (f *state) smoothed(gain *square, after *step, later *state) {
	predicted := after.f.next(f)
	for j := range states {
		d := later[j] - predicted[j]
		for i := range states {
			f[i] += gain[i][j] * d
		}
	}
}

// smooth returns the posterior means [N] of a selection given a column [N].
func smooth(steps []step, c []float64, of selection) []float64 {
	all, _ := filter(steps, c)
	means := make([]float64, len(steps))
	for n := len(steps) - 1; n >= 0; n-- {
		if n+1 < len(steps) {
			gain := back(&steps[n], &steps[n+1])
			all[n].smoothed(&gain, &steps[n+1], &all[n+1])
		}
		means[n] = of.of(&all[n])
	}
	return means
}

// smoothedVariances returns the posterior variances [N] of a selection.
func smoothedVariances(steps []step, of selection) []float64 {
	variances := make([]float64, len(steps))
	var later square
	for n := len(steps) - 1; n >= 0; n-- {
		here := steps[n].q
		if n+1 < len(steps) {
			gain := back(&steps[n], &steps[n+1])
			later.add(-1, &steps[n+1].p)
			less := gain.around(&later)
			here.add(1, &less)
		}
		later = here
		variances[n] = max(of.variance(&here), 0)
	}
	return variances
}

// draw draws o + w from its posterior given a column, by forward filtering and backward sampling.
func draw(steps []step, c []float64, random *rand.Rand) []float64 {
	all, _ := filter(steps, c)
	values := make([]float64, len(steps))
	for n := len(steps) - 1; n >= 0; n-- {
		q := steps[n].q
		if n+1 < len(steps) {
			gain := back(&steps[n], &steps[n+1])
			all[n].smoothed(&gain, &steps[n+1], &all[n+1])
			less := gain.around(&steps[n+1].p)
			q.add(-1, &less)
		}
		l := q.cholesky(&steps[n].q)
		for j := range states {
			z := random.NormFloat64()
			for i := j; i < states; i++ {
				all[n][i] += l[i][j] * z
			}
		}
		values[n] = everyState.of(&all[n])
	}
	return values
}

// color returns a draw L z from the prior of o + w + noise.
func color(steps []step, random *rand.Rand) []float64 {
	out := make([]float64, len(steps))
	var f state
	for n := range steps {
		f = steps[n].f.next(&f)
		out[n] = f[0] + f[2] + random.NormFloat64()/steps[n].scale
		steps[n].update(&f, out[n])
	}
	return out
}

// A covariance computes products with K_o at the observations of a track.
type covariance struct {
	*track
	prior []before
}

// before is the state before an observation, given no other: F, P Hᵀ and H P Hᵀ.
type before struct {
	f        square
	cross    state
	variance float64
}

func (m stateSpace) covarianceOf(t *track) *covariance {
	k, c := m.kalman(), &covariance{track: t, prior: make([]before, len(t.u))}
	for n, u := range t.u {
		k.predict(u, t.size(n))
		k.q = k.p
		c.prior[n] = before{k.f, k.cross(), everyState.variance(&k.p)}
	}
	return c
}

// times returns K_o a in O(N). The covariance of observations m < n is H F_n ⋯ F_{m+1} P_m Hᵀ. One forward and one backward
// recursion therefore sum all terms.
func (c *covariance) times(a []float64) []float64 {
	out := make([]float64, len(a))
	var s state
	for n, v := range a {
		k := &c.prior[n]
		s = k.f.next(&s)
		out[n] = s[0] + s[2] + (k.variance+c.e[n]*c.e[n])*v
		for i, p := range k.cross {
			s[i] += p * v
		}
	}
	s = state{}
	for n := len(a) - 1; n >= 0; n-- {
		k := &c.prior[n]
		for i, p := range k.cross {
			out[n] += p * s[i]
		}
		s[0], s[2] = s[0]+a[n], s[2]+a[n]
		s = k.f.previous(&s)
	}
	return out
}

// previous returns Fᵀ f of a transition.
func (f *square) previous(from *state) state {
	return state{
		f[0][0]*from[0] + f[1][0]*from[1], f[0][1]*from[0] + f[1][1]*from[1],
		f[2][2] * from[2], f[2][3]*from[2] + f[3][3]*from[3],
	}
}

// solve returns α = K_o⁻¹ c by a backward recursion over the innovations (de Jong 1989): with q_n = F_{n+1}ᵀ r_n,
//
//	α_n = v_n/S_n − k_nᵀ q_n      r_{n−1} = Hᵀ α_n + q_n
func solve(steps []step, c []float64) []float64 {
	_, out := filter(steps, c)
	var q state
	for n := len(steps) - 1; n >= 0; n-- {
		s := &steps[n]
		v := out[n] * s.scale * s.scale
		for i, k := range s.gain {
			v -= k * q[i]
		}
		out[n] = v
		q[0], q[2] = q[0]+v, q[2]+v
		q = s.f.previous(&q)
	}
	return out
}

// A track contains the observations of a group of outputs, with the regressors, in increasing order of u.
type track struct {
	u, e       []float64   // [N] times and the factors of the noise
	regressors [][]float64 // [J][N]
	y          [][]float64 // [outputs][N]
	outputs    []int

	volatility *volatility // nil: constant
	g          []float64   // [N] volatility, already included in e; nil: 1
}

func (t *track) size(n int) float64 {
	if t.g == nil {
		return 1
	}
	return t.g[n]
}

// order returns the observation indices in the order of u.
func (t *track) order() []int {
	order := upTo(0, len(t.u))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.u[a], t.u[b]) })
	return order
}

func upTo(lo, hi int) []int {
	all := make([]int, hi-lo)
	for i := range all {
		all[i] = lo + i
	}
	return all
}

// pick returns the times and regressors of some observations.
func (t *track) pick(rows []int) *track {
	p := &track{u: picked(t.u, rows)}
	for _, z := range t.regressors {
		p.regressors = append(p.regressors, picked(z, rows))
	}
	return p
}

func picked(values []float64, rows []int) []float64 {
	all := make([]float64, len(rows))
	for i, n := range rows {
		all[i] = values[n]
	}
	return all
}

// tracks returns one track per group.
func (f *frame) tracks() (tracks []*track) {
	all := &track{u: f.u, regressors: f.z}
	for _, g := range f.groups() {
		slices.SortStableFunc(g.rows, func(a, b int) int { return cmp.Compare(f.u[a], f.u[b]) })
		t := all.pick(g.rows)
		t.outputs = g.outputs
		for _, d := range g.outputs {
			t.y = append(t.y, picked(f.y[d], g.rows))
		}
		for _, n := range g.rows {
			t.e = append(t.e, f.error(g.outputs[0], n))
		}
		tracks = append(tracks, t)
	}
	return tracks
}

func (t *track) rows(lo, hi int) *track {
	s := &track{u: t.u[lo:hi], e: t.e[lo:hi], outputs: t.outputs, volatility: t.volatility}
	if t.g != nil {
		s.g = t.g[lo:hi]
	}
	for _, y := range t.y {
		s.y = append(s.y, y[lo:hi])
	}
	for _, z := range t.regressors {
		s.regressors = append(s.regressors, z[lo:hi])
	}
	return s
}

// where returns the observations at the times that keep selects.
func (t *track) where(keep func(u float64) bool) *track {
	rows := slices.DeleteFunc(upTo(0, len(t.u)), func(n int) bool { return !keep(t.u[n]) })
	s := t.pick(rows)
	s.e, s.outputs, s.volatility = picked(t.e, rows), t.outputs, t.volatility
	if t.g != nil {
		s.g = picked(t.g, rows)
	}
	for _, y := range t.y {
		s.y = append(s.y, picked(y, rows))
	}
	return s
}

// since returns the observations at times u ≥ from.
func since(tracks []*track, from float64) (all []*track) {
	for _, t := range tracks {
		lo, _ := slices.BinarySearch(t.u, from)
		all = append(all, t.rows(lo, len(t.u)))
	}
	return all
}
