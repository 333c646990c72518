package detect

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/ar"
	"github.com/vssgp/vssgp/internal/simd"
)

// A clickWindow is an excerpt of a channel, and a model of its sound without the clicks.
type clickWindow struct {
	x           []float64 // as it is
	z           []float64 // without what was taken out
	sound       []float64 // without what was found alone
	whole       []float64 // its errors
	out         []bool    // where errors say nothing of the sound, as clicks were taken out
	step        float64   // of the quantizer
	sensitivity float64

	a, reversed []float64   // prediction errors are e_n = Σ_j a_j z_{n−j}
	lags        []float64   // r_l = Σ_j a_j a_{j+l}: missing samples have the precision r_{|i−j|}/size²
	backward    [][]float64 // b_m with Σ_m b_m b_mᵀ the inverse of R_ij = r_{|i−j|}, for any number of first rows and columns
	e           []float64   // the errors; 0 for the first samples
	y           []float64   // Σ_j a_j e_{n+j}: over r_0, by how much z_n differs from what both sides say
	size        []float64   // the standard deviation of e
	tail        tail        // the distribution of e/size
}

const (
	clickOrder = 32
	clickLong  = 80  // samples of the longest claim that is looked into
	clickNear  = 128 // samples on either side that a click's level is compared with
	clickScale = 256 // samples for the size of the errors: a click and its errors are less than half of them
)

func newClickWindow(x []float64, step, sensitivity float64) *clickWindow {
	return &clickWindow{x: x, step: step, sensitivity: sensitivity,
		z: slices.Clone(x), sound: slices.Clone(x), whole: make([]float64, len(x)), out: make([]bool, len(x))}
}

