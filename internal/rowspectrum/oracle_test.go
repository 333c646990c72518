package rowspectrum

import (
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/double"
)

// The truth: sums over rows with exact phases. x − z and its products with ω are doubles, as rounding x − z would move every row
// of a feature by the same amount and hide the errors of the tables.

// theta returns d = x − z and the phase ω(x − z) + c, less whole turns.
func theta(f *backend.Features, k int, x float64) (d double.Float, angle float64) {
	d = double.Sum(x, -f.Center[k])
	_, away := double.Of(f.Freq[k]).Times(double.PerTurn).Times(d).Split()
	_, c := double.Of(f.Phase[k]).Times(double.PerTurn).Split()
	return d, 2 * math.Pi * fraction(away+c)
}

// truth returns C and G and the gradient of Σ C̄∘C + Σ Ḡ∘G, as backends have to.
func truth(d *backend.Data, f *backend.Features, bar *backend.Moments) (*backend.Moments, *backend.Features) {
	m, block := f.M, 1024
	blocks := (d.N + block - 1) / block
	type part struct{ mom, grad []double.Float }
	total := part{make([]double.Float, m*d.D+m*m), make([]double.Float, m*7)}
	accumulate := func(to []double.Float, i int, v float64) {
		s := double.Sum(to[i].Hi, v)
		to[i] = double.Float{Hi: s.Hi, Lo: to[i].Lo + s.Lo}
	}
	cos, sin, ds, e := make([]float64, m), make([]float64, m), make([]float64, m), make([]float64, m)
	mom, grad := make([]float64, m*d.D+m*m), make([]float64, m*7)
	for b := range blocks {
		clear(mom)
		clear(grad)
		for n := b * block; n < min(d.N, (b+1)*block); n++ {
			for k := range m {
				dd, angle := theta(f, k, d.X[n])
				e[k] = math.Exp(-0.5 * f.Decay[k] * dd.Hi * dd.Hi)
				s, c := math.Sincos(angle)
				cos[k], sin[k], ds[k] = e[k]*c, e[k]*s, dd.Hi
			}
			for k := range m {
				mean := f.Amp[k] * cos[k]
				e2 := e[k] * e[k]
				c2, s2 := e2*(cos[k]*cos[k]-sin[k]*sin[k]), 2*e2*cos[k]*sin[k] // exp(−4q)·cos 2θ
				second := f.Power[k] + f.Ripple[k]*c2
				u := 0.0
				for o := range d.D {
					y := d.Y[n*d.D+o]
					mom[k*d.D+o] += mean * y
					u += y * bar.C[k*d.D+o]
				}
				for j := range k {
					mom[m*d.D+k*m+j] += mean * f.Amp[j] * cos[j]
				}
				mom[m*d.D+k*m+k] += second
				for j := range m {
					if j != k {
						u += 2 * bar.Gram.Diag[0][k*m+j] * f.Amp[j] * cos[j]
					}
				}
				b := bar.Gram.Diag[0][k*m+k]
				theta := -f.Amp[k]*u*sin[k] - 2*f.Ripple[k]*b*s2
				quad := -f.Amp[k]*u*cos[k] - 4*f.Ripple[k]*b*c2
				for i, v := range []float64{
					-f.Freq[k]*theta - f.Decay[k]*quad*ds[k], 0.5 * quad * ds[k] * ds[k], theta * ds[k], theta, u * cos[k], b, b * c2,
				} {
					grad[i*m+k] += v
				}
			}
		}
		for i, v := range mom {
			accumulate(total.mom, i, v)
		}
		for i, v := range grad {
			accumulate(total.grad, i, v)
		}
	}
	out, g := backend.NewMoments(f, d.D), backend.NewFeatures(m, 1)
	for i := range out.C {
		out.C[i] = total.mom[i].Hi + total.mom[i].Lo
	}
	for k := range m {
		for j := range k + 1 {
			v := total.mom[m*d.D+k*m+j]
			out.Gram.Diag[0][k*m+j], out.Gram.Diag[0][j*m+k] = v.Hi+v.Lo, v.Hi+v.Lo
		}
	}
	for i, field := range g.Fields() {
		for k := range m {
			field.Data[k] = total.grad[i*m+k].Hi + total.grad[i*m+k].Lo
		}
	}
	return out, g
}
