package declip

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestBand: factor, solution and inverse are gonum's dense ones wherever the matrix has entries.
func TestBand(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct{ n, reach, sparse int }{{1, 3, 1}, {5, 1, 1}, {40, 6, 3}, {60, 100, 2}, {90, 40, 1}} {
		at := make([]int, c.n)
		for i := 1; i < c.n; i++ {
			at[i] = at[i-1] + 1 + rng.IntN(c.sparse)
		}
		b := newBand(at, c.reach)
		want := mat.NewSymDense(c.n, nil)
		for i := range at {
			for j := range i + 1 {
				if at[i]-at[j] > c.reach {
					continue
				}
				v := rng.NormFloat64()
				if i == j {
					v = float64(3 * c.n)
				}
				b.rows[i][j-b.first[i]] = v
				want.SetSym(i, j, v)
			}
		}
		x := make([]float64, c.n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		var inverse mat.Dense
		var solution mat.VecDense
		if inverse.Inverse(want) != nil || solution.SolveVec(want, mat.NewVecDense(c.n, append([]float64(nil), x...))) != nil {
			t.Fatal("gonum")
		}
		if !b.factor() {
			t.Fatalf("%v: no factor", c)
		}
		b.solve(x)
		b.invert()
		for i := range at {
			if math.Abs(x[i]-solution.AtVec(i)) > 1e-12 {
				t.Errorf("%v: x[%d] = %v, want %v", c, i, x[i], solution.AtVec(i))
			}
			for j := b.first[i]; j < b.end[i]; j++ {
				if math.Abs(b.covariance(i, j)-inverse.At(i, j)) > 1e-12 {
					t.Errorf("%v: inverse[%d,%d] = %v, want %v", c, i, j, b.covariance(i, j), inverse.At(i, j))
				}
			}
		}
	}
	if b := newBand([]int{0}, 0); b.factor() {
		t.Error("a zero has a factor")
	}
}
