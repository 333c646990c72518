package baseline

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
)

// GP is the full Gaussian process: hyper-parameters that maximise the exact log
// marginal likelihood
//
//	ln p(Y) = −½ Σ_d y_dᵀ A⁻¹ y_d − D/2 ln |A| − N·D/2 ln 2π,   A = K + τ⁻¹·1,
//
// by L-BFGS, at O(N³) time an evaluation and one matrix [N,N] of memory.
type GP struct{ Options }

// MaxRows bounds the rows of a full GP: its matrix takes 3 GiB then, and an
// evaluation a quarter of an hour of a core.
const MaxRows = 20_000

// Fit maximises the marginal likelihood and conditions on the data.
func (g GP) Fit(ctx context.Context, data *vssgp.Data) (*Fit, error) {
	p, err := prepare(data, g.Options)
	if err != nil {
		return nil, err
	}
	if p.n > MaxRows {
		return nil, fmt.Errorf("baseline: a full GP of %d rows; want at most %d, or one of the sparse methods: %w",
			p.n, MaxRows, ErrOptions)
	}
	e := &evidence{p: p, a: mat.NewDense(p.n, p.n, nil)}
	best, interrupted := p.ascend(ctx, newCoordinates(p.start, nil, false), func(h hyper, _ []float64, grad *hyper, _ []float64) (float64, error) {
		return e.gradient(h, grad)
	})
	if best == nil {
		return nil, interrupted
	}
	m, value, err := e.model(best.h)
	if err != nil {
		return nil, err
	}
	return p.fit(m, best, value), interrupted
}

// evidence evaluates the log marginal likelihood, always in the same matrix.
type evidence struct {
	p *problem
	a *mat.Dense // [N,N]
}

// condition is the value at h, A's factor in e.a, and α = A⁻¹Y [N,D].
func (e *evidence) condition(h hyper) (value float64, f factor, alpha *mat.Dense, err error) {
	if err := h.check(); err != nil {
		return 0, f, nil, err
	}
	p := e.p
	h.cov.matrixTo(e.a, p.x, p.x)
	addDiagonal(e.a, h.noise)
	if f, err = factorise(e.a); err != nil {
		return 0, f, nil, err
	}
	y := mat.NewDense(p.n, p.d, p.y)
	alpha = mat.DenseCopyOf(y)
	f.solve(alpha)
	value = -0.5 * float64(p.d) * (f.logDet() + float64(p.n)*math.Log(2*math.Pi))
	for i, v := range alpha.RawMatrix().Data {
		value -= 0.5 * v * p.y[i]
	}
	return value, f, alpha, nil
}

// gradient is the value at h; it adds its gradient to grad, Σ_nm K̄_nm ∂A_nm with
// K̄ = ½(α αᵀ − D·A⁻¹).
func (e *evidence) gradient(h hyper, grad *hyper) (float64, error) {
	value, f, alpha, err := e.condition(h)
	if err != nil {
		return 0, err
	}
	f.invert()
	// K̄ is symmetric: its lower triangle, doubled, does for both.
	chunks(e.p.n, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := e.a.RawRowView(i)
			for j := range i + 1 {
				outer := 0.0
				for d, v := range alpha.RawRowView(i) {
					outer += v * alpha.At(j, d)
				}
				row[j] = outer - float64(e.p.d)*row[j]
			}
			row[i] *= 0.5
			clear(row[i+1:])
		}
	})
	for i := range e.p.n {
		grad.noise += e.a.At(i, i)
	}
	h.cov.pull(&grad.cov, nil, e.a, e.p.x, e.p.x)
	return value, nil
}

// model is the GP given the data; it takes e's matrix for itself.
func (e *evidence) model(h hyper) (*gpModel, float64, error) {
	value, f, alpha, err := e.condition(h)
	if err != nil {
		return nil, 0, err
	}
	m := &gpModel{units: e.p.units, h: h, x: e.p.x, f: f, alpha: alpha}
	e.a = nil
	return m, value, nil
}

// gpModel is a Gaussian process given data.
type gpModel struct {
	units
	h     hyper
	x     []float64  // [N,Q]
	f     factor     // of A
	alpha *mat.Dense // A⁻¹Y [N,D]
}

// predictBlock is how many inputs' covariances with the data a goroutine holds
// at a time.
const predictBlock = 64

// Predict is k(x, X)·α with the variance k(x, x) − k(x, X)·A⁻¹·k(X, x) + τ⁻¹, at
// O(N²) a row.
func (m *gpModel) Predict(x mat.Matrix) (*vssgp.Prediction, error) {
	rows, err := m.rows(x)
	if err != nil {
		return nil, err
	}
	n, d := len(rows)/m.q, m.alpha.RawMatrix().Cols
	mean, variance := make([]float64, n*d), make([]float64, n*d)
	chunks(n, func(_, lo, hi int) {
		for ; lo < hi; lo += predictBlock {
			n := min(predictBlock, hi-lo)
			m.predict(mean[lo*d:][:n*d], variance[lo*d:][:n*d], rows[lo*m.q:][:n*m.q])
		}
	})
	return m.prediction(mean, variance, m.h.noise), nil
}

// predict fills mean and variance [n,D] of the scaled function at rows.
func (m *gpModel) predict(mean, variance, rows []float64) {
	n, d := len(rows)/m.q, m.alpha.RawMatrix().Cols
	k := m.h.cov.matrix(m.x, rows) // [N,n]
	mat.NewDense(n, d, mean).Mul(k.T(), m.alpha)
	m.f.solveLower(k)
	for i := range n {
		left := m.h.cov.diagonal()
		for j := range k.RawMatrix().Rows {
			left -= k.At(j, i) * k.At(j, i)
		}
		for e := range d {
			variance[i*d+e] = left
		}
	}
}
