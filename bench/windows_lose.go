package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/bench/internal/gapfill"
	"github.com/vssgp/vssgp/impute"
)

// The sounds of `bench windows -table`: what windows are worst at, and the same with a voice's vibrato.
const (
	soundRate  = 16000
	soundRows  = 16000
	soundNoise = 1e-3 // standard deviation; the sounds have about 1
	soundGaps  = 8
	overtones  = 4
	vibrato    = 5.0 // in Hz
)

// A sound is notes with overtones.
type sound struct {
	name  string
	notes []float64 // Hz
	depth float64   // of the vibrato, as a share of the frequency
}

var sounds = []sound{
	{"a steady tone", []float64{440}, 0},
	{"a steady chord", []float64{220, 277.18, 329.63, 440}, 0},
	{"the chord with vibrato", []float64{220, 277.18, 329.63, 440}, 0.02},
}

// soundGapLengths are the lengths of the gaps, in samples.
var soundGapLengths = []int{80, 320, 960}

// samples are the sum of the notes and their overtones, with noise.
func (s sound) samples() []float64 {
	rng := rand.New(rand.NewPCG(1, 0x50))
	y := make([]float64, soundRows)
	for _, note := range s.notes {
		for h := 1; h <= overtones; h++ {
			f, phase := note*float64(h), 2*math.Pi*rng.Float64()
			for n := range y {
				t := float64(n) / soundRate
				wobble := s.depth * math.Sin(2*math.Pi*vibrato*t) / (2 * math.Pi * vibrato)
				y[n] += math.Sin(2*math.Pi*f*(t+wobble)+phase) / float64(h) / math.Sqrt(float64(len(s.notes)))
			}
		}
	}
	for n := range y {
		y[n] += soundNoise * rng.NormFloat64()
	}
	return y
}

// loseTable prints the error in the gaps of each sound by silence's, for windows of several lengths, for none, and for an autoregressive
// fill.
func loseTable(w io.Writer) error {
	window := func(seconds float64) gapfill.Method {
		return gapfill.VSSGP(impute.Options{Model: vssgp.Options{Window: vssgp.WindowAuto, WindowCandidates: []float64{seconds}}, All: true})
	}
	methods := []filler{
		{"32 ms", window(0.032)}, {"64 ms", window(0.064)}, {"128 ms", window(0.128)}, {"none", window(1e6)},
		{"autoregressive", gapfill.AR(audio.DefaultAR)},
	}
	fmt.Fprintf(w, "%-24s %10s", "RMSE by silence's", "gap")
	for _, m := range methods {
		fmt.Fprintf(w, " %14s", m.name)
	}
	fmt.Fprintln(w)
	for _, s := range sounds {
		y := s.samples()
		for _, length := range soundGapLengths {
			g := &gapfill.Signal{Name: s.name, Rate: soundRate, Y: y, Gaps: gapfill.Even(soundRows, soundRows/soundGaps, length)}
			fmt.Fprintf(w, "%-24s %7d ms", s.name, 1000*length/soundRate)
			for _, m := range methods {
				f, err := m.fill(context.Background(), g)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", s.name, m.name, err)
				}
				rmse, silence := g.RMSE(f)
				fmt.Fprintf(w, " %14.4f", rmse/silence)
			}
			fmt.Fprintln(w)
		}
	}
	return nil
}
