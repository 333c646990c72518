package gpu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/testkit"
)

// lambda and solvedBar are the arguments of Solve and PullbackSolved in the tests.
const lambda = 0.3

var solvedBar = backend.SolvedAdjoint{Inverse: -0.7, Outer: -0.4, Linear: 1.3}

// solved returns the results of Solve and PullbackSolved.
func (p *problem) solved(r backend.Rows) ([]answer, error) {
	s, g := backend.NewSolution(p.m, p.d), backend.NewFeatures(p.m, p.q)
	all := append([]answer{{"Mean", sevens(s.Mean)}, {"C", sevens(s.C)}}, fields(g)...)
	if err := r.Solve(s, p.features, lambda); err != nil {
		return all, err
	}
	if err := r.PullbackSolved(g, p.features, solvedBar); err != nil {
		return all[2:], err // the solution is available
	}
	return append(all, numbers(s)), nil
}

func numbers(s *backend.Solution) answer {
	return answer{"LogDet, TraceInverse, TraceGram", []float64{s.LogDet, s.TraceInverse, s.TraceGram}}
}

// solvedHere computes the same on the host (internal/linalg/blocktri) from the moments of the rows.
func (p *problem) solvedHere(r backend.Rows) ([]answer, error) {
	s, g, mom := backend.NewSolution(p.m, p.d), backend.NewFeatures(p.m, p.q), backend.NewMoments(p.features, p.d)
	all := append([]answer{{"Mean", sevens(s.Mean)}, {"C", sevens(s.C)}}, fields(g)...)
	if err := r.Moments(mom, p.features); err != nil {
		return all, err
	}
	s.TraceGram = mom.Gram.Trace(0, mom.Gram.Blocks())
	f, err := blocktri.Factorize(mom.Gram, lambda, 2)
	if err != nil {
		return all, err
	}
	copy(s.C, mom.C)
	copy(s.Mean, mom.C)
	f.Solve(s.Mean, p.d)
	s.LogDet = f.LogDet()
	bar := &backend.Moments{C: mom.C, Gram: f.Inverse(), D: p.d}
	s.TraceInverse = bar.Gram.Trace(0, bar.Gram.Blocks())
	blocktri.OuterAdjoint(bar.Gram, s.Mean, p.d, solvedBar.Inverse, solvedBar.Outer)
	for i, m := range s.Mean {
		bar.C[i] = solvedBar.Linear * m
	}
	err = r.Pullback(g, p.features, bar)
	return append(all, numbers(s)), err
}

// windowed returns a problem with the given numbers of features in the windows.
func windowed(sizes []int, rows, d int) *problem {
	p := newProblem(shape{n: rows, m: 1, q: 1, d: d, windows: max(2, len(sizes))})
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(len(sizes))))
	p.m = 0
	var window []int
	for v, m := range sizes {
		p.m += m
		window = append(window, slices.Repeat([]int{v}, m)...)
	}
	extent := float64(rows) / 4
	p.windows, p.data.Windows = len(sizes), backend.Windows{}
	p.makeFeatures(rng, extent)
	if len(sizes) > 1 {
		p.features.Window = window
	}
	return p
}

// repeated returns v copies of m.
func repeated(v, m int) []int { return slices.Repeat([]int{m}, v) }

// algebraBound is the maximum difference between the algebra of the GPU and the host: both lose a
// few hundred times their condition number, which is small here. Measured: below 1e-14.
const algebraBound = 1e-10

// TestSolveMatchesHost compares with the host's algebra on the same moments at the edges of panels of 8 and
// strips of 16, of segments and levels, and with windows without features.
func TestSolveMatchesHost(t *testing.T) {
	onEachCard(t, func(t *testing.T, b *Backend) {
		for _, d := range []int{1, 3} {
			for _, m := range []int{1, 7, 8, 9, 16, 17} {
				for _, v := range []int{1, 2, 3, 5, 8, 9} {
					solveAs(t, b, repeated(v, m), d)
				}
			}
			for _, m := range []int{31, 32, 33} {
				solveAs(t, b, repeated(3, m), d)
			}
		}
		solveAs(t, b, repeated(33, 5), 2)
		solveAs(t, b, repeated(70, 2), 1)          // four levels
		solveAs(t, b, repeated(fewBlocks+3, 1), 1) // segments of 8
		rng := rand.New(rand.NewPCG(5, 5))
		for range 6 {
			sizes := []int{1 + rng.IntN(4)}
			for range 1 + rng.IntN(30) {
				sizes = append(sizes, rng.IntN(3)*rng.IntN(11))
			}
			solveAs(t, b, sizes, 1+rng.IntN(2))
		}
		solveAs(t, b, []int{0, 3, 0, 0, 9, 2, 0, 4, 0, 17, 1, 0}, 1)
	})
}

