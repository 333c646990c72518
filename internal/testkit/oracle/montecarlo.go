package oracle

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// An Estimate is a Monte Carlo mean of an array with the standard error of each entry.
type Estimate struct {
	Mean, Error []float64
}

// estimate returns the average of draws of an array of the given size; draw fills the array.
func estimate(size, draws int, draw func(sample []float64)) Estimate {
	sample := make([]float64, size)
	sum, squares := make([]float64, size), make([]float64, size)
	shift := make([]float64, size) // the first draw, so that squares do not cancel
	draw(shift)
	for range draws {
		draw(sample)
		for i, v := range sample {
			sum[i] += v - shift[i]
			squares[i] += (v - shift[i]) * (v - shift[i])
		}
	}
	e := Estimate{make([]float64, size), make([]float64, size)}
	n := float64(draws)
	for i := range sum {
		mean := sum[i] / n
		e.Mean[i] = mean + shift[i]
		e.Error[i] = math.Sqrt(max(0, squares[i]/n-mean*mean) / (n - 1))
	}
	return e
}

// Worst returns the largest distance of want from the estimate, in standard errors. floor is added
// to each error, for entries that do not vary.
func (e Estimate) Worst(want []float64, floor float64) (worst float64) {
	for i, w := range want {
		worst = max(worst, math.Abs(e.Mean[i]-w)/(e.Error[i]+floor))
	}
	return worst
}

// drawFeatures draws w_k ~ N(μ_k, Σ_k) and b_k ~ U(α_k, β_k), and sets phi [N·M] to φ_k(x_n).
func drawFeatures(p *Params, xs [][]float64, rng *rand.Rand, phi []float64) {
	_, _, m, nq := p.Dims()
	w := make([]float64, nq)
	for k := range m {
		for q := range nq {
			w[q] = p.FreqMean[k][q] + math.Sqrt(p.FreqVar[k][q])*rng.NormFloat64()
		}
		b := p.PhaseLower[k] + (p.PhaseUpper[k]-p.PhaseLower[k])*rng.Float64()
		for n, x := range xs {
			phi[n*m+k] = Feature(p, x, w, b, k)
		}
	}
}

// SamplePredictive estimates E[y] and E[y yᵀ] under the predictive distribution of all outputs at
// all inputs (entry n·D + d), by drawing frequencies, phases, coefficients and noise. second is
// [N·D][N·D], row-major.
func SamplePredictive(p *Params, post *Posterior, xs [][]float64, draws int, rng *rand.Rand) (mean, second Estimate) {
	_, _, m, _ := p.Dims()
	nd := len(post.Cov)
	size := len(xs) * nd
	phi := make([]float64, len(xs)*m)
	roots := make([]mat.TriDense, nd)
	for d := range nd {
		var c mat.Cholesky
		if !c.Factorize(mat.NewSymDense(m, flatten(post.Cov[d]))) {
			panic("oracle: a posterior covariance is not positive definite")
		}
		c.LTo(&roots[d])
	}
	eps := mat.NewVecDense(m, nil)
	both := estimate(size+size*size, draws, func(s []float64) {
		drawFeatures(p, xs, rng, phi)
		y := s[:size]
		for d := range nd {
			for k := range m {
				eps.SetVec(k, rng.NormFloat64())
			}
			var a mat.VecDense // minus its mean
			a.MulVec(&roots[d], eps)
			for n := range xs {
				y[n*nd+d] = rng.NormFloat64() / math.Sqrt(p.NoisePrecision)
				for k := range m {
					y[n*nd+d] += phi[n*m+k] * (post.Mean[k][d] + a.AtVec(k))
				}
			}
		}
		for i := range size {
			for j := range size {
				s[size+i*size+j] = y[i] * y[j]
			}
		}
	})
	return Estimate{both.Mean[:size], both.Error[:size]}, Estimate{both.Mean[size:], both.Error[size:]}
}

// flatten returns the entries of a matrix, row-major.
func flatten(a [][]float64) (v []float64) {
	for i := range a {
		v = append(v, a[i]...)
	}
	return v
}
