package ar

import (
	"math/rand/v2"
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
	a := ModifiedCovariance(z, 5)
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
	if !Fill(x, nil, 4, 2) {
		t.Error("nothing missing: not done")
	}
}
