// Package spoil damages intact recordings for `bench repair` and `bench clicks`, and reports where.
package spoil

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/audio"
)

// localLevel is the number of seconds on either side of a click that determine the level of the sound.
const localLevel = 0.01

// A Shape is the shape of a click. Half of the clicks have the other polarity.
type Shape string

// The shapes.
const (
	Noise Shape = "noise" // Gaussian, and nothing of the sound
	Tick  Shape = "tick"  // a jump that decays, added
	Bump  Shape = "bump"  // half a sine, added
	Ring  Shape = "ring"  // a damped oscillation, added
	Grain Shape = "grain" // Gaussian, added
)

// Shapes lists the shapes of clicks that may be louder than the sound.
var Shapes = []Shape{Noise, Tick, Bump, Ring}

// Clicks returns a copy of a channel x with n clicks of some shapes and least to most samples at random places, and where, in rising order.
// The rms of a click is level decibels over the rms of the sound within 10 ms, which counts as at least ten quantization steps. Samples
// are rounded to steps and stay between ±1.
func Clicks(
	x []float64, of []Shape, n, least, most int, level float64, rate int, step float64, seed uint64,
) (y []float64, all []audio.Gap) {
	rng := rand.New(rand.NewPCG(seed, 0xc11c))
	y = slices.Clone(x)
	apart := len(x) / (n + 1) // each has a separate part
	for i := range n {
		length := least + rng.IntN(most-least+1)
		if apart < 2*length {
			break
		}
		at := i*apart + apart/2 + rng.IntN(apart-length)
		all = append(all, add(y, x, of, at, length, level, false, rate, step, rng))
	}
	return y, all
}

// A Crackle is clicks at places that know nothing of each other.
type Crackle struct {
	Shapes    []Shape
	PerMinute float64
	Most      int     // samples of the longest click; the shortest has one
	Low, High float64 // decibels over the sound around
	Peak      bool    // they are of the peaks of the clicks, instead of their rms
}

// Clicks returns a copy of a channel with crackle, and where and how loud each click is. Samples are rounded as in Clicks.
func (c Crackle) Clicks(x []float64, rate int, step float64, seed uint64) (y []float64, all []audio.Gap, levels []float64) {
	rng := rand.New(rand.NewPCG(seed, 0xc2ac))
	y = slices.Clone(x)
	for at := 0.0; ; {
		at += rng.ExpFloat64() * 60 * float64(rate) / c.PerMinute
		length := 1 + rng.IntN(c.Most)
		start := int(at)
		if start+length > len(x) {
			return y, all, levels
		}
		if k := len(all) - 1; k >= 0 && start <= all[k].End {
			continue
		}
		level := c.Low + (c.High-c.Low)*rng.Float64()
		all, levels = append(all, add(y, x, c.Shapes, start, length, level, c.Peak, rate, step, rng)), append(levels, level)
	}
}

// add makes a click in y, the damaged copy of x.
func add(y, x []float64, of []Shape, at, length int, level float64, peak bool, rate int, step float64, rng *rand.Rand) audio.Gap {
	reach := max(1, int(localLevel*float64(rate)))
	near := x[max(0, at-reach):min(len(x), at+length+reach)]
	power := 0.0
	for _, v := range near {
		power += v * v
	}
	size := max(math.Sqrt(power/float64(len(near))), 10*step) * math.Pow(10, level/20)
	kind, sign := of[rng.IntN(len(of))], float64(1-2*rng.IntN(2))
	turn := 0.2 + 2.5*rng.Float64()
	click, sum, most := make([]float64, length), 0.0, 0.0
	for i := range click {
		t := float64(i) / float64(length)
		switch kind {
		case Noise, Grain:
			click[i] = rng.NormFloat64()
		case Tick:
			click[i] = sign * math.Exp(-4*t)
		case Bump:
			click[i] = sign * math.Sin(math.Pi*(t+0.5/float64(length)))
		case Ring:
			click[i] = sign * math.Exp(-3*t) * math.Cos(turn*float64(i))
		}
		sum, most = sum+click[i]*click[i], max(most, math.Abs(click[i]))
	}
	scale := size / math.Sqrt(sum/float64(length))
	if peak {
		scale = size / most
	}
	for i, v := range click {
		v *= scale
		if kind != Noise {
			v += x[at+i]
		}
		if step > 0 {
			v = step * math.Round(v/step)
		}
		y[at+i] = max(-1, min(1-step, v))
	}
	return audio.Gap{Start: at, End: at + length}
}
