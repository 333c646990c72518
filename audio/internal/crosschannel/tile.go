package crosschannel

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio/internal/ar"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/simd"
)

// Residual returns x_n − Σ_l h_l y_{n−l} at n = L, …, len(x)−1−L, and first = L. The taps h are estimated by least squares on prediction
// errors, of which the largest are limited, and then again without the samples around outliers, which are clicks in either channel.
// Residual returns nil if x is silent, shorter than 16 L, or not predicted by y.
func Residual(x, y []float64, rate float64) (r []float64, first int) {
	l := lags(rate)
	if len(x) < 16*l {
		return nil, 0
	}
	m := ar.Burg([]ar.Segment{{X: x}, {X: y}}, tileOrder)
	if !(m.E > 0) {
		return nil, 0
	}

	e, other, part := ar.Errors(m.A, x), ar.Errors(m.A, y), max(1, int(block*rate))
	h := tileTaps(limited(e), limited(other), l, part, [][2]int{{l + 1, len(e) - l}})
	for range tileRounds {
		if h == nil {
			return nil, 0
		}
		if v := tileTaps(e, other, l, part, inliers(e, other, h, l)); v != nil {
			h = v
		}
	}
	r = slices.Clone(x[l : len(x)-l])
	floats.Sub(r, ar.Errors(h, y))
	return r, l
}

// tileTaps returns the taps that predict errors e from errors other in the given runs, or nil if there is no gain. Each part of size samples is
// weighted by the power of other: noise in other makes the taps smaller, and loud parts have less of it.
func tileTaps(e, other []float64, l, size int, runs [][2]int) []float64 {
	taps := 2*l + 1
	s := &normal{products: blocktri.NewDense(taps), right: make([]float64, taps)}
	total, squares := 0.0, 0.0
	eachPart(runs, size, func(lo, hi int) {
		w := simd.Dot(other[lo:hi], other[lo:hi]) / float64(hi-lo)
		total, squares = total+float64(hi-lo)*w, squares+float64(hi-lo)*w*w
	})
	if !(squares > 0) {
		return nil
	}
	eachPart(runs, size, func(lo, hi int) {
		w := simd.Dot(other[lo:hi], other[lo:hi]) / float64(hi-lo)
		s.add(e, [][]float64{other}, lo, hi, l, w*total/squares) // the sum of the weights is the effective number of samples
	})
	h, _ := s.solve()
	return h
}

// eachPart calls do for the parts of the runs, which end at multiples of size.
func eachPart(runs [][2]int, size int, do func(lo, hi int)) {
	for _, run := range runs {
		for lo := run[0]; lo < run[1]; {
			hi := min(run[1], (lo/size+1)*size)
			do(lo, hi)
			lo = hi
		}
	}
}

// inliers returns the runs of errors that are at least l samples from all errors that h does not predict within outlier times their scale.
func inliers(e, other, h []float64, l int) (runs [][2]int) {
	start, end := l+1, len(e)-l
	left := slices.Clone(e[l:end])
	floats.Sub(left, ar.Errors(h, other))
	top := outlier * scale(left)
	for i, v := range left {
		if math.Abs(v) > top {
			if start < i {
				runs = append(runs, [2]int{start, i})
			}
			start = max(start, i+2*l+1)
		}
	}
	if start < end {
		runs = append(runs, [2]int{start, end})
	}
	return runs
}

// scale returns the standard deviation of normal errors with the median of |e|.
func scale(e []float64) float64 {
	size := make([]float64, len(e))
	for i, v := range e {
		size[i] = math.Abs(v)
	}
	slices.Sort(size)
	return size[len(size)/2] / 0.6745
}

// limited returns the errors, limited in each part of clipSamples to ±outlier times their scale.
func limited(e []float64) []float64 {
	e = slices.Clone(e)
	for lo := 0; lo < len(e); lo += clipSamples {
		part := e[lo:min(len(e), lo+clipSamples)]
		top := outlier * scale(part)
		for i, v := range part {
			part[i] = max(-top, min(v, top))
		}
	}
	return e
}
