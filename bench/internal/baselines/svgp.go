package baselines

import (
	"cmp"
	"context"
	"fmt"

	"github.com/vssgp/vssgp"
)

// SVGP is the sparse Gaussian process on mini-batches of Hensman et al. (2013),
// sSPGP in the comparison. A Gaussian q(u) over the function at M inducing
// inputs is moved by natural gradients, the hyper-parameters and the inducing
// inputs by Adam, at O(S·M² + M³) a step (BenchmarkSVGPStep: M = 800), and
//
//	Σ_n E_q[ln N(y_n | f_n, τ⁻¹)] − KL(q(u) ‖ p(u))
//
// rises to VFE's bound (see SPGP), which it never exceeds. In the first N/S
// steps, fifty at most, q(u) alone moves.
type SVGP struct {
	Options
	Inducing int // M; 0: 100, or fewer where the data have fewer different inputs
	Batch    int // S rows a step, drawn without replacement; 0: 512, or all where there are fewer
	// Rate is Adam's at first: how far a step may go in the logarithms of σ², l and
	// τ, in p in units of the starting 1/l, and in z in units of the shortest
	// starting length-scale (or wave). It falls to 0 over the last half of the
	// steps. 0 stands for 0.05.
	Rate         float64
	Locations    []float64 // as in SPGP
	FixLocations bool      // as in SPGP
}

const (
	usualBatch = 512
	usualSteps = 2000
)

// Fit takes Options.Iterations steps, then one pass over all rows in which the
// hyper-parameters rest and q(u) becomes the best there, so the noise of the
// natural steps does not show in the model. The model is a *SparseModel. The same
// seed gives the same bits for any GOMAXPROCS.
func (s SVGP) Fit(ctx context.Context, data *vssgp.Data) (*Fit, error) {
	p, err := prepare(data, s.Options)
	if err != nil {
		return nil, err
	}
	if s.Batch < 0 || s.Batch > p.n {
		return nil, fmt.Errorf("baselines: mini-batches of %d of %d rows; want a positive number of them, or 0 for the default: %w",
			s.Batch, p.n, vssgp.ErrOptions)
	}
	s.Batch, s.Rate = cmp.Or(s.Batch, min(usualBatch, p.n)), cmp.Or(s.Rate, usualRate)
	if !(s.Rate > 0 && s.Rate <= 1) {
		return nil, fmt.Errorf("baselines: a rate of %v; want one above 0, up to 1, or 0 for the default: %w", s.Rate, vssgp.ErrOptions)
	}
	in, err := p.inducing(s.Inducing, s.Locations, s.FixLocations)
	if err != nil {
		return nil, err
	}
	w := newSteps(p, in, s.Batch, s.Rate)
	ended, interrupted := w.all(ctx, p.iterations(usualSteps))
	if ended == "" {
		return nil, interrupted
	}
	bound, err := w.finish()
	if err != nil {
		return nil, err
	}
	return p.fit(newSparseModel(p.units, w.proj, w.q.posterior), w.h, bound, w.taken, ended), interrupted
}
