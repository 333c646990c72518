package variational

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/linalg"
)

// TestJitter checks that jitter is added only if there is no Cholesky factor without it, and
// that a matrix without a factor at the maximum jitter gives an error.
func TestJitter(t *testing.T) {
	gram := func(diagonal float64) *backend.Gram { // all ones, singular without λ
		g := backend.NewGram([]int{0, 3})
		for i := range g.Diag[0] {
			g.Diag[0][i] = 1
		}
		g.Diag[0][8] = diagonal
		return g
	}
	for _, c := range []struct {
		name             string
		diagonal, lambda float64
		jitter           float64 // relative to the first jitter; 0: none, negative: an error
	}{
		{"well conditioned", 1, 0.1, 0},
		{"singular", 1, 0, 1},
		{"slightly negative", 1 - 1e-8, 0, 100},
		{"negative within the maximum jitter", 1 - 1e-5, 0, 1e5},
		{"too negative", 1 - 1e-4, 0, -1},
		{"negative", -1, 0.1, -1},
		{"not a number", math.NaN(), 0.1, -1},
	} {
		r := &Rows{D: 1, rows: given{gram: gram(c.diagonal)}, ctx: context.Background()}
		f := backend.NewFeatures(3, 1)
		jitter, err := withJitter(backend.NewSolution(3, 1), f, c.lambda, r.solve)
		if c.jitter < 0 {
			if !errors.Is(err, ErrBound) {
				t.Errorf("%s: error %v, want one that wraps ErrBound", c.name, err)
			}
			continue
		}
		if want := c.jitter * linalg.JitterFirst * ((2+c.diagonal)/3 + c.lambda); err != nil || math.Abs(jitter-want) > 1e-9*want {
			t.Errorf("%s: jitter %g, want %g (error %v)", c.name, jitter, want, err)
		}
	}
}

// given are rows with given moments.
type given struct {
	backend.Rows
	gram *backend.Gram
}

func (g given) Moments(dst *backend.Moments, _ *backend.Features) error {
	dst.Gram.CopyFrom(g.gram)
	return nil
}
