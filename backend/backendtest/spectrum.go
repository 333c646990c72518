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

// Places are functions that return n rows of two inputs [N,2] for tests of row spectra.
var Places = map[string]func(n int, rng *rand.Rand) []float64{
	"grid": func(n int, _ *rand.Rand) []float64 { return lattice(n, 1, func(int, int) bool { return true }) },
	"grid with holes": func(n int, rng *rand.Rand) []float64 {
		return lattice(n, 0.1, func(int, int) bool { return rng.Float64() < 0.7 })
	},
	"grid with a huge gap": func(n int, _ *rand.Rand) []float64 {
		return lattice(n, 1.0/3, func(i, _ int) bool { return i < 20 || float64(i) > 0.8*math.Sqrt(float64(n)) })
	},
	"scattered": func(n int, rng *rand.Rand) []float64 {
		return testkit.Numbers(2*n, func(i int) float64 { return math.Sqrt(float64(n)) * rng.Float64() * float64(1+2*(i%2)) })
	},
	"clustered": func(n int, rng *rand.Rand) []float64 {
		x := make([]float64, 0, 2*n)
		for range n {
			c := float64(rng.IntN(3))
			x = append(x, 1e3+10*c*c+rng.NormFloat64(), -5+3*c+0.3*rng.NormFloat64())
		}
		return x
	},
	"collinear": func(n int, rng *rand.Rand) []float64 {
		x := make([]float64, 0, 2*n)
		for range n {
			v := rng.Float64()
			x = append(x, v, 3-2*v)
		}
		return x
	},
	"one input constant": func(n int, rng *rand.Rand) []float64 {
		return testkit.Numbers(2*n, func(i int) float64 { return []float64{rng.Float64(), 7.3}[i%2] })
	},
	"scattered, with a huge gap": func(n int, rng *rand.Rand) []float64 {
		return testkit.Numbers(2*n, func(i int) float64 { return rng.Float64() + 1000*float64(i/2*2/n) })
	},
}

// lattice returns n rows in random order, at the points (i, j) of a grid with the given step that keep selects.
func lattice(n int, step float64, keep func(i, j int) bool) []float64 {
	width := int(math.Ceil(math.Sqrt(float64(n))))
	x := make([]float64, 0, 2*n)
	for i := 0; len(x) < 2*n; i++ {
		for j := 0; j < width && len(x) < 2*n; j++ {
			if keep(i, j) {
				x = append(x, step*float64(i), 4+2*step*float64(j))
			}
		}
	}
	rng := rand.New(rand.NewPCG(uint64(n), 21))
	rng.Shuffle(n, func(i, j int) {
		x[2*i], x[2*i+1], x[2*j], x[2*j+1] = x[2*j], x[2*j+1], x[2*i], x[2*i+1]
	})
	return x
}

// SpectrumData draws n rows with d outputs at Positions or Places.
func SpectrumData(kind string, n, d int, rng *rand.Rand) *backend.Data {
	data := &backend.Data{N: n, Q: 1, D: d}
	if place := Places[kind]; place != nil {
		data.Q, data.X = 2, place(n, rng)
	} else {
		data.X = Positions[kind](n, rng)
	}
	data.Y = testkit.Numbers(n*d, func(int) float64 { return rng.NormFloat64() })
	return data
}

// A Stretch contains the minimum and the maximum of the features' decay lengths in mean steps of each input, and the
// maximum distance of their centers from the data, relative to the range of the data.
type Stretch [3]float64

// SpectrumFeatures draws m features over the data, including some with P = 0, with equal frequencies, and with frequencies near 0 and
// half the sample rate.
func SpectrumFeatures(d *backend.Data, m int, s Stretch, rng *rand.Rand) *backend.Features {
	f := backend.NewFeatures(m, d.Q)
	per := math.Round(math.Pow(float64(d.N), 1/float64(d.Q))) // steps per input
	for k := range m {
		for q := range d.Q {
			lo, hi := d.Extent(q)
			if lo == hi {
				hi++
			}
			spectrumFeature(f, k, k*d.Q+q, lo, hi-lo, per, s, rng)
		}
		f.Phase[k] = 2 * math.Pi * rng.Float64()
		f.Amp[k] = 0.5 + rng.Float64()
		f.Power[k], f.Ripple[k] = f.Amp[k]*f.Amp[k]/2, 0.4*f.Amp[k]*f.Amp[k]
	}
	return f
}

