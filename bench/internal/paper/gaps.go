package paper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/timewarp"
)

// A sound is a recording to cut gaps into. Settings of the method to compare with are chosen for each class.
type sound struct{ class, file string }

// sounds are the recordings of the set.
var sounds = []sound{
	{"speech", "arctic_aew_a0001.wav"}, {"speech", "arctic_aew_a0002.wav"}, {"speech", "speech_16k_be_mono.sph"},
	{"speech", "libri_198-209-0000.wav"}, {"speech", "libri_3436-172162-0000.wav"},
	{"music", "music_strings_44k.wav"}, {"music", "music_trumpet_44k.wav"},
}

// gapLengths are the gaps' lengths in milliseconds.
var gapLengths = []float64{2.5, 5, 10, 20, 40, 80}

// Places are drawn all over a recording, others for every length and seed.
const (
	placeCount  = 12
	placeReach  = 0.050 // seconds to either side of a gap's middle: their level decides whether the place is silent
	placeLevel  = -30   // dB of the recording's level, under which it is
	placeMargin = 0.250 // seconds from the ends at least
	placeApart  = 0.200 // seconds from one start to the next at least
	placeTries  = 10_000
)

// The mixture's settings were chosen on the gaps of tunedSeed. Slow methods and ablations fill only the gaps of partSeed.
const (
	tunedSeed = 1
	gapSeeds  = 3
	partSeed  = 2
)

