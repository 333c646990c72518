package spoil

import (
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/audio"
)

// A Stop is a kind of dropout.
type Stop string

// The kinds of dropouts.
const (
	Zero        Stop = "zeros"
	Dithered    Stop = "zeros ±1" // zeros with rectangular noise of ±1 quantization step
	Triangular  Stop = "zeros ±2" // zeros with triangular noise of ±2 steps
	Repeat      Stop = "held"     // the last sample, repeated
	RepeatNoise Stop = "held ±1"  // the last sample with rectangular noise of ±1 step
)

// Stops lists all kinds.
var Stops = []Stop{Zero, Dithered, Triangular, Repeat, RepeatNoise}

// Dropouts divides a channel x into blocks whose length is every. It returns a copy of x with one dropout of length
// samples at a random position in each block, and the dropouts. step is the quantization step.
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

// put writes a dropout to g in y.
func (s Stop) put(y []float64, g audio.Gap, step float64, rng *rand.Rand) {
	last := y[g.Start-1]
	for n := g.Start; n < g.End; n++ {
		switch s {
		case Zero:
			y[n] = 0
		case Dithered:
			y[n] = step * float64(rng.IntN(3)-1)
		case Triangular:
			y[n] = step * float64(rng.IntN(3)+rng.IntN(3)-2)
		case Repeat:
			y[n] = last
		case RepeatNoise:
			y[n] = last + step*float64(rng.IntN(3)-1)
		}
	}
}
