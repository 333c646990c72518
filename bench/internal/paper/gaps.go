package paper

import (
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
)

// A sound is a recording in which gaps are made.
type sound struct{ class, file string }

// sounds lists the recordings of the set.
var sounds = []sound{
	{"speech", "arctic_aew_a0001.wav"}, {"speech", "arctic_aew_a0002.wav"}, {"speech", "speech_16k_be_mono.sph"},
	{"speech", "libri_198-209-0000.wav"}, {"speech", "libri_3436-172162-0000.wav"},
	{"music", "music_strings_44k.wav"}, {"music", "music_trumpet_44k.wav"},
}

// gapLengths lists the lengths of the gaps in milliseconds.
var gapLengths = []float64{2.5, 5, 10, 20, 40, 80}

// The positions of gaps are drawn over the whole recording, separately for every length and seed.
const (
	gapCount    = 12
	gapReach    = 0.050 // seconds before and after the middle of a gap in which the level is measured
	gapLevel    = -30   // minimum level in decibels relative to the level of the recording
	gapMargin   = 0.250 // minimum distance from the ends in seconds
	gapDistance = 0.200 // minimum distance between the starts of two gaps in seconds
	gapTries    = 10_000
)

// The settings of the mixture were tuned on the gaps of tunedSeed. Method vssgp, which is slow, fills only the gaps of
// partSeed.
const (
	tunedSeed = 1
	gapSeeds  = 3
	partSeed  = 2
)

// gapsFits returns the fills of gaps in speech and music. Missing recordings are skipped, unless they were given as
// arguments.
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
			fmt.Fprintln(s.log, "skipped:", err)
			continue
		case errors.Is(err, errMissing): // given as an argument
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
				positions := g.positions(seed, length, s.size(gapCount, 1))
				if len(positions) == 0 {
					return nil, fmt.Errorf("%s: no position for a gap of %g ms that is not silent and at least %g s from the ends: %w", g.Data, ms,
						gapMargin, ErrOptions)
				}
				t := s.task(gapsSet, *g, gapsAt(positions, length), seed)
				t.key.Gap, t.class = length, r.class
				out = append(out, t.fills()...)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s contains no recording of this set: %w", s.Data, errMissing)
	}
	return out, nil
}

// sounds returns the recordings of the set and of the options.
func (s *session) sounds() ([]sound, error) {
	out := slices.Clone(sounds)
	for _, r := range s.Recordings {
		class, file, ok := strings.Cut(r, ":")
		if !ok || class == "" || file == "" {
			return nil, fmt.Errorf("recording %q: must be CLASS:FILE, as in speech:voice.wav: %w", r, ErrOptions)
		}
		out = append(out, sound{class, file})
	}
	return out, nil
}

// whole returns a whole recording, scaled to excerptLevel.
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

// positions draws the starts of up to count gaps of length samples, in the order drawn. The gaps are not in silence,
// and have minimum distances from each other and from the ends. It returns fewer if the signal is too short.
func (g *signal) positions(seed uint64, length, count int) (out []int) {
	// Positions are independent for every recording and length.
	rng := rand.New(rand.NewPCG(seed, uint64(len(g.Y))<<32|uint64(length)))
	samples := func(seconds float64) int { return int(math.Round(seconds * float64(g.Rate))) }
	reach, margin, apart := samples(gapReach), samples(gapMargin), samples(gapDistance)
	least := math.Pow(10, gapLevel/20.0) * bayes.RMS(g.Y)
	space := len(g.Y) - 2*margin - length
	for range gapTries {
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

// gapsAt returns gaps of length samples that start at positions, in ascending order.
func gapsAt(positions []int, length int) (out []audio.Gap) {
	for _, start := range slices.Sorted(slices.Values(positions)) {
		out = append(out, audio.Gap{Start: start, End: start + length})
	}
	return out
}

const gapsSet = "gaps"

// The methods that the set compares, which are methods of package restore. The tables are relative to arMethod.
const (
	mixtureMethod = string(restore.Mixture)
	arMethod      = string(restore.AR)
	vssgpMethod   = string(restore.VSSGP) // features initialized from the spectrum, with windows
)

// fills returns the fits of a task by every method.
func (t *task) fills() []fit {
	separate := func(method string, f filler) fit { return t.fill(method, "", fillSeparately(f)) }
	out := []fit{
		separate(mixtureMethod, fillBy(restore.Options{Method: restore.Mixture})),
		separate(arMethod, fillBy(restore.Options{Method: restore.AR})),
		separate("linear", fillLinear),
	}
	if t.key.Seed == partSeed {
		o := restore.Options{Method: restore.VSSGP, Model: vssgp.Options{Seed: t.key.Seed}}
		out = append(out, separate(vssgpMethod, fillBy(o)))
	}
	return out
}
