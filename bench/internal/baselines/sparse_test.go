package baselines

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/testkit"
)

var bounds = []Bound{VFE, FITC}

// dense returns the bound, computed with N×N matrices, and the latent variance at x: k(x,x) − K_xu (K_uu⁻¹ − A⁻¹) K_ux
// with A = K_uu + K_uf Λ⁻¹ K_fu.
func (c *collapsed) dense(h hyper, x []float64) (bound float64, variance []float64) {
	solved := func(a, b *mat.Dense) *mat.Dense {
		var s mat.Dense
		if err := s.Solve(a, b); err != nil {
			panic(err)
		}
		return &s
	}
	kuu, kuf, kux := h.cov.naive(h.z, h.z), h.cov.naive(h.z, c.x), h.cov.naive(h.z, x)
	addDiagonal(kuu, inducingJitter*h.cov.diagonal())
	var q, a, explained mat.Dense
	q.Mul(kuf.T(), solved(kuu, kuf))
	weighted, trace := mat.DenseCopyOf(kuf), 0.0
	for n := range c.x {
		gap, lambda := h.cov.diagonal()-q.At(n, n), h.noise
		trace += gap
		if c.bound == FITC {
			lambda += gap
		}
		q.Set(n, n, q.At(n, n)+lambda)
		for m := range h.z {
			weighted.Set(m, n, kuf.At(m, n)/lambda)
		}
	}
	bound = logNormal(&q, c.y)
	if c.bound == VFE {
		bound -= trace / (2 * h.noise)
	}
	a.Mul(weighted, kuf.T())
	a.Add(&a, kuu)
	explained.Sub(solved(kuu, kux), solved(&a, kux))
	explained.MulElem(kux, &explained)
	variance = testkit.Numbers(len(x), func(n int) float64 { return h.cov.diagonal() - mat.Sum(explained.ColView(n)) })
	return bound, variance
}

func TestSPGPMatchesDenseAlgebra(t *testing.T) {
	for _, bound := range bounds {
		t.Run(string(bound), func(t *testing.T) {
			cases(t, 70, 7, func(t *testing.T, _ *rand.Rand, p *problem) {
				h, c := &p.start, newCollapsed(p, bound)
				f := func() float64 { return value(t, c, *h) }
				x := noisyData(150, 99).X
				want, variance := c.dense(*h, x)
				near(t, "bound", f(), want, 1e-9)
				got := predict(t, c.model(), x...)
				for n, v := range variance {
					near(t, "variance", (got.Cov[n]-got.Noise[0])/(p.sd*p.sd), v, 1e-7)
				}
				grad := newCoordinates(*h).zero()
				c.gradient(grad)
				gradients(t, f, h, grad)
			})
		})
	}
}

// TestSPGPOnTheDataIsTheGP checks that SPGP equals the full GP if the inducing inputs are the data.
func TestSPGPOnTheDataIsTheGP(t *testing.T) {
	data := noisyData(25, 3)
	// K_uu is well conditioned because of the short length-scale, so that its jitter has little effect.
	o := Options{Covariance: SE(0.1), NoisePrecision: 1}
	gp := fit(t, GP{o}, data)
	for _, bound := range bounds {
		f := fit(t, SPGP{o, 25, bound}, data)
		near(t, string(bound), f.Bound, gp.Bound, 1e-8) // the jitter changes the bound by N·10⁻¹¹/2s
		samePredictions(t, f.Model, gp.Model, 1e-8)
	}
}

// TestVFEIsALowerBoundThatRises checks that VFE never exceeds the log marginal likelihood and increases with each added
// inducing input.
func TestVFEIsALowerBoundThatRises(t *testing.T) {
	cases(t, 40, 12, func(t *testing.T, _ *rand.Rand, p *problem) {
		k := p.start.cov.naive(p.x, p.x)
		addDiagonal(k, p.start.noise)
		exact, z := logNormal(k, p.y), p.start.z
		last := math.Inf(-1)
		for m := 1; m <= 12; m++ {
			p.start.z = z[:m]
			f := value(t, newCollapsed(p, VFE), p.start)
			if f > exact || !(f > last) {
				t.Errorf("%d inducing inputs: %v, with one fewer %v, log marginal likelihood %v", m, f, last, exact)
			}
			last = f
		}
	})
}

// TestSparseSurvives checks that there is a bound, a gradient and a fit if inducing inputs are equal, too few, or far
// from the data.
func TestSparseSurvives(t *testing.T) {
	o := Options{Covariance: SE(0.8), NoisePrecision: 1, Iterations: 20}
	for name, z := range map[string][]float64{
		"two the same": {1, 1, 3, 5}, "all the same": {2, 2, 2, 2}, "far away": {1e6, 2e6, -1e6, 4}, "one": {3},
		"crowded": {3, 3 + 1e-12, 3 + 2e-12, 3 + 1e-9},
	} {
		p := prepare(noisyData(50, 5), o)
		p.start.z = z
		for _, bound := range bounds {
			f, err := p.ascend(t.Context(), newCollapsed(p, bound))
			if err != nil {
				t.Errorf("%s, %s: %v", name, bound, err)
				continue
			}
			at := predict(t, f.Model, 0, 3, 1e9)
			if !finite(f.Bound) || slices.ContainsFunc(at.Cov, func(v float64) bool { return !(v > 0) }) {
				t.Errorf("%s, %s: bound %v, prediction %v", name, bound, f.Bound, at)
			}
		}
		w := newSteps(p, SVGP{Options: o, Batch: 7, Rate: 0.05})
		if why, err := w.all(t.Context()); err != nil {
			t.Errorf("%s, SVGP: %s, %v", name, why, err)
		} else if f, err := w.finish(); err != nil || !finite(f) {
			t.Errorf("%s, SVGP: %v, %v", name, f, err)
		}
	}
}

