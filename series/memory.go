package series

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// A memory is the covariance of the short memory o and the noise, in units of the noise's variance λ: o is a stationary Gaussian process
// with the variance Ratio² whose correlation is that of ShortMemory, and the noise of row n has the variance e_n². Quality 0 is an
// Ornstein–Uhlenbeck process, whose state is its value; otherwise the state is the value and its derivative. With F_n and W_n the transition
// and the innovations' covariance from row n−1 to n, the Kalman filter takes any column c of numbers apart in O(N):
//
//	P_n = F_n Q_{n−1} F_nᵀ + W_n    S_n = (P_n)₀₀ + e_n²    k_n = (P_n)_{·0}/S_n    Q_n = P_n − k_n (P_n)_{0·}
//	v_n = c_n − (F_n f_{n−1})₀      f_n = F_n f_{n−1} + k_n v_n
//
// The v_n/√S_n are independent with variance 1 if c is o and noise: they are L⁻¹c with L Lᵀ the covariance K_o.
type memory struct{ Ratio, Length, Quality float64 }

// transition returns F and W over a time at unit variance.
func (m memory) transition(tau float64) (t transition) {
	if m.Quality == 0 {
		decay := math.Exp(-tau / m.Length)
		t.f[0][0], t.q[0][0] = decay, -math.Expm1(-2*tau/m.Length)
		return t
	}
	return oscillator(m.rates(), tau)
}

// rates returns γ and ω of an oscillating memory.
func (m memory) rates() (r rates) {
	return rates{1 / (2 * m.Quality * m.Quality * m.Length), 1 / (m.Quality * m.Length)}
}

// slopeVariance is the variance of the derivative at unit variance; 0 if the state has none.
func (m memory) slopeVariance() float64 {
	if m.Quality == 0 {
		return 0
	}
	omega := m.rates().omega
	return omega * omega
}

// reach is how far apart rows are independent, to 1e-16: the slowest exponential has decayed.
func (m memory) reach() float64 {
	slowest := 1 / m.Length
	if m.Quality > 0 {
		r := m.rates()
		if slowest = r.gamma; r.gamma > r.omega {
			slowest = r.omega * r.omega / (r.gamma + math.Sqrt(r.gamma*r.gamma-r.omega*r.omega))
		}
	}
	return 40 / slowest
}

// A step is the Kalman filter at a row: F, k, 1/√S and log S, and the variances P and Q before and after the value. A row without a value
// has k = 0 and 1/√S = 0.
type step struct {
	f          [2][2]float64
	gain       [2]float64
	scale, log float64
	p, q       [2][2]float64
}

// A kalman is the Kalman filter of a memory along sorted rows.
type kalman struct {
	memory
	step
	begun  bool
	u, gap float64
	t      transition
}

func (m memory) kalman() *kalman { return &kalman{memory: m, gap: math.NaN()} }

// to goes to row u, whose value has the noise e, or none if e is 0.
func (k *kalman) to(u, e float64) {
	variance := k.Ratio * k.Ratio
	if !k.begun {
		k.begun, k.f = true, [2][2]float64{}
		k.p = [2][2]float64{{variance, 0}, {0, variance * k.slopeVariance()}}
	} else {
		if gap := u - k.u; gap != k.gap {
			k.gap, k.t = gap, k.transition(gap)
		}
		k.f = k.t.f
		k.p = k.t.variance(k.q, variance)
	}
	k.u = u
	if e == 0 {
		k.gain, k.scale, k.log, k.q = [2]float64{}, 0, 0, k.p
		return
	}
	s := k.p[0][0] + e*e
	k.gain = [2]float64{k.p[0][0] / s, k.p[1][0] / s}
	k.scale, k.log = 1/math.Sqrt(s), math.Log(s)
	for i := range 2 {
		for j := range 2 {
			k.q[i][j] = k.p[i][j] - k.gain[i]*k.p[0][j]
		}
	}
	k.q[0][0] = k.gain[0] * e * e // p·e²/s: the difference would lose digits
}

// steps returns the filter at rows u with the noise e.
func (m memory) steps(u, e []float64) []step {
	k, all := m.kalman(), make([]step, len(u))
	for n := range u {
		k.to(u[n], e[n])
		all[n] = k.step
	}
	return all
}

