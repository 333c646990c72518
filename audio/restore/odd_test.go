package restore

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// TestOddGaps: wherever gaps lie, and whatever lies around them, fills are numbers, within the sound's range, with standard deviations
// and draws that are numbers too.
func TestOddGaps(t *testing.T) {
	sound := tones(24_000, 1, 0.01)[0]
	clear(sound[:4000])
	constant := slices.Repeat([]float64{0.3}, 24_000)
	close := []Gap{{Start: 9000, End: 9040}}
	for at := 9043; at < slow.Pick(9400, 9150); at += 47 {
		close = append(close, Gap{Start: at, End: at + 40})
	}
	long := slow.Pick(4000, 1000)
	for _, c := range []struct {
		name string
		x    []float64
		rate int
		gaps []Gap
	}{
		{"less than a reach in all", sound[8000:8300], rate, []Gap{{Start: 90, End: 130}, {Start: 200, End: 210}}},
		{"less than a millisecond between", sound, rate, close},
		{"long, at the beginning", sound, rate, []Gap{{Start: 0, End: long}}},
		{"long, at the end", sound, rate, []Gap{{Start: 24_000 - long, End: 24_000}}},
		{"long, a sample from the beginning", sound[9000:], rate, []Gap{{Start: 1, End: long}}},
		{"long, beside short ones", sound, rate, []Gap{{Start: 7990, End: 7999}, {Start: 8000, End: 8000 + long}, {Start: 8003 + long, End: 8020 + long}}},
		{"long, beside long", sound, rate, []Gap{{Start: 6000, End: 6000 + long}, {Start: 6002 + long, End: 6002 + 2*long}}},
		{"very long", sound, rate, []Gap{{Start: 4100, End: slow.Pick(23_000, 8000)}}},
		{"long, in silence", sound[:4000], rate, []Gap{{Start: 1000, End: 3000}}},
		{"where silence ends", sound, rate, []Gap{{Start: 3990, End: 4010}, {Start: 4100, End: 4140}}},
		{"in a constant", constant, rate, []Gap{{Start: 3000, End: 3040}, {Start: 9000, End: 9000 + long}}},
		{"at 44.1 kHz", sound, 44_100, []Gap{{Start: 8000, End: 8400}, {Start: 9000, End: 9001}}},
		{"at 96 kHz", sound, 96_000, []Gap{{Start: 8000, End: 8400}}},
	}[:slow.Pick(13, 11)] {
		t.Run(c.name, func(t *testing.T) {
			loud := max(slices.Max(c.x), -slices.Min(c.x))
			x := [][]float64{slices.Clone(c.x)}
			for _, g := range c.gaps {
				for i := g.Start; i < g.End; i++ {
					x[0][i] = math.Inf(rand.IntN(2)) // never looked at
				}
			}
			for _, m := range []Method{Mixture, AR} {
				r, err := Fill(context.Background(), x, c.rate, c.gaps, Options{Method: m, Draws: 1})
				if err != nil {
					t.Fatal(m, err)
				}
				for _, g := range c.gaps {
					for i := g.Start; i < g.End; i++ {
						mean, sd, draw := r.Filled[0][i], r.SD[0][i], r.Draws[0][0][i]
						if !(math.Abs(mean) <= 3*loud) || !(sd >= 0 && sd <= 3*loud) || !(math.Abs(draw) <= 10*loud) {
							t.Fatalf("%s: sample %d is filled with %v ± %v and drawn as %v, in a sound of at most %v", m, i, mean, sd, draw, loud)
						}
					}
				}
			}
		})
	}
}
