package series

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/internal/parallel"
)

// A memory is the short memory and the noise of a long series, without an approximation: an Ornstein–Uhlenbeck process o with the standard
// deviation SD that forgets over Length steps, observed with noise. It is a Markov process, so Kalman's filter takes it out of any column
// of numbers in O(N):
//
//	p_n = ρ_n² q_{n−1} + SD²(1 − ρ_n²)    S_n = p_n + Noise²e_n²    ρ_n = exp(−(u_n − u_{n−1})/Length)
//	v_n = (c_n − ρ_n f_{n−1})/√S_n        f_n = ρ_n f_{n−1} + (p_n/S_n)(c_n − ρ_n f_{n−1})        q_n = p_n(1 − p_n/S_n)
//
// The v are independent with variance one if c is o and noise: they are L⁻¹c with L Lᵀ the covariance.
type memory struct{ SD, Length, Noise float64 }

// longRows is the number of rows from which on a series is long.
const longRows = 1000

// long is a memory with the rows that it is taken out of.
type long struct {
	memory memory
	tracks []*track // a group each
}

// A track is the values of a group of outputs in the order of u.
type track struct {
	u, e []float64   // [N] places and errors
	y    [][]float64 // [outputs][N]
}

// track sorts a group's rows.
func (f *frame) track(g group) *track {
	t := &track{y: make([][]float64, len(g.outputs))}
	rows := slices.Clone(g.rows)
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(f.u[a], f.u[b]) })
	for _, n := range rows {
		t.u, t.e = append(t.u, f.u[n]), append(t.e, f.error(g.outputs[0], n))
		for i, d := range g.outputs {
			t.y[i] = append(t.y[i], f.y[d][n])
		}
	}
	return t
}

// A stage is Kalman's filter at a place, but for the state: ρ, the variances before and after the value, p/S, 1/√S and log S, the last
// three 0 where there is no value.
type stage struct{ decay, p, q, gain, scale, log float64 }

// A walk goes along sorted places.
type walk struct {
	stage
	memory
	begun            bool
	u, e             float64 // the last
	gap, decayForGap float64
}

func (m memory) walk() walk { return walk{memory: m, decayForGap: 1} }

// to goes to place u, where there is a value with error e, or none if e is 0.
func (w *walk) to(u, e float64) {
	variance, rho, before := w.SD*w.SD, 0.0, w.SD*w.SD
	if w.begun {
		if gap := u - w.u; gap != w.gap {
			w.gap, w.decayForGap = gap, math.Exp(-gap/w.Length)
		}
		rho, before = w.decayForGap, w.q
	}
	p := rho*rho*before + variance*(1-rho*rho)
	settled := w.begun && p == w.p && e == w.e && e != 0 // on a grid the filter settles
	w.begun, w.u, w.e, w.decay, w.p = true, u, e, rho, p
	switch {
	case settled:
	case e == 0:
		w.q, w.gain, w.scale, w.log = p, 0, 0, 0
	default:
		s := p + w.Noise*w.Noise*e*e
		w.q, w.gain, w.scale, w.log = p*(1-p/s), p/s, 1/math.Sqrt(s), math.Log(s)
	}
}

// A filter is the part of Kalman's filter that all columns share, by place.
type filter struct {
	decay, gain, scale, p, q []float64
	logDet                   float64 // Σ log S
}

// filter goes along sorted places; e is 0 where there is no value.
func (m memory) filter(u, e []float64) *filter {
	n := len(u)
	f := &filter{decay: make([]float64, n), gain: make([]float64, n), scale: make([]float64, n), p: make([]float64, n),
		q: make([]float64, n)}
	w := m.walk()
	for i := range u {
		w.to(u[i], e[i])
		f.decay[i], f.gain[i], f.scale[i], f.p[i], f.q[i] = w.decay, w.gain, w.scale, w.p, w.q
		f.logDet += w.log
	}
	return f
}

// likelihood is log N(r | 0, K) of residuals, with K the covariance of memory and noise.
func (m memory) likelihood(t *track, r []float64) float64 {
	w := m.walk()
	state, square, logDet := 0.0, 0.0, 0.0
	for n, v := range r {
		w.to(t.u[n], t.e[n])
		a := w.decay * state
		v -= a
		state = a + w.gain*v
		square += v * v * w.scale * w.scale
		logDet += w.log
	}
	return -0.5 * (float64(len(r))*math.Log(2*math.Pi) + logDet + square)
}

