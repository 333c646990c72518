package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/detect"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/internal/bayes"
)

// Limits that keep a page small enough for a browser.
const (
	// mostSound bounds the bytes of the clip from the beginning on, and once more the
	// bytes of the clips around gaps beyond it.
	mostSound = 4 << 20
	// mostGaps bounds the gaps that have charts of their own.
	mostGaps = 40
	// mostListed bounds the gaps that the page lists.
	mostListed = 300
	// openGaps is how many of them are open at first.
	openGaps = 3
	// mostGapPictures bounds those that have spectrograms.
	mostGapPictures = 16
	// aroundGap is how much the page holds on each side of a gap, in seconds.
	aroundGap = 0.3
	// bytesGiven is the size of a sample in a page; a sample in a gap takes
	// bytesFilled more, and the gap itself bytesGap.
	bytesGiven, bytesFilled, bytesGap = 2, 4, 100
)

// Fill is what Impute reports on: a filled recording, or one in which damage was
// only looked for.
type Fill struct {
	Name      string // of the recording's file
	Output    string // of the filled one's
	Samples   int    // per channel
	Rate      int
	Channels  int
	Gaps      []restore.Gap   // rising, as audio.CheckGaps returns them
	Found     []detect.Found  // in increasing order, also gaps with a label; nil: nothing was looked for
	Result    *restore.Result // nil: nothing was filled, and the page shows what was found
	Input     restore.Source  // the recording as it was given, gaps and all
	Reference restore.Source  // nil: none is known
	Scores    *Table          // nil: no reference
	Method    string          // that filled
	Density   *Densities      // nil: the method has no models with a density
	Settings  []Setting
}

// Device returns what filled the gaps: a model's backend, else the CPU.
func (f *Fill) Device() string { return cmp.Or(f.Result.Device, "cpu") }

// embedded is the part of a recording that the page holds: a clip from its
// beginning on, all of it where that is little enough, and clips around gaps
// beyond.
type embedded struct {
	*Fill
	gaps      []restore.Gap        // of the fill, or without one what was found
	ends      []int                // of each gap, the last end so far: rising where gaps of several channels overlap
	number    map[restore.Gap]int  // in time, from 1
	filled    map[restore.Gap]int  // its number in the result
	held      map[restore.Gap]bool // in a clip
	recording recording
	end       int         // of the first clip; 0: there is none
	listed    []listedGap // the least sure first; of what was only found, the surest
	shown     int         // of them, with charts of their own
}

// listedGap is a gap with what the page says of it.
type listedGap struct {
	restore.Gap
	number   int // in time, from 1
	lo, hi   int // frames that the page holds, if it holds the gap
	sd       float64
	expected float64 // error of the fill, relative to the level around; NaN: not known
	found    detect.Found
	doubt    string // why not to trust the fill
	shown    bool   // has charts
}

