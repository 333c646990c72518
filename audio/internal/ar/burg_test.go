package ar

import (
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// burgByHand implements Burg's method with errors recomputed from the coefficients at every stage.
func burgByHand(segments []Segment, order int) Model {
	weight := func(s Segment, n int) float64 {
		if s.Weights == nil {
			return 1
		}
		return s.Weights[n]
	}
	a, squares, total := []float64{1}, 0.0, 0.0
	for _, s := range segments {
		for n, x := range s.X {
			squares += weight(s, n) * x * x
			total += weight(s, n)
		}
	}
	e := squares / total
	for m := 1; m <= order; m++ {
		num, den := 0.0, float64(m)*e
		for _, s := range segments {
			for n := m; n < len(s.X); n++ {
				var f, b float64
				for j, v := range a {
					f += v * s.X[n-j]
					b += v * s.X[n-m+j]
				}
				w := weight(s, n-m/2)
				num += w * f * b
				den += w * (f*f + b*b)
			}
		}
		k := 0.0
		if e > 0 {
			k = -2 * num / den
		}
		next := append(a[:len(a):len(a)], 0)
		for j := 1; j <= m; j++ {
			next[j] += k * a[m-j]
		}
		a, e = next, e*(1-k*k)
	}
	return Model{A: a, E: e}
}

func noise(n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	return testkit.Numbers(n, func(int) float64 { return rng.NormFloat64() })
}

// TestBurgMatchesRecomputedErrors compares Burg with burgByHand, with and without weights, for one and several segments and orders above their length.
func TestBurgMatchesRecomputedErrors(t *testing.T) {
	x := process(resonances, 400, 5)
	weights := testkit.Numbers(150, func(i int) float64 { return float64(i%13) / 13 })
	for _, c := range []struct {
		name     string
		segments []Segment
		order    int
	}{
		{"one", []Segment{{X: x}}, 20},
		{"two", []Segment{{X: x[:101]}, {X: x[200:333]}}, 33},
		{"weighted", []Segment{{X: x[:150], Weights: weights}, {X: x[160:200]}}, 24},
		{"longer than a segment", []Segment{{X: x[:9]}, {X: x[20:140]}}, 40},
		{"an empty segment", []Segment{{}, {X: x[20:60]}}, 4},
		{"of order 0", []Segment{{X: x}}, 0},
		{"one sample", []Segment{{X: x[:1]}}, 3},
	} {
		got, want := Burg(c.segments, c.order), burgByHand(c.segments, c.order)
		testkit.Within(t, c.name, got.A, want.A, 1e-11)
		testkit.Within(t, c.name+": E", []float64{got.E}, []float64{want.E}, 1e-12*want.E)
	}
	for _, m := range []Model{{A: []float64{1}, E: 4}, {A: []float64{1, -0.9}, E: 1}, resonance, resonances} {
		testkit.Within(t, "its own samples", Burg([]Segment{{X: process(m, 100_000, 8)}}, len(m.A)-1).A, m.A, 0.02)
	}
	if m := Burg([]Segment{{X: make([]float64, 30)}}, 5); m.E != 0 || m.A[0] != 1 {
		t.Errorf("silence: %+v", m)
	}
}
