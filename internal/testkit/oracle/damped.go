package oracle

import (
	"math"
)

// Damped are M damped cosines, the expected features of a model:
//
//	q = ½ Σ_q P_kq d_q²,  θ = Σ_q ω_kq d_q + c_k,  d = x − z_k
//	mean   = g(x)  · A1_k · exp(−q) · cos θ
//	second = g(x)² · (A0_k + A2_k · exp(−4q) · cos 2θ)
//
// In a gradient, a field contains the derivatives with respect to its entries. Windows divide
// input Dim; if WindowCenter is nil, g ≡ 1.
type Damped struct {
	Center, Decay, Freq [][]float64 // z, P, ω [M][Q]
	Phase               []float64   // c [M]
	Amp, Power, Ripple  []float64   // A1, A0, A2 [M]
	Window              []int       // [M] window of each feature
	WindowCenter        []float64   // [V]
	WindowLength        float64
	Dim                 int
}

// Effective returns the damped cosines of a model: decay Σ/l², angular frequency μ/l + 2πp, and
// an attenuation for a uniform phase.
func Effective(p *Params) *Damped {
	_, perComponent, m, nq := p.Dims()
	f := &Damped{
		Center: cloneRows(p.Location), Decay: array(m, nq), Freq: array(m, nq),
		WindowCenter: p.WindowCenter, WindowLength: p.WindowLength,
	}
	for k := range m {
		i := k / perComponent
		for q := range nq {
			l := p.Lengthscale[i][q]
			f.Decay[k][q] = p.FreqVar[k][q] / (l * l)
			f.Freq[k][q] = p.FreqMean[k][q]/l + 2*math.Pi*p.Frequency[i][q]
		}
		h := (p.PhaseUpper[k] - p.PhaseLower[k]) / 2
		f.Phase = append(f.Phase, (p.PhaseLower[k]+p.PhaseUpper[k])/2)
		f.Amp = append(f.Amp, math.Sqrt(amplitude2(p, k))*sinc(h))
		f.Power = append(f.Power, amplitude2(p, k)/2)
		f.Ripple = append(f.Ripple, amplitude2(p, k)/2*sinc(2*h))
		if p.WindowCenter != nil {
			f.Window = append(f.Window, p.ComponentWindow[i])
		}
	}
	return f
}

// A wave contains the factors of mean and second for one row and one feature.
type wave struct {
	gate, q, theta float64
	d              []float64 // x − z [Q]
}

func (f *Damped) wave(x []float64, k int) wave {
	w := wave{gate: 1, theta: Angle(f.Freq[k], x, f.Center[k], f.Phase[k])}
	if len(f.WindowCenter) > 0 {
		w.gate = gate(f.WindowCenter, f.WindowLength, f.Window[k], x[f.Dim])
	}
	for q := range x {
		d := x[q] - f.Center[k][q]
		w.d = append(w.d, d)
		w.q += f.Decay[k][q] * d * d / 2
	}
	return w
}

func (f *Damped) mean(w wave, k int) float64 {
	return w.gate * f.Amp[k] * math.Exp(-w.q) * math.Cos(w.theta)
}

func (f *Damped) second(w wave, k int) float64 {
	return w.gate * w.gate * (f.Power[k] + f.Ripple[k]*math.Exp(-4*w.q)*math.Cos(2*w.theta))
}

// waves returns the waves, means and second moments for every row and feature.
func (f *Damped) waves(xs [][]float64) (ws [][]wave, mean, second [][]float64) {
	mean, second = array(len(xs), len(f.Phase)), array(len(xs), len(f.Phase))
	for n, x := range xs {
		ws = append(ws, make([]wave, len(f.Phase)))
		for k := range f.Phase {
			ws[n][k] = f.wave(x, k)
			mean[n][k] = f.mean(ws[n][k], k)
			second[n][k] = f.second(ws[n][k], k)
		}
	}
	return ws, mean, second
}

