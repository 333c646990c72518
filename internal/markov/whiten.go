package markov

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Whiten replaces the columns of c [N,C] by L⁻¹c. If states [N,J,C] is not nil, it is set to the filtered states before each time, which
// Pull needs.
func (f *Filter) Whiten(c, states []float64) {
	cols, j := len(c)/f.n, f.j
	now, next := make([]float64, j*cols), make([]float64, j*cols)
	for n, s := range f.steps {
		if states != nil {
			copy(states[n*j*cols:], now)
		}
		v := c[n*cols : (n+1)*cols]
		clear(next)
		for r := range j {
			to := next[r*cols : (r+1)*cols]
			for i := range j {
				if a := s.f[r*j+i]; a != 0 {
					floats.AddScaled(to, a, now[i*cols:(i+1)*cols])
				}
			}
			if f.h[r] != 0 {
				floats.AddScaled(v, -1, to)
			}
		}
		for r := range j {
			floats.AddScaled(next[r*cols:(r+1)*cols], s.gain[r], v)
		}
		scale := 1 / math.Sqrt(s.s)
		for i := range v {
			v[i] *= scale
		}
		now, next = next, now
	}
}

// Pull replaces a gradient bar [N,C] with respect to whitened columns z by the gradient with respect to the columns, and returns the
// gradient with respect to the filter's coordinates. states is from Whiten.
func (f *Filter) Pull(bar, z, states []float64) []float64 {
	cols, j := len(bar)/f.n, f.j
	slopes := make([]float64, f.slopes)
	after, before := make([]float64, j*cols), make([]float64, j*cols) // gradients with respect to the states
	barGain, barF := make([]float64, j), make(square, j*j)
	for n := f.n - 1; n >= 0; n-- {
		s := f.steps[n]
		scale := 1 / math.Sqrt(s.s)
		v, own, was := bar[n*cols:(n+1)*cols], z[n*cols:(n+1)*cols], states[n*j*cols:(n+1)*j*cols]
		barS := -0.5 * floats.Dot(v, own) / s.s
		for i := range v {
			v[i] *= scale
		}
		for r := range j {
			bar := after[r*cols : (r+1)*cols]
			barGain[r] = floats.Dot(bar, own) / scale // v_n = z_n·√S
			floats.AddScaled(v, s.gain[r], bar)
		}
		for r := range j { // with respect to F·f: f̄ − Hᵀv̄
			if f.h[r] != 0 {
				floats.AddScaled(after[r*cols:(r+1)*cols], -1, v)
			}
		}
		clear(before)
		for r := range j {
			from := after[r*cols : (r+1)*cols]
			for i := range j {
				barF[r*j+i] = floats.Dot(from, was[i*cols:(i+1)*cols])
				if a := s.f[r*j+i]; a != 0 {
					floats.AddScaled(before[i*cols:(i+1)*cols], a, from)
				}
			}
		}
		for p := range slopes {
			slopes[p] += barS*s.ds[p] + floats.Dot(barGain, s.dk[p*j:(p+1)*j])
			if f.moves(p) {
				slopes[p] += floats.Dot(barF, s.df[p*j*j:(p+1)*j*j])
			}
		}
		after, before = before, after
	}
	return slopes
}

// LogDetSlopes returns the derivatives of log|K|.
func (f *Filter) LogDetSlopes() []float64 {
	out := make([]float64, f.slopes)
	for _, s := range f.steps {
		for p, d := range s.ds {
			out[p] += d / s.s
		}
	}
	return out
}
