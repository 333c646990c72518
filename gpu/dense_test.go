package gpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/linalg"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/precise"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// denseEdges are sizes around every multiple of panels of 64 columns and tiles of 64 and 128.
var denseEdges = []int{65, 97, 127, 128, 129, 191, 192, 193, 255, 256, 257}

// TestDenseModelsMatchHost compares models without windows with the host's solution.
func TestDenseModelsMatchHost(t *testing.T) {
	onEachCard(t, func(t *testing.T, b *Backend) {
		for _, m := range []int{1, 2, 63, 64} { // one front
			solveAs(t, b, []int{m}, 1)
		}
		for _, m := range denseEdges {
			solveAs(t, b, []int{m}, 1)
		}
		for _, d := range []int{2, 5, 65} {
			solveAs(t, b, []int{97}, d)
		}
		solveAs(t, b, []int{129}, 130)
		if slow.Tests {
			solveAs(t, b, []int{1500}, 1)
		}
	})
}

// An algebra is A = G + λI with right-hand sides C [m,d].
type algebra struct {
	m, d   int
	g      *mat.SymDense
	c      []float64
	lambda float64
}

// newAlgebra returns G = XᵀX. If twin is not 0, every other feature differs from the feature before
// it by that relative amount.
func newAlgebra(m, d int, twin, lambda float64) *algebra {
	rng := rand.New(rand.NewPCG(uint64(m), uint64(d)))
	a := &algebra{m: m, d: d, g: &mat.SymDense{}, lambda: lambda}
	x := mat.NewDense(m, m+4, nil)
	for i := range m {
		for j := range m + 4 {
			v := rng.NormFloat64()
			if twin > 0 && i%2 == 1 {
				v = x.At(i-1, j) + twin*v
			}
			x.Set(i, j, v)
		}
	}
	a.g.SymOuterK(1/float64(m), x)
	a.c = testkit.Numbers(m*d, func(int) float64 { return rng.NormFloat64() })
	return a
}

// A solvedAlgebra contains the results of the GPU: the adjoints of G and C are in z and coef.
type solvedAlgebra struct{ z, mean, coef, stats []float64 }

// on solves on a GPU, with large tiles if there are at least large of them.
func (a *algebra) on(t *testing.T, b *Backend, large int, bar backend.SolvedAdjoint) *solvedAlgebra {
	t.Helper()
	q := testkit.Must(b.newQueue())(t)
	defer func() {
		testkit.OK(t, q.close())
	}()
	m, d := a.m, a.d
	r := &rows{queue: q, data: backend.Data{D: d}}
	p := &plan{m: m, d: d, offset: []int{0, m}}
	p.addChain(true)
	p.needs[arrayGram], p.needs[arraySums] = int64(8*m*m), int64(8*groups(d)*m*columnSums)
	p.needs[arrayTable] = int64(len(p.table))
	testkit.OK(t, q.fit(b.context, &p.needs, math.MaxInt64/2))
	lower, sums := make([]float64, m*m), make([]float64, groups(d)*m*columnSums)
	for i := range m {
		for j := range i {
			lower[i*m+j] = a.g.At(i, j)
		}
		sums[i*columnSums+outputGroup] = a.g.At(i, i)
		for o := range d {
			sums[(o/outputGroup*m+i)*columnSums+o%outputGroup] = a.c[i*d+o]
		}
	}
	q.upload(arrayGram, lower)
	q.upload(arraySums, sums)
	dense := r.dense(p)
	dense.large, dense.largeInverse = large, large
	q.send(arrayTable, p.table)
	r.start(p, dense.y, a.lambda)
	dense.solve()
	dense.adjoint(bar)
	for _, x := range []array{arrayGram, arraySolved, arrayStats} {
		q.download(p, x)
	}
	testkit.OK(t, q.finish(nil))
	s := slices.Clone(q.host[arraySolved]) // valid until the queue is closed
	return &solvedAlgebra{slices.Clone(q.host[arrayGram]), s[:m*d], s[m*d:], slices.Clone(q.host[arrayStats])}
}

// at returns entry (i, j) of A.
func (a *algebra) at(i, j int) precise.Real {
	x := precise.Of(a.g.At(i, j))
	if i == j {
		x = x.Plus(precise.Of(a.lambda))
	}
	return x
}

// truth returns (m, A⁻¹) [m,d+m] and log|A|.
func (a *algebra) truth() (solutions *mat.Dense, logDet float64) {
	factor, right := precise.Matrix(a.m, a.m), precise.Matrix(a.d+a.m, a.m)
	for i := range a.m {
		for j := range i + 1 {
			factor[i][j] = a.at(i, j)
		}
		for o := range a.d {
			right[o][i] = precise.Of(a.c[i*a.d+o])
		}
		right[a.d+i][i] = precise.Of(1)
	}
	precise.Cholesky(factor)
	solutions = mat.NewDense(a.m, a.d+a.m, nil)
	for j, b := range right {
		for i, x := range precise.Solved(factor, b) {
			solutions.Set(i, j, x.Float())
		}
	}
	for i := range factor {
		logDet += 2 * math.Log(factor[i][i].Float())
	}
	return solutions, logDet
}

// residual returns the largest absolute entry of C − A·mean.
func (a *algebra) residual(mean []float64) (largest float64) {
	for i := range a.m {
		for o := range a.d {
			sum := precise.Of(a.c[i*a.d+o])
			for j := range a.m {
				sum = sum.Minus(a.at(i, j).Times(precise.Of(mean[j*a.d+o])))
			}
			largest = max(largest, math.Abs(sum.Float()))
		}
	}
	return largest
}

