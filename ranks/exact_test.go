package ranks

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/backend"
)

// sumOn adds consecutive parts on a group of ranks.
func sumOn(parts [][]float64, size, n int) []float64 {
	var sum []float64
	done := make(chan bool)
	for _, c := range Group(n) {
		go func() {
			lo, hi := shardsOf(len(parts), c.Rank(), n)
			if s := newNode(c).sumExactly(parts[lo:hi], size, len(parts)); s != nil {
				sum = s
			}
			done <- true
		}()
	}
	for range n {
		<-done
	}
	return sum
}

// TestSumExactly checks that sums are within one unit per part of the true sums, and have the same
// bits for any number of ranks and any order of the parts, unlike plain sums.
func TestSumExactly(t *testing.T) {
	const size, shares = 50, 12
	rng := rand.New(rand.NewPCG(1, 1))
	parts, plain, turned := make([][]float64, shares), make([]float64, size), make([]float64, size)
	truth := make([]*big.Float, size)
	for i := range truth {
		truth[i] = new(big.Float).SetPrec(300)
	}
	for s := range parts {
		parts[s] = make([]float64, size)
		for i := range parts[s] {
			parts[s][i] = rng.NormFloat64() * math.Exp(float64(3*i-60)+2*rng.NormFloat64())
		}
		parts[s][0], parts[s][1] = 0, 1.75 // equal values add up to the largest possible sum
	}
	for s := range parts {
		for i := range size {
			plain[i] += parts[s][i]
			turned[i] += parts[shares-1-s][i]
			truth[i].Add(truth[i], big.NewFloat(parts[s][i]))
		}
	}
	if slices.Equal(plain, turned) {
		t.Fatal("plain sums do not depend on the order; the test is not sensitive")
	}
	one := sumOn(parts, size, 1)
	for i, got := range one {
		most := 0.0
		for _, p := range parts {
			most = max(most, math.Abs(p[i]))
		}
		want, _ := truth[i].Float64()
		if math.Abs(got-want) > most*0x1p-52+math.Abs(want)*0x1p-52 {
			t.Errorf("entry %d: %v, want %v", i, got, want)
		}
	}
	for _, n := range []int{2, 3, 4, 5, 12, 17} {
		if got := sumOn(parts, size, n); !slices.Equal(got, one) {
			t.Errorf("%d ranks: %v, one: %v", n, got, one)
		}
	}
	slices.Reverse(parts)
	if got := sumOn(parts, size, 3); !slices.Equal(got, one) {
		t.Errorf("in another order: %v, want %v", got, one)
	}
}

// TestSumExactlyNotFinite checks that NaN and infinities give NaN and do not affect other entries.
func TestSumExactlyNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		got := sumOn([][]float64{{1, bad, 2}, {1, 5, -2}, {1, 5, 3}}, 3, 2)
		if got[0] != 3 || !math.IsNaN(got[1]) || got[2] != 3 {
			t.Errorf("with %v: %v, want 3, NaN, 3", bad, got)
		}
	}
}

// TestEntriesFitTheirUnit checks that no possible entry of C and G exceeds its range, and that the unit is small
// enough.
func TestEntriesFitTheirUnit(t *testing.T) {
	f := backend.NewFeatures(3, 1)
	f.Power, f.Ripple = []float64{2, 1e-9, 0}, []float64{2, -1e-9, 0}
	for _, n := range []int{1, 7, 1000, 1 << 30} {
		square := []float64{5.5 * float64(n), 0}
		u := unitsOf(f, n, square)
		most := backend.NewMoments(f, 2)
		for j := range 3 {
			bj := float64(n) * (f.Power[j] + math.Abs(f.Ripple[j]))
			for k := range 3 {
				most.Gram.Diag[0][j*3+k] = math.Sqrt(bj * float64(n) * (f.Power[k] + math.Abs(f.Ripple[k])))
			}
			for d, s := range square {
				most.C[j*2+d] = -math.Sqrt(bj * s)
			}
		}
		acc := make([]int64, triangle(3)+6)
		if !u.addMoments(acc, most) {
			t.Errorf("%d rows: the largest moments are out of range", n)
		}
		got := backend.NewMoments(f, 2)
		u.moments(got, acc)
		for i, want := range most.Gram.Diag[0] {
			if math.Abs(got.Gram.Diag[0][i]-want) > 0x1p-50*want {
				t.Errorf("%d rows: G[%d] = %v, want %v", n, i, got.Gram.Diag[0][i], want)
			}
		}
		for i, want := range most.C {
			if math.Abs(got.C[i]-want) > 0x1p-50*math.Abs(want) {
				t.Errorf("%d rows: C[%d] = %v, want %v", n, i, got.C[i], want)
			}
		}
		most.Gram.Diag[0][0] *= 16
		if u.addMoments(acc, most) {
			t.Errorf("%d rows: an entry beyond the bound was accepted", n)
		}
		most.Gram.Diag[0][0] = math.NaN()
		if u.addMoments(acc, most) {
			t.Errorf("%d rows: NaN was accepted", n)
		}
	}
}
