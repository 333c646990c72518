package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestLattice compares every set with the formula, from every offset within a panel's row.
func TestLattice(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for _, n := range []int{2, 5, 8, 9, 16, 23, 24, 104, 111} {
			for m := 1; m < min(n, 20); m++ {
				latticeCase(t, n, m)
			}
		}
	})
}

func latticeCase(t *testing.T, n, m int) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(m)))
	f, b, w := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range f {
		f[i], b[i], w[i] = rng.NormFloat64(), rng.NormFloat64(), rng.Float64()
	}
	const k = -0.37
	lag := (m + 1) / 2
	wantF, wantB := slices.Clone(f), slices.Clone(b)
	for i := m; i < n; i++ {
		wantF[i], wantB[i] = f[i]+k*b[i-1], b[i-1]+k*f[i]
	}
	wantProducts, wantSquares := 0.0, 0.0
	for i := m + 1; i < n; i++ {
		wantProducts += w[i-lag] * wantF[i] * wantB[i-1]
		wantSquares += w[i-lag] * (wantF[i]*wantF[i] + wantB[i-1]*wantB[i-1])
	}
	products, squares := Lattice(f, b, w, lag, m, k)
	if e := 1e-13 * (1 + wantSquares); math.Abs(products-wantProducts) > e || math.Abs(squares-wantSquares) > e {
		t.Errorf("%v, n = %d, m = %d: sums %v, %v, want %v, %v", use, n, m, products, squares, wantProducts, wantSquares)
	}
	what := fmt.Sprintf("%v, n = %d, m = %d", use, n, m)
	testkit.Within(t, what+": forward errors", f, wantF, 4e-15)
	testkit.Within(t, what+": backward errors", b, wantB, 4e-15)
}

// TestReflect compares every set with the formulas of Reflect and Dot, at every alignment of the
// slices.
func TestReflect(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for n := range 140 {
			rng := rand.New(rand.NewPCG(uint64(n), 3))
			whole := testkit.Numbers(3*n+9, func(int) float64 { return rng.NormFloat64() })
			a, s, r := whole[:n], whole[n+3:][:n], whole[2*n+5:][:n]
			const k = 0.61
			wantA, wantS, want := slices.Clone(a), slices.Clone(s), 0.0
			for j := range n {
				wantA[j], wantS[j] = a[j]+k*s[j], s[j]+k*a[j]
				want += wantA[j] * r[j]
			}
			before := slices.Clone(whole)
			dot := 0.0
			for j := range n {
				dot += a[j] * r[j]
			}
			if got := Dot(a, r); math.Abs(got-dot) > 1e-13*float64(n) {
				t.Fatalf("%v, n = %d: dot product %v, want %v", use, n, got, dot)
			}
			if got := Reflect(a, s, r, k); math.Abs(got-want) > 1e-13*float64(n) {
				t.Fatalf("%v, n = %d: %v, want %v", use, n, got, want)
			}
			testkit.Within(t, fmt.Sprintf("%v, n = %d: a", use, n), a, wantA, 4e-15)
			testkit.Within(t, fmt.Sprintf("%v, n = %d: s", use, n), s, wantS, 4e-15)
			copy(before[:n], a)
			copy(before[n+3:], s)
			if !slices.Equal(before, whole) {
				t.Fatalf("%v, n = %d: it wrote outside the slices", use, n)
			}
		}
	})
}
