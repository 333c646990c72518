package markov

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// A step is one step of the Kalman filter. With the transition matrix F, the covariance W of the innovations, H the sum of the processes,
// and the variance e of the noise:
//
//	P = F·Q'·Fᵀ + W    S = H·P·Hᵀ + e    k = P·Hᵀ/S    Q = P − k·H·P        (Q' is Q of the step before)
//
// Slopes are derivatives with respect to the coordinates: for each term log SD, log Length and Frequency, then the logarithm of the noise's
// standard deviation.
type step struct {
	f, p square
	gain []float64 // k [J]
	s    float64   // S; 0 for a time without observation

	df []float64 // slopes of F [slopes,J,J]
	dk []float64 // slopes of k [slopes,J]
	ds []float64 // slopes of S [slopes]
}

// Filtered is Q after a time, and its slopes [slopes,J,J].
type filtered struct{ q, dq []float64 }

// A Filter is the Kalman filter at sorted times, which is the Cholesky factor of K = Σ terms + noise²·I: the whitened column v_n/√S_n is
// L⁻¹c, with v_n = c_n − H·F_n·f_{n−1} and f_n = F_n·f_{n−1} + k_n·v_n.
type Filter struct {
	terms  []Term
	noise  float64 // variance
	n, j   int     // times and states
	h      []float64
	prior  []float64 // diagonal of the stationary covariance [J]
	slopes int       // number of coordinates; 0 without derivatives
	block  [][2]int  // range of the states of the same term, for each state
	steps  []*step   // [N]; equal steps share memory

	priors                          []float64 // slopes of the stationary covariance [slopes,J,J]
	free                            []float64 // numbers of future steps
	moved, change, cross, row, drow []float64 // temporary
}

// steady is the relative change of Q below which the filter is considered to be in its steady state. Further steps over the same distance
// in time are then equal.
const steady = 1e-15

// sameGap is the difference of two distances in time up to which they are equal, in units of the largest time: the times of even rows are
// rounded.
const sameGap = 1e-15

// New returns the filter of the terms and noise with the given standard deviation at sorted times, with derivatives if slopes is true.
// observed reports for each time whether it has an observation; nil means all.
func New(terms []Term, noise float64, times []float64, observed []bool, slopes bool) *Filter {
	f := newFilter(terms, noise, len(times), slopes)
	if len(times) == 0 {
		return f
	}
	rounding := sameGap * max(math.Abs(times[0]), math.Abs(times[len(times)-1]))
	same := math.NaN() // distance between the last two times, if the filter was steady there
	before, now := f.newFiltered(), f.newFiltered()
	for n, t := range times {
		gap, seen := math.Inf(1), observed == nil || observed[n]
		if n > 0 {
			gap = t - times[n-1]
		}
		if n > 0 && seen && math.Abs(gap-same) <= rounding {
			f.steps = append(f.steps, f.steps[n-1])
			continue
		}
		before, now = now, before
		f.steps = append(f.steps, f.step(before, now, gap, n == 0, seen))
		same = math.NaN()
		if n > 1 && seen && f.steps[n-1].s > 0 && math.Abs(gap-(times[n-1]-times[n-2])) <= rounding && f.near(before, now) {
			same = gap
		}
	}
	return f
}

// newFilter returns a filter without steps.
func newFilter(terms []Term, noise float64, n int, slopes bool) *Filter {
	f := &Filter{terms: terms, noise: noise * noise, n: n, j: states(terms), steps: make([]*step, 0, n)}
	for _, t := range terms {
		f.block = append(f.block, slices.Repeat([][2]int{{len(f.h), len(f.h) + t.states()}}, t.states())...)
		f.h = append(f.h, append([]float64{1}, make([]float64, t.states()-1)...)...)
		f.prior = append(f.prior, slices.Repeat([]float64{t.SD * t.SD}, t.states())...)
	}
	j := f.j
	for _, v := range []*[]float64{&f.moved, &f.change, &f.cross} {
		*v = make([]float64, j*j)
	}
	f.row, f.drow = make([]float64, j), make([]float64, j)
	if !slopes {
		return f
	}
	f.slopes = 3*len(terms) + 1
	f.priors = make([]float64, f.slopes*j*j)
	for i, at := 0, 0; i < len(terms); i++ {
		for range terms[i].states() {
			f.priors[(3*i*j+at)*j+at] = 2 * f.prior[at] // of log SD
			at++
		}
	}
	return f
}

func (f *Filter) newFiltered() *filtered {
	return &filtered{make([]float64, f.j*f.j), make([]float64, f.slopes*f.j*f.j)}
}

// room returns n zeros. They are a part of a large block, because a filter can have many steps.
func (f *Filter) room(n int) []float64 {
	const block = 1 << 12
	if len(f.free) < n {
		f.free = make([]float64, max(n, block))
	}
	out := f.free[:n:n]
	f.free = f.free[n:]
	return out
}

// near reports whether two covariances are nearly equal.
func (f *Filter) near(a, b *filtered) bool {
	return floats.EqualApprox(a.q, b.q, steady*f.prior[0]) && floats.EqualApprox(a.dq, b.dq, 1e3*steady*f.prior[0])
}

