package baselines

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp"
)

// differences compares grad with central differences of f, which reads x. The
// error of each is measured against the largest entry, that of the difference
// itself being about ε^⅔ of f's own size.
func differences(t *testing.T, name string, f func() float64, x, grad []float64) {
	t.Helper()
	largest := 1e-3 * (1 + math.Abs(f()))
	for _, g := range grad {
		largest = max(largest, math.Abs(g))
	}
	for i, was := range x {
		h := 1e-5 * max(0.1, math.Abs(was))
		x[i] = was + h
		up := f()
		x[i] = was - h
		down := f()
		x[i] = was
		if want := (up - down) / (2 * h); !(math.Abs(grad[i]-want) <= 1e-6*largest) {
			t.Errorf("%s: gradient %d is %.9g, differences give %.9g", name, i, grad[i], want)
		}
	}
}

// randomCovariance has l components over q inputs; every second one is a
// squared exponential, or with periodic false all are.
func randomCovariance(r *rand.Rand, l, q int, periodic bool) Covariance {
	c := newCovariance(l, q)
	for i := range c.Variance {
		c.Variance[i] = 0.3 + r.Float64()
	}
	for i := range c.Lengthscale {
		c.Lengthscale[i] = 0.5 + r.Float64()
		if periodic && (i/q)%2 == 0 {
			c.Frequency[i] = r.NormFloat64()
		}
	}
	return c
}

func normals(r *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = r.NormFloat64()
	}
	return v
}

// naive is the covariance's formula, term by term.
func (c Covariance) naive(x, z []float64) float64 {
	sum := 0.0
	for i := range c.L {
		square, angle := 0.0, 0.0
		for q := range c.Q {
			r := x[q] - z[q]
			square += r * r / math.Pow(c.Lengthscale[i*c.Q+q], 2)
			angle += c.Frequency[i*c.Q+q] * r
		}
		sum += c.Variance[i] * math.Exp(-square/2) * math.Cos(2*math.Pi*angle)
	}
	return sum
}

// covarianceCases are the shapes that the tests go through.
func covarianceCases(t *testing.T, f func(t *testing.T, r *rand.Rand, c Covariance)) {
	for q := 1; q <= 3; q++ {
		for l := 1; l <= 2; l++ {
			for _, periodic := range []bool{false, true} {
				t.Run(fmt.Sprintf("Q=%d,L=%d,periodic=%v", q, l, periodic), func(t *testing.T) {
					r := rand.New(rand.NewPCG(uint64(q), uint64(l)))
					f(t, r, randomCovariance(r, l, q, periodic))
				})
			}
		}
	}
}

// noisyData are n rows of q inputs and d outputs: waves of different phases
// and noise, in units far from one.
func noisyData(n, q, d int, seed uint64) *vssgp.Data {
	r := rand.New(rand.NewPCG(seed, 1))
	data := &vssgp.Data{N: n, Q: q, D: d}
	for range n {
		wave := 0.0
		for range q {
			x := 6 * r.Float64()
			data.X = append(data.X, x)
			wave += x
		}
		for e := range d {
			data.Y = append(data.Y, 50+20*float64(e)+10*math.Sin(wave+float64(e))+r.NormFloat64())
		}
	}
	return data
}

// column is x as a matrix of one column.
func column(x ...float64) []float64 { return x }

// near reports numbers further apart than a share of the larger one and of 1.
func near(t *testing.T, name string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want), math.Abs(got))) {
		t.Errorf("%s: %.12g, want %.12g", name, got, want)
	}
}
