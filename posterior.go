package vssgp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/variational"
)

const (
	// posteriorShort is by how many nats a coordinate a fit may lie below the mode that
	// its curvature points to: it is then half a standard deviation away in each.
	posteriorShort = 0.1
	// posteriorSalt tells this random stream from the others.
	posteriorSalt = 0x90e7
	// posteriorFlops is what standard deviations of the hyper-parameters may cost if
	// no draws are asked for: well under a second on a core. Taking a matrix of n rows
	// apart costs eigenFlops·n³, each as much as passFlops in a pass over the rows.
	posteriorFlops, eigenFlops, passFlops = 6e8, 25, 8
	// posteriorMost is the most coordinates.
	posteriorMost = 3000
)

// posterior computes the posterior of the best model's hyper-parameters, or says
// why there is none. Without draws it takes so little time that the end of the fit's
// context does not end it.
func (f *fit) posterior() (none string, err error) {
	m, o, ctx := f.best.model, f.o, f.ctx
	init, p := f.form(m.Params), m.Params
	if f.Rough > 0 && f.Kept == f.Rough {
		init = initRough
	}
	set := o.optimize(init, 0)
	n, none := f.posteriorSize(p, set)
	if none != "" {
		return none, nil
	}
	if o.Posterior.Draws == 0 {
		ctx = context.WithoutCancel(ctx)
	}
	run, err := f.run(ctx, f.rows, m, set)
	if err != nil {
		return "", err
	}
	defer run.Close()
	about, err := run.Posterior()
	switch {
	case errors.Is(err, ErrBound) && ctx.Err() == nil:
		return "the bound cannot be evaluated about the fit", nil
	case err != nil:
		return "", err
	case about.Short > posteriorShort*float64(n):
		return fmt.Sprintf("the fit ended about %.3g nats below the mode of the bound and the priors; want more iterations", about.Short), nil
	}
	hyper := spreads(about, p)
	if slices.Contains(set.Fix, "kernel.frequency") && (slices.Contains(set.Fix, "frequency.mean") || o.Method == RP) {
		hyper.Features = nil // they stayed as they were
	}
	if hyper.Draws, err = f.draws(run, about); err != nil {
		return "", err
	}
	if len(hyper.Draws) < o.Posterior.Draws {
		return "the bound cannot be evaluated at draws from it", nil
	}
	m.hyper = hyper
	return "", nil
}

// posteriorSize is the number of coordinates about a fit of which the posterior takes
// two gradients each, or why there is none.
func (f *fit) posteriorSize(p *Params, set optimize.Settings) (n int, none string) {
	o, shape := &f.o, variational.ShapeOf(p)
	n = optimize.PosteriorSize(shape, set)
	flops := 2*float64(n)*f.gradientFlops(&shape)/passFlops + eigenFlops*math.Pow(float64(n), 3)
	switch {
	case o.Posterior.Draws == NoPosterior:
		return 0, "not asked for"
	case o.Iterations == NoIterations || n == 0:
		return 0, "the starting values are kept"
	case o.Inference == Stochastic:
		return 0, "mini-batches do not end at a mode of the bound"
	case n > posteriorMost:
		return 0, fmt.Sprintf("%d coordinates, want at most %d", n, posteriorMost)
	case o.Posterior.Draws == 0 && flops > posteriorFlops:
		return 0, "it would take long beside the fit; ask for draws"
	}
	return n, ""
}

// gradientFlops is the number of operations of the exact bound and its gradient: of
// n rows that meet m features 3·n·m² + 2·n·m·D, or those of the tables, and the
// algebra of the matrix.
func (f *fit) gradientFlops(s *variational.Shape) float64 {
	offset := s.Offsets()
	flops := blocktri.Flops(offset)
	if pay, sums, _ := f.tables(s); pay {
		return flops + sums
	}
	for _, r := range s.Windows.NewLayout(f.rows.X, f.data.N, s.Q).Runs {
		n, m := float64(r.Hi-r.Lo), float64(offset[r.End]-offset[r.First])
		flops += 3*n*m*m + 2*n*m*float64(s.D)
	}
	return flops
}

// draws are models at draws of the hyper-parameters, fewer than asked for if the
// bound cannot be evaluated at some.
func (f *fit) draws(run *optimize.Run, about *optimize.Posterior) (all []*Model, err error) {
	random := rand.New(rand.NewPCG(f.o.Seed, posteriorSalt))
	draw := func(int) (*Params, error) { return about.Draw(random) }
	if f.o.Posterior.HMC && f.o.Posterior.Draws > 0 {
		places, _, err := about.HMC(f.ctx, f.o.Posterior.Draws, random)
		if err != nil {
			return nil, err
		}
		draw = func(i int) (*Params, error) { return about.Best(places[i]) }
	}
	for i := range f.o.Posterior.Draws {
		d := f.best.model.bare(nil)
		if d.Params, err = draw(i); err != nil {
			return nil, optimize.Interrupted(f.ctx, err)
		}
		if d.Inference == Exact {
			e, err := run.Rows.Exact(d.Params, false)
			if errors.Is(err, ErrBound) {
				return all, nil
			}
			if err != nil {
				return nil, err
			}
			d.adopt(e)
		}
		all = append(all, d)
	}
	return all, nil
}

// spreads reads standard deviations off a Gaussian about p.
func spreads(about *optimize.Posterior, p *Params) *Posterior {
	all := about.SD(func(p *Params) []float64 {
		v := slices.Concat(p.Variance, p.Lengthscale, p.NoisePrecision)
		for i := range v {
			v[i] = math.Log(v[i])
		}
		return append(v, p.Frequency...)
	})
	take := func(n int) (out []float64) {
		out, all = all[:n:n], all[n:]
		return out
	}
	return &Posterior{
		Variance: take(p.L), Lengthscale: take(p.L * p.Q), Noise: take(1), Frequency: take(p.L * p.Q),
		Features: about.FrequencySD(),
	}
}
