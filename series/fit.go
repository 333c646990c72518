package series

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/posterior"
)

// Fit fits the model: it sums the moments, finds the parts that earn their place and the mode of their hyper-parameters, and draws from
// the posterior there. Errors wrap ErrData, ErrOptions or ctx's.
func Fit(ctx context.Context, s Series, o Options) (*Model, error) {
	f, err := newFrame(&s, o.Robust)
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return nil, err
	}
	if o.Backend == nil {
		o.Backend = cpu.New()
	}
	best, err := find(ctx, f, &o)
	if err != nil {
		return nil, err
	}
	m := &Model{frame: f, layout: best.o.layout, sums: best.o.sums, backend: o.Backend, bound: best.bound()}
	if m.at, err = best.at.Gaussian(best.mode, best.o.layout.scale()); err != nil {
		return nil, err
	}
	m.draws, err = m.drawn(ctx, best, &o)
	return m, err
}

// find finds the best trial. A robust fit looks for outliers in it, and then again among parts that were found without them.
func find(ctx context.Context, f *frame, o *Options) (best *trial, err error) {
	for range 2 {
		s, err := newSearch(ctx, f, o)
		if err == nil {
			best, err = s.run()
		}
		if err != nil || !o.Robust {
			return best, err
		}
		if best, err = s.robust(best); err != nil {
			return nil, err
		}
	}
	return best, nil
}

// drawn draws hyper-parameters.
func (m *Model) drawn(ctx context.Context, best *trial, o *Options) ([][]float64, error) {
	count := o.Draws
	if count == 0 {
		size := float64(m.layout.features())
		count = min(usualDraws, max(fewestDraws, int(drawWork/(float64(m.frame.Rows)*size*size))))
	}
	random := rand.New(rand.NewPCG(o.Seed, 1))
	switch {
	case count < 0:
		return [][]float64{slices.Clone(m.at.Mode)}, nil
	case o.HMC:
		all, _, err := posterior.HMC(ctx, best.objective().Func, m.at, warmDraws, thinning*count, random)
		var draws [][]float64
		for i := thinning - 1; i < len(all); i += thinning {
			draws = append(draws, all[i])
		}
		return draws, err
	}
	draws := make([][]float64, count)
	for i := range draws {
		draws[i] = m.at.Draw(random)
	}
	return draws, nil
}

const (
	usualDraws  = 40
	fewestDraws = 8
	drawWork    = 4e11 // operations that predictions of as many rows as the data have may take, over all draws
	warmDraws   = 30   // of HMC that are dropped
	thinning    = 3    // trajectories of HMC a draw
)
