package vssgp

import (
	"math"
	"reflect"
	"slices"
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
		{Feature: 3, Component: 1, Location: []float64{130}, Mean: []float64{0.1 + 0.025}, Spread: []float64{0}, Reach: []float64{inf}},
		{Feature: 1, Component: 0, Location: []float64{110}, Mean: []float64{0.1}, Spread: []float64{1 / (40 * math.Pi)}, Reach: []float64{20}},
		{Feature: 2, Component: 1, Location: []float64{120}, Mean: []float64{0.025}, Spread: []float64{2 / (80 * math.Pi)}, Reach: []float64{20}},
		{Feature: 0, Component: 0, Location: []float64{100}, Mean: []float64{0.05}, Spread: []float64{2 / (40 * math.Pi)}, Reach: []float64{10}},
	}
	checkFrequencies(t, m.Frequencies(), want)
	m.hyper = &Posterior{Features: []float64{0.4, 3, 0.2, 1}} // by feature, in cycles of the model's unit
	for i := range want {
		want[i].SD = []float64{m.hyper.Features[want[i].Feature] / 10}
	}
	want = []Frequency{want[2], want[3], want[0], want[1]}
	checkFrequencies(t, m.Frequencies(), want)
}

func checkFrequencies(t *testing.T, all, want []Frequency) {
	t.Helper()
	for i, got := range all {
		w := want[i]
		if got.Feature != w.Feature || got.Component != w.Component {
			t.Fatalf("place %d: feature %d of component %d, want %d of %d", i, got.Feature, got.Component, w.Feature, w.Component)
		}
		pairs := [][2]float64{{got.Location[0], w.Location[0]}, {got.Mean[0], w.Mean[0]}, {got.Spread[0], w.Spread[0]}, {got.Reach[0], w.Reach[0]}, {got.Period[0], 1 / w.Mean[0]}}
		if len(got.SD) != len(w.SD) || len(got.PeriodSD) != len(w.SD) {
			t.Fatalf("feature %d has the standard deviations %v and %v, want %v", got.Feature, got.SD, got.PeriodSD, w.SD)
		}
		if w.SD != nil {
			pairs = append(pairs, [2]float64{got.SD[0], w.SD[0]}, [2]float64{got.PeriodSD[0], w.SD[0] / (w.Mean[0] * w.Mean[0])})
		}
		for _, v := range pairs {
			if v[0] != v[1] && !(math.Abs(v[0]-v[1]) <= 1e-15*v[1]) {
				t.Errorf("feature %d: %v, want %v", got.Feature, v[0], v[1])
			}
		}
	}
}

// TestComponents: components and noise by hand, in the data's units; of a model that
// is none there are none.
func TestComponents(t *testing.T) {
	p := NewParams(2, 1, 1, 2)
	p.Variance, p.Lengthscale, p.Frequency = []float64{4, 9}, []float64{3, 5}, []float64{0.5, 0}
	p.NoisePrecision, p.CoefMean, p.CoefVar = []float64{25}, nil, nil
	m, err := NewModel(p)
	if err != nil {
		t.Fatal(err)
	}
	m.X, m.Y = Affine{Offset: []float64{1}, Scale: []float64{10}}, Affine{Offset: []float64{0, 0}, Scale: []float64{100, 1}}
	want := []Component{
		{SD: []float64{200, 2}, Lengthscale: []float64{30}, Period: []float64{20}},
		{SD: []float64{300, 3}, Lengthscale: []float64{50}, Period: []float64{math.Inf(1)}},
	}
	if got := m.Components(); !reflect.DeepEqual(got, want) {
		t.Errorf("components %v, want %v", got, want)
	}
	if got := m.NoiseSD(); !slices.Equal(got, []float64{20, 0.2}) {
		t.Errorf("noise %v, want 20 and 0.2", got)
	}
	var none *Model
	if none.Components() != nil || none.NoiseSD() != nil || (&Model{}).Components() != nil {
		t.Error("a model that is none has components")
	}
}
