package vssgp

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/blocktri"
	"github.com/vssgp/vssgp/spectral"
)

// Predict is PredictContext without an end.
func (m *Model) Predict(x mat.Matrix) (*Prediction, error) {
	return m.PredictContext(context.Background(), x)
}

// PredictContext is the predictive distribution of y at each row of x [N,Q] in
// the data's units (see Prediction and DESIGN.md, section 7), in O(part·M)
// memory besides the result. Errors wrap ErrData where x has other columns than
// the model inputs or values that are not finite, or where there are too many
// rows of outputs, ErrUnfitted where there is no posterior yet, ErrParams of a
// model that is none, and ctx.Err() soon after ctx has ended. A Predictor
// predicts rows that no memory holds.
func (m *Model) PredictContext(ctx context.Context, x mat.Matrix) (*Prediction, error) {
	n, err := m.rows(x)
	if err != nil {
		return nil, err
	}
	return m.predictRows(ctx, borrow(x), n)
}

// rows is how many rows x has for the model to predict at.
func (m *Model) rows(x mat.Matrix) (int, error) {
	if err := m.check(); err != nil {
		return 0, err
	}
	n, q, err := dims("x", x)
	if err == nil && q != m.Params.Q {
		err = fmt.Errorf("vssgp: x has %d columns, the model has %d inputs: %w", q, m.Params.Q, ErrData)
	}
	return n, err
}

// PredictRows is Predict for n rows given as one slice x [n,Q], row by row.
func (m *Model) PredictRows(x []float64, n int) (*Prediction, error) {
	return m.predictRows(context.Background(), x, n)
}

func (m *Model) predictRows(ctx context.Context, x []float64, n int) (*Prediction, error) {
	p, err := m.Predictor(ctx)
	if err != nil {
		return nil, err
	}
	if n < 1 || len(x) != n*m.Params.Q {
		return nil, fmt.Errorf("vssgp: predict: %d numbers in x for %d rows of %d inputs: %w", len(x), n, m.Params.Q, ErrData)
	}
	return p.Predict(ctx, x)
}

// jointChunk is how many inputs' features PredictJoint holds at a time.
const jointChunk = 256

// PredictJoint is PredictJointContext without an end.
func (m *Model) PredictJoint(x mat.Matrix) (mean *mat.Dense, cov *mat.SymDense, err error) {
	return m.PredictJointContext(context.Background(), x)
}

// PredictJointContext is the mean [N,D] and the joint covariance [N·D,N·D] of the
// function (without noise) at all rows of x [N,Q]; entry (n·D+d, n'·D+d') is
//
//	1[d=d'] (φ̄_n S_d φ̄_n'ᵀ + Σ_k S_d,kk r_k) + Σ_k m_kd m_kd' r_k,   r_k = E[φ_nk φ_n'k] − φ̄_nk φ̄_n'k
//
// (eq. pred_uncertainty taken at two inputs). It costs O(N²·(M+D²)) time and
// O(chunk·M) memory besides the result. Both are in the data's units; errors are
// those of PredictContext.
func (m *Model) PredictJointContext(ctx context.Context, x mat.Matrix) (mean *mat.Dense, cov *mat.SymDense, err error) {
	n, err := m.rows(x)
	if err != nil {
		return nil, nil, err
	}
	p := m.Params
	if entries := float64(n*p.D) * float64(n*p.D); entries > maxCovariances {
		return nil, nil, fmt.Errorf("vssgp: predict: %d rows of %d outputs have more than %d joint covariances; want fewer rows: %w", n, p.D, maxCovariances, ErrData)
	}
	predictor, err := m.Predictor(ctx)
	if err != nil {
		return nil, nil, err
	}
	single, err := predictor.Predict(ctx, borrow(x))
	if err != nil {
		return nil, nil, err
	}
	mu, vr := m.coefficients(predictor.post)
	j := &joint{m: m, f: predictor.f, x: m.X.ToModel(borrow(x)), mean: mu, vr: vr, out: mat.NewSymDense(n*p.D, nil)}
	for lo := 0; lo < n; lo += jointChunk {
		hi := min(n, lo+jointChunk)
		a := j.whitened(lo, hi)
		for lo2 := 0; lo2 <= lo; lo2 += jointChunk {
			b := a
			if lo2 < lo {
				b = j.whitened(lo2, lo2+jointChunk)
			}
			if err := j.block(ctx, a, lo, hi, b, lo2, min(n, lo2+jointChunk)); err != nil {
				return nil, nil, fmt.Errorf("vssgp: predict: interrupted: %w", err)
			}
		}
	}
	return mat.NewDense(n, p.D, single.Mean), j.out, nil
}

// joint is what the blocks of a joint covariance share.
type joint struct {
	m    *Model
	f    *spectral.Features
	x    []float64
	mean []float64 // [M,D]
	vr   []float64 // [M,D] diagonal of S_d
	out  *mat.SymDense
}

// whitened is τ^−½ R⁻¹ φ̄ᵀ [M,rows] for the exact posterior, whose products
// are φ̄ S φ̄ᵀ, and φ̄ᵀ itself for the factorised one.
func (j *joint) whitened(lo, hi int) []float64 {
	n, q := hi-lo, j.f.Q
	a := make([]float64, j.f.M*n)
	for k := range j.f.M {
		for i := range n {
			a[k*n+i] = j.f.Mean(k, j.x[(lo+i)*q:][:q])
		}
	}
	if j.m.Inference == Exact {
		solveScaled(j.m.exact.Factor, a, n, math.Sqrt(j.m.Params.NoisePrecision[0]))
	}
	return a
}

func solveScaled(f *blocktri.Factor, a []float64, n int, divisor float64) {
	f.SolveLower(a, n)
	for i := range a {
		a[i] /= divisor
	}
}

// block fills the covariance of rows [lo, hi) with rows [lo2, hi2), unless ctx
// ends first.
func (j *joint) block(ctx context.Context, a []float64, lo, hi int, b []float64, lo2, hi2 int) error {
	dd, q := j.m.Params.D, j.f.Q
	c := make([]float64, dd*dd)
	for i := lo; i < hi; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i2 := lo2; i2 < min(hi2, i+1); i2++ {
			clear(c)
			for k := range j.f.M {
				x, y := j.x[i*q:][:q], j.x[i2*q:][:q]
				spread := j.f.Pair(k, x, y) - j.f.Mean(k, x)*j.f.Mean(k, y)
				product := a[k*(hi-lo)+i-lo] * b[k*(hi2-lo2)+i2-lo2]
				for d, m := range j.mean[k*dd:][:dd] {
					for e, m2 := range j.mean[k*dd:][:dd] {
						c[d*dd+e] += m * m2 * spread
					}
					if j.m.Inference == Exact {
						c[d*dd+d] += product + j.vr[k*dd+d]*spread
					} else {
						c[d*dd+d] += j.vr[k*dd+d] * (product + spread)
					}
				}
			}
			for d := range dd {
				for e := range dd {
					j.out.SetSym(i*dd+d, i2*dd+e, c[d*dd+e]*j.m.Y.Scale[d]*j.m.Y.Scale[e])
				}
			}
		}
	}
	return nil
}