func solveAs(t *testing.T, b *Backend, sizes []int, d int) {
	t.Helper()
	name := fmt.Sprint(sizes, " features, ", d, " outputs")
	p := windowed(sizes, 12*len(sizes)+40, d)
	r := testkit.Must(b.Open(p.data))(t)
	defer r.Close()
	if !r.CanSolve(p.features) {
		t.Fatalf("%s: cannot be solved on the GPU", name)
	}
	if err := near(testkit.Must(p.solved(r))(t), testkit.Must(p.solvedHere(r))(t), algebraBound); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// TestSolveLargest checks that the largest windows that fit into shared memory are solved on the
// GPU and larger ones are not.
func TestSolveLargest(t *testing.T) {
	onEachCard(t, func(t *testing.T, b *Backend) {
		shared := b.device.SharedPerBlock
		most := 1
		for chainFits([]int{0, most + 1}, 1, shared) {
			most++
		}
		if want := map[int]int{163 << 10: 80, 227 << 10: 96}[shared]; most != want {
			t.Errorf("%d bytes of shared memory fit windows of %d features, want %d", shared, most, want)
		}
		solveAs(t, b, []int{most - 1, most, 3}, 1)
		p := windowed([]int{2, most + 1}, 60, 1)
		r := testkit.Must(b.Open(p.data))(t)
		defer r.Close()
		if r.CanSolve(p.features) {
			t.Errorf("%d features can be solved on the GPU", most+1)
		} else if err := r.Solve(backend.NewSolution(p.m, 1), p.features, lambda); !errors.Is(err, backend.ErrShape) {
			t.Errorf("%d features: %v, want %v", most+1, err, backend.ErrShape)
		}
	})
}

// TestSolveMatchesDenseFactor compares with a dense factorization, also for an ill-conditioned A.
func TestSolveMatchesDenseFactor(t *testing.T) {
	onEachCard(t, func(t *testing.T, b *Backend) {
		p := windowed(repeated(11, 4), 200, 1)
		for k := 1; k < p.m; k += 4 { // nearly equal to the feature before
			f := p.features
			for _, a := range f.Fields() {
				a.Data[k] = a.Data[k-1]
			}
			f.Freq[k] += 1e-3
		}
		r, mom := p.withMoments(t, b)
		for _, l := range []float64{1, 1e-3, 1e-6} {
			a := mat.NewSymDense(p.m, nil)
			for i := range p.m {
				for j := range i + 1 {
					a.SetSym(i, j, mom.Gram.At(i, j))
				}
				a.SetSym(i, i, mom.Gram.At(i, i)+l)
			}
			var c mat.Cholesky
			if !c.Factorize(a) {
				t.Fatal("no factor")
			}
			var mean mat.Dense
			testkit.OK(t, c.SolveTo(&mean, mat.NewDense(p.m, 1, append([]float64(nil), mom.C...))))
			s := backend.NewSolution(p.m, 1)
			testkit.OK(t, r.Solve(s, p.features, l))
			bound := 1e-15 * c.Cond() // the error of a backward stable solution
			if d := math.Abs(s.LogDet - c.LogDet()); d > 1e-10*math.Abs(c.LogDet()) {
				t.Errorf("λ = %g: log|A| is off by %g", l, d)
			}
			if err := near([]answer{{"m", s.Mean}}, []answer{{"m", mean.RawMatrix().Data}}, max(1e-10, bound)); err != nil {
				t.Errorf("λ = %g, condition %.2g: %v", l, c.Cond(), err)
			}
		}
	})
}

// TestSolveNotPositive checks that an A without a Cholesky factor, or with NaN, gives an error and
// the trace for a jitter, and that the same rows then solve A with a larger diagonal.
func TestSolveNotPositive(t *testing.T) {
	onEachCard(t, func(t *testing.T, b *Backend) {
		for _, sizes := range [][]int{repeated(1, 5), repeated(4, 5), repeated(30, 5), {65}, {200}} {
			v := len(sizes)
			p := windowed(sizes, 12*v+40, 1)
			r := testkit.Must(b.Open(p.data))(t)
			want := testkit.Must(p.solved(r))(t)
			trace := want[len(want)-1].v[2]
			for _, l := range []float64{-trace, math.NaN(), math.Inf(1)} {
				dst := backend.NewSolution(p.m, 1)
				sevens(dst.Mean)
				if err := r.Solve(dst, p.features, l); !errors.Is(err, backend.ErrNotPositive) {
					t.Errorf("%d windows, λ = %g: %v, want %v", v, l, err, backend.ErrNotPositive)
				}
				if dst.TraceGram != trace || dst.Mean[0] != 7 {
					t.Errorf("%d windows, λ = %g: trace %v, want %v; mean %v", v, l, dst.TraceGram, trace, dst.Mean[0])
				}
				if err := r.PullbackSolved(backend.NewFeatures(p.m, 1), p.features, solvedBar); err == nil {
					t.Errorf("%d windows, λ = %g: PullbackSolved succeeds", v, l)
				}
			}
			if err := sameBits(want, testkit.Must(p.solved(r))(t)); err != nil {
				t.Errorf("%d windows, again: %v", v, err)
			}
			r.Close()
		}
	})
}

// TestSolveMisuse checks that PullbackSolved accepts only the solution of the last call.
func TestSolveMisuse(t *testing.T) {
	ordinal := usable(t)[0].Ordinal
	b := open(t, Options{Ordinal: ordinal})
	p := newProblem(shape{n: 80, m: 12, q: 1, d: 1, windows: 3})
	r := testkit.Must(b.Open(p.data))(t)
	pull := func() error { return r.PullbackSolved(backend.NewFeatures(p.m, 1), p.features, solvedBar) }
	if err := pull(); !errors.Is(err, backend.ErrShape) {
		t.Errorf("before any solution: %v", err)
	}
	for _, m := range p.methods() {
		testkit.OK(t, r.Solve(backend.NewSolution(p.m, 1), p.features, lambda))
		testkit.Must(m.call(r))(t)
		if err := pull(); !errors.Is(err, backend.ErrShape) {
			t.Errorf("after %s: %v", m.name, err)
		}
	}
	other := windowed(repeated(3, 5), 80, 1)
	if err := r.Solve(backend.NewSolution(p.m, 1), other.features, lambda); !errors.Is(err, backend.ErrShape) {
		t.Errorf("space for other features: %v", err)
	}
	r.Close()
	if r.CanSolve(p.features) || !errors.Is(pull(), errClosed) {
		t.Error("closed rows solve")
	}
}

// TestSolveShrinks checks that arrays shared by Solve and PullbackSolved shrink if a smaller model
// needs less.
func TestSolveShrinks(t *testing.T) {
	large, small := windowed(repeated(4, 40), 200, 1), windowed(repeated(4, 6), 200, 1)
	onEachCard(t, func(t *testing.T, b *Backend) {
		r := testkit.Must(b.Open(large.data))(t)
		defer r.Close()
		h := &r.(*rows).allocations
		for _, p := range []*problem{large, small} {
			testkit.Must(p.solved(r))(t)
			_, _, size := gramOffsets(p.features.Offsets())
			if most := 8 * size; h.size[arrayGram] > most {
				t.Errorf("%d features: %d bytes for A, want at most %d", p.features.M, h.size[arrayGram], most)
			}
			if most := solvedBytes(p.features.M, 1); h.size[arraySolved] > most {
				t.Errorf("%d features: %d bytes for m and C, want at most %d", p.features.M, h.size[arraySolved], most)
			}
		}
	})
}

// withMoments opens the problem's rows until the test ends, and returns them with their moments.
func (p *problem) withMoments(t *testing.T, b backend.Backend) (backend.Rows, *backend.Moments) {
	t.Helper()
	r := testkit.Must(b.Open(p.data))(t)
	t.Cleanup(func() { r.Close() })
	mom := backend.NewMoments(p.features, p.d)
	testkit.OK(t, r.Moments(mom, p.features))
	return r, mom
}