// fit raises the likelihood of residuals [tracks][outputs][N] and the priors of SD, length and noise, from m on.
func (m memory) fit(tracks []*track, residuals [][][]float64, priors [3]bayes.Prior) (memory, error) {
	value := func(v []float64) float64 {
		at, sum := of(v), 0.0
		for i, t := range tracks {
			for _, r := range residuals[i] {
				sum += at.likelihood(t, r)
			}
		}
		return sum
	}
	objective := func(v, gradient []float64) (float64, error) {
		const step = 1e-4
		values := make([]float64, 2*len(v)+1)
		parallel.For(len(values), runtime.GOMAXPROCS(0), func(i int) {
			w := slices.Clone(v)
			if i < 2*len(v) {
				w[i/2] += step * float64(1-2*(i%2))
			}
			values[i] = value(w)
		})
		for i := range v {
			gradient[i] = (values[2*i] - values[2*i+1]) / (2 * step)
		}
		return values[2*len(v)], nil
	}
	s, err := lbfgs.Start(bayes.With(objective, priors[:]), []float64{math.Log(m.SD), math.Log(m.Length), math.Log(m.Noise)})
	if err == nil {
		_, err = lbfgs.Maximize(bayes.With(objective, priors[:]), s, lbfgs.Settings{Iterations: 30, Gain: 0.1})
	}
	if err != nil {
		return m, err
	}
	return of(s.X), nil
}

// distance is the largest difference of the logarithms.
func (m memory) distance(o memory) float64 {
	return max(math.Abs(math.Log(m.SD/o.SD)), math.Abs(math.Log(m.Length/o.Length)), math.Abs(math.Log(m.Noise/o.Noise)))
}

// of is the memory with given logarithms. The noise keeps its least.
func of(v []float64) memory {
	return memory{SD: math.Exp(v[0]), Length: math.Exp(v[1]), Noise: math.Sqrt(math.Exp(2*v[2]) + leastNoise)}
}

// A sequence is a track's rows and the places of queries in one order.
type sequence struct {
	u, e  []float64
	value []int // the track's row; −1 for a query
	query []int // its number; −1 for a row
}

// join puts queries among a track's rows.
func (t *track) join(queries []float64) *sequence {
	s := &sequence{}
	order := make([]int, len(queries))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(queries[a], queries[b]) })
	n := 0
	for len(order) > 0 || n < len(t.u) {
		if len(order) == 0 || n < len(t.u) && t.u[n] <= queries[order[0]] {
			s.u, s.e, s.value, s.query = append(s.u, t.u[n]), append(s.e, t.e[n]), append(s.value, n), append(s.query, -1)
			n++
			continue
		}
		q := order[0]
		s.u, s.e, s.value, s.query, order = append(s.u, queries[q]), append(s.e, 0), append(s.value, -1), append(s.query, q), order[1:]
	}
	return s
}

// smooth is what the values of a column say of o at the queries: the posterior means of width columns side by side in c [N,width], by row
// of the sequence (Rauch, Tung & Striebel 1965). It overwrites c.
func (f *filter) smooth(s *sequence, c []float64, width int, to func(query int, means []float64)) {
	state, later := make([]float64, width), make([]float64, width)
	for n := range s.u {
		row := c[n*width : (n+1)*width]
		for i, v := range row {
			a := f.decay[n] * state[i]
			if s.value[n] >= 0 {
				a += f.gain[n] * (v - a)
			}
			state[i], row[i] = a, a
		}
	}
	for n := len(s.u) - 1; n >= 0; n-- {
		row := c[n*width : (n+1)*width]
		if n+1 < len(s.u) {
			j := f.back(n)
			for i, v := range row {
				row[i] = v + j*(later[i]-f.decay[n+1]*v)
			}
		}
		copy(later, row)
		if s.query[n] >= 0 {
			to(s.query[n], row)
		}
	}
}

// back is the smoother's gain from row n+1 to row n.
func (f *filter) back(n int) float64 {
	if f.p[n+1] == 0 {
		return 0
	}
	return f.q[n] * f.decay[n+1] / f.p[n+1]
}

// variances are those of o at the queries given all values.
func (f *filter) variances(s *sequence, queries int) []float64 {
	v, later := make([]float64, queries), 0.0
	for n := len(s.u) - 1; n >= 0; n-- {
		here := f.q[n]
		if n+1 < len(s.u) {
			j := f.back(n)
			here += j * j * (later - f.p[n+1])
		}
		if later = max(here, 0); s.query[n] >= 0 {
			v[s.query[n]] = later
		}
	}
	return v
}

// draw draws o at the queries, given residuals r of the rows, by filtering forwards and sampling backwards.
func (f *filter) draw(s *sequence, r []float64, random *rand.Rand, to []float64) {
	states := make([]float64, len(s.u))
	state := 0.0
	for n := range s.u {
		state *= f.decay[n]
		if i := s.value[n]; i >= 0 {
			state += f.gain[n] * (r[i] - state)
		}
		states[n] = state
	}
	for n := len(s.u) - 1; n >= 0; n-- {
		mean, variance := states[n], f.q[n]
		if n+1 < len(s.u) {
			j := f.back(n)
			mean += j * (state - f.decay[n+1]*mean)
			variance -= j * j * f.p[n+1]
		}
		state = mean + math.Sqrt(max(variance, 0))*random.NormFloat64()
		if s.query[n] >= 0 {
			to[s.query[n]] = state
		}
	}
}