// TestSPGPValueErrors checks that extreme hyper-parameters give vssgp.ErrBound or a value that is not finite.
func TestSPGPValueErrors(t *testing.T) {
	p := prepare(noisyData(20, 6), Options{Covariance: SE(1, 2), NoisePrecision: 1})
	p.start.z = []float64{1, 2, 3}
	for name, change := range map[string]func(h *hyper){
		"variance NaN":     func(h *hyper) { h.cov.Variance[0] = math.NaN() },
		"variance huge":    func(h *hyper) { h.cov.Variance = []float64{1e308, 1e308} },
		"length-scale Inf": func(h *hyper) { h.cov.Lengthscale[1] = math.Inf(1) },
		"noise 0":          func(h *hyper) { h.noise = 0 },
		"z NaN":            func(h *hyper) { h.z[1] = math.NaN() },
	} {
		for _, bound := range bounds {
			h := p.start.clone()
			change(&h)
			if f, err := newCollapsed(p, bound).value(h); err == nil && finite(f) || err != nil && !errors.Is(err, vssgp.ErrBound) {
				t.Errorf("%s, %s: %v, %v; want vssgp.ErrBound", name, bound, f, err)
			}
		}
	}
}

// stepsAt returns SVGP's steps at the initial hyper-parameters, with the optimal q(v) for other outputs, so that no
// gradient vanishes.
func stepsAt(t *testing.T, p *problem, batch int) *steps {
	t.Helper()
	w := newSteps(p, SVGP{Batch: batch})
	w.h = p.start.clone()
	w.project(t)
	other := *w.tile
	other.y = normals(rand.New(rand.NewPCG(8, 8)), batch)
	other.phi = mat.DenseCopyOf(w.tile.phi)
	testkit.OK(t, w.q.natural(&other, 0.7, 2, 0.3))
	return w
}

// project fills the tile with the first rows and projects them.
func (w *steps) project(t *testing.T) {
	t.Helper()
	testkit.OK(t, w.proj.set(w.h))
	copy(w.tile.x, w.x)
	copy(w.tile.y, w.y)
	w.tile.project(w.proj)
}

// TestSVGPGradient compares the gradient with differences at a constant likelihood of u given by the rows, see
// canonical.gradient.
func TestSVGPGradient(t *testing.T) {
	cases(t, 70, 7, func(t *testing.T, _ *rand.Rand, p *problem) {
		w := stepsAt(t, p, 40)
		const weight = 1.75
		precision, shift := w.likelihood()
		f := func() float64 {
			w.project(t)
			w.setLikelihood(t, precision, shift)
			return weight*w.q.data(w.tile, w.h.noise) - w.q.kl()
		}
		f()
		grad := w.in.zero()
		w.q.gradient(w.tile, w.proj, weight, grad)
		gradients(t, f, &w.h, grad)
	})
}

// likelihood returns the likelihood of u given by the rows: A = L⁻ᵀ(P − 1)L⁻¹ and a = L⁻ᵀθ.
func (w *steps) likelihood() (a, b *mat.Dense) {
	a, b = mat.DenseCopyOf(w.q.p), mat.DenseCopyOf(w.q.theta)
	addDiagonal(a, -1)
	mirror(a)
	w.proj.factor.rightLower(a)
	for _, x := range []*mat.Dense{a, b} {
		blas64.Trsm(blas.Left, blas.Trans, 1, w.proj.factor.l, x.RawMatrix())
	}
	return a, b
}

// setLikelihood sets q(v) from the result of likelihood, in the current projection.
func (w *steps) setLikelihood(t *testing.T, a, b *mat.Dense) {
	t.Helper()
	m, _ := a.Dims()
	l := mat.NewDense(m, m, nil)
	for i := range m {
		for j := range i + 1 {
			l.Set(i, j, w.proj.k.At(i, j))
		}
	}
	w.q.p.Product(l.T(), a, l)
	addDiagonal(w.q.p, 1)
	w.q.theta.Mul(l.T(), b)
	testkit.OK(t, w.q.update())
}

