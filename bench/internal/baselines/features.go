package baselines

import (
	"context"
	"fmt"

	"github.com/vssgp/vssgp"
)

// Features is package vssgp as a Method: VSSGP, SSGP and random projections.
// The paper's RP₂, which learns nothing but the coefficients, is
//
//	baseline.Features{Options: vssgp.Options{Method: vssgp.RP, Features: 500, NoisePrecision: 100, Iterations: vssgp.NoIterations}}
//
// Its Fit's Model is a *vssgp.Model.
type Features struct{ vssgp.Options }

// Fit calls vssgp.Fit. The Fit's Covariance has the components of all windows one
// after the other. If several outputs of different size are fitted in raw units
// (Options.Raw), σ² is relative to the first.
func (f Features) Fit(ctx context.Context, data *vssgp.Data) (*Fit, error) {
	if data == nil {
		return nil, fmt.Errorf("baselines: no data: %w", vssgp.ErrData)
	}
	m, r, err := vssgp.Fit(ctx, data, f.Options)
	if m == nil {
		return nil, err
	}
	return &Fit{
		Model: m, Bound: r.Bound, Covariance: covarianceOf(m, data), NoiseSD: m.NoiseSD()[0],
		Iterations: r.Iterations, Ended: r.Starts[r.Kept].Ended, Elapsed: r.Elapsed,
	}, err
}

// covarianceOf returns a model's covariance in this package's units.
func covarianceOf(m *vssgp.Model, data *vssgp.Data) Covariance {
	p := m.Params
	c := Covariance{L: p.L, Q: p.Q, Variance: p.Variance, Lengthscale: p.Lengthscale, Frequency: p.Frequency}.upright()
	_, y := data.Standardize()
	ratio := m.Y.Scale[0] / y.Scale[0]
	for i := range c.Variance {
		c.Variance[i] *= ratio * ratio
	}
	for i := range c.Lengthscale {
		c.Lengthscale[i] *= m.X.Scale[i%c.Q]
		c.Frequency[i] /= m.X.Scale[i%c.Q]
	}
	return c
}
