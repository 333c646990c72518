package variational_test

import (
	"errors"
	"math"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/linalg"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// hosted are rows that implement Solve on the host. The first attempts, as many as failures,
// return ErrNotPositive.
type hosted struct {
	backend.Rows
	mom      *backend.Moments
	mean     []float64
	lambdas  []float64 // of each attempt
	failures int
	broken   error
}

// Open opens d on the CPU. r is a backend for one set of rows.
func (r *hosted) Open(d backend.Data) (backend.Rows, error) {
	rows, err := cpu.New().Open(d)
	r.Rows = rows
	return r, err
}

func (r *hosted) Name() string { return "hosted" }

func (r *hosted) CanSolve(*backend.Features) bool { return true }

func (r *hosted) Solve(dst *backend.Solution, f *backend.Features, lambda float64) error {
	r.lambdas = append(r.lambdas, lambda)
	r.mom = backend.NewMoments(f, dst.D)
	if err := r.Rows.Moments(r.mom, f); err != nil {
		return err
	}
	dst.TraceGram = r.mom.Gram.Trace(0, r.mom.Gram.Blocks())
	if r.broken != nil {
		return r.broken
	}
	if len(r.lambdas) <= r.failures {
		return backend.ErrNotPositive
	}
	factor, err := blocktri.Factorize(r.mom.Gram, lambda, 2)
	if err != nil {
		return err
	}
	copy(dst.C, r.mom.C)
	copy(dst.Mean, r.mom.C)
	factor.Solve(dst.Mean, dst.D)
	dst.LogDet = factor.LogDet()
	dst.TraceInverse = factor.Inverse().Trace(0, r.mom.Gram.Blocks())
	r.mean = dst.Mean
	return nil
}

func (r *hosted) PullbackSolved(dst, f *backend.Features, bar backend.SolvedAdjoint) error {
	blocktri.OuterAdjoint(r.mom.Gram, r.mean, r.mom.D, bar.Inverse, bar.Outer)
	for i, m := range r.mean {
		r.mom.C[i] = bar.Linear * m
	}
	return r.Rows.Pullback(dst, f, r.mom)
}

// TestSolver checks that the bound, the gradients and the jitter do not depend on whether the
// rows or the host compute the algebra.
func TestSolver(t *testing.T) {
	for _, c := range []kind{
		{N: 300, L: 12, K: 4, Q: 1, D: 1, Windows: 6, Tau: 30},
		{N: 300, L: 7, K: 3, Q: 1, D: 3, Windows: 3, Tau: 2},
		{N: 100, L: 2, K: 5, Q: 2, D: 2, Tau: 5},
	} {
		p, data := c.Make()
		want := evaluated(t, open(t, data), p, variational.Exact, nil, true)
		there := &hosted{}
		got, err := openOn(t, there, data).Exact(p, true)
		if err != nil || len(there.lambdas) != 1 {
			t.Fatalf("%+v: %d attempts, %v", c, len(there.lambdas), err)
		}
		if d := math.Abs(got.Bound-want.Bound) / math.Abs(want.Bound); !(d <= 1e-14) {
			t.Errorf("%+v: bound %v with Solve, %v on the host", c, got.Bound, want.Bound)
		}
		modeltest.Near(t, "mean", got.Posterior.Mean, want.Posterior.Mean, 1e-12)
		for i, tensor := range got.Gradient.Tensors()[:9] {
			modeltest.Near(t, tensor.Name, *tensor.Data, *want.Gradient.Tensors()[i].Data, 1e-12)
		}
	}
}

// TestSolverJitter checks that an attempt without a factor is followed by others with the jitter
// of TestJitter, and that any other error ends the evaluation.
func TestSolverJitter(t *testing.T) {
	p, data := kind{N: 60, L: 4, K: 3, Q: 1, D: 1, Windows: 3, Tau: 30}.Make()
	for failures := range variational.JitterTimes + 2 {
		there := &hosted{failures: failures}
		e, err := openOn(t, there, data).Exact(p, true)
		if failures > variational.JitterTimes {
			if !errors.Is(err, variational.ErrBound) || !errors.Is(err, backend.ErrNotPositive) {
				t.Errorf("%d failures: %v", failures, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%d failures: %v", failures, err)
		}
		lambda, want := 1/p.NoisePrecision[0], 0.0
		if failures > 0 {
			f := p.Features()
			mom := backend.NewMoments(f, 1)
			testkit.OK(t, there.Rows.Moments(mom, f))
			want = linalg.JitterFirst * math.Pow(linalg.JitterGrow, float64(failures-1)) * (mom.Gram.Trace(0, mom.Gram.Blocks())/float64(f.M) + lambda)
		}
		if math.Abs(e.Jitter-want) > 1e-9*want || there.lambdas[failures] != lambda+e.Jitter {
			t.Errorf("%d failures: jitter %g, want %g; λ %v", failures, e.Jitter, want, there.lambdas)
		}
	}
	broken := errors.New("broken")
	there := &hosted{broken: broken}
	if _, err := openOn(t, there, data).Exact(p, true); !errors.Is(err, broken) || errors.Is(err, variational.ErrBound) || len(there.lambdas) != 1 {
		t.Errorf("%d attempts, %v", len(there.lambdas), err)
	}
}
