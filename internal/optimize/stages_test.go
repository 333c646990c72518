package optimize

import (
	"context"
	"errors"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// TestMeanFrom checks how many rows the initial mean of the coefficients uses and whether it is
// solved for directly. A part of the rows is used if the rest of the fit uses mini-batches or
// there are too many features for a direct solution.
func TestMeanFrom(t *testing.T) {
	const many, factorized, stochastic = 3 * directRows, variational.Factorized, variational.Stochastic
	const small, large, huge = 2, 2 * DirectLimit, 10 * DirectLimit
	for _, c := range []struct {
		name      string
		m         int
		windows   bool
		inference variational.Inference
		n, rows   int
		direct    bool
	}{
		{"small", small, false, factorized, many, many, true},
		{"small, mini-batches", small, false, stochastic, many, directRows, true},
		{"small and few, mini-batches", small, false, stochastic, 100, 100, true},
		{"windows, mini-batches", large, true, stochastic, many, many, true},
		{"large", large, false, factorized, many, meanRows, false},
		{"large and few", large, false, factorized, 500, 500, false},
		{"huge", huge, false, stochastic, many, huge * meanShare, false},
	} {
		if rows, direct := meanFrom(c.n, c.m, c.windows, c.inference); rows != c.rows || direct != c.direct {
			t.Errorf("%s: %d rows of %d, solved for %v; want %d, %v", c.name, rows, c.n, direct, c.rows, c.direct)
		}
	}
}

// TestMeanEnds checks that the mean from a part of the rows stops with the run's context, and
// that the coefficients of an initial model are kept.
func TestMeanEnds(t *testing.T) {
	p, data := modeltest.Kind{Name: "mean", N: 300, L: 2, K: 3, Q: 1, D: 1}.Make()
	p.CoefMean, p.CoefVar = nil, nil
	ctx, cancel := context.WithCancel(t.Context())
	r := testkit.Must(New(ctx, *data, p, variational.Setting{Backend: cpu.New()}, Settings{Inference: variational.Stochastic}))(t)
	defer r.Close()
	testkit.OK(t, r.Begin(nil))
	p.CoefMean[0] = 42
	if err := r.startCoefficients(); err != nil || p.CoefMean[0] != 42 {
		t.Errorf("a coefficient of 42 is %v, %v", p.CoefMean[0], err)
	}
	cancel()
	if _, _, err := r.directMean([]int{1, 5, 7}); !errors.Is(err, context.Canceled) {
		t.Errorf("the mean of three rows after the context was canceled: %v", err)
	}
}

// TestStochasticSteps checks that by default each row is used several times on average, for few
// rows and for many.
func TestStochasticSteps(t *testing.T) {
	for _, c := range []struct{ n, batch, want int }{
		{100, 0, stochasticSteps},
		{100, 10, stochasticSteps},
		{stochasticSteps * batchRows, 0, stochasticPasses * stochasticSteps},
		{stochasticSteps*batchRows + 1, 0, stochasticPasses*stochasticSteps + 1},
		{1 << 20, 1024, 10240},
	} {
		s := Settings{Inference: variational.Stochastic, Batch: c.batch}
		if got := s.defaultIterations(c.n); got != c.want {
			t.Errorf("%d rows, batches of %d: %d steps, want %d", c.n, c.batch, got, c.want)
		}
	}
}

// TestPointEstimates checks that the frequencies of SSGP count as point estimates unless they are
// fixed.
func TestPointEstimates(t *testing.T) {
	p := variational.NewParams(1, 6, 2, 1)
	for i := range p.Lengthscale {
		p.Lengthscale[i] = 1
	}
	p.Variance[0], p.NoisePrecision[0] = 1, 1
	data := backend.Data{N: 4, Q: 2, D: 1, X: make([]float64, 8), Y: make([]float64, 4)}
	for _, c := range []struct {
		fix  []string
		want int
	}{{nil, 6 + 6}, {[]string{variational.FrequencyMean}, 6}} { // σ², l and p of two inputs, τ; three frequencies of two inputs
		run := testkit.Must(New(t.Context(), data, p, variational.Setting{Backend: cpu.New()},
			Settings{Method: variational.SSGP, Fix: c.fix, Ties: Ties{Twins: true}}))(t)
		if got := run.PointEstimates(); got != c.want {
			t.Errorf("fixed %v: %d point estimates, want %d", c.fix, got, c.want)
		}
		run.Close()
	}
}
