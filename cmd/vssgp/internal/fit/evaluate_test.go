package fit

import (
	"math"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/bayes"
)

// Two outputs with a covariance, against the formula written out.
func TestMeanLogDensity(t *testing.T) {
	p := &vssgp.Prediction{N: 2, D: 2, Mean: []float64{1, 2, 0, 0}, Cov: []float64{2, 0.5, 0.5, 1, 4, 0, 0, 9}}
	y := []float64{2, 2, 2, 3}
	first := -math.Log(2*math.Pi) - 0.5*math.Log(1.75) - 0.5*1/1.75 // (1,0) Cov⁻¹ (1,0)ᵀ = 1/det
	second := -math.Log(2*math.Pi) - 0.5*math.Log(36) - 0.5*(4./4+9./9)
	if got, err := meanLogDensity(t.Context(), p, y); err != nil || math.Abs(got-(first+second)/2) > 1e-14 {
		t.Errorf("mean log density %v, %v, want %v", got, err, (first+second)/2)
	}
	if got, want := bayes.RMSE(p.Mean, y), math.Sqrt((1+0+4+9)/4.); math.Abs(got-want) > 1e-15 {
		t.Errorf("RMSE %v, want %v", got, want)
	}
	p.Cov[0] = -1
	if got, err := meanLogDensity(t.Context(), p, y); err != nil || !math.IsNaN(got) {
		t.Errorf("density under a covariance that is none: %v, %v, want NaN", got, err)
	}
}
