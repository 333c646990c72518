package ar

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestModifiedCovarianceIsMinimum: no other coefficients have less forward
// and backward error.
func TestModifiedCovarianceIsMinimum(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	z := make([]float64, 80)
	for n := range z {
		z[n] = r.NormFloat64()
	}
	cost := func(a []float64) (e float64) {
		for n := 5; n < len(z); n++ {
			var f, b float64
			for k, v := range a {
				f += v * z[n-k]
				b += v * z[n-5+k]
			}
			e += f*f + b*b
		}
		return e
	}
	a := modifiedCovariance(z, 5)
	least := cost(a)
	for k := 1; k <= 5; k++ {
		for _, step := range []float64{-1e-3, 1e-3} {
			a[k] += step
			if cost(a) <= least {
				t.Errorf("a_%d moved by %g costs less: not the minimum", k, step)
			}
			a[k] -= step
		}
	}
}

// TestFillNothingMissing: nothing to do, no panic.
func TestFillNothingMissing(t *testing.T) {
	x := tones(100)
	if !fill(context.Background(), x, nil, 4, 2) {
		t.Error("nothing missing: not done")
	}
}

// TestMissingIn: the gaps that an excerpt cuts, counted from its start.
func TestMissingIn(t *testing.T) {
	gaps := [][2]int{{10, 12}, {20, 22}, {30, 32}, {40, 42}}
	for _, c := range []struct {
		cut  [2]int
		want []int
	}{
		{[2]int{15, 27}, []int{5, 6}}, {[2]int{12, 30}, []int{8, 9}}, {[2]int{11, 31}, []int{0, 9, 10, 19}},
		{[2]int{0, 50}, []int{10, 11, 20, 21, 30, 31, 40, 41}}, {[2]int{31, 50}, []int{0, 9, 10}},
	} {
		if got := missingIn(gaps, c.cut); !slices.Equal(got, c.want) {
			t.Errorf("in %v: %v, want %v", c.cut, got, c.want)
		}
	}
}
