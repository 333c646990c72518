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

// waveColumns is the maximum number of columns of a waveform. In longer waveforms, each column shows the range of several samples.
const waveColumns = 600

// waves returns the waveforms of frames [from, to) for the channels in which the gap is missing. The page must contain these frames. shaded
// means that all gaps are shaded.
func (p *embedded) waves(title, text string, from, to int, missing audio.Gap, shaded bool) (charts []*chart) {
	step := max(1, (to-from+waveColumns-1)/waveColumns)
	var time []float64
	for i := from; i < to; i += step {
		time = append(time, float64(i)/float64(p.Rate))
	}
	channels := p.channels(missing)
	for _, channel := range channels[:min(len(channels), maxSeries)] {
		name := title
		if p.Channels > 1 {
			name = fmt.Sprintf("%s, channel %d", title, channel+1)
		}
		c, w := newChart(name, text, seconds, "full scale"), p.waveOf(from, to, channel)
		if gaps, _ := thin(w.gaps, step); shaded {
			for lo, hi := range runs(gaps) {
				c.add("gap", &plotter.Polygon{Color: shadeColor}, shade{time[lo], time[hi-1] + float64(step)/float64(p.Rate)})
			}
		}
		wave := func(name string, clr color.Color, values []float64) {
			var x, y []float64
			lo, hi := thin(values, step)
			for i, at := range time { // a column with several values is a vertical line
				if x, y = append(x, at), append(y, lo[i]); hi[i] > lo[i] {
					x, y = append(x, at), append(y, hi[i])
				}
			}
			c.line(name, clr, x, y)
		}
		wave("recording", color.Black, w.given)
		lower, _ := thin(w.lower, step)
		_, upper := thin(w.upper, step)
		c.band("95 % band", Blue, time, lower, upper)
		wave("reference", Red, w.reference)
		wave("mean", Blue, w.mean)
		charts = append(charts, c)
	}
	return charts
}

// thin returns the minimum and the maximum of each block of step values, NaN if all are NaN.
func thin(values []float64, step int) (lo, hi []float64) {
	for part := range slices.Chunk(values, step) {
		least, largest := part[0], part[0]
		for _, v := range part {
			if v < least || math.IsNaN(least) {
				least = v
			}
			if v > largest || math.IsNaN(largest) {
				largest = v
			}
		}
		lo, hi = append(lo, least), append(hi, largest)
	}
	return lo, hi
}

// A wave contains a channel's samples. Undefined samples are NaN.
type wave struct {
	given                         []float64 // original samples that were not filled
	mean, lower, upper, reference []float64 // in filled gaps and at the adjacent samples, so that lines connect
	gaps                          []float64 // 0 in gaps
}

// waveOf returns the wave of a channel's frames [from, to).
func (p *embedded) waveOf(from, to, channel int) wave {
	none := slices.Repeat([]float64{math.NaN()}, to-from)
	clip := p.clip(from, to)
	given := clip.samples[channel][from-clip.Start : to-clip.Start]
	w := wave{slices.Clone(given), none, slices.Clone(none), slices.Clone(none), slices.Clone(none), slices.Clone(none)}
	for _, g := range p.within(from, to) {
		if !g.In(channel) {
			continue
		}
		k := slices.Index(p.channels(g.Gap), channel)
		for i := max(from, g.Start-1); i < min(to, g.End+1); i++ {
			at := i - from
			mean, half, reference := given[at], 0., given[at]
			if in := i - g.Start; in >= 0 && in < g.Len() {
				w.gaps[at] = 0
				if g.fills != nil {
					w.given[at], mean, half = math.NaN(), g.fills[k].Mean[in], bayes.SD95*g.fills[k].SD[in]
				}
				if g.reference != nil {
					reference = g.reference[k][in]
				}
			}
			if g.fills != nil {
				w.mean[at], w.lower[at], w.upper[at] = mean, mean-half, mean+half
			}
			if g.reference != nil {
				w.reference[at] = reference
			}
		}
	}
	return w
}
