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

// Places are drawn all over a recording, the same for every length of gap.
const (
	placeReach  = 0.050 // seconds to either side: their level decides whether the place is silent
	placeLevel  = -30   // dB of the recording's level, under which it is
	placeMargin = 0.100 // seconds from the ends at least
	placeApart  = 0.250 // seconds between two at least
	placeTries  = 10_000
)

// The starts of package impute, and how long windows are from the paper's start, which chooses none: the middle of impute's.
const (
	withWindows    = ", windows"
	withoutWindows = ", no windows"
	ownStart       = spectrumStart + withWindows // of package impute as it comes
	paperWindow    = 0.048                       // seconds
)

// gapsFits lists the fits of gaps of 5 to 80 ms in three recordings of speech and one of music. The slow methods get the first places only,
// of the first seed.
func gapsFits(s *session) (out []fit, err error) {
	recordings, milliseconds := append(slices.Clone(speech), music), []int{5, 10, 20, 40, 80}
	if s.Quick {
		recordings, milliseconds = recordings[:1], []int{5, 20}
	}
	for _, name := range recordings {
		r, err := s.recording(name)
		if err != nil {
			return nil, err
		}
		g, err := r.at(0, len(r.Y))
		if err != nil {
			return nil, err
		}
		g.Name = r.Name
		for seed := uint64(1); seed <= s.repeats(s.size(2, 1)); seed++ {
			places := g.places(seed, s.size(8, 2))
			if len(places) == 0 {
				return nil, fmt.Errorf("%s: no place for a gap: want %g s of sound at least", r.Data, 2*placeMargin)
			}
			for _, ms := range milliseconds {
				length := int(math.Round(float64(ms*r.Rate) / 1000))
				at := func(places []int) *task {
					t := s.task("gaps", *g, gapsAt(places, length), seed)
					t.key.Gap, t.perGap = length, true
					return t
				}
				out = append(out, at(places).fast(ms)...)
				if seed == 1 {
					out = append(out, at(places[:min(s.size(3, 1), len(places))]).slow(s)...)
				}
			}
		}
	}
	return out, nil
}

// places draws up to count places in a signal, in the order drawn: where it is not silent, away from its ends and from each other.
// There may be space for fewer.
func (g *signal) places(seed uint64, count int) (out []int) {
	// The length tells recordings apart: else all would have the same places.
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
// speech recordings, the second of the music. The third, an order of 32 ms and eight times as much context, is common for music in the
// literature.
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
	out := t.references(gapfill.Silence)
	for _, a := range arSettings {
		out = append(out, t.fill(a.method, "", gapfill.AR(a.settings[ms].options)))
	}
	return append(out, t.imputed(ownStart, vssgp.Options{}),
		t.imputed(spectrumStart+withoutWindows, vssgp.Options{Window: vssgp.WindowNone}))
}

// slow are the methods that fill a few gaps only.
func (t *task) slow(s *session) []fit {
	windows := paperAudio(s.size(50, 10), 16000) // the paper's rate
	windows.Iterations, windows.Window = s.size(100, 5), paperWindow
	none := windows
	none.Window = vssgp.WindowNone
	gp := gpFill(0.03, 30, 8)
	if s.Quick {
		gp = gpFill(0.01, 3, 3)
	}
	return []fit{t.imputed(paperStart+withWindows, windows), t.imputed(paperStart+withoutWindows, none), t.fill("gp", gpStart, gp)}
}

// imputed is package impute's fill.
func (t *task) imputed(start string, o vssgp.Options) fit {
	o.Seed = t.key.Seed
	return t.fill("vssgp", start, gapfill.Impute(impute.Options{Model: o}))
}