// spectrumFeature draws the numbers of feature k for one input, at index at.
func spectrumFeature(f *backend.Features, k, at int, lo, span, per float64, s Stretch, rng *rand.Rand) {
	from, to, outside := s[0], s[1], s[2]
	step := span / (per - 1)
	reach := step * from * math.Pow(to/from, rng.Float64())
	f.Decay[at] = 1 / (reach * reach)
	f.Center[at] = lo + span*(rng.Float64()*(1+2*outside)-outside)
	f.Freq[at] = 0.98 * math.Pi / step * rng.Float64() * float64(1-2*rng.IntN(2))
	switch k % 8 {
	case 1:
		f.Decay[at] = 0
	case 3:
		f.Freq[at] = f.Freq[at-f.Q] * (1 + 1e-9)
	case 5:
		f.Freq[at] = f.Freq[at-f.Q]
	case 6:
		f.Freq[at] = 1e-7 / span
	case 7:
		f.Freq[at] = math.Pi / step * (1 - 1e-8)
	}
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
	got, gotGrad := backend.NewMoments(f, d.D), backend.NewFeatures(f.M, f.Q)
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

// A phasor is a feature at a row: exp(−q) times the cosine and the sine of its phase.
type phasor struct {
	e, cos, sin float64
	d           [2]float64 // x − z
}

// at returns feature k at the row x.
func at(f *backend.Features, k int, x []float64) (p phasor) {
	_, turns := double.Of(f.Phase[k]).Times(double.PerTurn).Split()
	exponent := 0.0
	for q, v := range x {
		d := double.Sum(v, -f.Center[k*f.Q+q])
		_, away := double.Of(f.Freq[k*f.Q+q]).Times(double.PerTurn).Times(d).Split()
		turns += away
		exponent -= 0.5 * f.Decay[k*f.Q+q] * d.Hi * d.Hi
		p.d[q] = d.Hi
	}
	p.e = math.Exp(exponent)
	s, c := math.Sincos(2 * math.Pi * (turns - math.RoundToEven(turns)))
	p.cos, p.sin = p.e*c, p.e*s
	return p
}

// truth returns the reference values of C, G and the gradient of Σ C̄∘C + Σ Ḡ∘G.
func truth(d *backend.Data, f *backend.Features, bar *backend.Moments) (*backend.Moments, *backend.Features) {
	m, mom, grad := f.M, backend.NewMoments(f, d.D), backend.NewFeatures(f.M, f.Q)
	numbers := [][]float64{mom.C, mom.Gram.Diag[0]}
	for _, field := range grad.Fields() {
		numbers = append(numbers, field.Data)
	}
	total := make([][]double.Float, len(numbers))
	for i, v := range numbers {
		total[i] = make([]double.Float, len(v))
	}
	const block = 1024
	of := make([]phasor, m)
	for n := range d.N {
		for k := range m {
			of[k] = at(f, k, d.X[n*d.Q:][:d.Q])
		}
		addRow(mom, grad, d, f, bar, of, n)
		if (n+1)%block != 0 && n+1 < d.N {
			continue
		}
		for i, part := range numbers {
			for j, v := range part {
				s := double.Sum(total[i][j].Hi, v)
				total[i][j] = double.Float{Hi: s.Hi, Lo: total[i][j].Lo + s.Lo}
			}
			clear(part)
		}
	}
	for i, part := range numbers {
		for j := range part {
			part[j] = total[i][j].Hi + total[i][j].Lo
		}
	}
	for k := range m {
		for j := range k {
			mom.Gram.Diag[0][j*m+k] = mom.Gram.Diag[0][k*m+j]
		}
	}
	return mom, grad
}

// addRow adds row n with the features of, to C and the lower triangle of G, and to the gradient.
func addRow(mom *backend.Moments, grad *backend.Features, d *backend.Data, f *backend.Features, bar *backend.Moments, of []phasor, n int) {
	m := f.M
	for k, p := range of {
		mean := f.Amp[k] * p.cos
		e2 := p.e * p.e
		c2, s2 := e2*(p.cos*p.cos-p.sin*p.sin), 2*e2*p.cos*p.sin // exp(−4q)·cos 2θ
		u := 0.0
		for o := range d.D {
			y := d.Y[n*d.D+o]
			mom.C[k*d.D+o] += mean * y
			u += y * bar.C[k*d.D+o]
		}
		for j := range k {
			mom.Gram.Diag[0][k*m+j] += mean * f.Amp[j] * of[j].cos
		}
		mom.Gram.Diag[0][k*m+k] += f.Power[k] + f.Ripple[k]*c2
		for j := range m {
			if j != k {
				u += 2 * bar.Gram.Diag[0][k*m+j] * f.Amp[j] * of[j].cos
			}
		}
		b := bar.Gram.Diag[0][k*m+k]
		theta := -f.Amp[k]*u*p.sin - 2*f.Ripple[k]*b*s2
		quad := -f.Amp[k]*u*p.cos - 4*f.Ripple[k]*b*c2
		for q := range f.Q {
			at, v := k*f.Q+q, p.d[q]
			grad.Center[at] += -f.Freq[at]*theta - f.Decay[at]*quad*v
			grad.Decay[at] += 0.5 * quad * v * v
			grad.Freq[at] += theta * v
		}
		grad.Phase[k] += theta
		grad.Amp[k] += u * p.cos
		grad.Power[k] += b
		grad.Ripple[k] += b * c2
	}
}