// TestDenseAlgebraMatchesExact compares with 192-bit arithmetic, for small and large tiles, for a
// well-conditioned A and for nearly equal features with a condition number of at least 10¹⁰. The
// error may be M·κ·ε, the effect of rounding A. The residual of m must be as small as the residual
// of substitution; with U alone it would be 10⁵ times as large.
func TestDenseAlgebraMatchesExact(t *testing.T) {
	const epsilon = 0x1p-53
	onEachCard(t, func(t *testing.T, b *Backend) {
		for _, c := range []struct {
			m, d, large  int
			twin, lambda float64
		}{
			{65, 2, math.MaxInt, 0, 0.3}, {130, 5, 1, 0, 1e-3},
			{129, 1, math.MaxInt, 1e-4, 0}, {131, 2, 1, 1e-3, 1e-9},
		} {
			a := newAlgebra(c.m, c.d, c.twin, c.lambda)
			want, logDet := a.truth()
			got := a.on(t, b, c.large, backend.SolvedAdjoint{Inverse: 1, Linear: 2})
			mean, z := want.Slice(0, c.m, 0, c.d), want.Slice(0, c.m, c.d, c.d+c.m)
			trace, norm := mat.Trace(a.g), mat.Norm(a.g, math.Inf(1))
			kappa := norm * mat.Norm(z, math.Inf(1))
			bound := float64(c.m) * kappa * epsilon
			if c.twin > 0 && kappa < 1e10 {
				t.Fatalf("%+v: the condition is %.1e, want at least 10¹⁰", c, kappa)
			}
			for _, e := range []struct {
				name       string
				off, bound float64
			}{
				{"A⁻¹", off(got.z, z), bound},
				{"m", off(got.mean, mean), bound},
				{"residual", a.residual(got.mean) / (norm * mat.Norm(mean, math.Inf(1))), 8 * epsilon},
				{"log|A|", math.Abs(2*got.stats[1] - logDet), bound},
				{"trace of A⁻¹", math.Abs(got.stats[2]/mat.Trace(z) - 1), bound},
				{"trace of G", math.Abs(got.stats[0]/trace - 1), float64(c.m) * epsilon},
			} {
				if !(e.off <= e.bound) {
					t.Errorf("%+v, condition %.1e: %s is off by %.1e, allowed %.1e", c, kappa, e.name, e.off, e.bound)
				}
			}
			for i, v := range got.coef {
				if v != 2*got.mean[i] {
					t.Fatalf("%+v: coefficient %d is %v, want twice %v", c, i, v, got.mean[i])
				}
			}
		}
	})
}

// TestLargeTilesMatchSmallTiles checks that large tiles, which only large models use, give the results of small
// tiles.
func TestLargeTilesMatchSmallTiles(t *testing.T) {
	bar := backend.SolvedAdjoint{Inverse: 1, Outer: 2, Linear: 3}
	onEachCard(t, func(t *testing.T, b *Backend) {
		for _, m := range []int{192, 193, 257, 390} {
			a := newAlgebra(m, 2, 0, 0.3)
			if err := near(a.on(t, b, 1, bar).answers(), a.on(t, b, math.MaxInt, bar).answers(), 1e-12); err != nil {
				t.Errorf("%d features: %v", m, err)
			}
		}
	})
}

func (s *solvedAlgebra) answers() []answer {
	return []answer{{"adjoint of G", s.z}, {"m", s.mean}, {"adjoint of C", s.coef}, {"statistics", s.stats}}
}

// off returns the largest difference, relative to the largest entry of want.
func off(got []float64, want mat.Matrix) (worst float64) {
	rows, cols := want.Dims()
	largest := 0.0
	for i := range rows {
		for j := range cols {
			largest = max(largest, math.Abs(want.At(i, j)))
			if d := math.Abs(got[i*cols+j] - want.At(i, j)); !(d <= worst) { // also true for NaN
				worst = d
			}
		}
	}
	return worst / largest
}

// TestDenseJitterMatchesHost checks that Jittered finds the same jitter as on the host if A has no factor.
func TestDenseJitterMatchesHost(t *testing.T) {
	onEachCard(t, func(t *testing.T, b *Backend) {
		p := windowed([]int{100}, 60, 1)
		r, mom := p.withMoments(t, b)
		var eigen mat.EigenSym
		if !eigen.Factorize(mat.NewSymDense(p.m, mom.Gram.Diag[0]), false) {
			t.Fatal("no eigenvalues")
		}
		mean := mom.Gram.Trace(0, mom.Gram.Blocks()) / float64(p.m)
		below := -eigen.Values(nil)[0] - 3e-9*mean // 10⁻⁸ is the first jitter above
		s := backend.NewSolution(p.m, 1)
		card, err := linalg.Jittered(backend.ErrNotPositive, 6, func(jitter float64) (float64, error) {
			err := r.Solve(s, p.features, below+jitter)
			return s.TraceGram / float64(p.m), err
		})
		testkit.OK(t, err)
		host, err := linalg.Jittered(backend.ErrNotPositive, 6, func(jitter float64) (float64, error) {
			_, err := blocktri.Factorize(mom.Gram.Clone(), below+jitter, 2)
			return mean, err
		})
		testkit.OK(t, err)
		if math.Abs(card/host-1) > 1e-12 || math.Abs(card/mean/1e-8-1) > 1e-6 {
			t.Errorf("jitter %v, on the host %v, want 10⁻⁸ of %v", card, host, mean)
		}
	})
}
