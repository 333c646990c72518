package baselines

import (
	"context"
	"fmt"
	"slices"

	"github.com/vssgp/vssgp"
)

// SparseModel is the model of SPGP and SVGP: inducing inputs and the posterior of
// the function there. It is safe for concurrent use.
type SparseModel struct {
	units
	proj *projection
	q    posterior
}

// newSparseModel takes proj and q over.
func newSparseModel(u units, proj *projection, q posterior) *SparseModel {
	proj.work = nil
	return &SparseModel{units: u, proj: proj, q: q}
}

// fitted says whether there is a posterior.
func (s *SparseModel) fitted() bool { return s != nil && s.proj != nil }

// Locations returns the inducing inputs [M,Q] in units of x; nil before a fit.
func (s *SparseModel) Locations() []float64 {
	if !s.fitted() {
		return nil
	}
	return slices.Clone(s.proj.h.z)
}

// predictRows is the number of rows whose features are held at a time.
const predictRows = 1024

// Predict implements Model in O(M²) a row:
//
//	E[f] = φ·m,   Var[f] = k(x,x) − |φ|² + φ P⁻¹ φᵀ
func (s *SparseModel) Predict(ctx context.Context, x []float64) (*vssgp.Prediction, error) {
	if !s.fitted() {
		return nil, fmt.Errorf("baselines: predict: want a model that a Fit has made: %w", vssgp.ErrUnfitted)
	}
	if err := s.checkRows(ctx, x); err != nil {
		return nil, err
	}
	m, d := s.q.mean.Dims()
	n := len(x) / s.units.q
	mean, variance := make([]float64, n*d), make([]float64, n*d)
	newTile(min(n, predictRows), m, d).each(s.proj, x, mean, func(lo int, t *tile) {
		t.residuals(&s.q) // of zeros
		t.spreads(&s.q)
		for i, r := range t.residual {
			mean[lo*d+i] = -r
			variance[lo*d+i] = t.gap[i/d] + t.spread[i/d]
		}
	})
	return s.prediction(mean, variance, s.proj.h.noise), nil
}
