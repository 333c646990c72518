package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit"
)

// hissing returns red noise with ticks of four samples each 500 samples.
func hissing(n int) *groove {
	rng, last := rand.New(rand.NewPCG(4, 4)), 0.0
	g := &groove{rate: 16000, x: testkit.Numbers(n, func(i int) float64 {
		last = 0.7*last + 1e-3*rng.NormFloat64()
		if k := i % 500; k >= 250 && k < 254 {
			return last + 0.02
		}
		return last
	})}
	g.bed = slices.Clone(g.x)
	for range 2 {
		g.separate()
	}
	return g
}

// TestSeparate checks that the ticks of noise are found, and that the bed has none.
func TestSeparate(t *testing.T) {
	const n = 16000
	g := hissing(n)
	testkit.Equal(t, len(g.ticks), n/500, "ticks")
	for i, tick := range g.ticks {
		if lo := 500*i + 250; tick.Start > lo || tick.End < lo+4 || tick.Len() > 14 {
			t.Errorf("tick %v, want %d:%d with a few samples on both sides", tick, lo, lo+4)
		}
		if e := bayes.RMS(g.bed[tick.Start:tick.End]); e > 5e-3 {
			t.Errorf("bed of rms %v at tick %v", e, tick)
		}
	}
	for _, u := range g.unclear {
		if slices.ContainsFunc(g.ticks, func(tick audio.Gap) bool { return u.Start < tick.End && tick.Start < u.End }) {
			t.Errorf("%v is a tick and unclear", u)
		}
	}
}

// TestWith checks that a trial differs from the sound with its bed only at ticks, whose positions and levels are right.
func TestWith(t *testing.T) {
	const step = 1. / 32768
	g := hissing(4000)
	x := testkit.Numbers(10_000, func(i int) float64 { return 0.3 * math.Sin(float64(i)/9) })
	for seed := range uint64(20) {
		made := g.with(x, step, seed)
		changed := make([]bool, len(x))
		for _, tick := range slices.Concat(made.added, made.unclear) {
			for i := max(0, tick.Start); i < min(len(x), tick.End); i++ {
				changed[i] = true
			}
		}
		for i, c := range changed {
			if !c && math.Abs(made.y[i]-made.x[i]) > step/2 {
				t.Fatalf("seed %d: sample %d changes by %v outside the ticks", seed, i, made.y[i]-made.x[i])
			}
		}
		if n := len(made.added) + len(made.unclear); n < 18 || len(made.levels) != len(made.added) {
			t.Errorf("seed %d: %d ticks, %d levels", seed, n, len(made.levels))
		}
		for i, tick := range made.added {
			near := made.x[max(0, tick.Start-160):min(len(x), tick.End+160)]
			level := 20 * math.Log10(math.Sqrt(made.energy(tick.Start, tick.End)/float64(tick.Len()))/bayes.RMS(near))
			testkit.Near(t, made.levels[i], level, 0.1, "level of ", tick)
		}
	}
}
