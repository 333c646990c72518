package report

import (
	"fmt"
	"slices"

	"github.com/vssgp/vssgp/internal/score"
)

// Sizes and frames of spectrograms: long frames separate the harmonics of a voice
// in the recording, short ones the edges of a gap.
const (
	wholeColumns, wholeFrame = 900, 0.025
	gapColumns, gapFrame     = 300, 0.010
)

// whole are the players, the waveform and the spectrograms of the first clip.
func (p *embedded) whole() ([]part, error) {
	if p.end == 0 {
		return []part{paragraph("The recording begins with a gap longer than a page bears.")}, nil
	}
	what := "the whole recording"
	if p.end < p.Samples {
		what = "the first " + clock(p.end, p.Rate)
	}
	parts := []part{players{
		{Title: "Before: " + what, Side: "before", To: p.end},
		{Title: "After: " + what, Side: "after", To: p.end},
	}}
	for c := range min(p.Channels, mostSeries) {
		parts = append(parts, wave{
			Title: "Waveform" + p.channelName(c), To: p.end, Channel: c,
			Text: fmt.Sprintf("The recording, and in its %s the mean of the fill with the band that holds 95 %% of what may have been there; "+
				"gaps are shaded. Scroll, pinch or drag to zoom; Shift and drag to move.", Counted(len(p.within(0, p.end)), "gap")),
		})
	}
	pictures, err := p.spectrograms(0, p.end, wholeColumns, wholeFrame, false)
	return append(parts, pictures...), err
}

// spectrograms are those before and after the fill of frames [from, to), which
// the page holds, of the mean of the channels.
func (p *embedded) spectrograms(from, to, columns int, frame float64, low bool) ([]part, error) {
	before, after := p.mixed(from, to)
	n := max(16, int(frame*float64(p.Rate)))
	a, b := spectrogram(before, columns, n), spectrogram(after, columns, n)
	top := max(a.loudest(), b.loudest())
	half := float64(p.Rate) / 2000 // the highest frequency, in kHz
	var parts []part
	for i, s := range []levels{a, b} {
		name := []string{"before", "after"}[i]
		sample := func(column int) int { return from + column*(to-from)/len(s) }
		data, err := s.encode(top, func(c int) bool { return len(p.within(sample(c), max(sample(c+1), sample(c)+1))) > 0 })
		if err != nil {
			return nil, err
		}
		parts = append(parts, raster{
			Title: "Spectrogram " + name,
			Alt: fmt.Sprintf("Spectrogram %s the fill, %s to %s, 0 to %.4g kHz, %d dB from dark to light; a red foot marks gaps.",
				name, clock(from, p.Rate), clock(to, p.Rate), half, spectrogramRange),
			PNG: data, Width: len(s), Height: len(s[0]), Low: low,
			Up:    []string{fmt.Sprintf("%.3g kHz", half), fmt.Sprintf("%.3g kHz", half/2), "0"},
			Along: []string{clock(from, p.Rate), clock((from+to)/2, p.Rate), clock(to, p.Rate)},
		})
	}
	return parts, nil
}

// mixed is the mean of the channels, before and after.
func (p *embedded) mixed(from, to int) (before, after []float64) {
	before = make([]float64, to-from)
	for _, s := range p.recording.Clips {
		if s.start > from || to > s.start+len(s.samples[0]) {
			continue
		}
		for _, c := range s.samples {
			for i := range before {
				before[i] += c[from-s.start+i] / float64(p.Channels)
			}
		}
		break
	}
	after = slices.Clone(before)
	for _, g := range p.within(from, to) {
		e := p.excerpt(g)
		for i := max(from, g.Start); i < min(to, g.End); i++ {
			after[i-from] = 0
			for _, c := range e.Fit {
				after[i-from] += c[i-e.Start] / float64(p.Channels)
			}
		}
	}
	return before, after
}

// groups are the gaps, each with its players, charts and spectrograms.
func (p *embedded) groups() ([]part, error) {
	var out []part
	for i, s := range p.shown {
		g := group{
			Title: fmt.Sprintf("Gap %d: %s at %s, samples %d to %d",
				s.number, length(s.Gap, p.Rate), clock(s.Start, p.Rate), s.Start, s.End),
			Open: i < openGaps,
		}
		text, err := p.about(s)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("gap %d", s.number)
		g.Parts = append(g.Parts, paragraph(text), players{
			{Title: "Before: " + name, Side: "before", From: s.lo, To: s.hi},
			{Title: "After: " + name, Side: "after", From: s.lo, To: s.hi},
		})
		side := max(3*s.Len()/2, 8)
		for c := range min(p.Channels, mostSeries) {
			g.Parts = append(g.Parts, wave{
				Title: fmt.Sprintf("Waveform of gap %d%s", s.number, p.channelName(c)), Text: "The mean with its 95 % band.",
				From: s.lo, To: s.hi, Channel: c, Lo: max(s.lo, s.Start-side), Hi: min(s.hi-1, s.End+side),
			})
		}
		if i < mostGapPictures {
			pictures, err := p.spectrograms(s.lo, s.hi, gapColumns, gapFrame, true)
			if err != nil {
				return nil, err
			}
			g.Parts = append(g.Parts, pictures...)
		}
		out = append(out, g)
	}
	if len(p.shown) > mostGapPictures {
		out = append([]part{paragraph(fmt.Sprintf("The first %d have spectrograms, to keep the page small.", mostGapPictures))}, out...)
	}
	return out, nil
}

// about is a gap in words.
func (p *embedded) about(s shownGap) (string, error) {
	text := fmt.Sprintf("Mean standard deviation of the fill %s of full scale.", short(s.sd))
	if p.Reference == nil {
		return text, nil
	}
	truth, err := p.Reference.Read(s.Start, s.End)
	if err != nil {
		return "", err
	}
	all := slices.Concat(truth...)
	return text + fmt.Sprintf(" RMSE against the reference %s, of silence %s.",
		short(score.RMSE(slices.Concat(s.mean...), all)), short(score.RMS(all))), nil
}
