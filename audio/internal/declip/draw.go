package declip

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// draw writes a draw of the missing samples to x. It draws them from the last to the first, each given the later samples and its own
// limit; the sites approximate the limits of the earlier samples. It requires the factor L of the last sweep.
func (s *section) draw(rng *rand.Rand, x []float64) {
	later, l := make([]float64, len(s.at)), s.precision.Like(s.factor.R)
	for i, at := range slices.Backward(s.at) {
		c, pivot := &s.sites[i], l.Diagonal(i)
		m, p := s.posterior[i]-later[i]/pivot, pivot*pivot
		rest := p - c.precision
		if c.side == 0 || !(rest > 1e-9*p) {
			x[at] = m + rng.NormFloat64()/math.Sqrt(p)
			if c.side != 0 {
				x[at] = c.side * max(c.side*x[at], c.limit)
			}
		} else {
			center, sd := (m*p-c.product)/rest, 1/math.Sqrt(rest)
			x[at] = c.side * (c.limit + sd*drawAbove(rng, (c.limit-c.side*center)/sd))
		}
		for _, run := range l.Row(i) {
			floats.AddScaled(later[run.First:][:len(run.Values)], x[at]-s.posterior[i], run.Values)
		}
	}
}

// drawAbove draws x − a for a standard normal x given x ≥ a. For a ≥ 0 it uses rejection from an exponential (Robert 1995).
func drawAbove(rng *rand.Rand, a float64) float64 {
	if a < 0 {
		for {
			if x := rng.NormFloat64(); x >= a {
				return x - a
			}
		}
	}
	rate := (a + math.Sqrt(a*a+4)) / 2
	for {
		x := rng.ExpFloat64() / rate
		if d := x + a - rate; rng.Float64() <= math.Exp(-d*d/2) {
			return x
		}
	}
}
