package backendtest

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/double"
	"github.com/vssgp/vssgp/internal/testkit"
)

// Positions are functions that return n values of x for tests of row spectra.
var Positions = map[string]func(n int, rng *rand.Rand) []float64{
	"even": func(n int, _ *rand.Rand) []float64 {
		return testkit.Numbers(n, func(i int) float64 { return float64(i) })
	},
	"even, in standard deviations": func(n int, _ *rand.Rand) []float64 {
		return testkit.Numbers(n, func(i int) float64 { return (float64(i) - 0.5*float64(n)) / (0.29 * float64(n)) })
	},
	"even, shuffled, far away": func(n int, rng *rand.Rand) []float64 {
		x := testkit.Numbers(n, func(i int) float64 { return 3e6 + 0.25*float64(i) })
		rng.Shuffle(n, func(i, j int) { x[i], x[j] = x[j], x[i] })
		return x
	},
	"holes and doubles": func(n int, rng *rand.Rand) []float64 {
		at := -1
		return testkit.Numbers(n, func(i int) float64 {
			switch v := rng.Float64(); {
			case i == 0 || v > 0.05:
				at++
			case v > 0.02:
				at += 3
			}
			return 0.5 * float64(at)
		})
	},
	"uneven": func(n int, rng *rand.Rand) []float64 {
		return testkit.Numbers(n, func(int) float64 { return float64(n) * rng.Float64() })
	},
	"uneven, half of them close together": func(n int, rng *rand.Rand) []float64 {
		return testkit.Numbers(n, func(i int) float64 { return float64(n) * rng.Float64() * []float64{1, 0.01}[i%2] })
	},
	"uneven, in bursts": func(n int, rng *rand.Rand) []float64 {
		return testkit.Numbers(n, func(i int) float64 { return float64(i) + 10*math.Floor(float64(i)/50) + 0.2*rng.Float64() })
	},
}

// SpectrumData draws n rows with d outputs.
func SpectrumData(kind string, n, d int, rng *rand.Rand) *backend.Data {
	return &backend.Data{N: n, Q: 1, D: d, X: Positions[kind](n, rng), Y: testkit.Numbers(n*d, func(int) float64 { return rng.NormFloat64() })}
}

// A Stretch contains the minimum and the maximum of the features' decay lengths in steps, and the maximum distance of their centers from
// the data, relative to the range of the data.
type Stretch [3]float64

// SpectrumFeatures draws m features over the data, including some with P = 0, with equal frequencies, and with frequencies near 0 and
// half the sample rate.
func SpectrumFeatures(d *backend.Data, m int, s Stretch, rng *rand.Rand) *backend.Features {
	from, to, outside := s[0], s[1], s[2]
	lo, hi := d.Extent(0)
	step := (hi - lo) / float64(d.N-1)
	f := backend.NewFeatures(m, 1)
	for k := range m {
		reach := step * from * math.Pow(to/from, rng.Float64())
		f.Decay[k] = 1 / (reach * reach)
		f.Center[k] = lo + (hi-lo)*(rng.Float64()*(1+2*outside)-outside)
		f.Freq[k] = 0.98 * math.Pi / step * rng.Float64() * float64(1-2*rng.IntN(2))
		f.Phase[k] = 2 * math.Pi * rng.Float64()
		f.Amp[k] = 0.5 + rng.Float64()
		f.Power[k], f.Ripple[k] = f.Amp[k]*f.Amp[k]/2, 0.4*f.Amp[k]*f.Amp[k]
		switch k % 8 {
		case 1:
			f.Decay[k] = 0
		case 3:
			f.Freq[k] = f.Freq[k-1] * (1 + 1e-9)
		case 5:
			f.Freq[k] = f.Freq[k-1]
		case 6:
			f.Freq[k] = 1e-7 / (hi - lo)
		case 7:
			f.Freq[k] = math.Pi / step * (1 - 1e-8)
		}
	}
	return f
}

// SpectrumErrors returns the largest errors of G and C, relative to G's largest diagonal entry, and of the gradient, relative to the
// largest entry of each field.
func SpectrumErrors(t *testing.T, d *backend.Data, f *backend.Features, rows backend.Rows, rng *rand.Rand) (g, c, grad float64) {
	t.Helper()
	bar := backend.NewMoments(f, d.D)
	for i := range bar.C {
		bar.C[i] = rng.NormFloat64()
	}
	for i := range f.M {
		for j := range i + 1 {
			v := rng.NormFloat64()
			bar.Gram.Diag[0][i*f.M+j], bar.Gram.Diag[0][j*f.M+i] = v, v
		}
	}
	want, wantGrad := truth(d, f, bar)
	got, gotGrad := backend.NewMoments(f, d.D), backend.NewFeatures(f.M, 1)
	testkit.OK(t, errors.Join(rows.Moments(got, f), rows.Pullback(gotGrad, f, bar)))
	if got.Terms == 0 {
		t.Fatal("the sums are not from tables")
	}
	most := 0.0
	for k := range f.M {
		most = max(most, want.Gram.At(k, k))
	}
	for i, v := range want.Gram.Diag[0] {
		g = max(g, math.Abs(got.Gram.Diag[0][i]-v)/most)
	}
	for i, v := range want.C {
		c = max(c, math.Abs(got.C[i]-v)/most)
	}
	for i, field := range wantGrad.Fields() {
		size, worst := 1e-3, 0.0 // some fields are zero
		for k, v := range field.Data {
			size, worst = max(size, math.Abs(v)), max(worst, math.Abs(gotGrad.Fields()[i].Data[k]-v))
		}
		grad = max(grad, worst/size)
	}
	return g, c, grad
}

// The reference values are sums over rows with exact phases. x − z and its products with ω are computed in double-double arithmetic,
// because rounding x − z would shift all rows of a feature equally and hide the errors of the tables.

// theta returns d = x − z and the phase ω(x − z) + c modulo whole turns.
func theta(f *backend.Features, k int, x float64) (d double.Float, angle float64) {
	d = double.Sum(x, -f.Center[k])
	_, away := double.Of(f.Freq[k]).Times(double.PerTurn).Times(d).Split()
	_, c := double.Of(f.Phase[k]).Times(double.PerTurn).Split()
	return d, 2 * math.Pi * (away + c - math.RoundToEven(away+c))
}

// truth returns the reference values of C, G and the gradient of Σ C̄∘C + Σ Ḡ∘G.
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
