// Package spoil adds damage to intact recordings for benchmarks and for the training of the click detector, and returns
// the damaged segments.
package spoil

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/audio"
)

// localLevel is the duration in seconds before and after a click in which the level of the sound is measured.
const localLevel = 0.01

// A Shape is the shape of a click. The polarity of each click is random.
type Shape string

// The shapes.
const (
	Noise Shape = "noise" // Gaussian noise instead of the sound
	Tick  Shape = "tick"  // decaying step, added to the sound
	Bump  Shape = "bump"  // half a sine, added
	Ring  Shape = "ring"  // damped oscillation, added
	Grain Shape = "grain" // Gaussian noise, added
)

// Shapes lists the shapes of clicks that may be louder than the sound.
var Shapes = []Shape{Noise, Tick, Bump, Ring}

// Clicks returns a copy of a channel x with up to n clicks of least to most samples at random positions, and their
// positions in ascending order. The shapes are drawn from of. The rms of a click is level decibels above the rms of the
// sound within 10 ms, or above ten quantization steps if this is larger. Samples are rounded to steps and limited to
// ±1.
func Clicks(
	x []float64, of []Shape, n, least, most int, level float64, rate int, step float64, seed uint64,
) (y []float64, all []audio.Gap) {
	rng := rand.New(rand.NewPCG(seed, 0xc11c))
	y = slices.Clone(x)
	apart := len(x) / (n + 1) // each click is in a separate part of the channel
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

// A Crackle specifies clicks at independent random positions.
type Crackle struct {
	Shapes    []Shape
	PerMinute float64 // mean number of clicks per minute
	Most      int     // maximum length of a click in samples; the minimum is 1
	Low, High float64 // range of levels in decibels relative to the sound around the click
	Peak      bool    // the level is the click's peak instead of its rms
}

// Clicks returns a copy of a channel with crackle, with samples rounded as by the function Clicks, and the clicks'
// positions and levels.
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

// add adds a click of length samples, from index at on, to y, the damaged copy of x, and returns its position.
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
