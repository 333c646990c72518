package vssgp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/internal/linalg"
	"github.com/vssgp/vssgp/variational"
)

// Draw samples n functions from the posterior q(A)q(ω) jointly at all rows of
// x [N,Q]: a frequency, a phase and a coefficient for every feature, then f = Φ(ω)A.
// Each draw is [N,D], in the data's units, without noise. The same seed gives the
// same draws. Errors are the errors of Predict, and ErrOptions if n is negative or
// too large.
func (m *Model) Draw(ctx context.Context, x []float64, n int, seed uint64) ([][]float64, error) {
	rows, err := m.rows(x)
	if err != nil {
		return nil, err
	}
	if n < 0 || float64(n)*float64(rows)*float64(m.Params.D) > linalg.MostCovariances {
		return nil, fmt.Errorf("vssgp: %d draws at %d rows, want 0 or more draws of %d numbers in all at most: %w", n, rows, linalg.MostCovariances, ErrOptions)
	}
	draws, err := m.Draws(seed)
	if err != nil {
		return nil, err
	}
	out := make([][]float64, n)
	for i := range out {
		if out[i], err = draws.At(ctx, i, x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Draws are functions drawn from a posterior, one after the other. Each is sampled
// again whenever it is asked for, from the generator's state before it, so that
// memory holds one at a time. Not to be asked from several goroutines at once, and
// the model must stay as it is meanwhile.
type Draws struct {
	m  []*Model   // the first function is of the first of them, and so on
	at []rand.PCG // before each function, as far as they have been drawn
}

// Draws are the functions that Draw evaluates. Errors wrap ErrUnfitted.
func (m *Model) Draws(seed uint64) (*Draws, error) {
	if !m.Fitted() {
		return nil, fmt.Errorf("vssgp: draw: fit the model first: %w", ErrUnfitted)
	}
	return &Draws{m: []*Model{m}, at: []rand.PCG{*rand.NewPCG(seed, 0x5ee0)}}, nil
}

// PosteriorDraws are functions whose hyper-parameters are drawn, too: function i is
// of draw i of the model's Posterior, from the first again after the last. Errors
// wrap ErrUnfitted if it has none (Options.Posterior).
func (m *Model) PosteriorDraws(seed uint64) (*Draws, error) {
	d, err := m.Draws(seed)
	if err != nil {
		return nil, err
	}
	if m.hyper == nil || len(m.hyper.Draws) == 0 {
		return nil, m.withoutDraws("draw")
	}
	d.m = m.hyper.Draws
	return d, nil
}

// At is function i, from 0, at rows x [N,Q]: [N,D], in the data's units, without
// noise. Errors wrap ErrData, or ctx.Err() soon after ctx has ended.
func (d *Draws) At(ctx context.Context, i int, x []float64) ([]float64, error) {
	for len(d.at) <= i {
		d.function(len(d.at) - 1)
	}
	m := d.m[i%len(d.m)]
	u, err := m.inUnits("draw", 0, x)
	if err != nil {
		return nil, err
	}
	y, err := d.function(i).At(ctx, u)
	if err != nil {
		return nil, dataError(err)
	}
	m.Y.toData(y)
	if at := slices.IndexFunc(y, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }); at >= 0 {
		return nil, notFinite("draw", at/m.Params.D, x[at/m.Params.D*m.Params.Q:][:m.Params.Q])
	}
	return y, nil
}

// function samples function i, before which all others have been sampled.
func (d *Draws) function(i int) *variational.Function {
	pcg := d.at[i]
	m := d.m[i%len(d.m)]
	f := m.Params.Draw(m.exactPosterior(), rand.New(&pcg))
	if i+1 == len(d.at) {
		d.at = append(d.at, pcg)
	}
	return f
}
