package ar

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestLeading: leading parts of a Toeplitz matrix are solved, and their determinants known, as Cholesky's factors have it.
func TestLeading(t *testing.T) {
	m := Model{A: []float64{1, -1.6, 0.8, 0.1}}
	r := m.Covers(12)
	if want := []float64{1 + 1.6*1.6 + 0.8*0.8 + 0.01, -1.6 - 1.6*0.8 + 0.08, 0.8 - 0.16, 0.1, 0, 0}; !near(r[:6], want, 1e-14) {
		t.Errorf("covers %v, want %v", r[:6], want)
	}
	tp := NewToeplitz(r)
	for n := 1; n <= len(r); n++ {
		dense, h := mat.NewSymDense(n, nil), make([]float64, n)
		for i := range n {
			h[i] = math.Sin(float64(3 * i))
			for k := range n {
				dense.SetSym(i, k, r[max(i-k, k-i)])
			}
		}
		var c mat.Cholesky
		if !c.Factorize(dense) {
			t.Fatal("not positive definite")
		}
		var want mat.VecDense
		if err := c.SolveVecTo(&want, mat.NewVecDense(n, h)); err != nil {
			t.Fatal(err)
		}
		got, log := make([]float64, n), 0.0
		tp.Solve(got, h)
		for _, e := range tp.Errors[:n] {
			log += math.Log(e)
		}
		if !near(got, want.RawVector().Data, 1e-10) || math.Abs(log-c.LogDet()) > 1e-10 {
			t.Errorf("%d rows: %v, log determinant %v; want %v, %v", n, got, log, want.RawVector().Data, c.LogDet())
		}
	}
	if tp := NewToeplitz([]float64{1, 1, 1}); len(tp.Errors) != 1 {
		t.Errorf("a singular matrix has %d rows, want 1", len(tp.Errors))
	}
}

func near(a, b []float64, tolerance float64) bool {
	for i := range b {
		if !(math.Abs(a[i]-b[i]) <= tolerance) {
			return false
		}
	}
	return len(a) == len(b)
}
