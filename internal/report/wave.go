package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"github.com/vssgp/vssgp/audio"
)

// waveColumns bounds the points of a waveform along time. In a longer one, each point is the range of several samples.
const waveColumns = 1000

// A span is the range of some values; it is empty if lo > hi.
type span struct{ lo, hi float64 }

var noSpan = span{math.Inf(1), math.Inf(-1)}

func (s span) empty() bool { return s.lo > s.hi }

// widen makes the span include [lo, hi].
func (s *span) widen(lo, hi float64) { s.lo, s.hi = min(s.lo, lo), max(s.hi, hi) }

// waves returns the waveforms of frames [from, to), which the page has, of some channels. shaded marks the gaps.
func (p *embedded) waves(title, text string, from, to int, channels []int, shaded bool) (parts []part, err error) {
	for _, c := range channels[:min(len(channels), mostSeries)] {
		chart := &chart{Title: title, Text: text, XLabel: seconds, YLabel: "full scale"}
		if p.Channels > 1 {
			chart.Title = fmt.Sprintf("%s, channel %d", title, c+1)
		}
		w, err := p.waveOf(from, to, c)
		if err != nil {
			return nil, err
		}
		if shaded {
			chart.layers = w.gaps
		}
		if given := w.line("recording", dataInk, w.given); len(given.x) > 0 {
			chart.layers = append(chart.layers, given)
		}
		chart.layers = append(append(chart.layers, w.bands()...), w.fills()...)
		parts = append(parts, chart)
	}
	return parts, nil
}

// A wave is a channel's waveform in columns of equally many frames, each of which has a span.
type wave struct {
	from, step, rate         int
	given, mean, band, truth []span
	gaps                     []layer // that shade the gaps
}

// waveOf collects the spans of a channel's frames [from, to).
func (p *embedded) waveOf(from, to, channel int) (*wave, error) {
	w := &wave{from: from, step: max(1, (to-from+waveColumns-1)/waveColumns), rate: p.Rate}
	n := (to - from + w.step - 1) / w.step
	for _, spans := range []*[]span{&w.given, &w.mean, &w.band, &w.truth} {
		*spans = slices.Repeat([]span{noSpan}, n)
	}
	gaps := slices.DeleteFunc(p.within(from, to), func(g audio.Gap) bool { return !g.In(channel) })
	filled := make([]bool, to-from)
	for _, g := range gaps {
		fills := p.fillings(g)
		if fills == nil {
			continue
		}
		k := slices.Index(p.lanes(g), channel)
		var truth []float64
		if p.Reference != nil {
			all, err := p.truth(g)
			if err != nil {
				return nil, err
			}
			truth = all[k]
		}
		for i := max(from, g.Start); i < min(to, g.End); i++ {
			at, m, s := (i-from)/w.step, fills[k].Mean[i-g.Start], interval*fills[k].SD[i-g.Start]
			filled[i-from] = true
			w.mean[at].widen(m, m)
			w.band[at].widen(m-s, m+s)
			if truth != nil {
				w.truth[at].widen(truth[i-g.Start], truth[i-g.Start])
			}
		}
	}
	held := p.clip(from, to)
	for i, v := range held.samples[channel][from-held.start : to-held.start] {
		if !filled[i] {
			w.given[i/w.step].widen(v, v)
		}
	}
	w.shade(gaps)
	w.join()
	return w, nil
}

// shade marks the gaps over all that is drawn. Gaps that are less than a column apart are one.
func (w *wave) shade(gaps []audio.Gap) {
	all := noSpan
	for _, s := range slices.Concat(w.given, w.band) {
		all.widen(s.lo, s.hi)
	}
	end := 0
	for _, g := range gaps {
		from, to := max(w.from, g.Start), min(w.from+len(w.given)*w.step, max(g.End, g.Start+w.step))
		if last := len(w.gaps) - 1; last >= 0 && from <= end+w.step {
			end = max(end, to)
			w.gaps[last].x[1] = w.seconds(end)
			continue
		}
		end = to
		w.gaps = append(w.gaps, layer{name: "gap", kind: asBand, ink: gapsInk,
			x: []float64{w.seconds(from), w.seconds(to)}, lo: []float64{all.lo, all.lo}, hi: []float64{all.hi, all.hi}})
	}
}

// join has the fills begin and end at the samples next to the gap.
func (w *wave) join() {
	var ends []int
	for c, s := range w.mean {
		before, after := c > 0 && !w.mean[c-1].empty(), c+1 < len(w.mean) && !w.mean[c+1].empty()
		if s.empty() && (before || after) {
			ends = append(ends, c)
		}
	}
	known := slices.ContainsFunc(w.truth, func(s span) bool { return !s.empty() })
	for _, c := range ends {
		w.mean[c], w.band[c] = w.given[c], w.given[c]
		if known {
			w.truth[c] = w.given[c]
		}
	}
}

func (w *wave) seconds(frame int) float64 { return float64(frame) / float64(w.rate) }

// line draws spans as a line, up and down where a column has several values.
func (w *wave) line(name string, ink color.RGBA, spans []span) layer {
	l := layer{name: name, kind: asLine, ink: ink}
	for c, s := range spans {
		if s.empty() && (len(l.y) == 0 || math.IsNaN(l.y[len(l.y)-1])) {
			continue
		}
		at, values := w.seconds(w.from+c*w.step), []float64{s.lo, s.hi}
		if s.empty() {
			values = []float64{math.NaN()}
		} else if s.lo == s.hi {
			values = values[:1]
		}
		for _, v := range values {
			l.x, l.y = append(l.x, at), append(l.y, v)
		}
	}
	return l
}

// fills draws the reference, if there is one, and the mean in the gaps.
func (w *wave) fills() (layers []layer) {
	for _, l := range []layer{w.line("reference", referenceInk, w.truth), w.line("mean", meanInk, w.mean)} {
		if len(l.x) > 0 {
			layers = append(layers, l)
		}
	}
	return layers
}

// bands draws the 95 % band in each gap.
func (w *wave) bands() (layers []layer) {
	inside := false
	for c, s := range w.band {
		if s.empty() {
			inside = false
			continue
		}
		if !inside {
			layers = append(layers, layer{name: "95 % band", kind: asBand, ink: meanInk})
			inside = true
		}
		l := &layers[len(layers)-1]
		l.x, l.lo, l.hi = append(l.x, w.seconds(w.from+c*w.step)), append(l.lo, s.lo), append(l.hi, s.hi)
	}
	return layers
}
