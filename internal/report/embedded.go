package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
)

// Limits that keep a page small enough for a browser.
const (
	// mostSound bounds the bytes of the clip from the beginning on, and once more the
	// bytes of the clips around gaps beyond it.
	mostSound = 4 << 20
	// mostGaps bounds the gaps that have players and charts of their own.
	mostGaps = 40
	// openGaps is how many of them are open at first.
	openGaps = 3
	// mostGapPictures bounds those that have spectrograms.
	mostGapPictures = 16
	// aroundGap is how much is played on each side of a gap, in seconds.
	aroundGap = 0.3
	// bytesGiven is the size of a sample in a page; a sample in a gap takes
	// bytesFilled more.
	bytesGiven, bytesFilled = 2, 10
)

// Fill is what Impute reports on: a filled recording.
type Fill struct {
	Name      string // of the recording's file
	Output    string // of the filled one's
	Samples   int    // per channel
	Rate      int
	Channels  int
	Gaps      []impute.Gap // rising
	Result    *impute.Result
	Input     impute.Source // the recording as it was given, gaps and all
	Reference impute.Source // nil: none is known
	Scores    *Table        // nil: no reference
	Method    string        // that filled
	Density   *Densities    // nil: the method has no models with a density
	Settings  []Setting
}

// Device returns what filled the gaps: a model's backend, else the CPU.
func (f *Fill) Device() string { return cmp.Or(f.Result.Device, "cpu") }

// embedded is the part of a recording that the page holds: a clip from its
// beginning on, all of it where that is little enough, and clips around gaps
// beyond.
type embedded struct {
	*Fill
	recording recording
	end       int        // of the first clip; 0: there is none
	shown     []shownGap // rising
}

// shownGap is a gap with the frames around it that are played.
type shownGap struct {
	impute.Gap
	number int // from 1
	lo, hi int
	sd     float64 // the mean over it
}

func newEmbedded(f *Fill) (*embedded, error) {
	p := &embedded{Fill: f, end: f.Samples, recording: recording{Rate: f.Rate, Channels: f.Channels}}
	for p.end > 0 && p.cost(0, p.end) > mostSound {
		p.end = p.end / 4 * 3
	}
	for _, g := range f.Gaps { // the clip does not end in a gap
		if g.Start < p.end && p.end < g.End {
			p.end = g.Start
		}
	}
	if p.end > 0 {
		if err := p.add(0, p.end); err != nil {
			return nil, err
		}
	}
	return p, p.choose()
}

// cost returns the size of frames [lo, hi) in bytes.
func (p *embedded) cost(lo, hi int) int {
	return p.Channels * (bytesGiven*(hi-lo) + bytesFilled*audio.Missing(p.within(lo, hi)))
}

// within returns the gaps that lie in [lo, hi), wholly or in part.
func (p *embedded) within(lo, hi int) []impute.Gap {
	from := sort.Search(len(p.Gaps), func(i int) bool { return p.Gaps[i].End > lo })
	to := sort.Search(len(p.Gaps), func(i int) bool { return p.Gaps[i].Start >= hi })
	return p.Gaps[from:max(from, to)]
}

// add keeps a clip, with the fills of the gaps that lie in it.
func (p *embedded) add(lo, hi int) error {
	samples, err := p.Input.Read(lo, hi)
	if errors.Is(err, audio.ErrFormat) { // a gap may hold values that are not finite
		samples, err = impute.Around(p.Input, p.Gaps).Read(lo, hi)
	}
	if err != nil {
		return err
	}
	p.recording.Clips = append(p.recording.Clips, clip{lo, samples})
	for _, g := range p.within(lo, hi) {
		if slices.ContainsFunc(p.recording.Gaps, func(f filledGap) bool { return f.Start == g.Start }) {
			continue
		}
		mean, sd := p.fill(g)
		filled := filledGap{Start: g.Start, End: g.End, Mean: singles(mean...), SD: singles(sd...)}
		if p.Reference != nil {
			truth, err := p.Reference.Read(g.Start, g.End)
			if err != nil {
				return err
			}
			filled.Reference = pcm(truth...)
		}
		p.recording.Gaps = append(p.recording.Gaps, filled)
	}
	return nil
}

// fill returns the mean and the standard deviation of a gap's fill, by channel.
func (p *embedded) fill(g impute.Gap) (mean, sd [][]float64) {
	all := p.Result.Excerpts
	e := all[sort.Search(len(all), func(i int) bool { return all[i].End >= g.End })]
	for c := range e.Fit {
		mean, sd = append(mean, e.Fit[c][g.Start-e.Start:g.End-e.Start]), append(sd, e.SD[c][g.Start-e.Start:g.End-e.Start])
	}
	return mean, sd
}

// choose picks the gaps to show: all, or those with the largest standard deviations.
func (p *embedded) choose() error {
	var all []shownGap
	for i, g := range p.Gaps {
		side := int(aroundGap * float64(p.Rate))
		s := shownGap{Gap: g, number: i + 1, lo: max(0, g.Start-side), hi: min(p.Samples, g.End+side)}
		_, sd := p.fill(g)
		for _, v := range slices.Concat(sd...) {
			s.sd += v / float64(g.Len()*p.Channels)
		}
		if g.End <= p.end { // no part of the first clip is kept twice
			s.hi = min(s.hi, p.end)
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b shownGap) int { return cmp.Compare(b.sd, a.sd) })
	room := mostSound
	for _, s := range all {
		if len(p.shown) == mostGaps {
			break
		}
		if s.hi > p.end {
			cost := p.cost(s.lo, s.hi)
			if cost > room {
				continue
			}
			room -= cost
			if err := p.add(s.lo, s.hi); err != nil {
				return err
			}
		}
		p.shown = append(p.shown, s)
	}
	slices.SortFunc(p.shown, func(a, b shownGap) int { return cmp.Compare(a.Start, b.Start) })
	return nil
}

// limits says which parts the page leaves out, and why.
func (p *embedded) limits() []string {
	var out []string
	if p.end < p.Samples {
		out = append(out, fmt.Sprintf("The page holds the first %s of the recording, and %.1f s around each gap shown beyond that: "+
			"all of it would make the page too large for a browser. The filled recording has it all.", clock(p.end, p.Rate), aroundGap))
	}
	if len(p.shown) < len(p.Gaps) {
		out = append(out, fmt.Sprintf("Of %d gaps it shows the %d whose fills are least sure (the largest mean standard deviations), "+
			"as many as a browser bears.", len(p.Gaps), len(p.shown)))
	}
	if p.Channels > mostSeries {
		out = append(out, fmt.Sprintf("Of %d channels it draws the first %d; the players have all.", p.Channels, mostSeries))
	}
	return out
}

// clock writes the time of a sample, in minutes from one minute on.
func clock(sample, rate int) string {
	s := float64(sample) / float64(rate)
	if s < 60 {
		return fmt.Sprintf("%.3f s", s)
	}
	return fmt.Sprintf("%d:%06.3f min", int(s)/60, math.Mod(s, 60))
}
