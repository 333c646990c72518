package timewarp

import "math"

// A Clock is a warped time and a level that changes: with t in samples from the middle of a gap, the signal at t is e^{βt} times
// a process that is stationary in u = τ(t) = t + ½ρt² + κt³/6.
type Clock struct {
	Glide float64 // ρ, relative change of pitch a sample
	Bend  float64 // κ, of the glide a sample
	Level float64 // β, of the logarithm of the level a sample
}

// straight reports whether τ(t) = t.
func (c Clock) straight() bool { return c.Glide == 0 && c.Bend == 0 }

// tau returns τ(t).
func (c Clock) tau(t float64) float64 { return t * (1 + t*(c.Glide/2+t*c.Bend/6)) }

// rate returns τ′(t).
func (c Clock) rate(t float64) float64 { return 1 + t*(c.Glide+t*c.Bend/2) }

// leastRate is the least τ′ that time is let run at, and the inverse of the greatest, and newtonSteps are the most that inverse takes.
const (
	leastRate   = 0.2
	newtonSteps = 12
)

// inverse returns t with τ(t) = u.
func (c Clock) inverse(u float64) float64 {
	t := u
	if c.Glide != 0 {
		t = (math.Sqrt(max(1+2*c.Glide*u, 1e-6)) - 1) / c.Glide
	}
	if c.Bend == 0 {
		return t
	}
	for range newtonSteps {
		d := (c.tau(t) - u) / max(c.rate(t), leastRate-0.05)
		t -= d
		if math.Abs(d) < 1e-9 {
			break
		}
	}
	return t
}

// runs reports whether time runs forward, neither much slower nor much faster than it does in the middle, to t on either side.
func (c Clock) runs(t float64) bool {
	least, most := min(c.rate(t), c.rate(-t)), max(c.rate(t), c.rate(-t))
	if c.Bend != 0 {
		if turn := -c.Glide / c.Bend; math.Abs(turn) < t {
			least, most = min(least, c.rate(turn)), max(most, c.rate(turn))
		}
	}
	return least > leastRate && most < 1/leastRate
}

// warp returns the clock with an even level.
func (c Clock) warp() Clock { return Clock{Glide: c.Glide, Bend: c.Bend} }

// gain returns e^{βt}.
func (c Clock) gain(t float64) float64 { return math.Exp(c.Level * t) }

// at returns the clock for samples at a rate by as much higher.
func (c Clock) at(rate float64) Clock {
	return Clock{c.Glide / rate, c.Bend / (rate * rate), c.Level / rate}
}