// TestSVGPBatchesAreUnbiased checks that the mean of the estimates from the mini-batches of one epoch is the bound.
func TestSVGPBatchesAreUnbiased(t *testing.T) {
	cases(t, 70, 7, func(t *testing.T, _ *rand.Rand, p *problem) {
		w := stepsAt(t, p, 14)
		mean := 0.0
		rows := map[float64]int{}
		for range 5 {
			w.draw()
			w.tile.project(w.proj)
			mean += (5*w.q.data(w.tile, w.h.noise) - w.q.kl()) / 5
			for _, x := range w.tile.x {
				rows[x]++
			}
		}
		near(t, "mean of the estimates", mean, w.bound(), 1e-12)
		if len(rows) != 70 {
			t.Errorf("an epoch has %d distinct rows, want 70", len(rows))
		}
		first := slices.Clone(w.order)
		w.draw()
		if slices.IsSorted(first) || slices.Equal(first, w.order) {
			t.Error("the rows are not shuffled in each epoch")
		}
	})
}

// TestSVGPNaturalStepIsVFE checks that one natural gradient step with ρ = 1 on all rows gives the optimal q(v), with
// the bound and the predictions of VFE. The bound of another q(v) is smaller.
func TestSVGPNaturalStepIsVFE(t *testing.T) {
	cases(t, 70, 7, func(t *testing.T, _ *rand.Rand, p *problem) {
		c := newCollapsed(p, VFE)
		best := value(t, c, p.start)
		w := stepsAt(t, p, 70)
		if before := w.bound(); !(before < best-1e-3) {
			t.Errorf("bound of another q(v) is %v; VFE's is %v", before, best)
		}
		testkit.OK(t, w.q.natural(w.tile, 1, 1, p.start.noise))
		near(t, "bound", w.bound(), best, 1e-11)
		samePredictions(t, &sparseModel{p.scale, w.proj, w.q.posterior}, c.model(), 1e-10)
	})
}

// changed returns the bound after a change of the hyper-parameters and inducing inputs: with the former optimal q(v)
// unchanged, with q(v) converted by carry, and with the new optimal q(v).
func changed(t *testing.T, p *problem, change func(h *hyper)) (left, carried, best float64) {
	t.Helper()
	w := stepsAt(t, p, len(p.x))
	testkit.OK(t, w.q.natural(w.tile, 1, 1, w.h.noise))
	from := w.proj
	w.h, w.proj = w.h.clone(), newProjection(len(w.h.z))
	change(&w.h)
	w.project(t)
	left = w.bound()
	w.q.carry(from, w.proj)
	testkit.OK(t, w.q.update())
	return left, w.bound(), value(t, newCollapsed(p, VFE), w.h)
}

// TestSVGPCarries checks that carry is exact for changes of σ² and τ, and approximate for l and z if the inducing
// inputs cover the data.
func TestSVGPCarries(t *testing.T) {
	cases(t, 70, 7, func(t *testing.T, _ *rand.Rand, p *problem) {
		left, carried, best := changed(t, p, func(h *hyper) {
			for i := range h.cov.Variance {
				h.cov.Variance[i] *= 1.3
			}
			h.noise *= 0.6
		})
		near(t, "carried", carried, best, 1e-8)
		if best-left < 1 {
			t.Errorf("the bound with unchanged q(v) is only %v nats below the optimum, which is too little for this test", best-left)
		}
	})
	p := prepare(noisyData(400, 7), Options{Covariance: SE(0.7), NoisePrecision: 1})
	p.start.noise = 0.02
	p.start.z = testkit.Numbers(12, func(i int) float64 { return 6 * float64(i) / 11 })
	for name, change := range map[string]func(h *hyper){
		"l": func(h *hyper) { h.cov.Lengthscale[0] *= 1.1 },
		"z": func(h *hyper) {
			for i := range h.z {
				h.z[i] += 0.05 * float64(i%3)
			}
		},
	} {
		left, carried, best := changed(t, p, change)
		if best-left < 10 || best-carried > 0.02*(best-left) {
			t.Errorf("%s: %v nats below the optimum with carry, %v without", name, best-carried, best-left)
		}
	}
}

// TestSVGPTakesBadStepsBack checks that a step after which the bound cannot be evaluated is undone, also if it is the
// last.
func TestSVGPTakesBadStepsBack(t *testing.T) {
	p := prepare(noisyData(60, 4), Options{Covariance: SE(1), NoisePrecision: 1})
	testkit.OK(t, p.spread(8))
	w := newSteps(p, SVGP{Batch: 60, Rate: 0.05})
	bad := slices.Repeat([]float64{1e4}, len(w.v))
	for _, of := range []int{5, 10, 10} {
		p.iterations = of
		if why, err := w.all(t.Context()); err != nil {
			t.Fatal(why, err)
		}
		if f, err := w.finish(); err != nil || f < -100 || w.taken != of {
			t.Errorf("after a bad step: bound %v, %v after %d steps", f, err, w.taken)
		}
		w.move(bad)
	}
	w = newSteps(p, SVGP{Batch: 60, Rate: 0.05})
	w.move(bad)
	if why, err := w.all(t.Context()); why != "" || !errors.Is(err, vssgp.ErrBound) {
		t.Errorf("bad initialization: %q, %v; want vssgp.ErrBound", why, err)
	}
}
