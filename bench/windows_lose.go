package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/score"
)

// The sounds of `bench windows -table`: what windows are worst at, and the same
// with a voice's vibrato.
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

// soundGapLengths are those of the gaps, in samples.
var soundGapLengths = []int{80, 320, 960}

// makeSound is the sum of the notes and their overtones, with noise.
func makeSound(notes []float64, depth float64) []float64 {
	rng := rand.New(rand.NewPCG(1, 0x50))
	y := make([]float64, soundRows)
	for _, note := range notes {
		for h := 1; h <= overtones; h++ {
			f, phase := note*float64(h), 2*math.Pi*rng.Float64()
			for n := range y {
				t := float64(n) / soundRate
				wobble := depth * math.Sin(2*math.Pi*vibrato*t) / (2 * math.Pi * vibrato)
				y[n] += math.Sin(2*math.Pi*f*(t+wobble)+phase) / float64(h) / math.Sqrt(float64(len(notes)))
			}
		}
	}
	for n := range y {
		y[n] += soundNoise * rng.NormFloat64()
	}
	return y
}

// loseTable prints the error in the gaps of each sound by silence's, for windows
// of several lengths, for none, and for an autoregressive fill.
func loseTable(w io.Writer) error {
	window := func(seconds float64) func(y []float64, gaps []audio.Gap) ([]float64, error) {
		return func(y []float64, gaps []audio.Gap) ([]float64, error) {
			o := impute.Options{Model: vssgp.Options{Window: vssgp.WindowAuto, WindowCandidates: []float64{seconds}}, All: true}
			r, err := impute.Fill(context.Background(), [][]float64{audio.FillSilence(y, gaps)}, soundRate, gaps, o)
			if err != nil {
				return nil, err
			}
			return r.Filled[0], nil
		}
	}
	methods := []struct {
		name string
		fill func(y []float64, gaps []audio.Gap) ([]float64, error)
	}{
		{"32 ms", window(0.032)}, {"64 ms", window(0.064)}, {"128 ms", window(0.128)}, {"none", window(1e6)},
		{"autoregressive", func(y []float64, gaps []audio.Gap) ([]float64, error) {
			return audio.FillAR(audio.FillSilence(y, gaps), gaps, audio.DefaultAR(soundRate))
		}},
	}
	fmt.Fprintf(w, "%-24s %10s", "RMSE by silence's", "gap")
	for _, m := range methods {
		fmt.Fprintf(w, " %14s", m.name)
	}
	fmt.Fprintln(w)
	for _, s := range sounds {
		y := makeSound(s.notes, s.depth)
		for _, length := range soundGapLengths {
			gaps := make([]audio.Gap, soundGaps)
			for i := range gaps {
				gaps[i].Start = (2*i + 1) * soundRows / (2 * soundGaps)
				gaps[i].End = gaps[i].Start + length
			}
			fmt.Fprintf(w, "%-24s %7d ms", s.name, 1000*length/soundRate)
			for _, m := range methods {
				filled, err := m.fill(y, gaps)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", s.name, m.name, err)
				}
				var got, want []float64
				for _, g := range gaps {
					got, want = append(got, filled[g.Start:g.End]...), append(want, y[g.Start:g.End]...)
				}
				fmt.Fprintf(w, " %14.4f", score.RMSE(got, want)/score.RMS(want))
			}
			fmt.Fprintln(w)
		}
	}
	return nil
}
