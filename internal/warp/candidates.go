package warp

import (
	"context"
	"slices"

	"github.com/vssgp/vssgp/internal/ar"
	"gonum.org/v1/gonum/floats"
)

// A Candidate is one of the processes that Fill mixes: the recording is e^{βt} times a process that is stationary in u.
type Candidate struct {
	Recipe   int      // of the menu
	Weight   float64  // in the mixture of all recipes
	LogPrior float64  // of the clock, up to a constant of its recipe
	Temper   float64  // the recipe's, the power of the evidence that made the weight
	Model    ar.Model // of the stationary process, one sample for each of u
	clock    Clock
	center   float64 // where t and u are 0
	sign     float64 // of the time that the clock counts
}

// Row returns where sample i of the recording stands in the stationary process's time, and the level e^{βt} there.
func (c *Candidate) Row(i int) (u, level float64) {
	t := c.sign * (float64(i) - c.center)
	return c.sign * c.clock.tau(t), c.clock.gain(t)
}

// Reaches reports whether the clock runs as far as n samples from the middle of the gap.
func (c *Candidate) Reaches(n int) bool { return c.clock.straight() || c.clock.runs(float64(n)) }

// Candidates returns the processes that Fill mixes for the same arguments, whose weights sum to 1, by recipes. For other models of
// them.
func (f *Filler) Candidates(ctx context.Context, z []float64, gaps [][2]int, which int) (all []Candidate, err error) {
	p := &place{slices.Clone(z), gaps, which, f.rate}
	start, end := p.gap()
	clear(p.z[start:end])
	center, sign := float64(start+end-1)/2, 1.0
	if start < len(z)-end { // as Fill does
		p, sign = p.reversed(), -1
	}
	weights := slices.Repeat([]float64{1 / float64(len(f.menu.Recipes))}, len(f.menu.Recipes))
	if len(weights) > 1 {
		out := &Filling{Weights: weights}
		if err := f.weigh(ctx, p, out); err != nil {
			return nil, err
		}
	}
	kept := floats.Sum(weights) // those that are dropped are 0
	for k, item := range f.menu.Recipes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if weights[k] == 0 {
			continue
		}
		r := item.Trial
		if item.Final != nil {
			r = item.Final
		}
		from, total := len(all), 0.0
		guessed, clocks := f.prepare(p, r)
		for _, g := range familiesOf(clocks) {
			model := f.model(guessed.warped(g.warp, r.reach(p.rate)).even(g.meanLevel()), r, p.rate)
			for i, level := range g.levels {
				c := Candidate{k, g.weights[i], 0, r.Temper, model, g.warp, center, sign}
				c.clock.Level = level
				c.LogPrior = clocks[slices.IndexFunc(clocks, func(w weighted) bool { return w.Clock == c.clock })].prior
				all, total = append(all, c), total+g.weights[i]
			}
		}
		for i := range all[from:] {
			all[from+i].Weight *= weights[k] / kept / total
		}
	}
	return all, nil
}
