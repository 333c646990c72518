package baselines

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// stepsAt are an SVGP's steps at h and z, with a q(v) that is the best for
// other outputs: nothing is stationary.
func stepsAt(t *testing.T, p *problem, h hyper, batch int) *steps {
	t.Helper()
	p.start = h
	in, err := p.inducing(0, h.z, false)
	if err != nil {
		t.Fatal(err)
	}
	w := newSteps(p, in, batch, usualRate)
	w.h = h
	w.project(t)
	r := rand.New(rand.NewPCG(8, 8))
	other := *w.tile
	other.y = normals(r, batch*p.d)
	other.phi = mat.DenseCopyOf(w.tile.phi)
	if err := w.q.natural(&other, 0.7, 2, 0.3); err != nil {
		t.Fatal(err)
	}
	return w
}

// project fills the tile with the first rows.
func (w *steps) project(t *testing.T) {
	t.Helper()
	if err := w.proj.set(w.h); err != nil {
		t.Fatal(err)
	}
	copy(w.tile.x, w.x)
	copy(w.tile.y, w.y)
	w.tile.project(w.proj)
}

// With what the rows have said of u held, see variational.gradient.
func TestSVGPGradient(t *testing.T) {
	sparseCases(t, 70, 7, func(t *testing.T, p *problem, h hyper) {
		w := stepsAt(t, p, h, 40)
		const weight = 1.75
		said, toward := w.said()
		noise := []float64{h.noise}
		f := func() float64 {
			w.h.noise = noise[0]
			w.project(t)
			w.hear(t, said, toward)
			return weight*w.q.data(w.tile, w.h.noise) - w.q.kl()
		}
		f()
		grad := w.in.zero()
		w.q.gradient(w.tile, w.proj, weight, grad)
		differences(t, "τ⁻¹", f, noise, []float64{grad.noise})
		differences(t, "σ²", f, w.h.cov.Variance, grad.cov.Variance)
		differences(t, "l", f, w.h.cov.Lengthscale, grad.cov.Lengthscale)
		differences(t, "p", f, w.h.cov.Frequency, grad.cov.Frequency)
		differences(t, "z", f, w.h.z, grad.z)
	})
}

// said is A = L⁻ᵀ(P − 1)L⁻¹ and a = L⁻ᵀθ.
func (w *steps) said() (a, b *mat.Dense) {
	a, b = mat.DenseCopyOf(w.q.p), mat.DenseCopyOf(w.q.theta)
	for i := range a.RawMatrix().Rows {
		a.Set(i, i, a.At(i, i)-1)
	}
	mirror(a)
	w.proj.factor.rightLower(a)
	for _, x := range []*mat.Dense{a, b} {
		blas64.Trsm(blas.Left, blas.Trans, 1, w.proj.factor.l, x.RawMatrix())
	}
	return a, b
}

// hear sets q(v) to what said gave, in the present projection.
func (w *steps) hear(t *testing.T, a, b *mat.Dense) {
	t.Helper()
	m, _ := a.Dims()
	l := mat.NewDense(m, m, nil)
	for i := range m {
		for j := range i + 1 {
			l.Set(i, j, w.proj.k.At(i, j))
		}
	}
	w.q.p.Product(l.T(), a, l)
	for i := range m {
		w.q.p.Set(i, i, w.q.p.At(i, i)+1)
	}
	w.q.theta.Mul(l.T(), b)
	if err := w.q.update(); err != nil {
		t.Fatal(err)
	}
}

// The mean of the estimates from one epoch's mini-batches is the bound.
func TestSVGPBatchesAreUnbiased(t *testing.T) {
	sparseCases(t, 70, 7, func(t *testing.T, p *problem, h hyper) {
		w := stepsAt(t, p, h, 14)
		want, err := w.bound()
		if err != nil {
			t.Fatal(err)
		}
		mean := 0.0
		rows := map[float64]int{}
		for range 5 {
			w.draw()
			w.tile.project(w.proj)
			mean += (5*w.q.data(w.tile, w.h.noise) - w.q.kl()) / 5
			for i := range w.tile.n {
				rows[w.tile.x[i*p.q]]++
			}
		}
		near(t, "mean of the estimates", mean, want, 1e-12)
		if len(rows) != 70 {
			t.Errorf("an epoch has %d different rows of 70", len(rows))
		}
		first := slices.Clone(w.order)
		w.draw()
		if slices.IsSorted(first) || slices.Equal(first, w.order) {
			t.Error("the rows are not shuffled anew in each epoch")
		}
	})
}

