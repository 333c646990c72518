package rowspectrum

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/vssgp/vssgp/spectral"
)

// The truth: sums over rows with exact phases. x − z and its products with ω are doubles, as rounding x − z would move every row
// of a feature by the same amount and hide the errors of the tables.

// theta returns d = x − z and the phase ω(x − z) + c, less whole turns.
func theta(f *spectral.Features, k int, x float64) (d double, angle float64) {
	d = add(x, -f.Center[k])
	_, away := double{hi: f.Freq[k]}.times(perTurn).times(d).split()
	_, c := double{hi: f.Phase[k]}.times(perTurn).split()
	return d, 2 * math.Pi * fraction(away+c)
}

// truth returns C and G and the gradient of Σ C̄∘C + Σ Ḡ∘G, as backends have to.
func truth(d *spectral.Data, f *spectral.Features, bar *spectral.Moments) (*spectral.Moments, *spectral.Features) {
	m, block := f.M, 1024
	blocks := (d.N + block - 1) / block
	type part struct{ mom, grad []double }
	total := part{make([]double, m*d.D+m*m), make([]double, m*7)}
	accumulate := func(to []double, i int, v float64) {
		s := add(to[i].hi, v)
		to[i] = double{s.hi, to[i].lo + s.lo}
	}
	cos, sin, ds, e := make([]float64, m), make([]float64, m), make([]float64, m), make([]float64, m)
	mom, grad := make([]float64, m*d.D+m*m), make([]float64, m*7)
	for b := range blocks {
		clear(mom)
		clear(grad)
		for n := b * block; n < min(d.N, (b+1)*block); n++ {
			for k := range m {
				dd, angle := theta(f, k, d.X[n])
				e[k] = math.Exp(-0.5 * f.Decay[k] * dd.hi * dd.hi)
				s, c := math.Sincos(angle)
				cos[k], sin[k], ds[k] = e[k]*c, e[k]*s, dd.hi
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
	out, g := spectral.NewMoments(f, d.D), spectral.NewFeatures(m, 1)
	for i := range out.C {
		out.C[i] = total.mom[i].hi + total.mom[i].lo
	}
	for k := range m {
		for j := range k + 1 {
			v := total.mom[m*d.D+k*m+j]
			out.Gram.Diag[0][k*m+j], out.Gram.Diag[0][j*m+k] = v.hi+v.lo, v.hi+v.lo
		}
	}
	for i, field := range g.Fields() {
		for k := range m {
			field.Data[k] = total.grad[i*m+k].hi + total.grad[i*m+k].lo
		}
	}
	return out, g
}

// A layoutCase makes the positions of n rows.
type rowsCase struct {
	name string
	x    func(n int, rng *rand.Rand) []float64
}

var rowsCases = []rowsCase{
	{"even", func(n int, _ *rand.Rand) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i)
		}
		return x
	}},
	{"even, scaled", func(n int, _ *rand.Rand) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = (float64(i) - 0.5*float64(n)) / (0.29 * float64(n))
		}
		return x
	}},
	{"holes", func(n int, rng *rand.Rand) []float64 {
		x := make([]float64, 0, n)
		for i := 0; len(x) < n; i++ {
			if i == 0 || rng.Float64() > 0.03 {
				x = append(x, float64(i)*0.5)
			}
		}
		return x
	}},
	{"uneven", func(n int, rng *rand.Rand) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(n) * rng.Float64()
		}
		return x
	}},
}

// A featuresCase draws features over rows from lo to hi at distance step on average.
func drawn(m int, lo, hi, step, reachLo, reachHi, outside float64, rng *rand.Rand) *spectral.Features {
	f := spectral.NewFeatures(m, 1)
	for k := range m {
		reach := reachLo * math.Pow(reachHi/reachLo, rng.Float64())
		f.Decay[k] = 1 / (reach * reach)
		f.Center[k] = lo + (hi-lo)*(rng.Float64()*(1+2*outside)-outside)
		f.Freq[k] = math.Pi / step * rng.Float64() * 0.98
		f.Phase[k] = 2 * math.Pi * rng.Float64()
		f.Amp[k] = 0.5 + rng.Float64()
		f.Power[k] = f.Amp[k] * f.Amp[k] / 2
		f.Ripple[k] = f.Power[k] * 0.8
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

func errorsOf(t *testing.T, d *spectral.Data, f *spectral.Features, rng *rand.Rand, rows spectral.Rows) (g, c, grad float64) {
	t.Helper()
	bar := spectral.NewMoments(f, d.D)
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
	got, gotGrad := spectral.NewMoments(f, d.D), spectral.NewFeatures(f.M, 1)
	if err := rows.Moments(got, f); err != nil {
		t.Fatal(err)
	}
	if err := rows.Pullback(gotGrad, f, bar); err != nil {
		t.Fatal(err)
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
		size, worst := 0.0, 0.0
		for k, v := range field.Data {
			size = max(size, math.Abs(v))
			worst = max(worst, math.Abs(gotGrad.Fields()[i].Data[k]-v))
		}
		grad = max(grad, worst/size)
		if worst/size > 1e-11 {
			t.Logf("   %s %.1e", field.Name, worst/size)
		}
	}
	return g, c, grad
}

func TestAccuracyTable(t *testing.T) {
	runtime.GC()
	for _, n := range []int{50, 1000, 16000, 100000} {
		for _, rc := range rowsCases {
			for _, reach := range [][3]float64{{2, 30, 0.05}, {30, 0.1 * float64(n), 0.05}, {0.1 * float64(n), 100 * float64(n), 0.2}, {0.2 * float64(n), 10 * float64(n), 9.5}} {
				rng := rand.New(rand.NewPCG(uint64(n), 7))
				x := rc.x(n, rng)
				d := &spectral.Data{N: n, Q: 1, D: 1, X: x, Y: make([]float64, n)}
				for i := range d.Y {
					d.Y[i] = rng.NormFloat64()
				}
				lo, hi := d.Extent(0)
				step := (hi - lo) / float64(n-1)
				f := drawn(16, lo, hi, step, reach[0]*step, reach[1]*step, reach[2], rng)
				rows := &Rows{data: *d, force: true}
				g, c, grad := errorsOf(t, d, f, rng, rows)
				t.Logf("%7d %-13s reach %7.3g to %7.3g: G %.1e C %.1e gradient %.1e", n, rc.name, reach[0], reach[1], g, c, grad)
			}
		}
	}
}
