package spectral

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/markov"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/variational"
)

// A Conditional is the distribution of the function of a model with rough components, given rows. Its features alone do not determine it,
// as the features of other models do.
type Conditional struct{ *mixed }

// Condition conditions a model with parameters p, from Expand, on data. Errors wrap variational.ErrBound.
func Condition(m Model, p *variational.Params, data *backend.Data) (*Conditional, error) {
	e, err := newSeries(data).condition(p, m.terms(), 1/math.Sqrt(p.NoisePrecision[0]), false)
	if err != nil {
		return nil, err
	}
	return &Conditional{e}, nil
}

// Evaluation returns the log evidence and its terms.
func (c *Conditional) Evaluation() *variational.Evaluation {
	e := &variational.Evaluation{Sums: "rows"}
	e.Bound, e.Terms = c.evidence()
	return e
}

// Coefficients returns the posterior means and variances [M,D] of the features' coefficients.
func (c *Conditional) Coefficients() (mean, variance []float64) {
	variance = make([]float64, c.m*c.d)
	rows := make([]float64, c.m*c.m)
	for k := range c.m {
		rows[k*c.m+k] = 1
	}
	own := make([]float64, c.m)
	c.addForms(own, rows)
	for i := range variance {
		variance[i] = own[i/c.d]
	}
	return slices.Clone(c.mean.RawMatrix().Data), variance
}

// At returns the mean and the covariance of the function at times x, in any order. Errors wrap ctx.Err().
func (c *Conditional) At(ctx context.Context, _ backend.Backend, x []float64) (*backend.Prediction, error) {
	times, place := sorted(x)
	out := backend.NewPrediction(len(x), c.d)
	var mean, variance []float64
	local := c.near(times)
	if err := parallel.Await(cmp.Or(ctx, context.Background()), float64(len(local.x)*c.columns())*100, func() {
		mean, variance = local.at(times)
	}); err != nil {
		return nil, fmt.Errorf("predict: interrupted: %w", err)
	}
	for i, n := range place {
		copy(out.Mean[i*c.d:], mean[n*c.d:(n+1)*c.d])
		for d := range c.d {
			out.Cov[(i*c.d+d)*c.d+d] = variance[n]
		}
	}
	return out, nil
}

// sorted returns x in increasing order, and the position there of each entry.
func sorted(x []float64) (times []float64, place []int) {
	times, place = make([]float64, len(x)), make([]int, len(x))
	for n, i := range byTime(x) {
		times[n], place[i] = x[i], n
	}
	return times, place
}

// near returns the evaluation restricted to the rows that influence the rough components at the sorted times. The coefficients of the
// features remain conditioned on all rows.
func (e *mixed) near(times []float64) *mixed {
	reach := markov.Reach(e.filter.Terms())
	lo, _ := slices.BinarySearch(e.x, times[0]-reach)
	hi, _ := slices.BinarySearch(e.x, times[len(times)-1]+reach)
	if lo == hi { // any row will do, since it has no influence
		lo = min(lo, len(e.x)-1)
		hi = lo + 1
	}
	local := *e
	local.series = &series{e.x[lo:hi], e.y[lo*e.d : hi*e.d], e.d}
	local.raw = e.raw[lo*e.m : hi*e.m]
	return &local
}

// at returns the mean [A,D] and the variance [A] of the function at sorted times. Given the coefficients a of the features, the rough
// components have the smoothed mean s(y − Φa), where s is linear, and a variance that does not depend on a. So the mean is φm + s(y − Φm),
// and the variance is the smoothing variance plus r·A⁻¹·rᵀ with r = φ − s(Φ).
func (e *mixed) at(times []float64) (mean, variance []float64) {
	n, cols := len(e.x), e.columns()
	all := make([]float64, n*cols)
	for i := range n {
		copy(all[i*cols:], e.raw[i*e.m:(i+1)*e.m])
		copy(all[i*cols+e.m:], e.y[i*e.d:(i+1)*e.d])
	}
	smoothed, variance := markov.Smooth(e.filter.Terms(), e.filter.Noise(), e.x, all, times)
	rest := features(e.p, times)
	mean = make([]float64, len(times)*e.d)
	for i := range times {
		for k := range e.m {
			rest[i*e.m+k] -= smoothed[i*cols+k]
		}
		copy(mean[i*e.d:(i+1)*e.d], smoothed[i*cols+e.m:])
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, general(rest, len(times), e.m), e.mean.RawMatrix(), 1, general(mean, len(times), e.d))
	e.addForms(variance, rest)
	return mean, variance
}

// addForms adds r·A⁻¹·rᵀ to v for each row r of rows [A,M], which it overwrites by rows with these squared norms.
func (e *mixed) addForms(v, rows []float64) {
	u := e.chol.RawU().(mat.RawTriangular).RawTriangular()
	for i := range v {
		row := rows[i*e.m : (i+1)*e.m]
		blas64.Trsv(blas.Trans, u, blas64.Vector{N: e.m, Inc: 1, Data: row})
		for _, x := range row {
			v[i] += x * x
		}
	}
}