// KL by its formula with explicit matrices.
func TestSVGPDivergence(t *testing.T) {
	sparseCases(t, 70, 7, func(t *testing.T, p *problem, h hyper) {
		q := stepsAt(t, p, h, 20).q
		full := mat.DenseCopyOf(q.p)
		mirror(full)
		var inverse, mean mat.Dense
		if err := inverse.Inverse(full); err != nil {
			t.Fatal(err)
		}
		mean.Mul(&inverse, q.theta)
		m, d := q.mean.Dims()
		want := 0.5*float64(d)*(mat.Trace(&inverse)-float64(m)-math.Log(mat.Det(&inverse))) + 0.5*math.Pow(mat.Norm(&mean, 2), 2)
		near(t, "KL", q.kl(), want, 1e-10)
	})
}

// One natural step ρ = 1 on all rows is the best q(v): VFE's bound and
// predictions. Any other q(v) stays below.
func TestSVGPNaturalStepIsVFE(t *testing.T) {
	sparseCases(t, 70, 7, func(t *testing.T, p *problem, h hyper) {
		c := newCollapsed(p, VFE, 7)
		best := value(t, c, h)
		w := stepsAt(t, p, h, 70)
		if before, err := w.bound(); err != nil || !(before < best-1e-3) {
			t.Errorf("bound of another q(v) is %v, %v; VFE's is %v", before, err, best)
		}
		if err := w.q.natural(w.tile, 1, 1, h.noise); err != nil {
			t.Fatal(err)
		}
		got, err := w.bound()
		if err != nil {
			t.Fatal(err)
		}
		near(t, "bound", got, best, 1e-11)
		x := slices.Repeat([]float64{-1, 0.2, 3, 3.1, 100}, p.q)
		want, err := newSparseModel(p.units, c.proj, c.post).Predict(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		have, err := newSparseModel(p.units, w.proj, w.q.posterior).Predict(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range slices.Concat(want.Mean, want.Cov, want.Noise) {
			near(t, "prediction", slices.Concat(have.Mean, have.Cov, have.Noise)[i], v, 1e-11)
		}
	})
}

// changed is the bound after a change of the best q(v)'s hyper-parameters and
// inducing inputs: with q(v) left as it is, carried along, and made anew.
func changed(t *testing.T, p *problem, h hyper, change func(h *hyper)) (left, carried, best float64) {
	t.Helper()
	w := stepsAt(t, p, h.clone(), p.n)
	if err := w.q.natural(w.tile, 1, 1, w.h.noise); err != nil {
		t.Fatal(err)
	}
	from, m := w.proj, len(h.z)/p.q
	w.h, w.proj = h.clone(), newProjection(m)
	change(&w.h)
	w.project(t)
	left, err := w.bound()
	if err != nil {
		t.Fatal(err)
	}
	w.q.carry(from, w.proj)
	if err := w.q.update(); err != nil {
		t.Fatal(err)
	}
	if carried, err = w.bound(); err != nil {
		t.Fatal(err)
	}
	return left, carried, value(t, newCollapsed(p, VFE, m), w.h)
}

// What q(v) knows goes along with σ² and τ exactly.
func TestSVGPCarriesVariances(t *testing.T) {
	sparseCases(t, 70, 7, func(t *testing.T, p *problem, h hyper) {
		left, carried, best := changed(t, p, h, func(h *hyper) {
			for i := range h.cov.Variance {
				h.cov.Variance[i] *= 1.3
			}
			h.noise *= 0.6
		})
		near(t, "carried", carried, best, 1e-8)
		if best-left < 1 {
			t.Errorf("q(v) left as it is has lost %v nats: nothing to see", best-left)
		}
	})
}

// It goes along with l and z nearly, where the inducing inputs cover the data.
func TestSVGPCarriesShapes(t *testing.T) {
	p, err := prepare(noisyData(400, 1, 1, 7), Options{})
	if err != nil {
		t.Fatal(err)
	}
	z := make([]float64, 12)
	for i := range z {
		z[i] = 6 * float64(i) / 11
	}
	for name, change := range map[string]func(h *hyper){
		"l": func(h *hyper) { h.cov.Lengthscale[0] *= 1.1 },
		"z": func(h *hyper) {
			for i := range h.z {
				h.z[i] += 0.05 * float64(i%3)
			}
		},
	} {
		left, carried, best := changed(t, p, hyper{SE(1, 0.7), 0.02, z}, change)
		if best-left < 10 || best-carried > 0.02*(best-left) {
			t.Errorf("%s: %v nats lost carried along, %v left as it is", name, best-carried, best-left)
		}
	}
}
