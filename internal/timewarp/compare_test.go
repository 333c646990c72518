package timewarp

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// TestCompare: half the amplitude is a quarter of the error; without space for trials nothing is said, and an ended context stops them.
func TestCompare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	a, half := make([]float64, 16_000), make([]float64, 16_000)
	for i := range a {
		a[i] = rng.NormFloat64()
		half[i] = a[i] / 2
	}
	f := NewFiller(Mixture(), 16_000)
	for _, c := range []struct {
		name   string
		b      []float64
		gap    [2]int
		gain   float64
		trials int
	}{
		{"half", half, [2]int{8000, 8160}, math.Log(4), 2}, // two are enough
		{"the same", a, [2]int{8000, 8160}, 0, 6},
		{"one side", a, [2]int{15_840, 16_000}, 0, 3},
		{"no space", half, [2]int{100, 15_900}, 0, 0},
	} {
		gain, trials, err := f.Compare(t.Context(), a, c.b, [][2]int{c.gap}, 0)
		if err != nil || math.Abs(gain-c.gain) > 1e-6 || trials != c.trials {
			t.Errorf("%s: gain %v by %d trials, %v; want %v by %d", c.name, gain, trials, err, c.gain, c.trials)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := f.Compare(ctx, a, half, [][2]int{{8000, 8160}}, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}
