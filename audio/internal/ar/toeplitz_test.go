package ar

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/initialize/autoregression"
	"github.com/vssgp/vssgp/internal/testkit"
)

// identity returns the rows of the unit matrix.
func identity(n int) [][]float64 {
	units := make([][]float64, n)
	for i := range units {
		units[i] = make([]float64, n)
		units[i][i] = 1
	}
	return units
}

// checkRoot compares a symmetric matrix with its diagonal and with the sum of the products of root's rows.
func checkRoot(t *testing.T, diagonal []float64, root [][]float64, want *mat.SymDense) {
	t.Helper()
	for i := range diagonal {
		testkit.Within(t, "diagonal", diagonal[i:i+1], []float64{want.At(i, i)}, 1e-9)
		for j := range diagonal {
			sum := 0.0
			for _, u := range root {
				sum += u[i] * u[j]
			}
			testkit.Within(t, "sum of products", []float64{sum}, []float64{want.At(i, j)}, 1e-9)
		}
	}
}

// TestToeplitz compares solutions, the diagonal of the inverse and its root with dense algebra.
func TestToeplitz(t *testing.T) {
	for _, n := range []int{1, 2, 3, 17, 60} {
		r := autoregression.Autocorrelation(process(resonances, 1000, 6), n-1)
		dense := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				dense.SetSym(i, j, r[i-j])
			}
		}
		var f mat.Cholesky
		if !f.Factorize(dense) {
			t.Fatal("the test's matrix is not positive definite")
		}
		var inverse mat.SymDense
		testkit.OK(t, f.InverseTo(&inverse))
		right := noise(n, 1)
		var want mat.VecDense
		want.MulVec(&inverse, mat.NewVecDense(n, slices.Clone(right)))
		units := identity(n)
		diagonal, ok := toeplitz(r, right, units)
		if !ok {
			t.Fatalf("n = %d: not positive definite", n)
		}
		testkit.Within(t, "solution", right, want.RawVector().Data, 1e-9)
		checkRoot(t, diagonal, units, &inverse)
		rows := Whitening(r)
		for i := range rows {
			rows[i] = append(rows[i], make([]float64, n-len(rows[i]))...)
		}
		checkRoot(t, diagonal, rows, &inverse)
	}
	if got := Whitening([]float64{1, 2}); got != nil {
		t.Errorf("indefinite matrix of 1, 2: factor %v, want none", got)
	}
	if _, ok := toeplitz([]float64{1, 2}, make([]float64, 2), nil); ok {
		t.Error("the matrix of 1, 2 is indefinite, but it was solved")
	}
}
