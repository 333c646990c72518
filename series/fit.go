package series

import (
	"context"
	"errors"
	"math"
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
	search, best, err := find(ctx, f, &o)
	if err != nil {
		return nil, err
	}
	if search.long() {
		if best, err = search.lengthen(best); err != nil {
			return nil, err
		}
	}
	all, err := search.variants(best)
	if err != nil {
		return nil, err
	}
	m := &Model{frame: f, layout: all[0].o.layout, sums: all[0].o.sums, backend: o.Backend, long: best.long}
	if err := m.average(ctx, all, &o); err != nil {
		return nil, err
	}
	return m, nil
}

// find finds the best trial. A robust fit looks for outliers in it, and then again among parts that were found without them.
func find(ctx context.Context, f *frame, o *Options) (s *search, best *trial, err error) {
	for range 2 {
		if s, err = newSearch(ctx, f, o); err == nil {
			best, err = s.run()
		}
		if err != nil || !o.Robust {
			return s, best, err
		}
		if best, err = s.robust(best); err != nil {
			return nil, nil, err
		}
	}
	return s, best, nil
}

// average draws hyper-parameters from variants, from each in proportion to its probability. The most probable one is the mode.
func (m *Model) average(ctx context.Context, all []*variant, o *Options) error {
	best := all[0]
	for _, v := range all {
		if v.weight > best.weight {
			best = v
		}
	}
	m.bound = best.bound()
	var err error
	if m.at, err = best.embed(m.layout); err != nil {
		return err
	}
	count := o.Draws
	if len(m.layout.names) == 0 {
		count = AtMode
	}
	if count == 0 {
		size := float64(m.layout.features())
		count = min(usualDraws, max(fewestDraws, int(drawWork/(float64(m.frame.Rows)*size*size))))
	}
	if count < 0 {
		m.draws = [][]float64{slices.Clone(m.at.Mode)}
		return nil
	}
	random := rand.New(rand.NewPCG(o.Seed, 1))
	due := 0.0
	for _, v := range all {
		due += v.weight * float64(count)
		n := int(math.Round(due)) - len(m.draws)
		draws, err := v.draw(ctx, o.HMC, n, random)
		if err != nil {
			return err
		}
		for _, d := range draws {
			m.draws = append(m.draws, v.widen(m.layout, d))
		}
	}
	return m.resolve()
}

// resolve drops draws that are so far out that the sums have too few digits for them. The mode has enough.
func (m *Model) resolve() error {
	o := newObjective(m.layout, m.sums)
	draws := m.draws
	m.draws = nil
	for _, d := range draws {
		err := m.each(o, d, func(v view) error {
			for _, c := range v.sums.c {
				weights := o.mean(v.factor, c)
				for k, a := range o.d {
					weights[k] *= a
				}
				if v.sums.rounding(weights)/v.lambda > resolved {
					return errUnresolved
				}
			}
			return nil
		})
		if err == nil {
			m.draws = append(m.draws, d)
		} else if !errors.Is(err, errUnresolved) {
			return err
		}
	}
	if len(m.draws) == 0 {
		m.draws = [][]float64{slices.Clone(m.at.Mode)}
	}
	return nil
}

// draw draws a variant's own hyper-parameters.
func (v *variant) draw(ctx context.Context, hmc bool, count int, random *rand.Rand) (draws [][]float64, err error) {
	if !hmc || count == 0 {
		for range count {
			draws = append(draws, v.gaussian.Draw(random))
		}
		return draws, nil
	}
	all, _, err := posterior.HMC(ctx, v.objective().Func, v.gaussian, warmDraws, thinning*count, random)
	for i := thinning - 1; i < len(all); i += thinning {
		draws = append(draws, all[i])
	}
	return draws, err
}

const (
	usualDraws  = 40
	fewestDraws = 8
	drawWork    = 4e11 // operations that predictions of as many rows as the data have may take, over all draws
	warmDraws   = 30   // of HMC that are dropped
	thinning    = 3    // trajectories of HMC a draw
)
