package report

import (
	"fmt"
	"slices"
	"sort"
	"strconv"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/score"
)

// Sizes and frames of spectrograms: long frames separate the harmonics of a voice
// in the recording, short ones the edges of a gap.
const (
	wholeColumns, wholeFrame = 900, 0.025
	gapColumns, gapFrame     = 300, 0.010
)

// Impute reports on a filled recording.
func Impute(f *Fill) (*Document, error) {
	p, err := newEmbedded(f)
	if err != nil {
		return nil, err
	}
	d := &Document{Title: "Filled: " + f.Name, Recording: &p.recording}
	d.Lead = append([]string{fmt.Sprintf("%s filled (%d of %d samples, %s, %d Hz, %s) in %.1f s by %s on %s. The filled recording is %s.",
		Counted(len(f.Gaps), "gap"), audio.Missing(f.Gaps), f.Samples, clock(f.Samples, f.Rate), f.Rate,
		Counted(f.Channels, "channel"), f.Result.Elapsed.Seconds(), f.Method, f.Device(), f.Output)}, p.limits()...)
	whole, err := p.whole()
	if err != nil {
		return nil, err
	}
	d.add("The recording", whole...)
	if f.Scores != nil {
		d.add("Scores", *f.Scores, paragraph("RMSE in full scale; test: over the gaps, train: over the observed samples of the excerpts. "+
			"STFT: the same of the short-time Fourier transform. A fill without a model of the observed samples reproduces them."))
	}
	d.add("Fills in doubt", p.doubts()...)
	gaps, err := p.groups()
	if err != nil {
		return nil, err
	}
	d.add("Gaps", gaps...)
	if density := f.Density.mean(); density != nil {
		d.add("Learnt spectrum", densityChart(density, float64(f.Rate)/2,
			"Learnt power spectrum, mean over the excerpts", seconds, "full scale"))
	}
	d.addSettings(f.Settings)
	return d, nil
}

// whole returns the players, waveforms and spectrograms of the first clip.
func (p *embedded) whole() ([]part, error) {
	if p.end == 0 {
		return []part{paragraph("The recording begins with a gap longer than a page bears.")}, nil
	}
	what := "the whole recording"
	if p.end < p.Samples {
		what = "the first " + clock(p.end, p.Rate)
	}
	parts := p.view(what, wave{
		Title: "Waveform", To: p.end,
		Text: fmt.Sprintf("The recording, and in its %s the mean of the fill with the band that holds 95 %% of what may have been there; "+
			"gaps are shaded. Scroll, pinch or drag to zoom; Shift and drag to move.", Counted(len(p.within(0, p.end)), "gap")),
	})
	pictures, err := p.spectrograms(0, p.end, wholeColumns, wholeFrame, false)
	return append(parts, pictures...), err
}

// view returns the players of w's frames and its waveform for each channel.
func (p *embedded) view(what string, w wave) []part {
	parts := []part{players{what, w.From, w.To}}
	title := w.Title
	for w.Channel = range min(p.Channels, mostSeries) {
		if p.Channels > 1 {
			w.Title = fmt.Sprintf("%s, channel %d", title, w.Channel+1)
		}
		parts = append(parts, w)
	}
	return parts
}

// spectrograms returns the spectrograms before and after the fill of frames
// [from, to), which the page holds, of the mean of the channels.
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

// mixed returns the mean of the channels, before and after the fill.
func (p *embedded) mixed(from, to int) (before, after []float64) {
	clips := p.recording.Clips
	held := clips[slices.IndexFunc(clips, func(c clip) bool { return c.start <= from && to <= c.start+len(c.samples[0]) })]
	before = make([]float64, to-from)
	for _, c := range held.samples {
		for i := range before {
			before[i] += c[from-held.start+i] / float64(p.Channels)
		}
	}
	after = slices.Clone(before)
	for _, g := range p.within(from, to) {
		mean, _ := p.fill(g)
		for i := max(from, g.Start); i < min(to, g.End); i++ {
			after[i-from] = 0
			for _, c := range mean {
				after[i-from] += c[i-g.Start] / float64(p.Channels)
			}
		}
	}
	return before, after
}

// groups returns the gaps, each with its players, charts and spectrograms.
func (p *embedded) groups() ([]part, error) {
	var out []part
	if len(p.shown) > mostGapPictures {
		out = append(out, paragraph(fmt.Sprintf("The first %d have spectrograms, to keep the page small.", mostGapPictures)))
	}
	for i, s := range p.shown {
		text, err := p.about(s)
		if err != nil {
			return nil, err
		}
		name, side := fmt.Sprintf("gap %d", s.number), max(3*s.Len()/2, 8)
		parts := append([]part{paragraph(text)}, p.view(name, wave{
			Title: "Waveform of " + name, Text: "The mean with its 95 % band.",
			From: s.lo, To: s.hi, Lo: max(s.lo, s.Start-side), Hi: min(s.hi-1, s.End+side),
		})...)
		if i < mostGapPictures {
			pictures, err := p.spectrograms(s.lo, s.hi, gapColumns, gapFrame, true)
			if err != nil {
				return nil, err
			}
			parts = append(parts, pictures...)
		}
		out = append(out, group{
			Title: fmt.Sprintf("Gap %d: %.4g ms at %s, samples %d to %d",
				s.number, 1000*float64(s.Len())/float64(p.Rate), clock(s.Start, p.Rate), s.Start, s.End),
			Open: i < openGaps, Parts: parts,
		})
	}
	return out, nil
}

// mostDoubts bounds the doubts that the page lists.
const mostDoubts = 200

// doubts returns the table of the fills that should not be trusted, if there are any.
func (p *embedded) doubts() []part {
	all := p.Result.Doubts
	if len(all) == 0 {
		return nil
	}
	t := Table{Caption: "Fills that should not be trusted", Head: []string{"", "channel", "why"}, Words: true}
	for _, d := range all[:min(len(all), mostDoubts)] {
		number := 1 + sort.Search(len(p.Gaps), func(i int) bool { return p.Gaps[i].Start >= d.Gap.Start })
		t.Rows = append(t.Rows, []string{fmt.Sprintf("Gap %d at %s", number, clock(d.Gap.Start, p.Rate)), strconv.Itoa(d.Channel + 1), d.Reason})
	}
	out := []part{t}
	if len(all) > mostDoubts {
		out = append(out, paragraph(fmt.Sprintf("These are the first %d of %d.", mostDoubts, len(all))))
	}
	return out
}

// about describes a gap in words.
func (p *embedded) about(s shownGap) (string, error) {
	text := fmt.Sprintf("Mean standard deviation of the fill %s of full scale.", short(s.sd))
	for _, d := range p.Result.Doubts {
		if d.Gap != s.Gap {
			continue
		}
		text += " Do not trust it"
		if p.Channels > 1 {
			text += fmt.Sprintf(" in channel %d", d.Channel+1)
		}
		text += ": " + d.Reason + "."
	}
	if p.Reference == nil {
		return text, nil
	}
	truth, err := p.Reference.Read(s.Start, s.End)
	if err != nil {
		return "", err
	}
	mean, _ := p.fill(s.Gap)
	all := slices.Concat(truth...)
	return text + fmt.Sprintf(" RMSE against the reference %s, of silence %s.",
		short(score.RMSE(slices.Concat(mean...), all)), short(score.RMS(all))), nil
}
