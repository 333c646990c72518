package oracle

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// A Term is a named part of a bound.
type Term struct {
	Name  string
	Value float64
}

// Sum returns the sum of terms, the bound.
func Sum(terms []Term) (sum float64) {
	for _, t := range terms {
		sum += t.Value
	}
	return sum
}

// solver factors A = E[ΦᵀΦ] + τ⁻¹I and returns it with C = E[Φ]ᵀY, [M][D].
func solver(p *Params, xs, ys [][]float64) (*mat.Cholesky, [][]float64) {
	_, _, m, _ := p.Dims()
	phi := MeanMatrix(p, xs)
	g := gram(p, phi, xs)
	a := mat.NewSymDense(m, nil)
	for j := range m {
		for k := j; k < m; k++ {
			a.SetSym(j, k, g[j][k])
		}
		a.SetSym(j, j, g[j][j]+1/p.NoisePrecision)
	}
	var r mat.Cholesky
	if !r.Factorize(a) {
		panic(fmt.Sprintf("oracle: A is not positive definite (M=%d, τ=%g)", m, p.NoisePrecision))
	}
	c := array(m, len(ys[0]))
	for k := range m {
		for d := range ys[0] {
			for n := range xs {
				c[k][d] += phi[n][k] * ys[n][d]
			}
		}
	}
	return &r, c
}

// solve returns A⁻¹c for every column of c, [M][D].
func solve(r *mat.Cholesky, c [][]float64) [][]float64 {
	out := array(len(c), len(c[0]))
	for d := range c[0] {
		b := mat.NewVecDense(len(c), nil)
		for k := range c {
			b.SetVec(k, c[k][d])
		}
		var x mat.VecDense
		if err := r.SolveVecTo(&x, b); err != nil {
			panic(fmt.Sprintf("oracle: solve with A: %v", err))
		}
		for k := range c {
			out[k][d] = x.AtVec(k)
		}
	}
	return out
}

// sumSquares returns Σ_nd y_nd².
func sumSquares(ys [][]float64) (sum float64) {
	for _, y := range ys {
		for _, v := range y {
			sum += v * v
		}
	}
	return sum
}

// ExactTerms returns the terms of eq. lower_bound_opt_A, with Σ = A⁻¹.
func ExactTerms(p *Params, xs, ys [][]float64) []Term {
	r, c := solver(p, xs, ys)
	mean := solve(r, c)
	n, d := float64(len(xs)), float64(len(ys[0]))
	m := float64(len(c))
	tau := p.NoisePrecision
	var fit float64 // Σ_d y_dᵀ E[Φ] Σ E[Φ]ᵀ y_d
	for k := range c {
		for d := range c[k] {
			fit += c[k][d] * mean[k][d]
		}
	}
	return []Term{
		{"constant", -d * n / 2 * math.Log(2*math.Pi/tau)},
		{"data", -tau / 2 * sumSquares(ys)},
		{"log_determinant", -d / 2 * (m*math.Log(tau) + r.LogDet())},
		{"fit", tau / 2 * fit},
		{"kl_frequency", -KLFrequency(p)},
		{"kl_phase", -KLPhase(p)},
	}
}

// Exact returns the bound of eq. lower_bound_opt_A.
func Exact(p *Params, xs, ys [][]float64) float64 { return Sum(ExactTerms(p, xs, ys)) }

// FactorizedTerms returns the terms of eq. lower_bound_factorized over all rows, or of eq.
// lower_bound_SVI if rows is a mini-batch S, in which case the data terms are multiplied by N/|S|.
func FactorizedTerms(p *Params, xs, ys [][]float64, rows []int) []Term {
	sx, sy, scale := subset(xs, ys, rows)
	phi := MeanMatrix(p, sx)
	g := gram(p, phi, sx)
	tau := p.NoisePrecision
	var fit, trace float64
	for d := range sy[0] {
		for n := range sx {
			for k := range phi[n] {
				fit += sy[n][d] * phi[n][k] * p.CoefMean[k][d]
			}
		}
		for j := range g {
			for k := range g {
				aa := p.CoefMean[j][d] * p.CoefMean[k][d] // E[a aᵀ] = s + m mᵀ
				if j == k {
					aa += p.CoefVar[k][d]
				}
				trace += g[j][k] * aa
			}
		}
	}
	nd := float64(len(sx) * len(sy[0]))
	return []Term{
		{"constant", -scale * nd / 2 * math.Log(2*math.Pi/tau)},
		{"data", -scale * tau / 2 * sumSquares(sy)},
		{"fit", scale * tau * fit},
		{"trace", -scale * tau / 2 * trace},
		{"kl_coefficient", -KLCoefficient(p)},
		{"kl_frequency", -KLFrequency(p)},
		{"kl_phase", -KLPhase(p)},
	}
}

// Factorized returns the sum of [FactorizedTerms].
func Factorized(p *Params, xs, ys [][]float64, rows []int) float64 {
	return Sum(FactorizedTerms(p, xs, ys, rows))
}

// subset returns the given rows (nil: all) and N/|S|.
func subset(xs, ys [][]float64, rows []int) (sx, sy [][]float64, scale float64) {
	if rows == nil {
		return xs, ys, 1
	}
	for _, n := range rows {
		sx, sy = append(sx, xs[n]), append(sy, ys[n])
	}
	return sx, sy, float64(len(xs)) / float64(len(rows))
}

// gaussianKL returns KL(N(μ, s) ‖ N(0, 1)) = ½(s + μ² − 1 − log s). It returns 0 for a point (s =
// 0), which is a parameter and not a distribution.
func gaussianKL(mean, variance float64) float64 {
	if variance == 0 {
		return 0
	}
	return (variance + mean*mean - 1 - math.Log(variance)) / 2
}

// KLFrequency returns Σ_kq KL(N(μ_kq, Σ_kq) ‖ N(0, 1)).
func KLFrequency(p *Params) (sum float64) {
	for k := range p.FreqMean {
		for q := range p.FreqMean[k] {
			sum += gaussianKL(p.FreqMean[k][q], p.FreqVar[k][q])
		}
	}
	return sum
}

// KLPhase returns Σ_k KL(U(α_k, β_k) ‖ U(0, 2π)) = Σ_k log(2π/(β_k − α_k)); a fixed phase
// contributes 0.
func KLPhase(p *Params) (sum float64) {
	for k := range p.PhaseLower {
		if width := p.PhaseUpper[k] - p.PhaseLower[k]; width != 0 {
			sum += math.Log(2 * math.Pi / width)
		}
	}
	return sum
}

// KL returns KL(q(ω) ‖ p(ω)) of frequencies and phases.
func KL(p *Params) float64 { return KLFrequency(p) + KLPhase(p) }

// KLCoefficient returns Σ_kd KL(N(m_kd, s_kd) ‖ N(0, 1)).
func KLCoefficient(p *Params) (sum float64) {
	for k := range p.CoefMean {
		for d := range p.CoefMean[k] {
			sum += gaussianKL(p.CoefMean[k][d], p.CoefVar[k][d])
		}
	}
	return sum
}
