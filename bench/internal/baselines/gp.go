package baselines

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/parallel"
)

// GP is the full Gaussian process. Its hyper-parameters maximize the exact log marginal likelihood
//
//	ln p(y) = −½ yᵀ A⁻¹ y − ½ ln |A| − ½ N ln 2π,   A = K + τ⁻¹·1,
//
// by L-BFGS. An evaluation takes O(N³) time and the memory of one [N,N] matrix.
type GP struct{ Options }

// Fit maximizes the marginal likelihood and conditions on the data.
func (g GP) Fit(ctx context.Context, data *vssgp.Data) (*Fit, error) {
	p := prepare(data, g.Options)
	return p.ascend(ctx, newEvidence(p))
}

// evidence is the objective of GP, the log marginal likelihood.
type evidence struct {
	p  *problem
	a  *mat.Dense // [N,N] A, its factor, or K̄
	gp gpModel    // model at the last hyper-parameters
}

func newEvidence(p *problem) *evidence {
	n := len(p.x)
	return &evidence{p: p, a: mat.NewDense(n, n, nil), gp: gpModel{scale: p.scale, x: p.x}}
}

// value conditions the GP with hyper-parameters h on the data and returns the log marginal likelihood.
func (e *evidence) value(h hyper) (float64, error) {
	if err := h.check(); err != nil {
		return 0, err
	}
	p, m := e.p, &e.gp
	h.cov.matrix(e.a, p.x, p.x)
	addDiagonal(e.a, h.noise)
	var err error
	if m.f, err = factorize(e.a); err != nil {
		return 0, err
	}
	m.h, m.alpha = h, column(slices.Clone(p.y))
	m.f.solve(m.alpha)
	value := -0.5 * (m.f.logDet() + float64(len(p.x))*math.Log(2*math.Pi))
	for i, v := range m.alpha.RawMatrix().Data {
		value -= 0.5 * v * p.y[i]
	}
	return value, nil
}

// gradient adds Σ_nm K̄_nm ∂A_nm to grad, with K̄ = ½(α αᵀ − A⁻¹).
func (e *evidence) gradient(grad *hyper) {
	m := e.gp
	m.f.invert()
	alpha := m.alpha.RawMatrix().Data
	// K̄ is symmetric, so it is replaced with its lower triangle with doubled off-diagonal elements.
	chunks(len(alpha), func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := e.a.RawRowView(i)
			for j := range i + 1 {
				row[j] = alpha[i]*alpha[j] - row[j]
			}
			row[i] *= 0.5
			clear(row[i+1:])
		}
	})
	for i := range alpha {
		grad.noise += e.a.At(i, i)
	}
	m.h.cov.pull(grad, e.a, m.x, m.x)
}

func (e *evidence) model() Model {
	m := e.gp // a copy, which does not reference the problem
	return &m
}

// A gpModel is a Gaussian process given data.
type gpModel struct {
	scale
	h     hyper
	x     []float64  // [N]
	f     factor     // of A
	alpha *mat.Dense // A⁻¹y [N,1]
}

// predictBlock is the number of inputs that a goroutine predicts at a time.
const predictBlock = 64

// Predict returns the mean k(x, X)·α and the variance k(x, x) − k(x, X)·A⁻¹·k(X, x) + τ⁻¹. It takes O(N²) time per row.
func (m *gpModel) Predict(_ context.Context, x []float64) (*vssgp.Prediction, error) {
	mean, variance := make([]float64, len(x)), make([]float64, len(x))
	parallel.Blocks(len(x), predictBlock, func(_, lo, hi int) {
		k := mat.NewDense(len(m.x), hi-lo, nil)
		m.h.cov.matrix(k, m.x, x[lo:hi])
		column(mean[lo:hi]).Mul(k.T(), m.alpha)
		blas64.Trsm(blas.Left, blas.NoTrans, 1, m.f.l, k.RawMatrix())
		for i := lo; i < hi; i++ {
			variance[i] = m.h.cov.diagonal()
			for j := range m.x {
				variance[i] -= k.At(j, i-lo) * k.At(j, i-lo)
			}
		}
	})
	return m.prediction(mean, variance, m.h.noise), nil
}
