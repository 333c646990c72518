package report

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
)

// Limits that keep a page small enough for a browser.
const (
	// mostSound bounds the bytes of the clip that is held from the beginning on, and
	// once more those of the clips around gaps beyond it.
	mostSound = 4 << 20
	// mostGaps bounds the gaps that have players and charts of their own.
	mostGaps = 40
	// openGaps is how many of them are open at first.
	openGaps = 3
	// mostGapPictures bounds those that have spectrograms.
	mostGapPictures = 16
	// aroundGap is how much is played on each side of a gap, in seconds.
	aroundGap = 0.3
	// bytesGiven is the size of a sample in a page; one in a gap takes
	// bytesFilled more.
	bytesGiven, bytesFilled = 2, 10
)

// embedded is the part of a recording that the page holds: a clip from its
// beginning on, all of it where that is little enough, and clips around gaps
// beyond.
type embedded struct {
	*Fill
	recording *recording
	end       int          // of the first clip; 0: there is none
	shown     []shownGap   // rising
	dropped   int          // gaps that are not shown
	filled    []impute.Gap // whose fill the page holds
}

// shownGap is a gap with the frames around it that are played.
type shownGap struct {
	impute.Gap
	number   int // from 1
	lo, hi   int
	sd       float64 // the mean over it
	mean     [][]float64
	deviance [][]float64
}

func newEmbedded(f *Fill) (*embedded, error) {
	p := &embedded{Fill: f, end: f.Samples, recording: &recording{Rate: f.Rate, Channels: f.Channels}}
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
	if err := p.choose(); err != nil {
		return nil, err
	}
	for _, g := range p.filled {
		if err := p.addFilled(g); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// cost is the size of frames [lo, hi) in bytes.
func (p *embedded) cost(lo, hi int) int {
	n := bytesGiven * (hi - lo)
	for _, g := range p.within(lo, hi) {
		n += bytesFilled * g.Len()
	}
	return n * p.Channels
}

// within are the gaps that lie in [lo, hi), wholly or in part.
func (p *embedded) within(lo, hi int) []impute.Gap {
	from := sort.Search(len(p.Gaps), func(i int) bool { return p.Gaps[i].End > lo })
	to := sort.Search(len(p.Gaps), func(i int) bool { return p.Gaps[i].Start >= hi })
	return p.Gaps[from:max(from, to)]
}

// add holds a clip, with the fills of the gaps that lie in it.
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
		if !slices.Contains(p.filled, g) {
			p.filled = append(p.filled, g)
		}
	}
	return nil
}

// excerpt is the one that a gap lies in.
func (p *embedded) excerpt(g impute.Gap) *impute.Excerpt {
	all := p.Result.Excerpts
	return &all[sort.Search(len(all), func(i int) bool { return all[i].End >= g.End })]
}

// inGap is the part of an excerpt's channels that lies in a gap.
func inGap(e *impute.Excerpt, channels [][]float64, g impute.Gap) [][]float64 {
	var out [][]float64
	for _, c := range channels {
		out = append(out, c[g.Start-e.Start:g.End-e.Start])
	}
	return out
}

// choose takes the gaps to show: all, or the ones with the largest standard deviations.
func (p *embedded) choose() error {
	var all []shownGap
	for i, g := range p.Gaps {
		e := p.excerpt(g)
		s := shownGap{Gap: g, number: i + 1, mean: inGap(e, e.Fit, g), deviance: inGap(e, e.SD, g)}
		for _, c := range s.deviance {
			for _, v := range c {
				s.sd += v / float64(g.Len()*p.Channels)
			}
		}
		side := int(aroundGap * float64(p.Rate))
		s.lo, s.hi = max(0, g.Start-side), min(p.Samples, g.End+side)
		if g.End <= p.end { // the first clip is not held twice
			s.hi = min(s.hi, p.end)
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b shownGap) int { return cmp.Compare(b.sd, a.sd) })
	room := mostSound
	for _, s := range all {
		inside := s.hi <= p.end
		if len(p.shown) == mostGaps || !inside && p.cost(s.lo, s.hi) > room {
			p.dropped++
			continue
		}
		p.shown = append(p.shown, s)
		if inside {
			continue
		}
		room -= p.cost(s.lo, s.hi)
		if err := p.add(s.lo, s.hi); err != nil {
			return err
		}
	}
	slices.SortFunc(p.shown, func(a, b shownGap) int { return cmp.Compare(a.Start, b.Start) })
	return nil
}

// addFilled holds the fill of a gap.
func (p *embedded) addFilled(g impute.Gap) error {
	e := p.excerpt(g)
	out := filledGap{Start: g.Start, End: g.End, Mean: inGap(e, e.Fit, g), SD: inGap(e, e.SD, g)}
	if p.Reference != nil {
		truth, err := p.Reference.Read(g.Start, g.End)
		if err != nil {
			return err
		}
		out.Reference = truth
	}
	p.recording.Gaps = append(p.recording.Gaps, out)
	return nil
}

// limits says which parts the page leaves out, and why.
func (p *embedded) limits() []string {
	var out []string
	if p.end < p.Samples {
		out = append(out, fmt.Sprintf("The page holds the first %s of the recording, and %.1f s around each gap shown beyond that: "+
			"all of it would make the page too large for a browser. The filled recording has it all.", clock(p.end, p.Rate), aroundGap))
	}
	if p.dropped > 0 {
		out = append(out, fmt.Sprintf("Of %d gaps it shows the %d of which the model is least sure (the largest mean standard deviations), "+
			"as many as a browser bears.", len(p.Gaps), len(p.shown)))
	}
	if p.Channels > mostSeries {
		out = append(out, fmt.Sprintf("Of %d channels it draws the first %d; the players have all.", p.Channels, mostSeries))
	}
	return out
}

// channelName names a channel where there are several.
func (p *embedded) channelName(c int) string {
	if p.Channels == 1 {
		return ""
	}
	return fmt.Sprintf(", channel %d", c+1)
}
