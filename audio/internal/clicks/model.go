package clicks

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio/internal/ar"
	"github.com/vssgp/vssgp/internal/simd"
)

// A window contains an excerpt of a channel, and a model of the excerpt without the detected clicks.
type window struct {
	*Search
	x     []float64 // in quantization steps
	z     []float64 // without the detected clicks
	found []bool    // whether the error depends on a removed click

	a, reversed []float64   // prediction errors are e_n = Σ_j a_j z_{n−j}
	lags        []float64   // r_l = Σ_j a_j a_{j+l}
	predictors  [][]float64 // b_m, Σ_m b_m b_mᵀ = R⁻¹ for R_ij = r_|i−j| of any size
	reflections []float64   // reflection coefficients of the predictors
	variances   []float64   // error variances of the predictors

	e    []float64 // prediction errors of z; 0 for the first samples
	size []float64 // standard deviation of e, from medians

	power        []float64 // local mean square of e
	sums, counts []float64 // cumulative sums of clipped e² and of their number
	squares      []float64 // cumulative sums of e²
	sound        []float64 // cumulative sums of z²
	peaks        []float64 // maximum |y|/√r_0 of z in parts of order samples, from the first error
	heavy        float64

	left, y []float64          // errors of x without the removed candidates, and y_n = Σ_j a_j left_{n+j}
	best    [len(lengths)]best // best candidates that begin at each sample, by maximum length
	done    []bool             // first samples that need no further search

	f, b, t, zeros []float64 // scratch
}

// open loads samples x and fits the model. It returns false if x is too short, silent or out of range.
func (w *window) open(x []float64) bool {
	if len(x) < 4*(longest+order) || !(w.Step > 0) {
		return false
	}
	w.x, w.found, w.zeros = w.x[:0], make([]bool, len(x)), simd.Aligned(len(x))
	sound := false
	for _, v := range x {
		v /= w.Step
		if !(math.Abs(v) < 1e100) {
			return false
		}
		sound = sound || v != 0
		w.x = append(w.x, v)
	}
	w.z = append(w.z[:0], w.x...)
	return sound && w.fit(w.first()) && w.fit(w.even())
}

// fit fits the model to z. It returns false if this fails.
func (w *window) fit(weights []float64) bool {
	floats.Scale(floats.Sum(weights)/floats.Dot(weights, weights), weights) // sum = effective sample size
	w.a = ar.Burg([]ar.Segment{{X: w.z, Weights: weights}}, order).A
	if slices.ContainsFunc(w.a, func(v float64) bool { return !(math.Abs(v) < 1e100) }) {
		return false
	}
	w.reversed = append(w.reversed[:0], w.a...)
	slices.Reverse(w.reversed)
	w.lags = simd.Resize(w.lags, longest)
	for l := range w.lags {
		w.lags[l] = simd.Dot(w.a[:len(w.a)-l], w.a[l:])
	}
	if !w.whiten() {
		return false
	}
	w.e = w.errors(w.e, w.z)
	w.scale()
	return true
}

// first returns initial weights 1/v², where v is the local power over 49 samples. Clicks therefore have less weight than other samples.
func (w *window) first() []float64 {
	const half = order / 2
	n := len(w.z)
	v, sums := make([]float64, n), cumulative(squares(w.z))
	for i := range v {
		lo, hi := max(0, i-half), min(n, i+half+1)
		v[i] = (sums[hi] - sums[lo]) / float64(hi-lo)
	}
	least := quantile(slices.Clone(v), 0.5)/10 + 1
	for i := range v {
		v[i] = 1 / ((v[i] + least) * (v[i] + least))
	}
	return v
}

// even returns weights that normalize the local level and downweight large errors and removed clicks.
func (w *window) even() []float64 {
	v := make([]float64, len(w.z))
	for i, s := range w.size {
		z := w.e[i] / s
		v[i] = 1 / (s * s * (1 + z*z/4))
		if w.found[i] {
			v[i] *= 1e-3
		}
	}
	return v
}

// whiten computes the predictors. It returns false if R is not positive definite. Row m of the inverse factor contains the
// coefficients of the predictor of order m divided by its error standard deviation. Before the division, the last coefficient is 1
// and the first is the reflection coefficient.
func (w *window) whiten() bool {
	w.predictors, w.reflections, w.variances = ar.Whitening(w.lags), w.reflections[:0], w.variances[:0]
	for m, b := range w.predictors {
		w.reflections, w.variances = append(w.reflections, b[0]/b[m]), append(w.variances, 1/(b[m]*b[m]))
	}
	return w.predictors != nil
}

// errors returns the prediction errors of z. It reuses e.
func (w *window) errors(e, z []float64) []float64 {
	e = simd.Resize(e, len(z))
	clear(e[:order])
	for n := order; n < len(z); n++ {
		e[n] = simd.Dot(w.reversed, z[n-order:n+1])
	}
	return e
}

// correlate computes y_n = Σ_j a_j e_{n+j} for lo ≤ n < hi.
func (w *window) correlate(y, e []float64, lo, hi int) {
	for n := max(0, lo); n < min(hi, len(e)); n++ {
		k := min(len(w.a), len(e)-n)
		y[n] = simd.Dot(w.a[:k], e[n:n+k])
	}
}

// normalMedian is the median of |e| for standard normal e.
const normalMedian = 0.6745

// scale computes size from medians of |e| in half-overlapping parts of sizeSamples, with linear interpolation between their centers.
// The minimum is twice the standard deviation of quantization errors.
func (w *window) scale() {
	n, least := len(w.e), math.Sqrt(w.lags[0]/3)
	const half = sizeSamples / 2
	var at, sizes []float64
	abs := make([]float64, 0, sizeSamples)
	for lo := order; lo+sizeSamples <= n; lo += half {
		abs = abs[:0]
		for i, e := range w.e[lo : lo+sizeSamples] {
			if !w.found[lo+i] {
				abs = append(abs, math.Abs(e))
			}
		}
		if len(abs) >= sizeSamples/4 {
			at, sizes = append(at, float64(lo+half)), append(sizes, math.Hypot(quantile(abs, 0.5)/normalMedian, least))
		}
	}
	w.size = simd.Resize(w.size, n)
	k := 0
	for i := range w.size {
		t := float64(i)
		for k+2 < len(at) && t > at[k+1] {
			k++
		}
		switch {
		case len(at) == 0:
			w.size[i] = least
		case len(at) == 1 || t <= at[0]:
			w.size[i] = sizes[0]
		default:
			share := min(1, (t-at[k])/(at[k+1]-at[k]))
			w.size[i] = sizes[k] + share*(sizes[k+1]-sizes[k])
		}
	}
}

// quantile returns a quantile of x by Hoare's selection. It reorders x.
func quantile(x []float64, share float64) float64 {
	k, lo, hi := int(share*float64(len(x))), 0, len(x)-1
	for lo < hi {
		pivot, i, j := x[(lo+hi)/2], lo, hi
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return x[k]
		}
	}
	return x[k]
}
