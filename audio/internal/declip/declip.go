// Package declip restores clipped samples, which were at a limit or beyond it. The sound is modeled as an autoregressive Gaussian process
// whose spectrum is estimated every 20 ms; given the known samples, the clipped ones have a Gaussian distribution truncated at the limits.
package declip

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// Result is a series whose missing samples are filled.
type Result struct {
	Mean, SD []float64   // [samples]; the deviation of known samples is 0
	Draws    [][]float64 // [draws][samples], drawn from the joint posterior
	Doubt    []bool      // [clipped run] the limits contradict the sound around
}

// Margin returns the number of samples on either side of a tile that its fill should see.
func Margin(rate float64) int { return int(windowSeconds * rate) }

// Fill restores the samples of the runs [start, end): the clipped ones, which were at z's own values or further from zero on the same side,
// and others that are missing. Runs of both kinds do not overlap, and each kind rises. Means and draws keep the limits. rate is in samples
// per second. z should be a Tile with a Margin on either side: all runs are solved for together. The same arguments give the same bits. An
// error of ctx is returned.
func Fill(ctx context.Context, z []float64, clipped, missing [][2]int, rate float64, draws int, seed uint64) (Result, error) {
	out := Result{Mean: slices.Clone(z), SD: make([]float64, len(z)), Draws: make([][]float64, draws), Doubt: make([]bool, len(clipped))}
	all := make([]*site, len(z)) // nil for known samples
	for _, r := range clipped {
		for n := r[0]; n < r[1]; n++ {
			all[n] = newSite(z[n], r[1]-r[0])
		}
	}
	for _, r := range missing {
		for n := r[0]; n < r[1]; n++ {
			all[n] = &site{}
		}
	}
	var at []int
	var sites []site
	for n, c := range all {
		if c == nil {
			continue
		}
		if c.side == 0 {
			out.Mean[n] = 0
		}
		at, sites = append(at, n), append(sites, *c)
	}
	s := newSection(out.Mean, at, sites, order(rate, len(z), len(at)), rate)
	ok := s.restore(ctx)
	for i, n := range at {
		if out.SD[n] = s.sites[i].sd; !ok { // then samples are as uncertain as they are large
			out.SD[n] = math.Abs(s.mean[n])
		}
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	for k := range out.Draws {
		if out.Draws[k] = slices.Clone(s.mean); ok {
			s.draw(rng, out.Draws[k])
		}
	}
	for k, r := range clipped {
		around := s.loudest(r[0]-s.wide/2, r[1]+s.wide/2)
		for _, c := range s.sites[s.index(r[0]):s.index(r[1])] {
			if c.side != 0 && (!ok || c.against > doubtful || c.limit > louder*around) {
				out.Doubt[k] = true
			}
		}
	}
	return out, ctx.Err()
}

// restore estimates the models and fills the section. It is false if that failed, for numbers that are not finite or too large to be
// squared: then the samples keep their last values, at first the limits. The means are computed
// with the models as they were fitted. Their uncertainty widens the intervals and the draws; with it the means would be less accurate,
// too far out if only the limits bound them.
func (s *section) restore(ctx context.Context) (ok bool) {
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
