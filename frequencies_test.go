package vssgp

import (
	"math"
	"testing"
)

// TestFrequencies: by hand, in the data's units, the surest first; equals keep
// their order.
func TestFrequencies(t *testing.T) {
	p := NewParams(2, 2, 1, 1)
	p.Variance = []float64{1, 1}
	p.Lengthscale = []float64{2, 4}
	p.Frequency = []float64{0, 0.25}
	p.Location = []float64{0, 1, 2, 3}
	p.FreqMean = []float64{2 * math.Pi, -4 * math.Pi, 0, 8 * math.Pi}
	p.FreqVar = []float64{4, 1, 4, 0}
	p.NoisePrecision = []float64{1}
	p.CoefMean, p.CoefVar = nil, nil
	m, err := NewModel(p)
	if err != nil {
		t.Fatal(err)
	}
	m.X = Affine{Offset: []float64{100}, Scale: []float64{10}}
	inf := math.Inf(1)
	want := []Frequency{ // l is 20 and 40, p 0.025 for the second component
		{3, 1, []float64{130}, []float64{0.1 + 0.025}, []float64{0}, []float64{inf}},
		{1, 0, []float64{110}, []float64{0.1}, []float64{1 / (40 * math.Pi)}, []float64{20}},
		{2, 1, []float64{120}, []float64{0.025}, []float64{2 / (80 * math.Pi)}, []float64{20}},
		{0, 0, []float64{100}, []float64{0.05}, []float64{2 / (40 * math.Pi)}, []float64{10}},
	}
	for i, got := range m.Frequencies() {
		w := want[i]
		if got.Feature != w.Feature || got.Component != w.Component {
			t.Fatalf("place %d: feature %d of component %d, want %d of %d", i, got.Feature, got.Component, w.Feature, w.Component)
		}
		for _, v := range [][2]float64{{got.Location[0], w.Location[0]}, {got.Mean[0], w.Mean[0]}, {got.SD[0], w.SD[0]}, {got.Reach[0], w.Reach[0]}} {
			if v[0] != v[1] && !(math.Abs(v[0]-v[1]) <= 1e-15*v[1]) {
				t.Errorf("feature %d: %v, want %v", got.Feature, v[0], v[1])
			}
		}
	}
}
