package clicks

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/simd"
	"gonum.org/v1/gonum/floats"
)

// A change is a candidate, and by how much its samples change.
type change struct {
	Candidate
	d []float64
}

// find returns the candidates that begin in [lo, hi) or little before. If clicks may have spoiled the model, it is fitted again without them,
// and all is looked for again.
func (w *window) find(lo, hi int) (out []Candidate) {
	all := w.search(lo, hi)
	again := false
	for _, c := range all {
		if c.LogOdds > early {
			floats.Sub(w.z[c.Lo:c.Hi], c.d)
			for n := c.Lo; n < c.Hi+order; n++ {
				w.found[n] = true
			}
			again = true
		}
	}
	if again && w.fit(w.even()) {
		all = w.search(lo, hi)
	}
	for _, c := range all {
		out = append(out, c.Candidate)
	}
	return out
}

// search looks into the starts at which a candidate gains noticed nats, the best first, and takes out of x what seems to be a click.
func (w *window) search(lo, hi int) (out []change) {
	n := len(w.x)
	lo, hi = max(order, lo-longest), min(n-order-longest, hi+longest/5)
	if lo >= hi {
		return nil
	}
	w.survey()
	w.left = w.errors(w.left, w.x)
	w.y, w.nats, w.length, w.done = simd.Resize(w.y, n), simd.Resize(w.nats, n), make([]int, n), make([]bool, n)
	w.briefNats, w.briefLength = slices.Repeat([]float64{math.Inf(-1)}, n), make([]int, n)
	w.correlate(w.y, w.left, 0, n)
	w.gains(lo, hi)
	for {
		at := lo + floats.MaxIdx(w.nats[lo:hi])
		if !(w.nats[at] >= noticed) {
			return out
		}
		c := w.candidate(at, at+w.length[at])
		out = append(out, c)
		if c.LogOdds > early {
			w.take(c)
			w.gains(max(lo, c.Lo-order-longest), min(hi, c.Hi+order))
			w.skip(max(lo, c.Lo-2), min(hi, c.Lo+2))
			w.skip(at, at+1)
			continue
		}
		for i := max(lo, c.Lo-longest); i < c.Lo; i++ {
			if i+w.length[i] > c.Lo {
				w.skip(i, i+1)
			}
		}
		w.skip(max(lo, c.Lo-4), min(hi, c.Hi+3))
		w.skip(at, at+1)
	}
}

// skip ends the search at starts.
func (w *window) skip(lo, hi int) {
	for i := lo; i < hi; i++ {
		w.done[i], w.nats[i] = true, math.Inf(-1)
	}
}

// gain returns the nats that speak for a candidate of some samples that takes t, in units of their variance, off the sum of the errors'
// squares: each sample takes a number, of an accuracy that grows with what it explains.
func gain(t float64, samples int) float64 {
	l := float64(samples)
	return t/2 - l/2*math.Log1p(t/l) - perSample*l
}

// worth has the t from which a candidate of each length gains noticed nats.
var worth = func() (all [longest + 1]float64) {
	for l := range all {
		for range 100 { // a contraction
			all[l] = 2*(noticed+perSample*float64(l)) + float64(l)*math.Log1p(all[l]/max(1, float64(l)))
		}
	}
	return all
}()

// gains computes the best length and its nats for each start in [lo, hi). T_L = yᵀR⁻¹y is the sum of the squared prediction errors, of
// orders 0 … L−1, of y backwards from each sample to the start; a lattice filter has them for all starts.
func (w *window) gains(lo, hi int) {
	n := hi - lo + longest - 1
	w.f, w.b, w.t = simd.Resize(w.f, n), simd.Resize(w.b, n), simd.Resize(w.t, hi-lo)
	f, b, t := w.f, w.b, w.t
	copy(f, w.y[lo:])
	copy(b, f)
	clear(t)
	for i := lo; i < hi; i++ {
		w.nats[i] = math.Inf(-1)
	}
	for m, k := range w.reflections {
		if m > 0 {
			simd.Lattice(f, b, w.zeros[:n], 0, m, k)
		}
		if m == brief {
			copy(w.briefNats[lo:hi], w.nats[lo:hi])
			copy(w.briefLength[lo:hi], w.length[lo:hi])
		}
		over, least := 1/w.variances[m], worth[m+1]
		for i, q := range w.power[lo:hi] {
			v := b[i+m]
			t[i] += v * v * over
			if t[i] > least*q && !w.done[lo+i] {
				if nats := gain(t[i]/q, m+1); nats > w.nats[lo+i] {
					w.nats[lo+i], w.length[lo+i] = nats, m+1
				}
			}
		}
	}
}

// candidate returns the candidate [lo, hi), or if that has better odds, the part of it whose samples change by a large share of the most.
func (w *window) candidate(lo, hi int) change {
	c := w.change(lo, hi)
	most := large * floats.Norm(c.d, math.Inf(1))
	first, last := 0, len(c.d)
	for math.Abs(c.d[first]) < most {
		first++
	}
	for math.Abs(c.d[last-1]) < most {
		last--
	}
	best := c
	if last-first < len(c.d) {
		if cut := w.change(lo+first, lo+last); cut.LogOdds > best.LogOdds {
			best = cut
		}
	}
	if hi-lo > brief {
		at := lo + floats.MaxIdx(w.briefNats[lo:hi])
		if w.briefNats[at] > 0 {
			if cut := w.change(at, at+w.briefLength[at]); cut.LogOdds > best.LogOdds {
				best = cut
			}
		}
	}
	return best
}

// solve returns R⁻¹y for y of [lo, hi), and T.
func (w *window) solve(lo, hi int) (d []float64, t float64) {
	d = make([]float64, hi-lo)
	for m, b := range w.predictors[:hi-lo] {
		q := simd.Dot(b, w.y[lo:lo+m+1])
		t += q * q
		floats.AddScaled(d[:m+1], q, b)
	}
	return d, t
}

// subtract takes a change at sample lo off errors that begin at sample first.
func (w *window) subtract(e []float64, first, lo int, d []float64) {
	for i, v := range d {
		at := lo + i - first
		floats.AddScaled(e[at:min(len(e), at+order+1)], -v, w.a[:min(order+1, len(e)-at)])
	}
}

// take takes a candidate out of what is left.
func (w *window) take(c change) {
	w.subtract(w.left, 0, c.Lo, c.d)
	w.correlate(w.y, w.left, c.Lo-order, c.Hi+order)
}