// variance returns F Q Fᵀ and the innovations' covariance times a variance.
func (t *transition) variance(q [2][2]float64, innovations float64) (p [2][2]float64) {
	for i := range 2 {
		for j := range i + 1 {
			for a := range 2 {
				p[i][j] += t.f[i][a] * (q[a][0]*t.f[j][0] + q[a][1]*t.f[j][1])
			}
			p[i][j] += innovations * t.q[i][j]
			p[j][i] = p[i][j]
		}
	}
	return p
}

// A state is the value of a memory and its derivative.
type state [2]float64

// next returns F f.
func (s *step) next(f state) state {
	return state{s.f[0][0]*f[0] + s.f[0][1]*f[1], s.f[1][0]*f[0] + s.f[1][1]*f[1]}
}

// filter returns the filtered states of a column. The column is ignored at rows without a value.
func filter(steps []step, c []float64) []state {
	states := make([]state, len(steps))
	var f state
	for n := range steps {
		s := &steps[n]
		f = s.next(f)
		v := c[n] - f[0]
		f[0] += s.gain[0] * v
		f[1] += s.gain[1] * v
		states[n] = f
	}
	return states
}

// back returns the smoother's gain Q_n F_{n+1}ᵀ P_{n+1}⁻¹ from row n+1 to row n (Rauch, Tung & Striebel 1965).
func back(here, after *step) (j [2][2]float64) {
	var a [2][2]float64 // Q Fᵀ
	for i := range 2 {
		for k := range 2 {
			a[i][k] = here.q[i][0]*after.f[k][0] + here.q[i][1]*after.f[k][1]
		}
	}
	p := &after.p
	det := p[0][0]*p[1][1] - p[0][1]*p[1][0]
	switch {
	case p[0][0] <= 0:
	case !(det > 1e-14*p[0][0]*p[1][1]): // an Ornstein–Uhlenbeck process, or rows that coincide
		for i := range 2 {
			j[i][0] = a[i][0] / p[0][0]
		}
	default:
		for i := range 2 {
			j[i][0] = (a[i][0]*p[1][1] - a[i][1]*p[1][0]) / det
			j[i][1] = (a[i][1]*p[0][0] - a[i][0]*p[0][1]) / det
		}
	}
	return j
}

// smooth returns the posterior means of o given a column.
func smooth(steps []step, c []float64) []float64 {
	states := filter(steps, c)
	means := make([]float64, len(steps))
	for n := len(steps) - 1; n >= 0; n-- {
		if n+1 < len(steps) {
			j, predicted := back(&steps[n], &steps[n+1]), steps[n+1].next(states[n])
			d := state{states[n+1][0] - predicted[0], states[n+1][1] - predicted[1]}
			for i := range 2 {
				states[n][i] += j[i][0]*d[0] + j[i][1]*d[1]
			}
		}
		means[n] = states[n][0]
	}
	return means
}

// smoothedVariances returns the posterior variances of o.
func smoothedVariances(steps []step) []float64 {
	variances := make([]float64, len(steps))
	var later [2][2]float64
	for n := len(steps) - 1; n >= 0; n-- {
		here := steps[n].q
		if n+1 < len(steps) {
			after := &steps[n+1]
			t := transition{f: back(&steps[n], after)}
			for i := range 2 {
				for k := range 2 {
					later[i][k] -= after.p[i][k]
				}
			}
			less := t.variance(later, 0)
			for i := range 2 {
				for k := range 2 {
					here[i][k] += less[i][k]
				}
			}
		}
		later = here
		variances[n] = max(here[0][0], 0)
	}
	return variances
}

// draw draws o from its posterior given a column, by filtering forward and sampling backward.
func draw(steps []step, c []float64, random *rand.Rand) []float64 {
	states := filter(steps, c)
	values := make([]float64, len(steps))
	for n := len(steps) - 1; n >= 0; n-- {
		q := steps[n].q
		if n+1 < len(steps) {
			after := &steps[n+1]
			t := transition{f: back(&steps[n], after)}
			predicted := after.next(states[n])
			d := state{states[n+1][0] - predicted[0], states[n+1][1] - predicted[1]}
			less := t.variance(after.p, 0)
			for i := range 2 {
				states[n][i] += t.f[i][0]*d[0] + t.f[i][1]*d[1]
				for k := range 2 {
					q[i][k] -= less[i][k]
				}
			}
		}
		a, b, c := root(q)
		x, y := random.NormFloat64(), random.NormFloat64()
		states[n][0] += a * x
		states[n][1] += b*x + c*y
		values[n] = states[n][0]
	}
	return values
}

