package ar

import (
	"math"
	"testing"

	"github.com/vssgp/vssgp/internal/initialize/autoregression"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestMeanIsGeometricMeanOfDensities checks that the mean of equal models is the model, and that a high order approximates the geometric mean of two densities.
func TestMeanIsGeometricMeanOfDensities(t *testing.T) {
	a, b := resonance, resonances
	const frequencies = 20
	transform := autoregression.NewTransform(frequencies, 200)
	density := func(m Model) []float64 { return transform.Densities(autoregression.Model(m)) }

	mean := NewMean(4096)
	same := mean.Model([]Model{b, b, b}, len(b.A)-1)
	testkit.Within(t, "the same", same.A, b.A, 1e-6)
	testkit.Within(t, "its E", []float64{same.E}, []float64{b.E}, 1e-6)
	for _, models := range [][]Model{{a}, {a, b}, {a, b, b}} {
		got, want := density(mean.Model(models, 200)), make([]float64, frequencies)
		for _, m := range models {
			for i, d := range density(m) {
				want[i] += math.Log(d) / float64(len(models))
			}
		}
		for i, d := range got {
			if log := math.Log(d); math.Abs(log-want[i]) > 1e-3 {
				t.Errorf("%d models, frequency %d: log density %v, want %v", len(models), i, log, want[i])
			}
		}
	}
	if m := mean.Model([]Model{a, {A: []float64{1}}}, 10); m.E != 0 || m.A[0] != 1 {
		t.Errorf("the mean with silence is %+v, want silence", m)
	}
}
