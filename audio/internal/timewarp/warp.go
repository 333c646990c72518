package timewarp

import "math"

// A Warp describes a time warp and a level change: with t in samples from the center of a gap, the signal at t is e^{βt} times a
// process that is stationary in u = τ(t) = t + ½ρt² + κt³/6.
type Warp struct {
	Glide float64 // ρ, relative change of the pitch per sample
	Bend  float64 // κ, change of the glide per sample
	Level float64 // β, change of the log level per sample
}

// straight reports whether τ(t) = t.
func (w Warp) straight() bool { return w.Glide == 0 && w.Bend == 0 }

// tau returns τ(t).
func (w Warp) tau(t float64) float64 { return t * (1 + t*(w.Glide/2+t*w.Bend/6)) }

// rate returns τ′(t).
func (w Warp) rate(t float64) float64 { return 1 + t*(w.Glide+t*w.Bend/2) }

// inverse returns t with τ(t) = u, by Newton's method. τ must be monotonic.
func (w Warp) inverse(u float64) float64 {
	t := u
	if w.Glide != 0 {
		t = (math.Sqrt(max(1+2*w.Glide*u, 1e-6)) - 1) / w.Glide
	}
	if w.Bend == 0 {
		return t
	}
	for range newtonSteps {
		d := (w.tau(t) - u) / max(w.rate(t), minTimeRate)
		t -= d
		if math.Abs(d) < tolerance {
			break
		}
	}
	return t
}

// monotonic reports whether τ′ is between minTimeRate and its inverse on [−t, t].
func (w Warp) monotonic(t float64) bool {
	least, most := min(w.rate(t), w.rate(-t)), max(w.rate(t), w.rate(-t))
	if w.Bend != 0 {
		if turn := -w.Glide / w.Bend; math.Abs(turn) < t {
			least, most = min(least, w.rate(turn)), max(most, w.rate(turn))
		}
	}
	return least > minTimeRate && most < 1/minTimeRate
}

// gain returns e^{βt}.
func (w Warp) gain(t float64) float64 { return math.Exp(w.Level * t) }

// at returns the warp for a sample rate that is higher by a factor.
func (w Warp) at(factor float64) Warp {
	return Warp{w.Glide / factor, w.Bend / (factor * factor), w.Level / factor}
}
