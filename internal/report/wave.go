package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"

	"github.com/vssgp/vssgp/internal/bayes"
)

// waveColumns bounds the columns of a waveform. In a longer one, each column is the range of several samples.
const waveColumns = 600

// waves returns the waveforms of frames [from, to), which the page contains, of some channels, with the gaps shaded or not.
func (p *embedded) waves(title, text string, from, to int, channels []int, shaded bool) (charts []*chart, err error) {
	for _, channel := range channels[:min(len(channels), mostSeries)] {
		name := title
		if p.Channels > 1 {
			name = fmt.Sprintf("%s, channel %d", title, channel+1)
		}
		c := newChart(name, text, seconds, "full scale")
		w, err := p.waveOf(from, to, channel)
		if err != nil {
			return nil, err
		}
		w.draw(c, shaded)
		charts = append(charts, c)
	}
	return charts, nil
}

// A trace is the least and the largest value of each column of a waveform, NaN without a value.
type trace struct{ lo, hi []float64 }

func newTrace(n int) trace {
	none := slices.Repeat([]float64{math.NaN()}, n)
	return trace{none, slices.Clone(none)}
}

// add widens a column to include [lo, hi].
func (t trace) add(column int, lo, hi float64) {
	if !(t.lo[column] <= lo) {
		t.lo[column] = lo
	}
	if !(t.hi[column] >= hi) {
		t.hi[column] = hi
	}
}

// A wave is a channel's waveform in columns.
type wave struct {
	time                         []float64 // of each column
	step                         float64   // between columns
	given, mean, band, reference trace
	gap                          []bool
}

// waveOf collects the columns of a channel's frames [from, to).
func (p *embedded) waveOf(from, to, channel int) (*wave, error) {
	step := max(1, (to-from+waveColumns-1)/waveColumns)
	n := (to - from + step - 1) / step
	w := &wave{step: float64(step) / float64(p.Rate), gap: make([]bool, n),
		given: newTrace(n), mean: newTrace(n), band: newTrace(n), reference: newTrace(n)}
	for i := range n {
		w.time = append(w.time, float64(from+i*step)/float64(p.Rate))
	}
	held := p.clip(from, to)
	given := held.samples[channel][from-held.start : to-held.start]
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
		truth, err := p.truth(g)
		if err != nil {
			return nil, err
		}
		for i := max(from, g.Start-1); i < min(to, g.End+1); i++ { // from and to the samples next to the gap
			mean, half, reference := given[i-from], 0., given[i-from]
			if at := i - g.Start; at >= 0 && at < g.Len() {
				mean, half = g.fills[k].Mean[at], bayes.SD95*g.fills[k].SD[at]
				if truth != nil {
					reference = truth[k][at]
				}
			}
			column := (i - from) / step
			w.mean.add(column, mean, mean)
			w.band.add(column, mean-half, mean+half)
			if truth != nil {
				w.reference.add(column, reference, reference)
			}
		}
	}
	for i, v := range given {
		if !filled[i] {
			w.given.add(i/step, v, v)
		}
	}
	return w, nil
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
	c.band("95 % band", Blue, w.time, w.band.lo, w.band.hi)
	w.line(c, "reference", Red, w.reference)
	w.line(c, "mean", Blue, w.mean)
}

// line joins the columns, up and down in those with several values.
func (w *wave) line(c *chart, name string, clr color.Color, t trace) {
	var x, y []float64
	for i, at := range w.time {
		x, y = append(x, at), append(y, t.lo[i])
		if t.hi[i] > t.lo[i] {
			x, y = append(x, at), append(y, t.hi[i])
		}
	}
	c.line(name, clr, x, y)
}
