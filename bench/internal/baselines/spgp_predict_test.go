package baselines

import (
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestSPGPPredictIsTheDenseFormula compares the variance of a prediction with the dense formula.
func TestSPGPPredictIsTheDenseFormula(t *testing.T) {
	for _, bound := range bounds {
		sparseCases(t, 50, 6, func(t *testing.T, p *problem, h hyper) {
			c := newCollapsed(p, bound, 6)
			value(t, c, h)
			const rows = 150
			at := noisyData(rows, p.q, 1, 99).X
			single, err := c.model().Predict(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			truth := c.denseJoint(h, at)
			for n := range rows {
				for e, s := range p.out.Scale {
					near(t, "variance", (single.Cov[(n*p.d+e)*p.d+e]-single.Noise[e])/(s*s), truth.At(n, n), 1e-7)
				}
			}
		})
	}
}

// denseJoint is K_** − K_*u (K_uu⁻¹ − A⁻¹) K_u* with A = K_uu + K_uf Λ⁻¹ K_fu, for one output of the scaled y.
func (c *collapsed) denseJoint(h hyper, x []float64) *mat.Dense {
	kuu, kuf, kus, out := c.cov(h, h.z, h.z), c.cov(h, h.z, c.x), c.cov(h, h.z, x), c.cov(h, x, x)
	m, n := kuf.Dims()
	for i := range m {
		kuu.Set(i, i, kuu.At(i, i)+inducingJitter*h.cov.diagonal())
	}
	var q, explained, a, weighted, both mat.Dense
	solved := func(a, b *mat.Dense) *mat.Dense {
		var s mat.Dense
		if err := s.Solve(a, b); err != nil {
			panic(err)
		}
		return &s
	}
	q.Mul(kuf.T(), solved(kuu, kuf))
	weighted.CloneFrom(kuf)
	for j := range n {
		lambda := h.noise
		if c.bound == FITC {
			lambda += h.cov.diagonal() - q.At(j, j)
		}
		for i := range m {
			weighted.Set(i, j, kuf.At(i, j)/lambda)
		}
	}
	a.Mul(&weighted, kuf.T())
	a.Add(&a, kuu)
	explained.Sub(solved(kuu, kus), solved(&a, kus))
	both.Mul(kus.T(), &explained)
	out.Sub(out, &both)
	return out
}

// TestConcurrentUse checks that several goroutines that use one model at a time get what one alone gets. The race detector watches.
func TestConcurrentUse(t *testing.T) {
	fit, err := SPGP{Options: Options{Iterations: 5}, Inducing: 7}.Fit(bg, noisyData(60, 2, 3, 1))
	if err != nil {
		t.Fatal(err)
	}
	want, err := fit.Model.Predict(t.Context(), []float64{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			p, err := fit.Model.Predict(t.Context(), []float64{0, 0})
			if err != nil || !slices.Equal(p.Mean, want.Mean) {
				t.Errorf("Predict: %v, or other numbers", err)
			}
		})
	}
	all.Wait()
}
