package paper

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/bench/internal/gapfill"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/score"
)

// gapsRecordings are three of speech and one of music.
var gapsRecordings = append(slices.Clone(speech), music)

// Places are drawn all over a recording, the same for every length of gap.
const (
	placeReach  = 0.050 // seconds to either side, whose level decides whether it is silent there
	placeLevel  = -30   // dB below the recording's, under which it is
	placeMargin = 0.100 // seconds from the ends at least
	placeApart  = 0.250 // seconds between two at least
	placeTries  = 10_000
)

// gapsSizes are what a quick run makes smaller.
type gapsSizes struct {
	recordings           []string
	milliseconds         []int
	places, slowPlaces   int // of a recording; the slow methods get the first of them, for the first seed
	repeats              int // seeds
	features, iterations int // of a component, from the paper's start
	gp                   gapsGP
}

var (
	gapsFull = gapsSizes{
		recordings: gapsRecordings, milliseconds: []int{5, 10, 20, 40, 80}, places: 8, slowPlaces: 3, repeats: 2,
		features: 50, iterations: 100, gp: gapsGP{reach: 0.03, iterations: 30, peaks: 8},
	}
	gapsQuick = gapsSizes{
		recordings: gapsRecordings[:1], milliseconds: []int{5, 20}, places: 2, slowPlaces: 1, repeats: 1,
		features: 10, iterations: 5, gp: gapsGP{reach: 0.01, iterations: 3, peaks: 3},
	}
)

// The starts of package impute, and how long windows are from the paper's start, which chooses none: the middle of impute's.
const (
	withWindows    = ", windows"
	withoutWindows = ", no windows"
	paperWindow    = 0.048 // seconds
)

func gapsFits(s *session) (out []fit, err error) {
	z := gapsFull
	if s.Quick {
		z = gapsQuick
	}
	for _, name := range z.recordings {
		r, err := s.recording(name)
		if err != nil {
			return nil, err
		}
		g, err := r.at(0, len(r.samples))
		if err != nil {
			return nil, err
		}
		g.Name = r.stem()
		for seed := uint64(1); seed <= s.repeats(z.repeats); seed++ {
			places := g.places(seed, z.places)
			if len(places) == 0 {
				return nil, fmt.Errorf("%s: no place for a gap: want %g s of sound at least", r.Data, 2*placeMargin)
			}
			for _, ms := range z.milliseconds {
				length := int(math.Round(float64(ms*r.rate) / 1000))
				at := func(places []int) *task {
					t := s.task("gaps", *g, gapsAt(places, length), seed)
					t.key.Gap, t.perGap = length, true
					return t
				}
				out = append(out, at(places).fast(ms)...)
				if seed == 1 {
					out = append(out, at(places[:min(z.slowPlaces, len(places))]).slow(z)...)
				}
			}
		}
	}
	return out, nil
}

// places draws up to count places in a signal, in the order drawn: where it is not silent, away from its ends and from each other.
// There may be space for fewer.
func (g *signal) places(seed uint64, count int) (out []int) {
	// The length tells recordings apart, which else would have the same places.
	rng := rand.New(rand.NewPCG(seed, uint64(len(g.Y))))
	samples := func(seconds float64) int { return int(math.Round(seconds * float64(g.Rate))) }
	reach, margin, apart := samples(placeReach), samples(placeMargin), samples(placeApart)
	least := math.Pow(10, placeLevel/20.0) * score.RMS(g.Y)
	space := len(g.Y) - 2*margin
	for range placeTries {
		if space <= 0 || len(out) == count {
			break
		}
		at := margin + rng.IntN(space)
		free := score.RMS(g.Y[at-reach:at+reach]) >= least
		for _, other := range out {
			free = free && max(at-other, other-at) >= apart
		}
		if free {
			out = append(out, at)
		}
	}
	return out
}

// gapsAt are gaps of a length about places, in rising order.
func gapsAt(places []int, length int) (out []audio.Gap) {
	for _, at := range slices.Sorted(slices.Values(places)) {
		out = append(out, audio.Gap{Start: at - length/2, End: at - length/2 + length})
	}
	return out
}

// An arSetting is an autoregressive fill: order and context to either side in ms, and rounds.
type arSetting struct {
	order, context float64
	rounds         int
}

func (a arSetting) options(rate int) audio.AROptions {
	samples := func(ms float64) int { return int(math.Round(ms * float64(rate) / 1000)) }
	return audio.AROptions{Order: samples(a.order), Context: samples(a.context), Iterations: a.rounds}
}

// arSettings are fills beside the default, by the length of the gap in ms. They were chosen from 4 orders × 4 contexts × 3 rounds and some
// longer ones on these recordings at other places, each the one with the least geometric mean of the RMSE over gaps: the first of three
// speech recordings, the second of the music. The third, an order of 32 ms and eight times as much context, is what is common for music in
// the literature.
var arSettings = []struct {
	method   string
	settings map[int]arSetting
}{
	{"ar, for speech", map[int]arSetting{5: {12, 18, 2}, 10: {9, 18, 2}, 20: {12, 18, 2}, 40: {9, 18, 2}, 80: {6, 60, 2}}},
	{"ar, for music", map[int]arSetting{5: {16, 40, 3}, 10: {16, 40, 3}, 20: {16, 40, 3}, 40: {9, 25, 2}, 80: {9, 25, 2}}},
	{"ar, 32 ms", map[int]arSetting{5: {32, 256, 3}, 10: {32, 256, 3}, 20: {32, 256, 3}, 40: {32, 256, 3}, 80: {32, 256, 3}}},
}

// fast are the methods that fill every gap: references, and package impute with the spectrum start.
func (t *task) fast(ms int) []fit {
	out := []fit{t.fill("silence", "", gapfill.Silence), t.fill("linear", "", gapfill.Linear), t.fill("ar", "", gapfill.AR(audio.DefaultAR))}
	for _, a := range arSettings {
		out = append(out, t.fill(a.method, "", gapfill.AR(a.settings[ms].options)))
	}
	return append(out,
		t.imputed(spectrumStart+withWindows, vssgp.Options{}),
		t.imputed(spectrumStart+withoutWindows, vssgp.Options{Window: vssgp.WindowNone}))
}

// slow are those that are given a few gaps only.
func (t *task) slow(z gapsSizes) []fit {
	o := paperAudio(z.features, 16000) // the paper's rate
	o.Iterations = z.iterations
	windows, none := o, o
	windows.Window, none.Window = paperWindow, vssgp.WindowNone
	return []fit{t.imputed(paperStart+withWindows, windows), t.imputed(paperStart+withoutWindows, none), t.fill("gp", gpStart, z.gp.fill)}
}

// imputed is package impute's fill.
func (t *task) imputed(start string, o vssgp.Options) fit {
	o.Seed = t.key.Seed
	return t.fill("vssgp", start, gapfill.Impute(impute.Options{Model: o}))
}
