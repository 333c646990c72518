package timewarp

import (
	"math"
	"sync"
)

// kaiser returns the Kaiser window at x in [−1, 1].
func kaiser(x, beta float64) float64 {
	return bessel0(beta*math.Sqrt(1-x*x)) / bessel0(beta)
}

// bessel0 returns the modified Bessel function of order 0, computed by its series.
func bessel0(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > 1e-17*sum; k++ {
		term *= x * x / (4 * k * k)
		sum += term
	}
	return sum
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// kernels returns the interpolation weights [phases+1][2·taps] of the samples at offsets 1−taps to taps.
var kernels = sync.OnceValue(func() []float64 {
	k := make([]float64, (phases+1)*2*taps)
	for p := range phases + 1 {
		for j := range 2 * taps {
			d := float64(j-taps+1) - float64(p)/phases
			k[p*2*taps+j] = sinc(d) * kaiser(d/taps, kaiserBeta)
		}
	}
	return k
})

// at returns z interpolated at a fractional index. Outside z it is 0.
func at(z []float64, position float64) float64 {
	whole := math.Floor(position)
	n := int(whole)
	phase := (position - whole) * phases
	p := int(phase)
	right := phase - float64(p)
	from := n - taps + 1
	lo, hi := max(0, from), min(len(z), from+2*taps)
	if lo >= hi {
		return 0
	}
	k, sum, next := kernels(), 0.0, 0.0
	a, b := k[p*2*taps+lo-from:][:hi-lo], k[min(p+1, phases)*2*taps+lo-from:][:hi-lo]
	for j, v := range z[lo:hi] {
		sum += a[j] * v
		next += b[j] * v
	}
	return sum + right*(next-sum)
}

// decimate applies a low-pass filter at the new Nyquist frequency to z and returns every by-th sample.
func decimate(z []float64, by int) []float64 {
	half := decimateReach * by
	h := make([]float64, 2*half+1)
	sum := 0.0
	for i := range h {
		d := float64(i - half)
		h[i] = sinc(d/float64(by)) * kaiser(d/float64(half), decimateBeta)
		sum += h[i]
	}
	for i := range h {
		h[i] /= sum
	}
	out := make([]float64, (len(z)+by-1)/by)
	for k := range out {
		from := k*by - half
		lo, hi := max(0, -from), min(len(h), len(z)-from)
		for i := lo; i < hi; i++ {
			out[k] += h[i] * z[from+i]
		}
	}
	return out
}
