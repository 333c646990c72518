package oracle

import "gonum.org/v1/gonum/mat"

// A Posterior is q(A): a_d ~ N(column d of Mean, Cov[d]), independent over d.
type Posterior struct {
	Mean [][]float64   // [M][D]
	Cov  [][][]float64 // [D][M][M]
}

// ExactPosterior returns the optimal q(A), with mean A⁻¹E[Φ]ᵀy_d and covariance τ⁻¹A⁻¹
// (proposition 1).
func ExactPosterior(p *Params, xs, ys [][]float64) *Posterior {
	r, c := solver(p, xs, ys)
	var inv mat.SymDense
	if err := r.InverseTo(&inv); err != nil {
		panic("oracle: inverse of A: " + err.Error())
	}
	m := len(c)
	cov := array(m, m)
	for j := range m {
		for k := range m {
			cov[j][k] = inv.At(j, k) / p.NoisePrecision
		}
	}
	post := &Posterior{Mean: solve(r, c)}
	for range ys[0] {
		post.Cov = append(post.Cov, cov)
	}
	return post
}

// FactorizedPosterior returns the diagonal q(A) of p's coefficients.
func FactorizedPosterior(p *Params) *Posterior {
	post := &Posterior{Mean: p.CoefMean}
	m := len(p.CoefMean)
	for d := range p.CoefMean[0] {
		cov := array(m, m)
		for k := range m {
			cov[k][k] = p.CoefVar[k][d]
		}
		post.Cov = append(post.Cov, cov)
	}
	return post
}

// Predict returns the predictive mean [D] (eq. pred_mean) and covariance [D][D] (eq.
// pred_uncertainty, including noise) at one input.
func Predict(p *Params, post *Posterior, x []float64) (mean []float64, cov [][]float64) {
	means, cov := PredictJoint(p, post, [][]float64{x})
	return means[0], cov
}

// PredictJoint returns the predictive mean [N][D] and the joint covariance [N·D][N·D] of all
// outputs at all inputs, with row n·D + d. It is eq. pred_uncertainty with E[φ(x)ᵀφ(y)] for two
// inputs, plus noise on the diagonal.
func PredictJoint(p *Params, post *Posterior, xs [][]float64) (mean, cov [][]float64) {
	nd := len(post.Cov)
	phi := MeanMatrix(p, xs)
	mean = array(len(xs), nd)
	cov = array(len(xs)*nd, len(xs)*nd)
	for n := range xs {
		for d := range nd {
			for k := range phi[n] {
				mean[n][d] += phi[n][k] * post.Mean[k][d]
			}
		}
	}
	for n := range xs {
		for o := range xs {
			second := secondOfTwo(p, phi, xs, n, o)
			for d := range nd {
				for e := range nd {
					cov[n*nd+d][o*nd+e] = covariance(post, phi[n], phi[o], second, d, e)
				}
			}
		}
	}
	for i := range cov {
		cov[i][i] += 1 / p.NoisePrecision
	}
	return mean, cov
}

// secondOfTwo returns E[φ(x_n)ᵀ φ(x_o)] [M][M].
func secondOfTwo(p *Params, phi, xs [][]float64, n, o int) [][]float64 {
	m := len(phi[n])
	s := array(m, m)
	for j := range m {
		for k := range m {
			s[j][k] = phi[n][j] * phi[o][k]
		}
		s[j][j] = Cross(p, xs[n], xs[o], j)
	}
	return s
}

// covariance returns m_dᵀ (second − φ(x)ᵀφ(y)) m_e + [d=e] tr(second S_d), where φ(x) and φ(y) are
// expectations.
func covariance(post *Posterior, phiX, phiY []float64, second [][]float64, d, e int) (sum float64) {
	for j := range second {
		for k := range second {
			excess := second[j][k] - phiX[j]*phiY[k]
			sum += post.Mean[j][d] * excess * post.Mean[k][e]
			if d == e {
				sum += second[j][k] * post.Cov[d][k][j]
			}
		}
	}
	return sum
}
