package variational

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/parallel"
)

// A Predictive is the predictive distribution of the latent function (eqs. pred_mean,
// pred_uncertainty) in the model's units. The parameters must not change while it is used.
type Predictive struct {
	Coefficients *backend.Posterior // means, and a shared or diagonal covariance
	Fade         *Fade              // nil: none

	p *Params
	f *backend.Features
	r *blocktri.Factor // factor of A; nil for a factorized posterior
}

// NewPredictive returns the predictive distribution for the exact posterior over the
// coefficients or, if it is nil, for the factorized posterior in the parameters. It inverts
// a copy of the exact posterior's factor. Errors wrap ctx.Err().
func NewPredictive(ctx context.Context, p *Params, exact *Posterior) (*Predictive, error) {
	ctx = cmp.Or(ctx, context.Background())
	t := &Predictive{p: p, f: p.Features()}
	if exact == nil {
		t.Coefficients = &backend.Posterior{Mean: p.CoefMean, Var: p.CoefVar, D: p.D}
		return t, nil
	}
	t.r = exact.factor
	factor := exact.factor.Clone()
	var s *backend.Gram
	if err := parallel.Await(ctx, blocktri.Flops(factor.R.Offset), func() { s = factor.Inverse() }); err != nil {
		return nil, fmt.Errorf("predict: interrupted: %w", err)
	}
	for _, b := range slices.Concat(s.Diag, s.Below) {
		for i := range b {
			b[i] /= p.NoisePrecision[0]
		}
	}
	t.Coefficients = &backend.Posterior{Mean: exact.Mean, Cov: s, D: p.D}
	return t, nil
}

// Variances returns the diagonals of the coefficients' covariances S_d, [M,D].
func (t *Predictive) Variances() []float64 {
	if t.Coefficients.Cov == nil {
		return slices.Clone(t.Coefficients.Var)
	}
	v := make([]float64, 0, t.f.M*t.p.D)
	for k := range t.f.M {
		v = append(v, slices.Repeat([]float64{t.Coefficients.Cov.At(k, k)}, t.p.D)...)
	}
	return v
}

// At predicts the function at rows x [N,Q] in one pass of the backend. Errors come from the
// backend or wrap ctx.Err().
func (t *Predictive) At(ctx context.Context, device backend.Backend, x []float64) (*backend.Prediction, error) {
	ctx = cmp.Or(ctx, context.Background())
	n, d := len(x)/t.p.Q, t.p.D
	rows, err := device.Open(backend.Data{N: n, Q: t.p.Q, X: x, Windows: t.p.Windows, Stop: ctx.Err})
	if err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	defer rows.Close()
	out := backend.NewPrediction(n, d)
	if err := rows.Predict(out, t.f, t.Coefficients); err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("predict: interrupted: %w", err)
	}
	if err := t.fade(ctx, out, x); err != nil {
		return nil, fmt.Errorf("predict: interrupted: %w", err)
	}
	for i := range out.Mean {
		own := &out.Cov[i*d+i%d]
		*own = max(0, *own) // rounding can make a small variance negative
	}
	return out, nil
}

// fade predicts again, on the CPU, the rows of x at which features fade. They are a few of a map's rows, and backends
// need all rows of a grid for their recurrences.
func (t *Predictive) fade(ctx context.Context, out *backend.Prediction, x []float64) error {
	if t.Fade == nil {
		return nil
	}
	q, d := t.p.Q, t.p.D
	var rows []int
	j := &joint{Predictive: t, variances: t.Variances()}
	for n := range len(x) / q {
		if at := x[n*q:][:q]; t.Fade.reaches(at) {
			rows, j.x = append(rows, n), append(j.x, at...)
		}
	}
	parallel.Blocks(len(rows), ChunkRows, func(_, lo, hi int) {
		if ctx.Err() != nil {
			return
		}
		a := j.whitened(lo, hi)
		for i := lo; i < hi; i++ {
			n := rows[i]
			j.mean(out.Mean[n*d:][:d], a, i)
			j.pair(out.Cov[n*d*d:][:d*d], a, i, a, i)
		}
	})
	return ctx.Err()
}
