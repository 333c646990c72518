// Package declip restores clipped samples, which were at a limit or beyond it. The sound is modeled as an autoregressive Gaussian process
// whose spectrum is estimated every 20 ms; given the known samples, the clipped ones have a Gaussian distribution truncated at the limits.
package declip

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"

	"github.com/vssgp/vssgp/internal/parallel"
)

// Options are the settings of Fill.
type Options struct {
	Draws int // plausible fills
	Seed  uint64
}

// Result is a series whose missing samples are filled.
type Result struct {
	Mean, SD []float64   // [samples]; the deviation of known samples is 0
	Draws    [][]float64 // [draws][samples], drawn from the joint posterior
	Doubt    []bool      // [clipped run] the limits contradict the sound around
}

// Fill restores the samples of the runs [start, end): the clipped ones, which were at z's own values or further from zero on the same side,
// and others that are missing. Runs of both kinds do not overlap, and each kind rises. Means and draws keep the limits. rate is in samples
// per second. The cost grows with the number of missing samples. The same arguments give the same bits. An error of ctx is returned.
func Fill(ctx context.Context, z []float64, clipped, missing [][2]int, rate float64, o Options) (Result, error) {
	runs := merge(clipped, missing)
	out := Result{Mean: slices.Clone(z), SD: make([]float64, len(z)), Doubt: make([]bool, len(clipped))}
	for range o.Draws {
		out.Draws = append(out.Draws, slices.Clone(z))
	}
	core := max(1, int(coreSeconds*rate))
	parts := (len(z) + core - 1) / core
	parallel.For(parts, runtime.GOMAXPROCS(0), func(i int) {
		if ctx.Err() == nil {
			out.part(ctx, z, runs, [2]int{i * core, (i + 1) * core}, rate, rand.New(rand.NewPCG(o.Seed, uint64(i))))
		}
	})
	return out, ctx.Err()
}

// merge returns all runs, rising.
func merge(clipped, missing [][2]int) (runs []run) {
	for i, g := range clipped {
		runs = append(runs, run{g[0], g[1], i})
	}
	for _, g := range missing {
		runs = append(runs, run{g[0], g[1], -1})
	}
	slices.SortFunc(runs, func(a, b run) int { return a.start - b.start })
	return runs
}

// between returns the runs that start in [lo, hi).
func between(runs []run, lo, hi int) []run {
	before := func(n int) int { return sort.Search(len(runs), func(i int) bool { return runs[i].start >= n }) }
	return runs[before(lo):before(hi)]
}

// part fills the runs that start in core.
func (out *Result) part(ctx context.Context, z []float64, runs []run, core [2]int, rate float64, rng *rand.Rand) {
	own := between(runs, core[0], core[1])
	if len(own) == 0 {
		return
	}
	side := int(windowSeconds * rate)
	from, to := max(0, core[0]-side), min(len(z), max(core[1], own[len(own)-1].end)+side)
	var at []int
	var sites []site
	for _, r := range runs[sort.Search(len(runs), func(i int) bool { return runs[i].end > from }):] {
		if r.start >= to {
			break
		}
		for n := max(r.start, from); n < min(r.end, to); n++ {
			at = append(at, n-from)
			sites = append(sites, newSite(z[n], r))
		}
	}
	s := newSection(slices.Clone(z[from:to]), at, sites, order(rate, to-from, len(at)), rate)
	for i, c := range sites {
		if c.side == 0 {
			s.mean[at[i]] = 0
		}
	}
	ok := s.restore(ctx)
	draws := make([][]float64, len(out.Draws))
	for d := range draws {
		draws[d] = s.draw(rng, ok)
	}
	for _, r := range own {
		around := s.loudest(r.start-from-s.wide/2, r.end-from+s.wide/2)
		for n := r.start; n < r.end; n++ {
			i := s.index(n - from)
			c := &s.sites[i]
			out.Mean[n], out.SD[n] = s.mean[n-from], c.sd
			for d := range draws {
				out.Draws[d][n] = draws[d][i]
			}
			if r.which >= 0 && c.side != 0 && (!ok || c.against > doubtful || c.limit > louder*around) {
				out.Doubt[r.which] = true
			}
		}
	}
}

// restore estimates the models and fills the section. It is false if that failed, for numbers that are not finite or too large to be
// squared: then the samples keep their last values, at first the limits, and are as uncertain as they are large. The means are computed
// with the models as they were fitted. Their uncertainty widens the intervals and the draws; with it the means would be less accurate,
// too far out if only the limits bound them.
func (s *section) restore(ctx context.Context) (ok bool) {
	defer func() {
		for i := range s.sites {
			if c := &s.sites[i]; !ok {
				c.sd = math.Abs(s.mean[s.at[i]])
			}
		}
	}()
	for round := range rounds {
		if ctx.Err() != nil {
			return false
		}
		s.learn()
		s.assemble(round >= evenRounds)
		if !s.sweep(false) {
			return false
		}
		if round >= evenRounds && s.settled() {
			break
		}
	}
	best := slices.Clone(s.mean)
	s.widen()
	s.assemble(false)
	for range widenedSweeps {
		if !s.sweep(false) {
			return false
		}
	}
	ok = s.sweep(true) // the posterior of the sites as they are, for draws
	copy(s.mean, best)
	return ok
}

// settled reports whether the last sweep hardly moved the means.
func (s *section) settled() bool {
	squares := 0.0
	for i := range s.sites {
		squares += s.sites[i].moved * s.sites[i].moved
	}
	return squares < tolerance*tolerance*float64(len(s.sites))
}