// Joint returns the covariance [A·D,A·D] of the function at times x: with Z = L⁻¹k(X,x) and R = φ − ZᵀΦ̃, the covariance of an output is
// k(x,x) − ZᵀZ + R·A⁻¹·Rᵀ.
func (c *Conditional) Joint(_ context.Context, x []float64) (*mat.SymDense, error) {
	n, a, cols := len(c.x), len(x), c.columns()
	terms := c.filter.Terms()
	z := make([]float64, n*a)
	for i, t := range c.x {
		for k, at := range x {
			z[i*a+k] = markov.Covariance(terms, t-at)
		}
	}
	c.filter.Whiten(z, nil)
	rest := features(c.p, x)
	for i := range n {
		for k := range a {
			for m := range c.m {
				rest[k*c.m+m] -= z[i*a+k] * c.white[i*cols+m]
			}
		}
	}
	c.addForms(make([]float64, a), rest)
	out := mat.NewSymDense(a*c.d, nil)
	for k := range a {
		for l := range k + 1 {
			v := markov.Covariance(terms, x[k]-x[l])
			for i := range n {
				v -= z[i*a+k] * z[i*a+l]
			}
			for m := range c.m {
				v += rest[k*c.m+m] * rest[l*c.m+m]
			}
			for d := range c.d {
				out.SetSym(k*c.d+d, l*c.d+d, v)
			}
		}
	}
	return out, nil
}

// pathPairs is the number of random frequencies of a drawn path of a rough component.
const pathPairs = 1000

// A Function is a draw of the function, which is the same each time it is evaluated (pathwise conditioning, Wilson et al. 2020): a draw of
// the coefficients, plus a path of the rough components from their prior, plus the smoothed rest of the rows.
type Function struct {
	c            *Conditional
	coefficients []float64 // [M,D]
	frequency    []float64 // [P], radians per unit of x
	amplitude    []float64 // [P,2,D] of cosine and sine
	rest         []float64 // [N,D] y minus the coefficients' part, the path and a draw of the noise
}

// Draw draws a function.
func (c *Conditional) Draw(rng *rand.Rand) *Function {
	f := &Function{c: c, coefficients: make([]float64, c.m*c.d)}
	u := c.chol.RawU().(mat.RawTriangular).RawTriangular()
	for i := range f.coefficients {
		f.coefficients[i] = rng.NormFloat64()
	}
	blas64.Trsm(blas.Left, blas.NoTrans, 1, u, general(f.coefficients, c.m, c.d))
	for i, m := range c.mean.RawMatrix().Data {
		f.coefficients[i] += m
	}
	for _, t := range c.filter.Terms() {
		for range pathPairs {
			f.frequency = append(f.frequency, t.DrawFrequency(rng))
			for range 2 * c.d {
				f.amplitude = append(f.amplitude, t.SD/math.Sqrt(pathPairs)*rng.NormFloat64())
			}
		}
	}
	f.rest = f.prior(c.x)
	for i, y := range c.y {
		f.rest[i] = y - f.rest[i] - c.filter.Noise()*rng.NormFloat64()
	}
	return f
}

// prior returns the coefficients' part and the path [A,D] at times x.
func (f *Function) prior(x []float64) []float64 {
	d := f.c.d
	out := make([]float64, len(x)*d)
	middle := f.c.p.Location[0]
	parallel.Blocks(len(x), variational.ChunkRows, func(_, lo, hi int) {
		for n := lo; n < hi; n++ {
			phi := features(f.c.p, x[n:n+1])
			for k, v := range phi {
				for e := range d {
					out[n*d+e] += v * f.coefficients[k*d+e]
				}
			}
			for i, w := range f.frequency {
				sin, cos := math.Sincos(w * (x[n] - middle))
				for e := range d {
					out[n*d+e] += cos*f.amplitude[2*i*d+e] + sin*f.amplitude[(2*i+1)*d+e]
				}
			}
		}
	})
	return out
}

// At returns the function's values [A,D] at times x.
func (f *Function) At(ctx context.Context, x []float64) ([]float64, error) {
	if err := cmp.Or(ctx, context.Background()).Err(); err != nil {
		return nil, fmt.Errorf("draw: interrupted: %w", err)
	}
	times, place := sorted(x)
	c, d := f.c, f.c.d
	reach := markov.Reach(c.filter.Terms())
	lo, _ := slices.BinarySearch(c.x, times[0]-reach)
	hi, _ := slices.BinarySearch(c.x, times[len(times)-1]+reach)
	out := f.prior(x)
	if lo == hi {
		return out, nil
	}
	smoothed, _ := markov.Smooth(c.filter.Terms(), c.filter.Noise(), c.x[lo:hi], f.rest[lo*d:hi*d], times)
	for i, n := range place {
		for e := range d {
			out[i*d+e] += smoothed[n*d+e]
		}
	}
	return out, nil
}