func newEmbedded(f *Fill) (*embedded, error) {
	p := &embedded{
		Fill: f, gaps: f.Gaps, end: f.Samples, number: map[restore.Gap]int{}, filled: map[restore.Gap]int{}, held: map[restore.Gap]bool{},
		recording: recording{Rate: f.Rate, Channels: f.Channels, Filled: f.Result != nil},
	}
	if f.Result == nil {
		p.gaps = nil
		for _, g := range f.Found {
			p.gaps = append(p.gaps, g.Gap)
		}
	} else {
		for i, g := range f.Result.Gaps {
			p.filled[g] = i
		}
	}
	last := 0
	for i, g := range p.gaps {
		if p.number[g] == 0 { // two finds may be one gap
			p.number[g] = i + 1
		}
		last = max(last, g.End)
		p.ends = append(p.ends, last)
	}
	p.recording.Total = len(p.gaps)
	for p.end > 0 && p.cost(0, p.end) > mostSound {
		p.end = p.end / 4 * 3
	}
	for _, g := range slices.Backward(p.gaps) { // the clip does not end in a gap
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
	n := p.Channels * bytesGiven * (hi - lo)
	for _, g := range p.within(lo, hi) {
		n += bytesGap + bytesFilled*g.Len()*len(p.lanes(g))
	}
	return n
}

// within returns the gaps that lie in [lo, hi), wholly or in part.
func (p *embedded) within(lo, hi int) (inside []restore.Gap) {
	for i := sort.SearchInts(p.ends, lo+1); i < len(p.gaps) && p.gaps[i].Start < hi; i++ {
		if p.gaps[i].End > lo {
			inside = append(inside, p.gaps[i])
		}
	}
	return inside
}

// lanes returns the channels, from 0, that miss a gap's samples.
func (p *embedded) lanes(g restore.Gap) (channels []int) {
	for c := range p.Channels {
		if g.In(c) {
			channels = append(channels, c)
		}
	}
	return channels
}

// add keeps a clip, with the fills of the gaps that lie in it.
func (p *embedded) add(lo, hi int) error {
	samples, err := p.Input.Read(lo, hi)
	if errors.Is(err, audio.ErrFormat) { // a gap may hold values that are not finite
		samples, err = restore.Around(p.Input, p.gaps).Read(lo, hi)
	}
	if err != nil {
		return err
	}
	p.recording.Clips = append(p.recording.Clips, clip{lo, samples})
	for _, g := range p.within(lo, hi) {
		if p.held[g] {
			continue
		}
		p.held[g] = true
		var mean []byte
		for _, f := range p.fillings(g) {
			mean = append(mean, singles(f.Mean)...)
		}
		p.recording.Gaps = append(p.recording.Gaps, filledGap{Number: p.number[g], Start: g.Start, End: g.End, Channel: g.Channel,
			Mean: mean})
	}
	return nil
}

// fillings returns a gap's fill in each of its channels; nil if it has none.
func (p *embedded) fillings(g restore.Gap) []restore.GapFill {
	if i, ok := p.filled[g]; ok {
		return p.Result.Fills[i]
	}
	return nil
}

// truth returns the reference in a gap, in each of its channels.
func (p *embedded) truth(g restore.Gap) (truth [][]float64, err error) {
	all, err := p.Reference.Read(g.Start, g.End)
	if err != nil {
		return nil, err
	}
	for _, c := range p.lanes(g) {
		truth = append(truth, all[c])
	}
	return truth, nil
}

// choose lists the gaps, those with the largest expected errors or log-odds first, and picks those to show.
func (p *embedded) choose() error {
	exact := map[audio.Gap]detect.Found{}
	for _, f := range p.Found {
		exact[f.Gap] = f
	}
	all := make([]listedGap, len(p.gaps))
	for i, g := range p.gaps {
		side := int(aroundGap * float64(p.Rate))
		all[i] = listedGap{Gap: g, number: i + 1, lo: max(0, g.Start-side), hi: min(p.Samples, g.End+side), found: exact[g]}
		if g.End <= p.end { // no part of the first clip is kept twice
			all[i].hi = min(all[i].hi, p.end)
		}
		all[i].sd, all[i].expected = p.errorOf(g)
	}
	slices.SortStableFunc(all, func(a, b listedGap) int {
		return cmp.Or(cmp.Compare(b.expected, a.expected), cmp.Compare(b.found.LogOdds, a.found.LogOdds))
	})
	p.listed = all[:min(len(all), mostListed)]
	room := mostSound
	for i := range p.listed {
		s := &p.listed[i]
		p.describe(s)
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
		if p.shown < mostGaps {
			p.shown++
			s.shown = true
		}
	}
	return nil
}

// errorOf returns the rms of a fill's standard deviations in the channel that is least sure, which is the error to expect, and the
// same relative to the rms of what is known around.
func (p *embedded) errorOf(g restore.Gap) (sd, relative float64) {
	all := p.fillings(g)
	if all == nil {
		return math.NaN(), math.NaN()
	}
	relative = math.NaN()
	for _, f := range all {
		this := bayes.RMS(f.SD)
		sd = max(sd, this)
		if f.Level > 0 && !(relative >= this/f.Level) {
			relative = this / f.Level
		}
	}
	return sd, relative
}

// describe finds what is known of a gap besides its fill: its kind, and why its fill is in doubt.
func (p *embedded) describe(s *listedGap) {
	for i := 0; i < len(p.Found) && s.found.Kind == "" && p.Found[i].Start < s.End; i++ {
		f := p.Found[i] // a fill may join several finds
		if f.End > s.Start && (f.Channel == s.Channel || f.Channel == 0 || s.Channel == 0) {
			s.found = f
		}
	}
	if p.Result == nil {
		return
	}
	for _, d := range p.fillings(s.Gap) {
		if d.Warning == "" {
			continue
		}
		if s.doubt != "" {
			s.doubt += "; "
		}
		if p.Channels > 1 && s.Channel == 0 {
			s.doubt += fmt.Sprintf("in channel %d ", d.Channel+1)
		}
		s.doubt += d.Warning
	}
}

// limits says which parts the page leaves out, and why.
func (p *embedded) limits() []string {
	var out []string
	if p.end < p.Samples {
		out = append(out, fmt.Sprintf("The page holds the first %s of the recording, and %.1f s around each gap shown beyond that: "+
			"all of it would make the page too large for a browser.", clock(p.end, p.Rate), aroundGap))
	}
	if p.shown < len(p.gaps) {
		which := "whose fills are least sure (the largest expected errors relative to the level around)"
		if p.Result == nil {
			which = "that are surest"
		}
		out = append(out, fmt.Sprintf("Of %d gaps it lists %d and draws %d, those %s, as many as a browser bears.",
			len(p.gaps), len(p.listed), p.shown, which))
	}
	if p.Channels > mostSeries {
		out = append(out, fmt.Sprintf("Of %d channels it draws the first %d.", p.Channels, mostSeries))
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
