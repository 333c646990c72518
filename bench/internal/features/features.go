// Package features fills gaps by the processes that package warp mixes, each of them as the library's model: a process in warped, levelled
// time is VSSGP on the rows (τ(x), y·e^{−βx}). docs/algorithms.md derives it ("Warped, levelled processes"). It judges what features cost
// beside the exact covariance, and whether optimising them pays.
package features

import (
	"context"
	"math"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/bench/internal/gapfill"
	"github.com/vssgp/vssgp/internal/warp"
)

// Start returns the settings under which the start stays. What is hidden counts where fills are good: on a steady trumpet 1e-4 costs a
// fifth of their error.
func Start() Settings {
	return Settings{Power: 1, Reach: 1, Fine: 2, Most: 1000, Hide: 1e-6, Floor: 1e-7}
}

// Freed returns those under which the amplitudes and the noise are optimised.
func Freed() Settings {
	set := Start()
	set.Free, set.Iterations = 0.25, 10
	return set
}

// Method fills by the candidates of a menu, as features.
func Method(menu warp.Menu, set Settings) gapfill.Method {
	return func(ctx context.Context, s *gapfill.Signal) (*gapfill.Fill, error) {
		z := audio.FillSilence(s.Y, s.Gaps)
		out := &gapfill.Fill{Mean: z, SD: make([]float64, len(z))}
		gaps := make([][2]int, len(s.Gaps))
		for i, g := range s.Gaps {
			gaps[i] = [2]int{g.Start, g.End}
		}
		filler := warp.NewFiller(menu, float64(s.Rate))
		guessed := audio.FillSilence(s.Y, s.Gaps)
		for i, g := range gaps {
			copy(guessed[g[0]:g[1]], filler.Guess(ctx, z, gaps, i))
		}
		for i, g := range gaps {
			candidates, err := filler.Candidates(ctx, guessed, gaps, i)
			if err != nil {
				return nil, err
			}
			if err := set.fill(ctx, guessed, s.Mask(), g, candidates, menu.Widen, out); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

// fill fills a gap by its candidates. missing are all samples of z that are not known.
func (set *Settings) fill(ctx context.Context, z []float64, missing []bool, gap [2]int, all []warp.Candidate, widen float64,
	out *gapfill.Fill) error {
	var parts []*part
	for i := range all {
		p, err := set.lay(&all[i], z, gap, missing)
		if err == nil {
			err = set.say(ctx, p)
		}
		if err != nil {
			return err
		}
		parts = append(parts, p)
	}
	if set.Bounds {
		set.weigh(parts)
	}
	for _, p := range parts {
		out.Bound += p.weight * p.bound
		out.Iterations += p.iterations
		if p.model != nil {
			out.Rows, out.V, out.M = out.Rows+p.rows.N, out.V+1, out.M+p.model.Params.M()
		}
	}
	mix(parts, widen, out.Mean[gap[0]:gap[1]], out.SD[gap[0]:gap[1]])
	return nil
}

// mix writes the mean and the standard deviation of a mixture, whose variances are widened.
func mix(parts []*part, widen float64, mean, sd []float64) {
	clear(mean)
	for i := range mean {
		variance := 0.0
		for _, p := range parts {
			mean[i] += p.weight * p.mean[i]
		}
		for _, p := range parts {
			variance += p.weight * (p.variance[i] + math.Pow(p.mean[i]-mean[i], 2))
		}
		sd[i] = math.Sqrt(widen * variance)
	}
}

// weigh divides each recipe's weight among its candidates by their bounds on log p(y): those of the levelled rows, with the Jacobian.
func (set *Settings) weigh(parts []*part) {
	for from, to := 0, 0; from < len(parts); from = to {
		most, before, total := math.Inf(-1), 0.0, 0.0
		log := func(p *part) float64 { return set.Power*p.Temper*(p.bound+p.jacobian) + p.LogPrior }
		for to = from; to < len(parts) && parts[to].Recipe == parts[from].Recipe; to++ {
			most = max(most, log(parts[to]))
			before += parts[to].weight
		}
		for _, p := range parts[from:to] {
			p.weight = math.Exp(log(p) - most)
			total += p.weight
		}
		for _, p := range parts[from:to] {
			p.weight *= before / total
		}
	}
}
