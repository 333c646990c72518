package forecasts

import (
	"math"
	"slices"
)

// A grid has a place for every step of a series, missing rows included.
type grid struct {
	first, step float64
	y           []float64 // NaN: missing
}

// newGrid makes a grid of the rows' median distance, corrected over the whole series.
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

// at returns the place of x.
func (g *grid) at(x float64) int { return int(math.Round((x - g.first) / g.step)) }

// nearest returns the nearest place with a number that is one or more times lag away from place i, the earlier one first, or -1.
func (g *grid) nearest(i, lag int) int {
	there := func(j int) bool { return j >= 0 && j < len(g.y) && !math.IsNaN(g.y[j]) }
	for far := lag; far <= max(i, len(g.y)); far += lag {
		switch {
		case there(i - far):
			return i - far
		case there(i + far):
			return i + far
		}
	}
	return -1
}

// leastPairs are the fewest differences that tell a deviation.
const leastPairs = 8

// spread returns the root mean square of y's change over h steps, less drift·h. If there are too few such pairs, it is the value of the
// longest multiple of unit with enough of them, and grows as a random walk's.
func (g *grid) spread(h, unit int, drift float64) float64 {
	for k := h; k > 0; k -= unit {
		sum, n := 0.0, 0
		for i := k; i < len(g.y); i++ {
			if d := g.y[i] - g.y[i-k] - drift*float64(k); !math.IsNaN(d) {
				sum, n = sum+d*d, n+1
			}
		}
		if n >= leastPairs || k <= unit && n > 0 {
			return math.Sqrt(sum / float64(n) * float64(h) / float64(k))
		}
	}
	return math.NaN()
}
