package forecasts

import (
	"math"
	"slices"
)

// A grid contains the values of a series at evenly spaced times. Missing rows are NaN.
type grid struct {
	first, step float64
	y           []float64
}

// newGrid returns the grid of a series. The number of steps in its range is determined with the median distance of
// rows.
func newGrid(s Series) *grid {
	var apart []float64
	for i, x := range s.X[1:] {
		apart = append(apart, x-s.X[i])
	}
	middle := slices.Clone(apart)
	slices.Sort(middle)
	steps := 0.0
	for _, d := range apart {
		steps += math.Round(d / middle[len(middle)/2])
	}
	g := &grid{first: s.X[0], step: (s.X[len(s.X)-1] - s.X[0]) / steps, y: slices.Repeat([]float64{math.NaN()}, int(steps)+1)}
	for i, x := range s.X {
		g.y[g.at(x)] = s.Y[i]
	}
	return g
}

// at returns the index of x.
func (g *grid) at(x float64) int { return int(math.Round((x - g.first) / g.step)) }

// nearest returns the nearest index with a value at a positive multiple of lag from i, or -1. The earlier of two
// equally near is preferred.
func (g *grid) nearest(i, lag int) int {
	known := func(j int) bool { return j >= 0 && j < len(g.y) && !math.IsNaN(g.y[j]) }
	for far := lag; far <= max(i, len(g.y)); far += lag {
		switch {
		case known(i - far):
			return i - far
		case known(i + far):
			return i + far
		}
	}
	return -1
}

// minPairs is the number of differences that are required to estimate a standard deviation, except at a distance of
// one unit.
const minPairs = 8

// spread returns the root mean square of y[i] − y[i−h] − drift·h. If there are fewer than minPairs such differences,
// h is reduced by multiples of unit until there are enough, or to at most one unit, and the result is scaled as for a
// random walk.
func (g *grid) spread(h, unit int, drift float64) float64 {
	for k := h; k > 0; k -= unit {
		sum, n := 0.0, 0
		for i := k; i < len(g.y); i++ {
			if d := g.y[i] - g.y[i-k] - drift*float64(k); !math.IsNaN(d) {
				sum, n = sum+d*d, n+1
			}
		}
		if n >= minPairs || k <= unit && n > 0 {
			return math.Sqrt(sum / float64(n) * float64(h) / float64(k))
		}
	}
	return math.NaN()
}
