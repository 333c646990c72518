package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/bayes"
)

// waveColumns bounds the columns of a waveform. In a longer one, each column is the range of several samples.
const waveColumns = 600

// waves returns the waveforms of frames [from, to), which the page contains, of the channels that a gap misses, with all gaps shaded or not.
func (p *embedded) waves(title, text string, from, to int, missing audio.Gap, shaded bool) (charts []*chart) {
	channels := p.channels(missing)
	for _, channel := range channels[:min(len(channels), mostSeries)] {
		name := title
		if p.Channels > 1 {
			name = fmt.Sprintf("%s, channel %d", title, channel+1)
		}
		c := newChart(name, text, seconds, "full scale")
		p.waveOf(from, to, channel).draw(c, shaded)
		charts = append(charts, c)
	}
	return charts
}

// A wave is a channel's waveform in columns: the least and the largest value of each, NaN without a value.
type wave struct {
	time                         []float64 // of each column
	step                         float64   // between columns
	given, mean, band, reference [2][]float64
	gap                          []bool
}

// waveOf collects the columns of a channel's frames [from, to).
func (p *embedded) waveOf(from, to, channel int) *wave {
	step := max(1, (to-from+waveColumns-1)/waveColumns)
	n := (to - from + step - 1) / step
	w := &wave{step: float64(step) / float64(p.Rate), gap: make([]bool, n)}
	for i := range n {
		w.time = append(w.time, float64(from+i*step)/float64(p.Rate))
	}
	for _, values := range []*[2][]float64{&w.given, &w.mean, &w.band, &w.reference} {
		values[0] = slices.Repeat([]float64{math.NaN()}, n)
		values[1] = slices.Clone(values[0])
	}
	widen := func(values [2][]float64, frame int, lo, hi float64) {
		i := (frame - from) / step
		if !(values[0][i] <= lo) { // also if it is NaN
			values[0][i] = lo
		}
		if !(values[1][i] >= hi) {
			values[1][i] = hi
		}
	}
	clip := p.clip(from, to)
	given := clip.samples[channel][from-clip.Start : to-clip.Start]
	filled := make([]bool, to-from)
	for _, g := range p.within(from, to) {
		if !g.In(channel) {
			continue
		}
		for i := max(from, g.Start); i < min(to, g.End); i++ {
			w.gap[(i-from)/step], filled[i-from] = true, g.fills != nil
		}
		if g.fills == nil {
			continue
		}
		k := slices.Index(p.channels(g.Gap), channel)
		for i := max(from, g.Start-1); i < min(to, g.End+1); i++ { // lines begin and end at the samples next to the gap
			mean, half, reference := given[i-from], 0., given[i-from]
			if at := i - g.Start; at >= 0 && at < g.Len() {
				mean, half = g.fills[k].Mean[at], bayes.SD95*g.fills[k].SD[at]
				if g.reference != nil {
					reference = g.reference[k][at]
				}
			}
			widen(w.mean, i, mean, mean)
			widen(w.band, i, mean-half, mean+half)
			if g.reference != nil {
				widen(w.reference, i, reference, reference)
			}
		}
	}
	for i, v := range given {
		if !filled[i] {
			widen(w.given, from+i, v, v)
		}
	}
	return w
}

func (w *wave) draw(c *chart, shaded bool) {
	for i := 0; shaded && i < len(w.gap); i++ {
		if from := i; w.gap[i] {
			for i < len(w.gap)-1 && w.gap[i+1] {
				i++
			}
			c.add("gap", &plotter.Polygon{Color: shadeColor}, shade{w.time[from], w.time[i] + w.step})
		}
	}
	w.line(c, "recording", color.Black, w.given)
	c.band("95 % band", Blue, w.time, w.band[0], w.band[1])
	w.line(c, "reference", Red, w.reference)
	w.line(c, "mean", Blue, w.mean)
}

// line joins the columns, up and down in those with several values.
func (w *wave) line(c *chart, name string, clr color.Color, values [2][]float64) {
	var x, y []float64
	for i, at := range w.time {
		lo, hi := values[0][i], values[1][i]
		if x, y = append(x, at), append(y, lo); hi > lo {
			x, y = append(x, at), append(y, hi)
		}
	}
	c.line(name, clr, x, y)
}