// step returns the step over the given time, and sets now to the covariance after it. before is the covariance before it; first means that
// there is none.
func (f *Filter) step(before, now *filtered, gap float64, first, seen bool) *step {
	j := f.j
	s := &step{f: f.room(j * j), p: f.room(j * j), gain: f.room(j)}
	s.df, s.dk, s.ds = f.room(f.slopes*j*j), f.room(f.slopes*j), f.room(f.slopes)
	for i, v := range f.prior { // W = P∞ − F·P∞·Fᵀ
		s.p[i*j+i] = v
	}
	copy(now.dq, f.priors)
	if !first {
		f.transitions(s, gap)
		copy(f.moved, before.q)
		for i, v := range f.prior {
			f.moved[i*j+i] -= v
		}
		f.product(f.cross, s.f, f.moved, s.f)
		floats.Add(s.p, f.cross)
		f.move(s, before, now)
	}
	f.observe(s, now, seen)
	return s
}

// move adds the slopes of F·(Q' − P∞)·Fᵀ to now.dq. moved is Q' − P∞.
func (f *Filter) move(s *step, before, now *filtered) {
	j := f.j
	for p := range f.slopes {
		at := p * j * j
		to, df := now.dq[at:at+j*j], s.df[at:at+j*j]
		floats.SubTo(f.change, before.dq[at:at+j*j], f.priors[at:at+j*j])
		f.product(f.cross, s.f, f.change, s.f)
		floats.Add(to, f.cross)
		if !f.moves(p) {
			continue
		}
		f.product(f.cross, df, f.moved, s.f)
		for r := range j {
			for c := range j {
				to[r*j+c] += f.cross[r*j+c] + f.cross[c*j+r]
			}
		}
	}
}

// moves reports whether F depends on coordinate p.
func (f *Filter) moves(p int) bool {
	i, which := p/3, p%3
	return i < len(f.terms) && (which == 1 || which == 2 && f.terms[i].Frequency > 0)
}

// transitions sets F and its slopes.
func (f *Filter) transitions(s *step, gap float64) {
	j, at := f.j, 0
	for i, t := range f.terms {
		t.transition(s.f[at*j+at:], j, gap)
		if f.slopes > 0 {
			t.slope(s.df[(3*i+1)*j*j+at*j+at:], j, gap)
		}
		if f.slopes > 0 && t.Frequency > 0 {
			t.turn(s.df[(3*i+2)*j*j+at*j+at:], j, gap)
		}
		at += t.states()
	}
}

// observe sets S, the gain and Q, and their slopes, given P in p and its slopes in now.
func (f *Filter) observe(s *step, now *filtered, seen bool) {
	j := f.j
	copy(now.q, s.p)
	if !seen {
		return
	}
	f.sumRows(f.row, s.p) // H·P
	s.s = floats.Dot(f.row, f.h) + f.noise
	for i := range j {
		s.gain[i] = f.row[i] / s.s
	}
	for p := range f.slopes {
		dq, dk := now.dq[p*j*j:(p+1)*j*j], s.dk[p*j:(p+1)*j]
		f.sumRows(f.drow, dq)
		ds := floats.Dot(f.drow, f.h)
		if p == f.slopes-1 {
			ds += 2 * f.noise
		}
		s.ds[p] = ds
		for i := range j {
			dk[i] = (f.drow[i] - s.gain[i]*ds) / s.s
		}
		for r := range j {
			for c := range j {
				dq[r*j+c] -= dk[r]*f.row[c] + s.gain[r]*f.drow[c]
			}
		}
	}
	for r := range j {
		for c := range j {
			now.q[r*j+c] -= s.gain[r] * f.row[c]
		}
	}
}

// sumRows sets row to H·a.
func (f *Filter) sumRows(row []float64, a square) {
	clear(row)
	for i, h := range f.h {
		if h != 0 {
			floats.Add(row, a[i*f.j:(i+1)*f.j])
		}
	}
}

// LogDet returns log|K|.
func (f *Filter) LogDet() (sum float64) {
	for _, s := range f.steps {
		sum += math.Log(s.s)
	}
	return sum
}

// multiply returns the row vector v·a.
func multiply(v []float64, a square, j int) []float64 {
	out := make([]float64, j)
	for i, x := range v {
		for c := range j {
			out[c] += x * a[i*j+c]
		}
	}
	return out
}

// product sets dst to a·m·bᵀ for block-diagonal a and b.
func (f *Filter) product(dst, a, m, b square) {
	j := f.j
	for r := range j {
		row := f.row
		clear(row)
		for i := f.block[r][0]; i < f.block[r][1]; i++ {
			scale := a[r*j+i]
			for c, v := range m[i*j : (i+1)*j] {
				row[c] += scale * v
			}
		}
		for c := range j {
			sum := 0.0
			for k := f.block[c][0]; k < f.block[c][1]; k++ {
				sum += row[k] * b[c*j+k]
			}
			dst[r*j+c] = sum
		}
	}
}

// Terms returns the terms.
func (f *Filter) Terms() []Term { return f.terms }

// Noise returns the standard deviation of the noise.
func (f *Filter) Noise() float64 { return math.Sqrt(f.noise) }

// States returns the number of states.
func (f *Filter) States() int { return f.j }
