package baselines

import (
	"cmp"
	"context"
	"fmt"

	"github.com/vssgp/vssgp"
)

// SPGP is a Gaussian process seen through M inducing variables u = f(z), whose
// inputs z are learnt together with the hyper-parameters by L-BFGS in O(N·M²)
// time an evaluation and O(N·M) memory. With Q_ff = K_fu K_uu⁻¹ K_uf it
// maximizes
//
//	FITC  ln N(y | 0, Q_ff + diag(K_ff − Q_ff) + τ⁻¹)
//	VFE   ln N(y | 0, Q_ff + τ⁻¹) − ½τ·tr(K_ff − Q_ff)
//
// summed over the outputs. VFE is a lower bound of the log marginal likelihood;
// FITC is the likelihood of another model and may exceed it. A share of 10⁻¹¹ is
// added to K_uu's diagonal, and more where inducing inputs are (nearly) the same.
type SPGP struct {
	Options
	Inducing int   // M; 0: 100, or fewer where the data have fewer different inputs
	Bound    Bound // default VFE
	// Locations is where the inducing inputs start [M,Q], in units of x. Default:
	// evenly spread quantiles of one input; different rows, drawn, of several.
	Locations []float64
	// FixLocations keeps the inducing inputs where they start.
	FixLocations bool
}

// Fit implements Method; its model is a *SparseModel.
func (s SPGP) Fit(ctx context.Context, data *vssgp.Data) (*Fit, error) {
	p, err := prepare(data, s.Options)
	if err != nil {
		return nil, err
	}
	if s.Bound = cmp.Or(s.Bound, VFE); s.Bound != VFE && s.Bound != FITC {
		return nil, fmt.Errorf("baselines: bound %q; want %q or %q: %w", s.Bound, VFE, FITC, vssgp.ErrOptions)
	}
	in, err := p.inducing(s.Inducing, s.Locations, s.FixLocations)
	if err != nil {
		return nil, err
	}
	return p.ascend(ctx, in, newCollapsed(p, s.Bound, len(in.start.z)/p.q))
}
