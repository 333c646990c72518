package paper

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/score"
)

const gapsName = "gaps"

// gapsSet goes beyond the paper: single gaps of 5 to 80 ms all over recordings
// of speech and music, and what fills them best.
var gapsSet = set{name: gapsName, title: "Gaps of 5 to 80 ms in speech and music", fits: gapsFits, table: gapsTables, figures: gapsFigures}

// gapsRecordings are three of speech and one of music.
var gapsRecordings = []string{"arctic_aew_a0001.wav", "arctic_aew_a0002.wav", "speech_16k_be_mono.sph", "music_trumpet_44k.wav"}

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
	milliseconds    []int
	places          int // a recording
	repeats         int // seeds
	slowPlaces      int // the slow methods get the first of them, for the first seed
	paper           paperSizes
	gpReach         float64 // seconds to either side of a gap
	gpIterations    int
	gpPeaks, gpRows int // components; most rows
}

// paperSizes are those of the paper's start: features a component and
// iterations.
type paperSizes struct{ features, iterations int }

func sizesOfGaps(quick bool) gapsSizes {
	if quick {
		return gapsSizes{milliseconds: []int{5, 20}, places: 2, repeats: 1, slowPlaces: 1, paper: paperSizes{10, 5}, gpReach: 0.01, gpIterations: 3, gpPeaks: 3, gpRows: 1500}
	}
	return gapsSizes{milliseconds: []int{5, 10, 20, 40, 80}, places: 8, repeats: 2, slowPlaces: 3, paper: paperSizes{50, 100}, gpReach: 0.03, gpIterations: 30, gpPeaks: 8, gpRows: 1500}
}

func gapsFits(s *session) ([]fit, error) {
	z := sizesOfGaps(s.Quick)
	names := gapsRecordings
	if s.Quick {
		names = names[:1]
	}
	var out []fit
	for _, name := range names {
		r, err := s.recording(name)
		if err != nil {
			return nil, err
		}
		whole, err := r.at(0, len(r.samples))
		if err != nil {
			return nil, err
		}
		whole.name = strings.TrimSuffix(r.file, filepath.Ext(r.file))
		for seed := uint64(1); seed <= s.repeats(z.repeats); seed++ {
			places := whole.places(seed, z.places)
			if len(places) == 0 {
				return nil, fmt.Errorf("%s: no place for a gap: want %g s of sound at least", r.file, 2*placeMargin)
			}
			for _, ms := range z.milliseconds {
				out = append(out, s.gapFits(whole, places, ms, seed, z)...)
			}
		}
	}
	return out, nil
}

// gapFits are the fits to gaps of one length about some places.
func (s *session) gapFits(g *signal, places []int, ms int, seed uint64, z gapsSizes) []fit {
	length := int(math.Round(float64(ms*g.rate) / 1000))
	at := func(places []int) *gapTask {
		key := Key{Set: gapsName, Quick: s.Quick, Gap: length, Seed: seed}
		return &gapTask{task: &task{signal: g, gaps: gapsAt(places, length), key: key, log: s.log}, ms: ms, sizes: z}
	}
	out := at(places).fast()
	if seed == 1 {
		out = append(out, at(places[:min(z.slowPlaces, len(places))]).slow()...)
	}
	return out
}

// places draws up to count places in a signal, in the order drawn: where it is
// not silent, away from its ends and from each other. There may be room for
// fewer.
func (g *signal) places(seed uint64, count int) []int {
	// The length tells recordings apart, which else would have the same places.
	rng := rand.New(rand.NewPCG(seed, uint64(len(g.y))))
	samples := func(seconds float64) int { return int(math.Round(seconds * float64(g.rate))) }
	reach, margin, apart := samples(placeReach), samples(placeMargin), samples(placeApart)
	least := math.Pow(10, placeLevel/20.0) * score.RMS(g.y)
	room := len(g.y) - 2*margin
	var out []int
	for range placeTries {
		if room <= 0 || len(out) == count {
			break
		}
		at := margin + rng.IntN(room)
		free := score.RMS(g.y[at-reach:at+reach]) >= least
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
func gapsAt(places []int, length int) []audio.Gap {
	var out []audio.Gap
	for _, at := range places {
		start := at - length/2
		out = append(out, audio.Gap{Start: start, End: start + length})
	}
	sortGaps(out)
	return out
}
