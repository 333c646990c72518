package series

import (
	"errors"
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
)

// leastNoise is added to the noise's variance, in units of the data's: below it the sums' rounding would count.
const leastNoise = 1e-6

// errUnresolved says that at these hyper-parameters the value would be its rounding's: large weights cancel.
var errUnresolved = errors.New("the sums have too few digits for these hyper-parameters")

// resolved is by how many nats rounding may move a value; values that are compared differ by more.
const resolved = 0.01

// An objective is the log marginal likelihood of the outputs as a function of v = log θ. With the amplitudes D = diag(d(θ)), for each
// output
//
//	A = D G D + λI      m = A⁻¹ D C      L = −½(n log 2π + (n−M) log λ + log|A| + (Σy² − Σ (DC)∘m)/λ) − Σ log e
//
// It is the exact bound, with no KL terms: every frequency is known.
type objective struct {
	layout *layout
	sums   []*moments // a group each

	a      *backend.Gram // workspace [M,M]
	d      []float64
	slopes []slope
}

func newObjective(l *layout, sums []*moments) *objective {
	m := l.features()
	return &objective{layout: l, sums: sums, a: backend.NewGram([]int{0, m}), d: make([]float64, m), slopes: make([]slope, m)}
}

// variance is λ for coordinates v, and dλ/dv of the noise's coordinate.
func (o *objective) variance(v []float64) (lambda, slope float64) {
	if o.layout.noise < 0 { // the rows are whitened
		return 1, 0
	}
	s := math.Exp(2 * v[o.layout.noise])
	return s + leastNoise, 2 * s
}

// factor overwrites the workspace by the factor of A for a group's moments and amplitudes d. Where λ drowns in the rounding of D G D, as it
// may at a far draw, the features are collinear to all digits that G has; then as much as these digits are worth joins the diagonal.
func (o *objective) factor(s *moments, d []float64, lambda float64) (factor *blocktri.Factor, err error) {
	a := o.a.Diag[0]
	m := len(d)
	for _, ridge := range ridges {
		for j, dj := range d {
			row, g := a[j*m:(j+1)*m], s.gram[j*m:(j+1)*m]
			for k, dk := range d {
				row[k] = dj * dk * g[k]
			}
			row[j] *= 1 + ridge
		}
		if factor, err = blocktri.Factorize(o.a, lambda, 1); err == nil {
			return factor, nil
		}
	}
	return nil, err
}

// ridges are tried in turn.
var ridges = []float64{0, 1e-13, 1e-12, 1e-11}

// evaluate fills e at coordinates v.
func (o *objective) evaluate(e *bayes.Evaluation, v []float64) error {
	for i, most := range o.layout.most {
		if v[i] > most {
			return errUnresolved
		}
	}
	lambda, dlambda := o.variance(v)
	o.layout.amplitudes(o.d, v, o.slopes)
	e.Reset(len(v))
	bar := make([]float64, len(o.d)) // d∘∂L/∂d
	for _, s := range o.sums {
		value, err := o.add(e, bar, s, lambda, dlambda)
		if err != nil {
			return err
		}
		e.Value += value
	}
	o.layout.pull(e.Gradient, bar, o.slopes)
	return nil
}

// add adds a group to the gradient by log d, to the noise's gradient and to the information, and returns the group's L. With
// W = DΦᵀK⁻¹ΦD = I − λA⁻¹, where K = ΦD²Φᵀ + λI, the expected information of two hyper-parameters is ½ tr(K⁻¹ K_i K⁻¹ K_j):
//
//	amplitudes  2 Σ_kl s_ik (W_kl)² s_jl,  s_ik = ∂log d_k/∂v_i
//	and noise   λ'/λ Σ_k s_ik (W − W²)_kk
//	noise       ½ (λ'/λ)² (n − 2 tr W + tr W²)
func (o *objective) add(e *bayes.Evaluation, bar []float64, s *moments, lambda, dlambda float64) (value float64, err error) {
	factor, err := o.factor(s, o.d, lambda)
	if err != nil {
		return 0, err
	}
	m, outputs, noise := len(o.d), float64(len(s.outputs)), o.layout.noise
	free := float64(s.n - m)
	value = -0.5 * outputs * (float64(s.n)*math.Log(2*math.Pi) + free*math.Log(lambda) + factor.LogDet() + 2*s.logErr)
	byLambda := -0.5 * outputs * free / lambda
	means := make([][]float64, len(s.c)) // D m
	for i, c := range s.c {
		mean := o.mean(factor, c)
		residual := s.yy[i]
		for k, d := range o.d {
			residual -= d * c[k] * mean[k]
			byLambda -= 0.5 * mean[k] * mean[k] / lambda
			mean[k] *= d
			bar[k] += mean[k] * c[k] / lambda
		}
		residual = max(residual, 0)
		value -= 0.5 * residual / lambda
		byLambda += 0.5 * residual / (lambda * lambda)
		means[i] = mean
		if s.rounding(mean)/lambda > resolved {
			return 0, errUnresolved
		}
	}
	z, rate := factor.Inverse().Diag[0], dlambda/lambda
	freedom, square := make([]float64, m), 0.0 // (W − W²)_kk, tr W²
	traceW := 0.0
	for j, dj := range o.d {
		row, g := z[j*m:(j+1)*m], s.gram[j*m:(j+1)*m]
		byLambda -= 0.5 * outputs * row[j]
		traceW += 1 - lambda*row[j]
		freedom[j] = 1 - lambda*row[j]
		sum, w2 := 0.0, 0.0
		for k, dk := range o.d {
			sum += row[k] * g[k] * dk
			w := lambda * row[k]
			if k == j {
				w = 1 - w
			}
			row[k] = w * w
			w2 += w * w
		}
		freedom[j] -= w2
		square += w2
		bar[j] -= outputs * dj * sum // 2 Σ_k F_jk G_jk d_k, F = −½Z − ½ m mᵀ/λ
		for _, mean := range means {
			bar[j] -= mean[j] * dot(g, mean) / lambda
		}
	}
	o.layout.inform(e, z, o.slopes, 2*outputs)
	if noise < 0 {
		return value, nil
	}
	e.Gradient[noise] += byLambda * dlambda
	byNoise := make([]float64, len(e.Gradient))
	o.layout.pull(byNoise, freedom, o.slopes)
	for i, c := range byNoise {
		e.Add(i, noise, outputs*rate*c)
	}
	e.Add(noise, noise, 0.5*outputs*rate*rate*(float64(s.n)-2*traceW+square))
	return value, nil
}

// rounding is by how much (D m)ᵀ G (D m), of the weights D m, may be off because G has sixteen digits.
func (s *moments) rounding(weights []float64) float64 {
	sum, m := 0.0, len(weights)
	for k, w := range weights {
		sum += math.Abs(w) * math.Sqrt(s.gram[k*m+k])
	}
	const epsilon = 0x1p-52
	return epsilon * sum * sum
}

// mean is m = A⁻¹ D C of an output.
func (o *objective) mean(factor *blocktri.Factor, c []float64) []float64 {
	m := make([]float64, len(c))
	for k, d := range o.d {
		m[k] = d * c[k]
	}
	factor.Solve(m, 1)
	return m
}
