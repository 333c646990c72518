package spoil

import (
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/audio"
)

// A Stop is a way in which sound stops for a moment.
type Stop string

// The ways.
const (
	Zero       Stop = "zeros"
	Dithered   Stop = "zeros ±1" // with rectangular noise of a step
	Triangular Stop = "zeros ±2" // with triangular noise of two
	Hold       Stop = "held"     // the last sample
	HoldNoise  Stop = "held ±1"  // with rectangular noise of a step
)

// Stops lists them all.
var Stops = []Stop{Zero, Dithered, Triangular, Hold, HoldNoise}

// Dropouts returns a copy of a channel x in which the sound stops in one place of a length in each part of every samples, at random
// within it, and where. step is the quantizer's.
func Dropouts(x []float64, kind Stop, length, every int, step float64, seed uint64) (y []float64, all []audio.Gap) {
	rng := rand.New(rand.NewPCG(seed, uint64(length)))
	y = slices.Clone(x)
	for lo := 0; lo+every <= len(x) && every > 2*length+2; lo += every {
		at := lo + 1 + rng.IntN(every-2*length-2)
		g := audio.Gap{Start: at, End: at + length}
		kind.put(y, g, step, rng)
		all = append(all, g)
	}
	return y, all
}

func (s Stop) put(y []float64, g audio.Gap, step float64, rng *rand.Rand) {
	held := y[g.Start-1]
	for n := g.Start; n < g.End; n++ {
		switch s {
		case Zero:
			y[n] = 0
		case Dithered:
			y[n] = step * float64(rng.IntN(3)-1)
		case Triangular:
			y[n] = step * float64(rng.IntN(3)+rng.IntN(3)-2)
		case Hold:
			y[n] = held
		case HoldNoise:
			y[n] = held + step*float64(rng.IntN(3)-1)
		}
	}
}
