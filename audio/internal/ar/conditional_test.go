package ar

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/initialize/autoregression"
	"github.com/vssgp/vssgp/internal/testkit"
)

// conditionalByHand conditions the Gaussian of a series on its known samples. With zeros before the series, the errors are e = A z,
// so the precision is AᵀA/E.
func conditionalByHand(m Model, z []float64, gaps [][2]int) (mean []float64, covariance *mat.SymDense) {
	n := len(z)
	a := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range min(i+1, len(m.A)) {
			a.Set(i, i-j, m.A[j])
		}
	}
	var precision mat.Dense
	precision.Mul(a.T(), a)
	precision.Scale(1/m.E, &precision)
	at, missing := autoregression.Positions(gaps), make([]bool, n)
	for _, i := range at {
		missing[i] = true
	}
	q, right := mat.NewSymDense(len(at), nil), mat.NewVecDense(len(at), nil)
	for i, u := range at {
		for j, v := range at[:i+1] {
			q.SetSym(i, j, precision.At(u, v))
		}
		for v := range n {
			if !missing[v] {
				right.SetVec(i, right.AtVec(i)-precision.At(u, v)*z[v])
			}
		}
	}
	var f mat.Cholesky
	f.Factorize(q)
	var x mat.VecDense
	covariance = &mat.SymDense{}
	if f.SolveVecTo(&x, right) != nil || f.InverseTo(covariance) != nil {
		panic("the test's matrix is singular")
	}
	return x.RawVector().Data, covariance
}

// TestConditional compares fills of one or several gaps, inside and at the ends, with dense algebra, for different values in the gaps.
func TestConditional(t *testing.T) {
	m := Burg([]Segment{{X: process(resonances, 500, 3)}}, 12)
	for _, gaps := range [][][2]int{
		{{50, 51}}, {{50, 61}}, {{50, 62}}, {{50, 63}}, {{50, 80}}, {{3, 9}}, {{0, 8}}, {{100, 120}}, {{108, 115}}, {{109, 119}}, {{90, 120}},
		{{20, 24}, {27, 31}}, {{20, 24}, {60, 70}}, {{0, 3}, {60, 61}, {115, 120}},
	} {
		z := process(m, 120, 4)
		want, covariance := conditionalByHand(m, z, gaps)
		for _, n := range autoregression.Positions(gaps) {
			z[n] = 1e9
		}
		c, ok := m.Conditional(z, gaps, identity(len(want)))
		if !ok {
			t.Fatalf("%v: not solved", gaps)
		}
		testkit.Within(t, "mean", c.Mean, want, 1e-9)
		checkRoot(t, c.Variance, c.Deviations, covariance)
	}
}
