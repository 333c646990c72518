//go:build cudaemu && cgo

package emu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestFeature compares what features are made of with package math: sines to two units
// of one's last place, exponentials to two of their own and their argument's rounding.
// Where a turn is below an ulp an angle means nothing, but its sine stays within 1.
func TestFeature(t *testing.T) {
	const ulp = 0x1p-53
	turns := []float64{0, math.Copysign(0, -1), 0.125, 0.25, 0.375, 0.5, 0.625, -0.25, 1e-300, 0x1p51 + 0.5, math.Inf(1), math.NaN()}
	quads := []float64{0, 5e-324, 1e-300, 1400, 1416, 1418, 1e4, 1e15, 1e300, math.Inf(1), math.NaN()}
	r := rand.New(rand.NewPCG(1, 2))
	for e := -60; e <= 1023; e++ {
		scale := math.Ldexp(1, e)
		turns = append(turns, scale, -scale, scale*(r.Float64()-0.5), scale*(r.Float64()+0.5))
	}
	for range 4000 {
		turns = append(turns, 8*r.Float64()-4)
		quads = append(quads, 1500*r.Float64(), 4*r.Float64())
	}
	n := max(len(turns), len(quads))
	for len(turns) < n {
		turns = append(turns, r.Float64())
	}
	for len(quads) < n {
		quads = append(quads, r.Float64())
	}
	out := room(3 * n)
	if err := try("self_feature", 4, 32, 0, [][]float64{turns, quads, out}, uint64(n)); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		sin, cos, e := out[3*i], out[3*i+1], out[3*i+2]
		switch x := turns[i]; {
		case math.IsNaN(x) || math.IsInf(x, 0):
			if !math.IsNaN(sin) || !math.IsNaN(cos) {
				t.Errorf("%v turns: %v, %v, want NaN", x, sin, cos)
			}
		case math.Abs(x) >= 0x1p50:
			if !(math.Abs(math.Hypot(sin, cos)-1) <= 4*ulp) {
				t.Errorf("%v turns: %v, %v is not on the circle", x, sin, cos)
			}
		default:
			s, c := math.Sincos(2 * math.Pi * (x - math.RoundToEven(x)))
			if !(math.Abs(sin-s) <= 4*ulp && math.Abs(cos-c) <= 4*ulp) {
				t.Errorf("%v turns: off by %.2g and %.2g ulps", x, (sin-s)/ulp, (cos-c)/ulp)
			}
		}
		q := quads[i]
		want, least := math.Exp(-q/2), 0.0
		if want < 0x1p-1022 {
			least = want
		}
		if err := math.Abs(e - want); err > (4+q)*ulp*want+least || math.IsNaN(e) != math.IsNaN(q) {
			t.Errorf("exp(−%v/2) = %v, want %v: off by %.2g ulps", q, e, want, err/ulp/want)
		}
	}
}
