package report

import (
	"fmt"
	"slices"
)

// Sizes and frames of spectrograms: long frames separate the harmonics of a voice
// in the recording, short ones the edges of a gap.
const (
	wholeColumns, wholeFrame = 900, 0.025
	gapColumns, gapFrame     = 300, 0.010
)

// spectrograms returns the spectrograms before and after the fill of frames
// [from, to), which the page holds, of the mean of the channels.
func (p *embedded) spectrograms(from, to, columns int, frame float64, low bool) ([]part, error) {
	before, after := p.mixed(from, to)
	n := max(16, int(frame*float64(p.Rate)))
	a, b := spectrogram(before, columns, n), spectrogram(after, columns, n)
	top := max(a.loudest(), b.loudest())
	half := float64(p.Rate) / 2000 // the highest frequency, in kHz
	var parts []part
	all, names := []levels{a, b}, []string{" before", " after"}
	if p.Result == nil {
		all, names = all[:1], []string{""}
	}
	for i, s := range all {
		sample := func(column int) int { return from + column*(to-from)/len(s) }
		data, err := s.encode(top, func(c int) bool { return len(p.within(sample(c), max(sample(c+1), sample(c)+1))) > 0 })
		if err != nil {
			return nil, err
		}
		parts = append(parts, raster{
			Title: "Spectrogram" + names[i],
			Alt: fmt.Sprintf("Spectrogram%s, %s to %s, 0 to %.4g kHz, %d dB from dark to light; a red foot marks gaps.",
				names[i], clock(from, p.Rate), clock(to, p.Rate), half, spectrogramRange),
			PNG: data, Width: len(s), Height: len(s[0]), Low: low,
			Up:    []string{fmt.Sprintf("%.3g kHz", half), fmt.Sprintf("%.3g kHz", half/2), "0"},
			Along: []string{clock(from, p.Rate), clock((from+to)/2, p.Rate), clock(to, p.Rate)},
		})
	}
	return parts, nil
}

// mixed returns the mean of the channels, before and after the fill.
func (p *embedded) mixed(from, to int) (before, after []float64) {
	held := p.clip(from, to)
	before = make([]float64, to-from)
	for _, c := range held.samples {
		for i := range before {
			before[i] += c[from-held.start+i] / float64(p.Channels)
		}
	}
	after = slices.Clone(before)
	for _, g := range p.within(from, to) {
		mean, _ := p.fill(g)
		for k, c := range p.lanes(g)[:len(mean)] {
			for i := max(from, g.Start); i < min(to, g.End); i++ {
				after[i-from] += (mean[k][i-g.Start] - held.samples[c][i-held.start]) / float64(p.Channels)
			}
		}
	}
	return before, after
}

// clip returns the clip that has frames [from, to).
func (p *embedded) clip(from, to int) clip {
	clips := p.recording.Clips
	return clips[slices.IndexFunc(clips, func(c clip) bool { return c.start <= from && to <= c.start+len(c.samples[0]) })]
}
