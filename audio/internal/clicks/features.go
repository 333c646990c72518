package clicks

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/internal/simd"
)

// Features of a candidate [lo, hi) of L samples. e are the prediction errors after removal of earlier candidates, e' after removal of
// this candidate too, σ² is their local variance, and T = Σ e² − e'².
const (
	fEnergy = iota // log T/σ²
	fLength        // log L
	fLeft          // log mean of e'²/σ² over [lo, hi+order); an attack leaves errors, a click does not
	fTail          // ±log(1 + |Σ e²−e'²|/σ²) over [hi, hi+order); a click also causes errors after its end, an attack does not
	fPeak          // log of the maximum |y|/√r_0, relative to the .9 quantile in other parts of the window; large for isolated pulses
	fAgain         // fraction of e² explained by errors at three other times in the window, with gain ≤ 2; large for periodic pulses
	fLevel         // log₁₀ of the ratio of the mean of d² to the mean square of the audio on both sides
	fHeavy         // log of the ratio of the .98 quantile to the median of |e| in the window
	fRoot          // log r_0
	fUsual         // as fPeak, relative to the median of the other parts, which few ticks do not change
	Features
)

// FeatureNames contains the names of the features in docs/repair-clicks.md.
var FeatureNames = [Features]string{"energy", "length", "left", "tail", "peak", "again", "level", "heavy", "gain", "usual"}

// survey computes the statistics of the window that the features need.
func (w *window) survey() {
	n := len(w.z)
	e2, ones := make([]float64, n), make([]float64, n)
	for i := order; i < n; i++ {
		if !w.found[i] {
			e2[i], ones[i] = min(w.e[i]*w.e[i], 36*w.size[i]*w.size[i]), 1
		}
	}
	w.sums, w.counts = cumulative(e2), cumulative(ones)
	near := w.seconds(nearSeconds, 2*order)
	w.power = simd.Resize(w.power, n)
	for i, s := range w.size {
		w.power[i] = max(w.nearby(i-near, i+near+1, 1), s*s)
	}
	w.squares, w.sound = cumulative(squares(w.e)), cumulative(squares(w.z))
	w.y = simd.Resize(w.y, n)
	w.correlate(w.y, w.e, order, n)
	root := math.Sqrt(w.lags[0])
	w.peaks = w.peaks[:0]
	for lo := order; lo+order <= n; lo += order {
		w.peaks = append(w.peaks, floats.Norm(w.y[lo:lo+order], math.Inf(1))/root)
	}
	abs := make([]float64, 0, n)
	for _, e := range w.e[order:] {
		abs = append(abs, math.Abs(e))
	}
	w.heavy = math.Log((quantile(abs, 0.98) + 1e-9) / (quantile(abs, 0.5) + 1e-9))
}

// nearby returns the mean square of the clipped errors in [lo, hi), or 0 if there are fewer than least.
func (w *window) nearby(lo, hi, least int) float64 {
	lo, hi = max(lo, 0), min(hi, len(w.e))
	if hi <= lo {
		return 0
	}
	n := w.counts[hi] - w.counts[lo]
	if n < float64(least) {
		return 0
	}
	return (w.sums[hi] - w.sums[lo]) / n
}

// change returns the candidate [lo, hi) with its features and log-odds.
func (w *window) change(lo, hi int) change {
	c := change{}
	c.Lo, c.Hi = lo, hi
	d, t := w.solve(lo, hi)
	c.d = d
	f := &c.Features
	length := hi - lo
	own := w.left[lo : hi+order]
	rest := slices.Clone(own)
	w.subtract(rest, lo, lo, d)
	size := w.size[lo]
	side := w.seconds(nearSeconds/2, 2*order)
	variance := max(size*size, w.nearby(lo-side, lo, 16), w.nearby(hi+order, hi+order+side, 16))

	before, inside, after := floats.Dot(own, own), floats.Dot(own[:length], own[:length]), floats.Dot(rest, rest)
	f[fEnergy] = math.Log(t / variance)
	f[fLength] = math.Log(float64(length))
	f[fLeft] = math.Log(after/(float64(len(own))*variance) + 0.1)
	f[fTail] = signedLog((before - inside - floats.Dot(rest[length:], rest[length:])) / variance)
	peak := max(floats.Norm(w.y[lo:hi], math.Inf(1))/math.Sqrt(w.lags[0]), math.Sqrt(t/float64(length)))
	high, median := w.typical(lo, hi)
	f[fPeak], f[fUsual] = math.Log(peak/max(high, size)), math.Log(peak/max(median, size))
	reach := w.seconds(nearSeconds, 1)
	u, v := max(0, lo-reach), min(len(w.x), hi+reach)
	around := (w.sound[lo] - w.sound[u] + w.sound[v] - w.sound[hi]) / float64(v-u-length)
	f[fLevel] = math.Log10(floats.Dot(d, d)/float64(length)/max(1, around) + 1e-9)
	f[fHeavy] = w.heavy
	f[fRoot] = math.Log(w.lags[0])
	if c.LogOdds = w.Weights.LogOdds(f); c.LogOdds >= min(w.Again, w.removal()) {
		f[fAgain] = w.again(own, lo) / before
		c.LogOdds = w.Weights.LogOdds(f)
	}
	return c
}

// signedLog returns log(1 + |v|) with the sign of v.
func signedLog(v float64) float64 { return math.Copysign(math.Log1p(math.Abs(v)), v) }

// typical returns the .9 quantile and the median of the maxima of |y|/√r_0 in the parts of the window that [lo, hi)
// does not affect.
func (w *window) typical(lo, hi int) (high, median float64) {
	var others []float64
	for i, p := range w.peaks {
		if i < (lo-order)/order-1 || i > hi/order+1 {
			others = append(others, p)
		}
	}
	if len(others) == 0 {
		return 0, 0
	}
	return quantile(others, 0.9), quantile(others, 0.5)
}

// again returns the sum of squared errors that the errors at the third-best other time explain, with gain ≤ 2.
func (w *window) again(own []float64, lo int) float64 {
	n := len(own)
	most := make([]float64, len(w.e)/n+3) // in each part of the window
	for at := order; at+n <= len(w.e); at++ {
		if 2*max(at-lo, lo-at) <= n {
			continue
		}
		product, square := simd.Dot(own, w.e[at:at+n]), w.squares[at+n]-w.squares[at]+1e-9
		if g := min(2, product/square); g > 0 {
			most[at/n] = max(most[at/n], g*(2*product-g*square))
		}
	}
	slices.Sort(most)
	return most[len(most)-3]
}

func squares(x []float64) []float64 {
	y := make([]float64, len(x))
	floats.MulTo(y, x, x)
	return y
}

// cumulative returns the sums of the first 0, …, len(x) values.
func cumulative(x []float64) []float64 {
	s := make([]float64, len(x)+1)
	floats.CumSum(s[1:], x)
	return s
}
