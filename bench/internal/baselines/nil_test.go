package baselines

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/vssgp/vssgp"
)

// TestNil fits and predicts with arguments that are nil or empty.
func TestNil(t *testing.T) {
	data := &vssgp.Data{N: 4, Q: 1, D: 1, X: []float64{1, 2, 3, 4}, Y: []float64{1, 0, 1, 2}}
	few := Options{Iterations: 2}
	var none context.Context
	for name, m := range map[string]Method{
		"GP": GP{few}, "SPGP": SPGP{Options: few, Inducing: 2}, "FITC": SPGP{Options: few, Inducing: 2, Bound: FITC}, "SVGP": SVGP{Options: few, Inducing: 2},
		"Features": Features{vssgp.Options{Iterations: 2, Features: 2}},
	} {
		for _, bad := range []*vssgp.Data{nil, {}, {N: 2, Q: 1, D: 1, X: []float64{1}, Y: []float64{1, 2}}} {
			if _, err := m.Fit(context.Background(), bad); !errors.Is(err, vssgp.ErrData) {
				t.Errorf("%s of %v: error %v, want ErrData", name, bad, err)
			}
		}
		fit, err := m.Fit(none, data)
		if err != nil {
			t.Errorf("%s without a context: %v", name, err)
			continue
		}
		for _, x := range [][]float64{nil, {math.NaN()}} {
			if _, err := fit.Model.Predict(t.Context(), x); !errors.Is(err, vssgp.ErrData) {
				t.Errorf("%s predicts at %v: error %v, want ErrData", name, x, err)
			}
		}
	}
	for _, s := range []*SparseModel{nil, {}} {
		if len(s.Locations()) != 0 {
			t.Errorf("an unfitted model has inducing inputs")
		}
		if _, err := s.Predict(t.Context(), []float64{0}); !errors.Is(err, vssgp.ErrUnfitted) {
			t.Errorf("an unfitted model: error %v, want ErrUnfitted", err)
		}
	}
	Covariance{}.Clone()
	for _, q := range []int{-1, 0, 1} {
		SE(q)
	}
}
