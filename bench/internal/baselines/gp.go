package baselines

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/parallel"
)

// GP is the full Gaussian process: hyper-parameters that maximize the exact log
// marginal likelihood
//
//	ln p(Y) = −½ Σ_d y_dᵀ A⁻¹ y_d − D/2 ln |A| − N·D/2 ln 2π,   A = K + τ⁻¹·1,
//
// by L-BFGS, at O(N³) time an evaluation and one matrix [N,N] of memory.
type GP struct{ Options }

// MaxRows bounds the rows of a full GP. With so many its matrix takes 3 GiB, and
// an evaluation takes a core a quarter of an hour.
const MaxRows = 20_000

// Fit maximizes the marginal likelihood and conditions on the data.
func (g GP) Fit(ctx context.Context, data *vssgp.Data) (*Fit, error) {
	p, err := prepare(data, g.Options)
	if err != nil {
		return nil, err
	}
	if p.n > MaxRows {
		return nil, fmt.Errorf("baselines: a full GP of %d rows; want at most %d, or one of the sparse methods: %w",
			p.n, MaxRows, vssgp.ErrOptions)
	}
	return p.ascend(ctx, newCoordinates(p.start, false), newEvidence(p))
}

// evidence is the objective of GP, the log marginal likelihood.
type evidence struct {
	p  *problem
	a  *mat.Dense // [N,N] A, its factor, or K̄
	gp gpModel    // at h
}

func newEvidence(p *problem) *evidence {
	return &evidence{p: p, a: mat.NewDense(p.n, p.n, nil), gp: gpModel{units: p.units, x: p.x}}
}

// value conditions the GP of h on the data.
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
	m.h, m.alpha = h, mat.NewDense(p.n, p.d, slices.Clone(p.y))
	m.f.solve(m.alpha)
	value := -0.5 * float64(p.d) * (m.f.logDet() + float64(p.n)*math.Log(2*math.Pi))
	for i, v := range m.alpha.RawMatrix().Data {
		value -= 0.5 * v * p.y[i]
	}
	return value, nil
}

// gradient adds Σ_nm K̄_nm ∂A_nm to grad, with K̄ = ½(α αᵀ − D·A⁻¹).
func (e *evidence) gradient(grad *hyper) {
	m := e.gp
	m.f.invert()
	// K̄ is symmetric: its lower triangle, doubled, does for both.
	chunks(e.p.n, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := e.a.RawRowView(i)
			for j := range i + 1 {
				outer := 0.0
				for d, v := range m.alpha.RawRowView(i) {
					outer += v * m.alpha.At(j, d)
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
	m.h.cov.pull(grad, e.a, m.x, m.x)
}

func (e *evidence) model() Model {
	m := e.gp // without the problem
	return &m
}

// A gpModel is a Gaussian process given data.
type gpModel struct {
	units
	h     hyper
	x     []float64  // [N,Q]
	f     factor     // of A
	alpha *mat.Dense // A⁻¹Y [N,D]
}

// predictBlock is the number of inputs whose covariances with the data a goroutine
// holds at a time.
const predictBlock = 64

// Predict gives k(x, X)·α with the variance k(x, x) − k(x, X)·A⁻¹·k(X, x) + τ⁻¹, at
// O(N²) a row.
func (m *gpModel) Predict(ctx context.Context, x []float64) (*vssgp.Prediction, error) {
	if err := m.checkRows(ctx, x); err != nil {
		return nil, err
	}
	given, d := m.alpha.Dims()
	n := len(x) / m.q
	mean, variance := make([]float64, n*d), make([]float64, n*d)
	parallel.For((n+predictBlock-1)/predictBlock, runtime.GOMAXPROCS(0), func(block int) {
		lo, hi := block*predictBlock, min(n, (block+1)*predictBlock)
		k := mat.NewDense(given, hi-lo, nil)
		m.h.cov.matrix(k, m.x, x[lo*m.q:hi*m.q])
		mat.NewDense(hi-lo, d, mean[lo*d:hi*d]).Mul(k.T(), m.alpha)
		m.f.solveLower(k)
		for i := lo; i < hi; i++ {
			left := m.h.cov.diagonal()
			for j := range given {
				left -= k.At(j, i-lo) * k.At(j, i-lo)
			}
			for e := range d {
				variance[i*d+e] = left
			}
		}
	})
	return m.prediction(mean, variance, m.h.noise), nil
}
