package clicks

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/internal/simd"
)

// A best contains the gain in nats (or −Inf) and the length of the best candidate that begins at each sample.
type best struct {
	nats   []float64
	length []int
}

// A change is a candidate with the changes d of its samples.
type change struct {
	Candidate
	d []float64
}

// find returns the candidates that begin in [lo, hi) or slightly before. If it finds likely clicks, it refits the model without them
// and searches again.
func (w *window) find(lo, hi int) (out []Candidate) {
	all := w.search(lo, hi)
	again := false
	for _, c := range all {
		if c.LogOdds > w.removal() {
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
		if constant(w.x[c.Lo-order:c.Lo]) == constant(w.x[c.Hi:c.Hi+order]) {
			out = append(out, c.trimmed())
		}
	}
	return out
}

// trimmed returns the candidate without samples with very small changes at both ends.
func (c change) trimmed() Candidate {
	out := c.Candidate
	out.Size = floats.Norm(c.d, math.Inf(1))
	least := endShare * out.Size
	for math.Abs(c.d[out.Lo-c.Lo]) < least {
		out.Lo++
	}
	for math.Abs(c.d[out.Hi-1-c.Lo]) < least {
		out.Hi--
	}
	return out
}

// constant reports whether all samples are equal. A border between audio and digital silence is not a click.
func constant(x []float64) bool { return floats.Min(x) == floats.Max(x) }

// search evaluates candidates that gain at least minGain nats in decreasing order, and removes likely clicks from the errors.
func (w *window) search(lo, hi int) (out []change) {
	n := len(w.x)
	lo, hi = max(order, lo-longest), min(n-order-longest, hi+longest/5)
	if lo >= hi {
		return nil
	}
	w.survey()
	w.left = w.errors(w.left, w.x)
	w.correlate(w.y, w.left, 0, n)
	w.done = make([]bool, n)
	for k := range w.best {
		w.best[k] = best{slices.Repeat([]float64{math.Inf(-1)}, n), make([]int, n)}
	}
	w.gains(lo, hi)
	all := w.best[len(lengths)-1]
	for {
		at := lo + floats.MaxIdx(all.nats[lo:hi])
		if !(all.nats[at] >= minGain) {
			return out
		}
		c := w.candidate(at)
		if c.LogOdds > w.removal() {
			c = w.refined(c, lo)
		}
		out = append(out, c)
		w.skip(at, at+1)
		if c.LogOdds > w.removal() {
			w.skip(max(lo, c.Lo-2), min(hi, c.Lo+2))
			w.remove(c)
			w.gains(max(lo, c.Lo-order-longest), min(hi, c.Hi+order))
			continue
		}
		for i := max(lo, c.Lo-longest); i < c.Lo; i++ {
			if i+all.length[i] > c.Lo {
				w.skip(i, i+1)
			}
		}
		w.skip(max(lo, c.Lo-4), min(hi, c.Hi+3))
	}
}

// skip excludes candidates that begin in [lo, hi) from the search.
func (w *window) skip(lo, hi int) {
	for i := lo; i < hi; i++ {
		w.done[i] = true
		for k := range w.best {
			w.best[k].nats[i] = math.Inf(-1)
		}
	}
}

// gain returns the log evidence of a candidate, in nats, that reduces the sum of squared errors by t, in units of their variance. It
// includes the cost of encoding one change per sample.
func gain(t float64, samples int) float64 {
	l := float64(samples)
	return t/2 - l/2*math.Log1p(t/l) - sampleCost*l
}

// minReduction contains the minimum t at which a candidate of each length gains minGain nats.
var minReduction = func() (all [longest + 1]float64) {
	for l := range all {
		for range 100 { // fixed-point iteration
			all[l] = 2*(minGain+sampleCost*float64(l)) + float64(l)*math.Log1p(all[l]/max(1, float64(l)))
		}
	}
	return all
}()

// gains computes best for candidates that begin in [lo, hi). T_L = yᵀR⁻¹y is the sum of the squared prediction errors of orders 0, …,
// L−1 of the samples of y from the first sample of the candidate. A lattice filter computes them for all candidates.
func (w *window) gains(lo, hi int) {
	n := hi - lo + longest - 1
	w.f, w.b, w.t = simd.Resize(w.f, n), simd.Resize(w.b, n), simd.Resize(w.t, hi-lo)
	f, b, t := w.f, w.b, w.t
	copy(f, w.y[lo:])
	copy(b, f)
	clear(t)
	class := 0
	nats, length := w.best[0].nats[lo:hi], w.best[0].length[lo:hi]
	for i := range nats {
		nats[i] = math.Inf(-1)
	}
	for m, k := range w.reflections {
		if m > 0 {
			simd.Lattice(f, b, w.zeros[:n], 0, m, k)
		}
		if m == lengths[class] {
			class++
			next := w.best[class]
			copy(next.nats[lo:], nats)
			copy(next.length[lo:], length)
			nats, length = next.nats[lo:hi], next.length[lo:hi]
		}
		over, least := 1/w.variances[m], minReduction[m+1]
		for i, q := range w.power[lo:hi] {
			v := f[i+m]
			t[i] += v * v * over
			if t[i] > least*q && !w.done[lo+i] {
				if g := gain(t[i]/q, m+1); g > nats[i] {
					nats[i], length[i] = g, m+1
				}
			}
		}
	}
}

// candidate returns the candidate with the best odds among: the best one that begins at a sample, its part with large changes, and
// the best shorter ones that begin inside it.
func (w *window) candidate(at int) change {
	last := len(lengths) - 1
	length := w.best[last].length[at]
	top := w.change(at, at+length)
	try := func(lo, hi int) {
		if c := w.change(lo, hi); c.LogOdds > top.LogOdds {
			top = c
		}
	}
	isLarge := func(v float64) bool { return math.Abs(v) >= cutShare*floats.Norm(top.d, math.Inf(1)) }
	first := slices.IndexFunc(top.d, isLarge)
	end := length
	for !isLarge(top.d[end-1]) {
		end--
	}
	if end-first < length {
		try(at+first, at+end)
	}
	for k, longest := range lengths[:last] {
		if best := w.best[k]; length > longest {
			lo := at + floats.MaxIdx(best.nats[at:at+length])
			if best.nats[lo] >= minGain {
				try(lo, lo+best.length[lo])
			}
		}
	}
	return top
}

// refined moves one or both ends of a candidate by up to step samples at a time to maximize its gain. It does not update the odds.
func (w *window) refined(c change, lo int) change {
	_, t := w.solve(c.Lo, c.Hi)
	q := w.power[c.Lo]
	most := gain(t/q, c.Hi-c.Lo)
	for by := step; by > 0; {
		from, to := c.Lo, c.Hi
		for _, move := range [][2]int{{-by, 0}, {by, 0}, {0, -by}, {0, by}, {-by, -by}, {by, by}} {
			u, v := c.Lo+move[0], c.Hi+move[1]
			if u < lo || u >= v || v-u > longest || v+order > len(w.x) {
				continue
			}
			d, t := w.solve(u, v)
			if g := gain(t/q, v-u); g > most {
				from, to, c.d, most = u, v, d, g
			}
		}
		if from == c.Lo && to == c.Hi {
			by /= 2
		}
		c.Lo, c.Hi = from, to
	}
	return c
}

// solve returns d = R⁻¹y for y in [lo, hi), and T.
func (w *window) solve(lo, hi int) (d []float64, t float64) {
	d = make([]float64, hi-lo)
	for m, b := range w.predictors[:hi-lo] {
		q := simd.Dot(b, w.y[lo:lo+m+1])
		t += q * q
		floats.AddScaled(d[:m+1], q, b)
	}
	return d, t
}

// subtract removes the effect of a change d at sample lo from errors e that begin at sample first.
func (w *window) subtract(e []float64, first, lo int, d []float64) {
	for i, v := range d {
		at := lo + i - first
		floats.AddScaled(e[at:min(len(e), at+order+1)], -v, w.a[:min(order+1, len(e)-at)])
	}
}

// remove removes a candidate from the errors.
func (w *window) remove(c change) {
	w.subtract(w.left, 0, c.Lo, c.d)
	w.correlate(w.y, w.left, c.Lo-order, c.Hi+order)
}