// gapsFits lists the fills of gaps in speech and music. A recording that is not there is left out.
func gapsFits(s *session) (out []fit, err error) {
	list, err := s.sounds()
	if err != nil {
		return nil, err
	}
	lengths := gapLengths
	if s.Quick {
		list, lengths = list[:1], []float64{5, 20}
	}
	for i, r := range list {
		g, err := s.whole(r.file)
		switch {
		case errors.Is(err, errMissing) && i < len(sounds):
			fmt.Fprintln(s.log, "left out:", err)
			continue
		case errors.Is(err, errMissing): // it was asked for
			return nil, fmt.Errorf("%v: %w", err, ErrOptions)
		case err != nil:
			return nil, err
		}
		if slices.ContainsFunc(out, func(f fit) bool { return f.line.Case == g.Name && f.line.Source != g.Source }) {
			return nil, fmt.Errorf("two recordings are named %q; rename one of them: %w", g.Name, ErrOptions)
		}
		for seed := uint64(tunedSeed); seed <= s.repeats(gapSeeds); seed++ {
			for _, ms := range lengths {
				length := int(math.Round(ms * float64(g.Rate) / 1000))
				places := g.places(seed, length, s.size(placeCount, 1))
				if len(places) == 0 {
					return nil, fmt.Errorf("%s: no position for a gap of %g ms: there must be sound %g s from either end: %w", g.Data, ms, placeMargin,
						ErrOptions)
				}
				t := s.task(gapsSet, *g, gapsAt(places, length), seed)
				t.key.Gap, t.class = length, r.class
				out = append(out, t.fills()...)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no recording of this set: %w", s.Data, errMissing)
	}
	return out, nil
}

// sounds are the set's recordings and those that the options name.
func (s *session) sounds() ([]sound, error) {
	out := slices.Clone(sounds)
	for _, r := range s.Recordings {
		class, file, ok := strings.Cut(r, ":")
		if !ok || class == "" || file == "" {
			return nil, fmt.Errorf("recording %q, must be CLASS:FILE, as in speech:voice.wav: %w", r, ErrOptions)
		}
		out = append(out, sound{class, file})
	}
	return out, nil
}

// whole is a recording, scaled to excerptLevel.
func (s *session) whole(file string) (*signal, error) {
	r, err := s.recording(file)
	if err != nil {
		return nil, err
	}
	g, err := r.at(0, len(r.Y))
	if err != nil {
		return nil, err
	}
	g.Name = r.Name
	return g, nil
}

// places draws the starts of up to count gaps of a length in a signal, in the order drawn: where it is not silent, away from its ends and
// from each other. There may be space for fewer.
func (g *signal) places(seed uint64, length, count int) (out []int) {
	// Recordings and lengths have separate positions.
	rng := rand.New(rand.NewPCG(seed, uint64(len(g.Y))<<32|uint64(length)))
	samples := func(seconds float64) int { return int(math.Round(seconds * float64(g.Rate))) }
	reach, margin, apart := samples(placeReach), samples(placeMargin), samples(placeApart)
	least := math.Pow(10, placeLevel/20.0) * bayes.RMS(g.Y)
	space := len(g.Y) - 2*margin - length
	for range placeTries {
		if space <= 0 || len(out) == count {
			break
		}
		start := margin + rng.IntN(space)
		middle := start + length/2
		free := bayes.RMS(g.Y[middle-reach:middle+reach]) >= least
		for _, other := range out {
			free = free && max(start-other, other-start) >= apart
		}
		if free {
			out = append(out, start)
		}
	}
	return out
}

// gapsAt are gaps of a length from places on, in rising order.
func gapsAt(places []int, length int) (out []audio.Gap) {
	for _, start := range slices.Sorted(slices.Values(places)) {
		out = append(out, audio.Gap{Start: start, End: start + length})
	}
	return out
}

const gapsSet = "gaps"

// The methods that the set compares. The mixture is the default of `vssgp impute`; each line of gridMethod has a setting as its start.
const (
	mixtureMethod = "mixture"
	arMethod      = "ar"
	gridMethod    = "ar, one spectrum"
	bestMethod    = "ar, best of the grid" // made of gridMethod's lines
	formerMethod  = "vssgp"                // features from the spectrum, in windows
)

// arGrid are the contexts and orders of gridMethod in milliseconds.
var arGrid = [][2]float64{{20, 9}, {20, 12.5}, {60, 22.7}, {120, 40}, {250, 40}}

// single is one autoregressive fill.
func single(contextMS, orderMS float64) timewarp.Candidates {
	e := timewarp.Estimate{Context: contextMS / 1000, Order: orderMS / 1000}
	c := timewarp.Candidate{Estimates: []timewarp.Estimate{e}, Order: e.Order}
	return timewarp.Candidates{All: []timewarp.Candidate{c}, Widen: timewarp.AR().Widen}
}

// alone is the line of a method that fills each gap by itself. The method is created when it is needed: there are thousands of lines.
func (t *task) alone(method, start string, make func() filler) fit {
	return t.fill(method, start, func(ctx context.Context, s *signal) (*filling, error) {
		return fillAlone(timewarp.Reach, make())(ctx, s)
	})
}

// fills are the fills of a task's gaps by every method.
func (t *task) fills() (out []fit) {
	by := func(c timewarp.Candidates) func() filler {
		return func() filler { return fillWarp(timewarp.NewFiller(c, float64(t.Rate))) }
	}
	settled := func(m filler) func() filler { return func() filler { return m } }
	out = []fit{t.alone(mixtureMethod, "", by(timewarp.Mixture())), t.alone(arMethod, "", by(timewarp.AR()))}
	for _, g := range arGrid {
		out = append(out, t.alone(gridMethod, fmt.Sprintf("%g ms, order %g ms", g[0], g[1]), by(single(g[0], g[1]))))
	}
	out = append(out, t.alone("janssen", "", settled(fillAR)), t.alone("linear", "", settled(fillLinear)))
	if t.key.Seed != partSeed {
		return out
	}
	out = append(out, t.alone(formerMethod, "", settled(fillVSSGP(restore.Options{Model: vssgp.Options{Seed: t.key.Seed}}))))
	for _, v := range leftOut {
		c := timewarp.Mixture()
		v.change(&c)
		out = append(out, t.alone(mixtureMethod, v.name, by(c)))
	}
	return out
}
