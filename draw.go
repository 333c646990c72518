package vssgp

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/spectral"
)

// Draw samples n functions from the posterior q(A)q(ω) jointly at all rows of
// x [N,Q]: a frequency, a phase and a coefficient for every feature, then
// f = Φ(ω)A. Each draw is [N,D], in the data's units, without noise. The same
// seed gives the same draws. Errors are those of Predict, and ErrOptions for n
// that is negative or too large.
func (m *Model) Draw(x mat.Matrix, n int, seed uint64) ([]*mat.Dense, error) {
	rows, err := m.rows(x)
	if err != nil {
		return nil, err
	}
	p := m.Params
	q := p.Q
	if n < 0 || float64(n)*float64(rows)*float64(p.D) > maxCovariances {
		return nil, fmt.Errorf("vssgp: %d draws at %d rows, want 0 or more draws of %d numbers in all at most: %w", n, rows, maxCovariances, ErrOptions)
	}
	if !m.Fitted() {
		return nil, fmt.Errorf("vssgp: draw: fit the model first: %w", ErrUnfitted)
	}
	xs := m.X.ToModel(borrow(x))
	if err := (&spectral.Data{N: rows, Q: q, X: xs, Windows: p.Windows}).Check(); err != nil {
		return nil, fmt.Errorf("vssgp: draw: %w: %w", err, ErrData)
	}
	rng := rand.New(rand.NewPCG(seed, 0x5ee0))
	out := make([]*mat.Dense, n)
	for i := range out {
		out[i] = mat.NewDense(rows, p.D, m.drawOnce(xs, rows, rng))
	}
	return out, nil
}

// drawOnce samples one function. A sampled feature is a damped cosine with no
// damping, so it is evaluated as one.
func (m *Model) drawOnce(xs []float64, n int, rng *rand.Rand) []float64 {
	p := m.Params
	f := p.Features()
	a := m.drawCoefficients(rng)
	for k := range f.M {
		i := k / p.K
		for q := range p.Q {
			at := k*p.Q + q
			l := p.Lengthscale[i*p.Q+q]
			f.Freq[at] += math.Sqrt(p.FreqVar[at]) * rng.NormFloat64() / l
			f.Decay[at] = 0
		}
		f.Phase[k] = p.PhaseLower[k] + (p.PhaseUpper[k]-p.PhaseLower[k])*rng.Float64()
		f.Amp[k] = math.Sqrt(2 * p.Variance[i] / float64(p.K))
	}
	offset := f.Offsets()
	layout := f.Windows.NewLayout(xs, n, p.Q)
	y := make([]float64, n*p.D)
	for _, r := range layout.Runs {
		for _, row := range layout.Order[r.Lo:r.Hi] {
			out := y[row*p.D:][:p.D]
			for k := offset[r.First]; k < offset[r.End]; k++ {
				phi := f.Mean(k, xs[row*p.Q:][:p.Q])
				for d := range out {
					out[d] += phi * a[k*p.D+d]
				}
			}
			for d := range out {
				out[d] = m.Y.Offset[d] + m.Y.Scale[d]*out[d]
			}
		}
	}
	return y
}

// drawCoefficients samples A [M,D]: m + τ^−½ R⁻ᵀ ε for the exact posterior,
// m + √s ∘ ε for the factorised one.
func (m *Model) drawCoefficients(rng *rand.Rand) []float64 {
	p := m.Params
	a := make([]float64, p.M()*p.D)
	for i := range a {
		a[i] = rng.NormFloat64()
	}
	if m.Inference == Factorised {
		for i := range a {
			a[i] = p.CoefMean[i] + math.Sqrt(p.CoefVar[i])*a[i]
		}
		return a
	}
	m.factor.SolveUpper(a, p.D)
	sd := 1 / math.Sqrt(p.NoisePrecision[0])
	for i := range a {
		a[i] = m.mean[i] + sd*a[i]
	}
	return a
}
