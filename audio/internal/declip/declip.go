// Package declip restores clipped samples. Audio is modeled as an autoregressive Gaussian process whose spectrum is estimated every 20
// ms. Given the known samples, the clipped samples have a Gaussian distribution truncated at the clipping limits.
package declip

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// Result contains the restored samples.
type Result struct {
	Mean, SD   []float64   // [samples]; SD is 0 for known samples
	Draws      [][]float64 // [draws][samples] from the joint posterior
	Unreliable []bool      // [clipped run] the limits contradict the surrounding audio, or the restoration did not converge
}

// Margin returns the number of samples on each side of a tile that Fill needs as context.
func Margin(rate float64) int { return int(windowSeconds * rate) }

// Fill restores the samples of clipped and missing runs [start, end) of z, which must be sorted and disjoint. The value of a clipped
// sample in z is its limit: the original has the same sign and at least this magnitude. Means and draws satisfy the limits. All runs are
// restored jointly, so z should be a Tile with a Margin on each side. rate is in samples per second. The result is deterministic. The
// error is the error of ctx.
func Fill(ctx context.Context, z []float64, clipped, missing [][2]int, rate float64, draws int, seed uint64) (Result, error) {
	out := Result{slices.Clone(z), make([]float64, len(z)), make([][]float64, draws), make([]bool, len(clipped))}
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
		if out.SD[n] = s.sites[i].sd; !ok {
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
			if c.side != 0 && (!ok || c.against > implausible || c.limit > louder*around) {
				out.Unreliable[k] = true
			}
		}
	}
	return out, ctx.Err()
}

// restore estimates the models and fills the section. If it fails because of infinite or too large numbers, it returns false and the
// samples keep their last values, initially the limits. The means use the fitted models. Intervals and draws use larger variances that
// include the uncertainty of the models; with them, the means would be less accurate.
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
	ok = s.sweep(true) // keeps the factor for draws
	copy(s.mean, best)
	return ok
}

// settled reports whether the means have converged.
func (s *section) settled() bool {
	squares := 0.0
	for i := range s.sites {
		squares += s.sites[i].moved * s.sites[i].moved
	}
	return squares < tolerance*tolerance*float64(len(s.sites))
}
