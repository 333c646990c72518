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
	f, p, q square
	gain    []float64 // k [J]
	s       float64   // S; 0 for a time without observation

	df []square    // slopes of F; nil for 0
	dk [][]float64 // slopes of k
	ds []float64   // slopes of S
	dq []square    // slopes of Q
}

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
	f := &Filter{terms: terms, noise: noise * noise, n: len(times), j: states(terms)}
	for _, t := range terms {
		f.block = append(f.block, slices.Repeat([][2]int{{len(f.h), len(f.h) + t.states()}}, t.states())...)
		f.h = append(f.h, append([]float64{1}, make([]float64, t.states()-1)...)...)
		f.prior = append(f.prior, slices.Repeat([]float64{t.SD * t.SD}, t.states())...)
	}
	if slopes {
		f.slopes = 3*len(terms) + 1
	}
	if len(times) == 0 {
		return f
	}
	f.steps = make([]*step, 0, f.n)
	rounding := sameGap * max(math.Abs(times[0]), math.Abs(times[len(times)-1]))
	same := math.NaN() // distance between the last two times, if the filter was steady there
	for n, t := range times {
		gap, seen := math.Inf(1), observed == nil || observed[n]
		if n > 0 {
			gap = t - times[n-1]
		}
		if n > 0 && seen && math.Abs(gap-same) <= rounding {
			f.steps = append(f.steps, f.steps[n-1])
			continue
		}
		var last *step
		if n > 0 {
			last = f.steps[n-1]
		}
		next := f.step(last, gap, seen)
		same = math.NaN()
		if n > 1 && seen && last.s > 0 && math.Abs(gap-(times[n-1]-times[n-2])) <= rounding && f.near(last, next) {
			same = gap
		}
		f.steps = append(f.steps, next)
	}
	return f
}

// near reports whether two steps are nearly equal.
func (f *Filter) near(a, b *step) bool {
	for i, v := range a.q {
		if math.Abs(v-b.q[i]) > steady*f.prior[0] {
			return false
		}
	}
	for p := range f.slopes {
		for i, v := range a.dq[p] {
			if math.Abs(v-b.dq[p][i]) > 1e3*steady*f.prior[0] {
				return false
			}
		}
	}
	return true
}

// step returns the step after last, which is nil for the first, over the given time.
func (f *Filter) step(last *step, gap float64, seen bool) *step {
	j := f.j
	s := &step{f: make(square, j*j), p: make(square, j*j), gain: make([]float64, j)}
	f.transitions(s, gap, last == nil)
	for i, v := range f.prior { // W = P∞ − F·P∞·Fᵀ
		s.p[i*j+i] = v
	}
	if last != nil {
		moved := slices.Clone(last.q)
		for i, v := range f.prior {
			moved[i*j+i] -= v
		}
		f.addProduct(s.p, s.f, moved)
	}
	for p := range f.slopes {
		s.dq = append(s.dq, f.priorSlope(p))
		if last == nil {
			continue
		}
		moved := slices.Clone(last.q)
		for i, v := range f.prior {
			moved[i*j+i] -= v
		}
		change := slices.Clone(last.dq[p])
		for i, v := range f.priorSlope(p) {
			change[i] -= v
		}
		f.addProduct(s.dq[p], s.f, change)
		if df := s.df[p]; df != nil {
			cross := make(square, j*j) // dF·M·Fᵀ
			f.product(cross, df, moved, s.f)
			for r := range j {
				for c := range j {
					s.dq[p][r*j+c] += cross[r*j+c] + cross[c*j+r]
				}
			}
		}
	}
	f.observe(s, seen)
	return s
}

// transitions sets F and its slopes. Before the first time there is no state.
func (f *Filter) transitions(s *step, gap float64, first bool) {
	j := f.j
	if f.slopes > 0 {
		s.df = make([]square, f.slopes)
	}
	if first {
		return
	}
	at := 0
	for i, t := range f.terms {
		t.transition(s.f[at*j+at:], j, gap)
		if f.slopes > 0 {
			s.df[3*i+1] = make(square, j*j)
			t.slope(s.df[3*i+1][at*j+at:], j, gap)
			if t.Frequency > 0 {
				s.df[3*i+2] = make(square, j*j)
				t.turn(s.df[3*i+2][at*j+at:], j, gap)
			}
		}
		at += t.states()
	}
}

// priorSlope returns the slope of the stationary covariance.
func (f *Filter) priorSlope(p int) square {
	d := make(square, f.j*f.j)
	at := 0
	for i, t := range f.terms {
		for range t.states() {
			if p == 3*i {
				d[at*f.j+at] = 2 * f.prior[at]
			}
			at++
		}
	}
	return d
}

// observe sets S, the gain and Q, and their slopes, given P in p and its slopes in dq.
func (f *Filter) observe(s *step, seen bool) {
	j := f.j
	s.q = slices.Clone(s.p)
	if !seen {
		for range f.slopes {
			s.dk, s.ds = append(s.dk, make([]float64, j)), append(s.ds, 0)
		}
		return
	}
	row := multiply(f.h, s.p, j) // H·P
	s.s = floats.Dot(row, f.h) + f.noise
	for i := range j {
		s.gain[i] = row[i] / s.s
	}
	for p := range f.slopes {
		drow := multiply(f.h, s.dq[p], j)
		ds := floats.Dot(drow, f.h)
		if p == f.slopes-1 {
			ds += 2 * f.noise
		}
		dk := make([]float64, j)
		for i := range j {
			dk[i] = (drow[i] - s.gain[i]*ds) / s.s
		}
		for r := range j {
			for c := range j {
				s.dq[p][r*j+c] -= dk[r]*row[c] + s.gain[r]*drow[c]
			}
		}
		s.dk, s.ds = append(s.dk, dk), append(s.ds, ds)
	}
	for r := range j {
		for c := range j {
			s.q[r*j+c] -= s.gain[r] * row[c]
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

// addProduct adds a·m·aᵀ to dst, for a block-diagonal a and a symmetric m.
func (f *Filter) addProduct(dst, a, m square) {
	t := make(square, f.j*f.j)
	f.product(t, a, m, a)
	for i, v := range t {
		dst[i] += v
	}
}

// product sets dst to a·m·bᵀ for block-diagonal a and b.
func (f *Filter) product(dst, a, m, b square) {
	j := f.j
	row := make([]float64, j)
	for r := range j {
		clear(row)
		for i := f.block[r][0]; i < f.block[r][1]; i++ {
			floats.AddScaled(row, a[r*j+i], m[i*j:(i+1)*j])
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