// Moments returns C = Φ̄ᵀY [M][D] and G [M][M]: off the diagonal Φ̄ᵀΦ̄, on the diagonal the sum of
// second moments over the rows.
func (f *Damped) Moments(xs, ys [][]float64) (c, g [][]float64) {
	_, mean, second := f.waves(xs)
	m := len(f.Phase)
	c, g = array(m, len(ys[0])), array(m, m)
	for n := range xs {
		for k := range m {
			for d, y := range ys[n] {
				c[k][d] += mean[n][k] * y
			}
			for j := range m {
				if j == k {
					g[k][k] += second[n][k]
				} else {
					g[j][k] += mean[n][j] * mean[n][k]
				}
			}
		}
	}
	return c, g
}

// Pullback returns the gradient of Σ barC·C + Σ barG·G with respect to f, over all entries.
func (f *Damped) Pullback(xs, ys, barC, barG [][]float64) *Damped {
	ws, mean, _ := f.waves(xs)
	bar := f.zero()
	for n := range xs {
		for k := range f.Phase {
			var barMean float64
			for d, y := range ys[n] {
				barMean += barC[k][d] * y
			}
			for j := range f.Phase {
				if j != k {
					barMean += (barG[j][k] + barG[k][j]) * mean[n][j]
				}
			}
			f.accumulate(bar, ws[n][k], k, barMean, barG[k][k])
		}
	}
	return bar
}

// zero allocates a gradient with respect to f.
func (f *Damped) zero() *Damped {
	m, nq := len(f.Phase), len(f.Center[0])
	return &Damped{
		Center: array(m, nq), Decay: array(m, nq), Freq: array(m, nq),
		Phase: make([]float64, m), Amp: make([]float64, m), Power: make([]float64, m), Ripple: make([]float64, m),
	}
}

// accumulate adds to bar the gradient of barMean·mean + barSecond·second at one row with
// respect to the parameters of feature k.
func (f *Damped) accumulate(bar *Damped, w wave, k int, barMean, barSecond float64) {
	e, e4 := math.Exp(-w.q), math.Exp(-4*w.q)
	g, g2 := w.gate, w.gate*w.gate
	bar.Amp[k] += barMean * g * e * math.Cos(w.theta)
	bar.Power[k] += barSecond * g2
	bar.Ripple[k] += barSecond * g2 * e4 * math.Cos(2*w.theta)
	barTheta := -barMean*g*f.Amp[k]*e*math.Sin(w.theta) - 2*barSecond*g2*f.Ripple[k]*e4*math.Sin(2*w.theta)
	barQ := -barMean*g*f.Amp[k]*e*math.Cos(w.theta) - 4*barSecond*g2*f.Ripple[k]*e4*math.Cos(2*w.theta)
	bar.Phase[k] += barTheta
	for q, d := range w.d {
		bar.Freq[k][q] += barTheta * d
		bar.Decay[k][q] += barQ * d * d / 2
		bar.Center[k][q] -= barTheta*f.Freq[k][q] + barQ*f.Decay[k][q]*d
	}
}

// Diagonal is a Gaussian distribution of the coefficients, a_kd ~ N(Mean_kd, Var_kd), or a
// gradient with respect to its parameters.
type Diagonal struct{ Mean, Var [][]float64 } // [M][D]

// Factorized returns the expected squared error over the given rows (nil: all; a repeated row
// counts repeatedly),
//
//	F = Σ_n Σ_d E(y_nd − φ_n a_d)²
//	  = Σ_nd [ y² − 2 y φ̄m_d + Σ_jk E[φ_j φ_k] (m_jd m_kd + 1[j=k] s_kd) ],
//
// and its gradients.
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

// factorizedRow adds one row's gradients with respect to feature k and its coefficients.
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

// Predict returns the mean [N][D] and the covariance [N][D][D] of the latent function, without
// noise: eqs. pred_mean and pred_uncertainty, where post.Cov[d] [M][M] is the covariance of output
// d's coefficients.
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
