package markov

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Smooth conditions the sum of the terms on columns c [N,C] observed with noise at sorted times, and returns its mean [A,C] and its variance
// [A] at the sorted times at.
func Smooth(terms []Term, noise float64, times, c, at []float64) (mean, variance []float64) {
	cols := len(c) / len(times)
	all, observed := merge(times, at)
	f := New(terms, noise, all, observed, false)
	j := f.j

	// Forward: the innovations v, and the predicted states at the times without observation.
	innovations := make([]float64, 0, len(c))
	predicted := make([]float64, 0, len(at)*j*cols)
	now, next := make([]float64, j*cols), make([]float64, j*cols)
	row := 0
	for n, s := range f.steps {
		clear(next)
		for r := range j {
			for i := range j {
				if a := s.f[r*j+i]; a != 0 {
					floats.AddScaled(next[r*cols:(r+1)*cols], a, now[i*cols:(i+1)*cols])
				}
			}
		}
		if !observed[n] {
			predicted = append(predicted, next...)
		} else {
			v := slices.Clone(c[row*cols : (row+1)*cols])
			row++
			for r := range j {
				if f.h[r] != 0 {
					floats.AddScaled(v, -1, next[r*cols:(r+1)*cols])
				}
			}
			for r := range j {
				floats.AddScaled(next[r*cols:(r+1)*cols], s.gain[r], v)
			}
			innovations = append(innovations, v...)
		}
		now, next = next, now
	}

	// Backward (Durbin & Koopman 2012, section 4.4): r and its variance m, such that the smoothed state is the predicted one plus P·r, with
	// covariance P − P·m·P.
	mean, variance = make([]float64, len(at)*cols), make([]float64, len(at))
	r, m := make([]float64, j*cols), make(square, j*j)
	out := len(at)
	for n := len(f.steps) - 1; n >= 0; n-- {
		s := f.steps[n]
		if observed[n] {
			row--
			f.absorb(s, r, m, innovations[row*cols:(row+1)*cols])
		} else {
			out--
			f.smoothed(s, r, m, predicted[out*j*cols:(out+1)*j*cols], mean[out*cols:(out+1)*cols], &variance[out])
		}
		r, m = f.back(s, r, m, cols)
	}
	return mean, variance
}

// absorb adds an innovation v [C] to r [J,C] and m: with A = I − k·H, r ← Aᵀr + Hᵀv/S and m ← Aᵀ·m·A + HᵀH/S.
func (f *Filter) absorb(s *step, r []float64, m square, v []float64) {
	j, cols := f.j, len(v)
	sum := make([]float64, cols) // kᵀr
	for i := range j {
		floats.AddScaled(sum, s.gain[i], r[i*cols:(i+1)*cols])
	}
	a := make(square, j*j) // Aᵀ
	for i := range j {
		for k := range j {
			a[i*j+k] = -f.h[i] * s.gain[k]
		}
		a[i*j+i]++
		if f.h[i] != 0 {
			floats.AddScaled(r[i*cols:(i+1)*cols], -1, sum)
			floats.AddScaled(r[i*cols:(i+1)*cols], 1/s.s, v)
		}
	}
	t := make(square, j*j)
	product(t, a, m, j)
	for i := range j {
		for k := range j {
			m[i*j+k] = t[i*j+k] + f.h[i]*f.h[k]/s.s
		}
	}
}

// smoothed sets the mean [C] and the variance of the sum of the states.
func (f *Filter) smoothed(s *step, r []float64, m square, predicted, mean []float64, variance *float64) {
	j, cols := f.j, len(mean)
	row := multiply(f.h, s.p, j) // H·P
	for i := range j {
		if f.h[i] != 0 {
			floats.AddScaled(mean, 1, predicted[i*cols:(i+1)*cols])
		}
		floats.AddScaled(mean, row[i], r[i*cols:(i+1)*cols])
	}
	*variance = max(0, floats.Dot(row, f.h)-floats.Dot(multiply(row, m, j), row))
}

// back propagates r and m to the time before a step: Fᵀr and Fᵀ·m·F.
func (f *Filter) back(s *step, r []float64, m square, cols int) ([]float64, square) {
	j := f.j
	transposed := make(square, j*j)
	out := make([]float64, len(r))
	for i := range j {
		for k := range j {
			transposed[k*j+i] = s.f[i*j+k]
			floats.AddScaled(out[k*cols:(k+1)*cols], s.f[i*j+k], r[i*cols:(i+1)*cols])
		}
	}
	next := make(square, j*j)
	f.product(next, transposed, m, transposed)
	return out, next
}

// product sets dst to a·m·aᵀ.
func product(dst, a, m square, j int) {
	for r := range j {
		row := multiply(a[r*j:(r+1)*j], m, j)
		for c := range j {
			dst[r*j+c] = floats.Dot(row, a[c*j:(c+1)*j])
		}
	}
}

// merge returns the sorted times of both lists and which of them are from the first.
func merge(times, at []float64) (all []float64, first []bool) {
	for len(times)+len(at) > 0 {
		if len(at) == 0 || len(times) > 0 && times[0] <= at[0] {
			all, first = append(all, times[0]), append(first, true)
			times = times[1:]
		} else {
			all, first = append(all, at[0]), append(first, false)
			at = at[1:]
		}
	}
	return all, first
}

// Reach returns the distance beyond which observations do not influence the terms, to about 1e-16.
func Reach(terms []Term) (far float64) {
	for _, t := range terms {
		far = max(far, 40*t.Length)
	}
	return far
}
