package vssgp

import (
	"errors"
	"math"
	"testing"

	"github.com/vssgp/vssgp/internal/blocktri"
	"github.com/vssgp/vssgp/spectral"
)

// hosted are rows with a Solver that keeps what it solves on the host. The first
// failures tries find no Cholesky factor.
type hosted struct {
	spectral.Rows
	mom      *spectral.Moments
	mean     []float64
	lambdas  []float64 // of each try
	failures int
	broken   error
}

func (r *hosted) Solves(*spectral.Features) bool { return true }

func (r *hosted) Solve(dst *spectral.Solution, f *spectral.Features, lambda float64) error {
	r.lambdas = append(r.lambdas, lambda)
	r.mom = spectral.NewMoments(f, dst.D)
	if err := r.Rows.Moments(r.mom, f); err != nil {
		return err
	}
	dst.TraceGram = trace(r.mom.Gram)
	if r.broken != nil {
		return r.broken
	}
	if len(r.lambdas) <= r.failures {
		return spectral.ErrNotPositive
	}
	factor, err := blocktri.Factorise(r.mom.Gram, lambda)
	if err != nil {
		return err
	}
	copy(dst.C, r.mom.C)
	copy(dst.Mean, r.mom.C)
	factor.Solve(dst.Mean, dst.D)
	dst.LogDet = factor.LogDet()
	dst.TraceInverse = trace(factor.Inverse())
	r.mean = dst.Mean
	return nil
}

func (r *hosted) PullbackSolved(dst, f *spectral.Features, bar spectral.SolvedAdjoint) error {
	g, d := r.mom.Gram, r.mom.D
	for i := range f.M {
		for j := range f.M {
			b := entry(g, i, j)
			if b == nil {
				continue
			}
			s := 0.0
			for o := range d {
				s += r.mean[i*d+o] * r.mean[j*d+o]
			}
			*b = bar.Inverse**b + bar.Outer*s
		}
	}
	for i, m := range r.mean {
		r.mom.C[i] = bar.Linear * m
	}
	return r.Rows.Pullback(dst, f, r.mom)
}

// entry is where (i, j) of a matrix stands, nil if elsewhere or nowhere.
func entry(g *spectral.Gram, i, j int) *float64 {
	for v, b := range g.Diag {
		if j < g.Offset[v] || j >= g.Offset[v+1] {
			continue
		}
		j -= g.Offset[v]
		if i >= g.Offset[v] && i < g.Offset[v+1] {
			return &b[(i-g.Offset[v])*g.Size(v)+j]
		}
		if v < len(g.Below) && i >= g.Offset[v+1] && i < g.Offset[v+2] {
			return &g.Below[v][(i-g.Offset[v+1])*g.Size(v)+j]
		}
	}
	return nil
}

// TestSolver: where the rows do the algebra the bound and all gradients are those
// that the host finds, and jitter is what it would be.
func TestSolver(t *testing.T) {
	for _, c := range []kind{
		{n: 300, l: 12, k: 4, q: 1, d: 1, windows: 6, tau: 30},
		{n: 300, l: 7, k: 3, q: 1, d: 3, windows: 3, tau: 2},
		{n: 100, l: 2, k: 5, q: 2, d: 2, tau: 5},
	} {
		p, data := c.make()
		h, err := mustModel(t, p).hold(data)
		if err != nil {
			t.Fatal(err)
		}
		defer h.close()
		want, err := h.exact(p, true)
		if err != nil {
			t.Fatal(err)
		}
		there := &hosted{Rows: h.rows}
		other := *h
		other.room, other.rows = room{}, there
		got, err := other.exact(p, true)
		if err != nil || len(there.lambdas) != 1 {
			t.Fatalf("%+v: %d tries, %v", c, len(there.lambdas), err)
		}
		if d := math.Abs(got.Bound-want.Bound) / math.Abs(want.Bound); !(d <= 1e-14) {
			t.Errorf("%+v: bound %v there, %v here", c, got.Bound, want.Bound)
		}
		near(t, "mean", got.mean, want.mean, 1e-12)
		for i, tensor := range got.Gradient.Tensors()[:9] {
			near(t, tensor.Name, *tensor.Data, *want.Gradient.Tensors()[i].Data, 1e-12)
		}
	}
}

// TestSolverJitter: tries that find no factor are followed by others, with the
// jitter of TestJitter; any other failure ends the evaluation.
func TestSolverJitter(t *testing.T) {
	p, data := kind{n: 60, l: 4, k: 3, q: 1, d: 1, windows: 3, tau: 30}.make()
	h, err := mustModel(t, p).hold(data)
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	rows := h.rows
	for failures := range jitterTries + 2 {
		there := &hosted{Rows: rows, failures: failures}
		h.rows = there
		e, err := h.exact(p, true)
		if failures > jitterTries {
			if !errors.Is(err, ErrBound) || !errors.Is(err, spectral.ErrNotPositive) {
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
			mom := spectral.NewMoments(f, 1)
			if err := rows.Moments(mom, f); err != nil {
				t.Fatal(err)
			}
			want = jitterFirst * math.Pow(jitterGrow, float64(failures-1)) * (trace(mom.Gram)/float64(f.M) + lambda)
		}
		if math.Abs(e.Jitter-want) > 1e-9*want || there.lambdas[failures] != lambda+e.Jitter {
			t.Errorf("%d failures: jitter %g, want %g; λ %v", failures, e.Jitter, want, there.lambdas)
		}
	}
	broken := errors.New("broken")
	there := &hosted{Rows: rows, broken: broken}
	h.rows = there
	if _, err := h.exact(p, true); !errors.Is(err, broken) || errors.Is(err, ErrBound) || len(there.lambdas) != 1 {
		t.Errorf("%d tries, %v", len(there.lambdas), err)
	}
}
