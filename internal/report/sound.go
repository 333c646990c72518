package report

import (
	"fmt"

	"github.com/vssgp/vssgp/internal/page"
)

// Spectrograms' sizes and frames: those of the recording tell the harmonics of a
// voice apart, those of a gap its edges.
const (
	wholeColumns, wholeFrame = 900, 0.025
	gapColumns, gapFrame     = 300, 0.010
)

// whole are the players, the waveform and the spectrograms of the first stretch.
func (p *portion) whole() ([]page.Part, error) {
	if p.end == 0 {
		return []page.Part{page.Text("The recording begins with a gap longer than a page bears.")}, nil
	}
	what := "the whole recording"
	if p.end < p.Samples {
		what = "the first " + clock(p.end, p.Rate)
	}
	parts := []page.Part{page.Players{
		{Title: "Before: " + what, Side: "before", To: p.end},
		{Title: "After: " + what, Side: "after", To: p.end},
	}}
	for c := range min(p.Channels, mostSeries) {
		parts = append(parts, page.Wave{
			Title: "Waveform" + p.channelName(c), To: p.end, Channel: c,
			Text: fmt.Sprintf("The recording, and in its %s the mean of the fill with the band that holds 95 %% of what may have been there; gaps are shaded. Scroll, pinch or drag to zoom; Shift and drag to move.", Counted(len(p.within(0, p.end)), "gap")),
		})
	}
	pictures, err := p.pictures(0, p.end, wholeColumns, wholeFrame, false)
	return append(parts, pictures...), err
}

// pictures are the spectrograms before and after of frames [from, to), which
// the page holds, of the mean of the channels.
func (p *portion) pictures(from, to, columns int, frame float64, low bool) ([]page.Part, error) {
	before, after := p.mixed(from, to)
	n := max(16, int(frame*float64(p.Rate)))
	a, b := spectrogram(before, columns, n), spectrogram(after, columns, n)
	top := max(a.loudest(), b.loudest())
	var parts []page.Part
	for _, s := range []struct {
		name   string
		levels levels
	}{{"before", a}, {"after", b}} {
		alt := fmt.Sprintf("Spectrogram %s the fill, %s to %s, 0 to %.4g kHz, %d dB from dark to light; a red foot marks gaps.", s.name, clock(from, p.Rate), clock(to, p.Rate), float64(p.Rate)/2000, spectrogramRange)
		picture, err := pictureOf("Spectrogram "+s.name, alt, s.levels, top, from, to, p.Rate, p.Gaps, low)
		if err != nil {
			return nil, err
		}
		parts = append(parts, picture)
	}
	return parts, nil
}

// mixed is the mean of the channels, before and after.
func (p *portion) mixed(from, to int) (before, after []float64) {
	before = make([]float64, to-from)
	for _, s := range p.recording.Stretches {
		if s.Start > from || to > s.Start+len(s.Samples[0]) {
			continue
		}
		for _, c := range s.Samples {
			for i := range before {
				before[i] += c[from-s.Start+i] / float64(p.Channels)
			}
		}
		break
	}
	after = append([]float64(nil), before...)
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
func (p *portion) groups() ([]page.Part, error) {
	var out []page.Part
	for i, s := range p.shown {
		g := page.Group{
			Title: fmt.Sprintf("Gap %d: %s at %s, samples %d to %d", s.number, length(s.Gap, p.Rate), clock(s.Start, p.Rate), s.Start, s.End),
			Open:  i < openGaps,
		}
		text, err := p.about(s)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("gap %d", s.number)
		g.Parts = append(g.Parts, page.Text(text), page.Players{
			{Title: "Before: " + name, Side: "before", From: s.lo, To: s.hi},
			{Title: "After: " + name, Side: "after", From: s.lo, To: s.hi},
		})
		side := max(3*s.Len()/2, 8)
		for c := range min(p.Channels, mostSeries) {
			g.Parts = append(g.Parts, page.Wave{
				Title: fmt.Sprintf("Waveform of gap %d%s", s.number, p.channelName(c)), Text: "The mean with its 95 % band.",
				From: s.lo, To: s.hi, Channel: c, Lo: max(s.lo, s.Start-side), Hi: min(s.hi-1, s.End+side),
			})
		}
		if i < mostGapPictures {
			pictures, err := p.pictures(s.lo, s.hi, gapColumns, gapFrame, true)
			if err != nil {
				return nil, err
			}
			g.Parts = append(g.Parts, pictures...)
		}
		out = append(out, g)
	}
	if len(p.shown) > mostGapPictures {
		out = append([]page.Part{page.Text(fmt.Sprintf("The first %d have spectrograms, to keep the page small.", mostGapPictures))}, out...)
	}
	return out, nil
}

// about is a gap in words.
func (p *portion) about(s shownGap) (string, error) {
	text := fmt.Sprintf("Mean standard deviation of the fill %s of full scale.", short(s.sd))
	if p.Reference == nil {
		return text, nil
	}
	truth, err := p.Reference.Read(s.Start, s.End)
	if err != nil {
		return "", err
	}
	silence := make([][]float64, len(truth))
	for c := range truth {
		silence[c] = make([]float64, len(truth[c]))
	}
	return text + fmt.Sprintf(" RMSE against the reference %s, of silence %s.", short(gapRMSE(s.mean, truth)), short(gapRMSE(silence, truth))), nil
}
