package oracle

// Diagonal is a Gaussian over the coefficients, a_kd ~ N(Mean_kd, Var_kd), or
// a gradient by its parameters.
type Diagonal struct{ Mean, Var [][]float64 } // [M][D]

// Factorized is the expected squared error over the given rows (nil: all; a
// row named twice counts twice),
//
//	F = Σ_n Σ_d E(y_nd − φ_n a_d)²
//	  = Σ_nd [ y² − 2 y φ̄m_d + Σ_jk E[φ_j φ_k] (m_jd m_kd + 1[j=k] s_kd) ],
//
// with its gradients.
func (f *Damped) Factorized(xs, ys [][]float64, a Diagonal, rows []int) (value float64, bar *Damped, barA Diagonal) {
	if rows != nil {
		xs, ys, _ = subset(xs, ys, rows)
	}
	ws, mean, second := f.waves(xs)
	m, nd := len(f.Phase), len(ys[0])
	bar, barA = f.zero(), Diagonal{array(m, nd), array(m, nd)}
	for n := range xs {
		for d, y := range ys[n] {
			value += y * y
			for k := range m {
				value -= 2 * y * mean[n][k] * a.Mean[k][d]
				for j := range m {
					if j == k {
						value += second[n][k] * (a.Mean[k][d]*a.Mean[k][d] + a.Var[k][d])
					} else {
						value += mean[n][j] * mean[n][k] * a.Mean[j][d] * a.Mean[k][d]
					}
				}
			}
		}
		for k := range m {
			f.factorizedRow(bar, barA, ws[n][k], mean[n], second[n], ys[n], a, k)
		}
	}
	return value, bar, barA
}

// factorizedRow adds one row's gradients by feature k and its coefficients.
func (f *Damped) factorizedRow(bar *Damped, barA Diagonal, w wave, mean, second, y []float64, a Diagonal, k int) {
	var barMean, barSecond float64
	for d := range y {
		others := -y[d] // Σ_{j≠k} φ̄_j m_jd − y_d
		for j := range mean {
			if j != k {
				others += mean[j] * a.Mean[j][d]
			}
		}
		mk := a.Mean[k][d]
		barMean += 2 * mk * others
		barSecond += mk*mk + a.Var[k][d]
		barA.Mean[k][d] += 2*mean[k]*others + 2*second[k]*mk
		barA.Var[k][d] += second[k]
	}
	f.accumulate(bar, w, k, barMean, barSecond)
}

// Predict is the mean [N][D] and the covariance [N][D][D] of the latent
// function, without noise: eqs. pred_mean and pred_uncertainty with
// s[d] [M][M] the covariance of output d's coefficients.
func (f *Damped) Predict(xs [][]float64, post *Posterior) (mean [][]float64, cov [][][]float64) {
	_, phi, second := f.waves(xs)
	nd := len(post.Cov)
	mean = array(len(xs), nd)
	for n := range xs {
		c := array(nd, nd)
		for d := range nd {
			for k := range f.Phase {
				mean[n][d] += phi[n][k] * post.Mean[k][d]
				for e := range nd {
					c[d][e] += post.Mean[k][d] * post.Mean[k][e] * (second[n][k] - phi[n][k]*phi[n][k])
				}
				for j := range f.Phase {
					if j == k {
						c[d][d] += second[n][k] * post.Cov[d][k][k]
					} else {
						c[d][d] += phi[n][j] * phi[n][k] * post.Cov[d][j][k]
					}
				}
			}
		}
		cov = append(cov, c)
	}
	return mean, cov
}