// color returns a draw of o and noise: L z.
func color(steps []step, random *rand.Rand) []float64 {
	out := make([]float64, len(steps))
	var f state
	for n := range steps {
		s := &steps[n]
		f = s.next(f)
		v := random.NormFloat64() / s.scale
		out[n] = f[0] + v
		f[0] += s.gain[0] * v
		f[1] += s.gain[1] * v
	}
	return out
}

// root returns the factor [a 0; b c] of a positive semidefinite matrix.
func root(q [2][2]float64) (a, b, c float64) {
	a, c = math.Sqrt(max(q[0][0], 0)), math.Sqrt(max(q[1][1], 0))
	if a > 0 {
		b = q[1][0] / a
		c = math.Sqrt(max(q[1][1]-b*b, 0))
	}
	return a, b, c
}

// apply returns K_o a for sorted rows u with the noise e, in O(N): rows before and after a row each make a state of their own.
func (m memory) apply(u, e, a []float64) []float64 {
	out := make([]float64, len(a))
	sweep := func(first, last, by int) {
		var s state
		for n := first; n != last; n += by {
			if n != first {
				t := step{f: m.transition(math.Abs(u[n] - u[n-by])).f}
				s = t.next(s)
			}
			out[n] += m.Ratio * m.Ratio * s[0]
			s[0] += a[n]
		}
	}
	sweep(0, len(a), 1)
	sweep(len(a)-1, -1, -1)
	for n, v := range a {
		out[n] += (m.Ratio*m.Ratio + e[n]*e[n]) * v
	}
	return out
}

// solve returns K_o⁻¹ c, which is what smoothing leaves of c over the noise's variance.
func solve(steps []step, e, c []float64) []float64 {
	out := smooth(steps, c)
	for n, v := range out {
		out[n] = (c[n] - v) / (e[n] * e[n])
	}
	return out
}

// A sequence is a track's rows and the times of queries in one order. e is 0 at a query.
type sequence struct {
	u, e  []float64
	value []int // the track's row; −1 for a query
	query []int // its number; −1 for a row
}

// join puts sorted queries among a track's rows.
func (t *track) join(queries []float64) *sequence {
	s, lo, hi := &sequence{}, 0, len(t.u)
	add := func(u, e float64, value, query int) {
		s.u, s.e, s.value, s.query = append(s.u, u), append(s.e, e), append(s.value, value), append(s.query, query)
	}
	for q := 0; lo < hi || q < len(queries); {
		if q == len(queries) || lo < hi && t.u[lo] <= queries[q] {
			add(t.u[lo], t.e[lo], lo, -1)
			lo++
		} else {
			add(queries[q], 0, -1, q)
			q++
		}
	}
	return s
}

// A track is the values of a group of outputs, with the regressors, in the order of u.
type track struct {
	u, e       []float64   // [N] times and the factors of the noise
	regressors [][]float64 // [J][N]
	y          [][]float64 // [outputs][N]
	outputs    []int

	volatility *volatility // nil: none
	inverse    []float64   // [N] 1/g, by which y and the regressors are multiplied; nil: 1
}

// track sorts a group's rows.
func (f *frame) track(g group) *track {
	t := &track{y: make([][]float64, len(g.outputs)), regressors: make([][]float64, len(f.z)), outputs: g.outputs}
	rows := slices.Clone(g.rows)
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(f.u[a], f.u[b]) })
	for _, n := range rows {
		t.u, t.e = append(t.u, f.u[n]), append(t.e, f.error(g.outputs[0], n))
		for i, d := range g.outputs {
			t.y[i] = append(t.y[i], f.y[d][n])
		}
		for j, z := range f.z {
			t.regressors[j] = append(t.regressors[j], z[n])
		}
	}
	return t
}

// tracks returns the tracks of all groups.
func (f *frame) tracks() (all []*track) {
	for _, g := range f.groups() {
		all = append(all, f.track(g))
	}
	return all
}

// rows returns rows [lo, hi).
func (t *track) rows(lo, hi int) *track {
	s := &track{u: t.u[lo:hi], e: t.e[lo:hi], outputs: t.outputs, volatility: t.volatility}
	if t.inverse != nil {
		s.inverse = t.inverse[lo:hi]
	}
	for _, y := range t.y {
		s.y = append(s.y, y[lo:hi])
	}
	for _, z := range t.regressors {
		s.regressors = append(s.regressors, z[lo:hi])
	}
	return s
}

// since returns the rows from a time on.
func (t *track) since(from float64) *track {
	lo, _ := slices.BinarySearch(t.u, from)
	return t.rows(lo, len(t.u))
}