// fit fits the model to z, or reports false.
func (w *clickWindow) fit() bool {
	weights := w.first()
	if w.size != nil {
		weights = w.even()
	}
	w.a = ar.Burg([]ar.Segment{{X: w.z, Weights: weights}}, clickOrder).A
	for _, v := range w.a {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	w.reversed = slices.Clone(w.a)
	slices.Reverse(w.reversed)
	w.lags = make([]float64, clickLong)
	for l := range clickOrder + 1 {
		w.lags[l] = simd.Dot(w.a[:len(w.a)-l], w.a[l:])
	}
	if w.backward = backwards(w.lags); w.backward == nil {
		return false
	}
	w.errors()
	w.scale()
	w.settle()
	return true
}

// first returns weights for samples of which nothing is known but their power v in 3 clickOrder/2 of them: 1/v², so that a click counts
// less than as many samples of the sound.
func (w *clickWindow) first() []float64 {
	const half = 3 * clickOrder / 4
	n := len(w.z)
	v, sums := make([]float64, n), make([]float64, n+1)
	for i, z := range w.z {
		sums[i+1] = sums[i] + z*z
	}
	for i := range v {
		lo, hi := max(0, i-half), min(n, i+half+1)
		v[i] = (sums[hi] - sums[lo]) / float64(hi-lo)
	}
	sorted := slices.Sorted(slices.Values(v))
	least := sorted[n/2]/10 + w.step*w.step + math.SmallestNonzeroFloat64
	lowest := sorted[0] + least
	for i := range v {
		v[i] = lowest / (v[i] + least)
		v[i] *= v[i]
	}
	return v
}

// even returns the weights with which soft and loud parts count alike and large errors little; where clicks were taken out there is
// nothing to fit.
func (w *clickWindow) even() []float64 {
	v, least := make([]float64, len(w.z)), slices.Min(w.size)
	for i, s := range w.size {
		z := w.e[i] / s
		v[i] = least * least / (s * s * (1 + z*z/4))
		if w.out[i] {
			v[i] *= 1e-3
		}
	}
	return v
}

// backwards returns the backward predictors of the Toeplitz matrix of first row r, over the root of their errors, or nil where it is not
// positive definite.
func backwards(r []float64) (out [][]float64) {
	a, e := []float64{1}, r[0]
	for m := 0; e > 0; m++ {
		b := make([]float64, m+1)
		for i := range b {
			b[i] = a[m-i] / math.Sqrt(e)
		}
		if out = append(out, b); m+1 == len(r) {
			return out
		}
		k := 0.0
		for j, v := range a {
			k -= v * r[m+1-j] / e
		}
		next := append(slices.Clone(a), 0)
		for j := range a {
			next[j+1] += k * a[m-j]
		}
		a, e = next, e*(1-k*k)
	}
	return nil
}

// errors computes e and y of z.
func (w *clickWindow) errors() {
	w.e, w.y = make([]float64, len(w.z)), make([]float64, len(w.z))
	w.predict(len(w.a)-1, len(w.z))
	w.correlate(0, len(w.z))
}

// predict computes e from lo to hi, correlate y.
func (w *clickWindow) predict(lo, hi int) {
	for n := lo; n < hi; n++ {
		w.e[n] = simd.Dot(w.reversed, w.z[n+1-len(w.a):n+1])
	}
}

func (w *clickWindow) correlate(lo, hi int) {
	for n := max(0, lo); n < min(hi, len(w.z)); n++ {
		k := min(len(w.a), len(w.e)-n)
		w.y[n] = simd.Dot(w.a[:k], w.e[n:n+k])
	}
}

// scale computes the size of the errors: of the median in parts of clickScale samples that overlap by half, and between their middles on
// lines. It is twice that of the quantizer's errors at least, as these alone are no sound.
func (w *clickWindow) scale() {
	n, p := len(w.e), len(w.a)-1
	least := w.step*math.Sqrt(w.lags[0]/3) + math.SmallestNonzeroFloat64
	at := make([]float64, max(1, 2*(n-p)/clickScale-1))
	known := -1
	for i := range at {
		lo := p + i*clickScale/2
		var abs []float64
		for k, e := range w.e[lo:min(n, lo+clickScale)] {
			if !w.out[lo+k] {
				abs = append(abs, math.Abs(e))
			}
		}
		if len(abs) < clickScale/4 {
			continue
		}
		slices.Sort(abs)
		at[i] = math.Hypot(abs[len(abs)/2]/normalMedian, least)
		for j := known + 1; j < i; j++ {
			at[j] = at[i]
			if known >= 0 {
				at[j] = at[known] + (at[i]-at[known])*float64(j-known)/float64(i-known)
			}
		}
		known = i
	}
	for j := known + 1; j < len(at); j++ {
		at[j] = least
		if known >= 0 {
			at[j] = at[known]
		}
	}
	w.size = make([]float64, n)
	for i := range w.size {
		t := min(max(0, 2*float64(i-p)/clickScale-1), float64(len(at)-1))
		k := int(t)
		w.size[i] = at[k] + (t-float64(k))*(at[min(k+1, len(at)-1)]-at[k])
	}
}

// normalMedian is the median of |e| for normal errors of size 1.
const normalMedian = 0.6745

// A tail is Student's distribution of errors in units of the standard deviation that a normal distribution has with their median.
type tail struct{ freedom, scale float64 }

// tails are the distributions that errors may have, from those of pulses to noise.
var tails = []tail{{1, normalMedian}, {2, normalMedian / 0.8165}, {4, normalMedian / 0.7407}, {8, normalMedian / 0.7064}}

// cost returns minus the log-density of an error, but for a constant.
func (t tail) cost(z float64) float64 {
	z /= t.scale
	return (t.freedom + 1) / 2 * math.Log(1+z*z/t.freedom)
}

// constant is what cost leaves out.
func (t tail) constant() float64 {
	a, _ := math.Lgamma((t.freedom + 1) / 2)
	b, _ := math.Lgamma(t.freedom / 2)
	return b - a + 0.5*math.Log(t.freedom*math.Pi) + math.Log(t.scale)
}

// settle chooses the likeliest tail.
func (w *clickWindow) settle() {
	w.tail = tails[0]
	least := math.Inf(1)
	for _, t := range tails {
		sum, constant := 0.0, t.constant()
		for n, e := range w.e {
			if !w.out[n] {
				sum += constant + t.cost(e/w.size[n])
			}
		}
		if sum < least {
			least, w.tail = sum, t
		}
	}
}
