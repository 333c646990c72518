package report

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"

	"github.com/vssgp/vssgp/internal/initialize/autoregression"
)

const (
	// spectrogramRange is the dynamic range of the colors, in dB.
	spectrogramRange = 80
	// spectrogramRows is the maximum height of a spectrogram.
	spectrogramRows = 128
)

// spectrogramPalette has uniform steps of lightness. Few colors keep the images small.
var spectrogramPalette = color.Palette(moreland.ExtendedBlackBody().Palette(32).Colors())

// levels returns the spectrogram of x in dB, [column][row] with increasing frequency, from Hann-windowed frames of the given length that
// are evenly spaced. It averages neighboring frequencies if there are more than spectrogramRows.
func levels(x []float64, columns, frame int) [][]float64 {
	frame += frame % 2
	transform := autoregression.NewSpectrum(frame, autoregression.Hann(frame))
	in, powers := make([]float64, frame), make([]float64, frame/2+1)
	rows := min(frame/2, spectrogramRows)
	out := make([][]float64, min(columns, len(x)))
	for t := range out {
		center := int((float64(t) + 0.5) * float64(len(x)) / float64(len(out)))
		clear(in)
		for i := range in {
			if at := center - frame/2 + i; at >= 0 && at < len(x) {
				in[i] = x[at]
			}
		}
		clear(powers)
		transform.Add(powers, in)
		for r := range rows {
			lo, hi := r*(frame/2)/rows, (r+1)*(frame/2)/rows
			out[t] = append(out[t], 10*math.Log10(floats.Sum(powers[lo:hi])/float64(hi-lo)+1e-30))
		}
	}
	return out
}

// picture returns levels as an image in which top has the brightest color.
func picture(levels [][]float64, top float64) image.Image {
	height, last := len(levels[0]), float64(len(spectrogramPalette)-1)
	img := image.NewPaletted(image.Rect(0, 0, len(levels), height), spectrogramPalette)
	for t, column := range levels {
		for r, v := range column {
			img.SetColorIndex(t, height-1-r, uint8(math.Max(0, last*(1+(v-top)/spectrogramRange))))
		}
	}
	return img
}

// spectrograms returns the spectrograms of frames [from, to) before and after the fill, for the mean of the channels. The page must contain
// these frames. frame is the frame length in seconds: long frames resolve harmonics, and short frames resolve the edges of a gap.
func (p *embedded) spectrograms(from, to, columns int, frame float64) (charts []*chart) {
	before, after := p.mixed(from, to)
	length := max(16, int(frame*float64(p.Rate)))
	all, names := [][][]float64{levels(before, columns, length)}, []string{""}
	if p.Result != nil {
		all, names = append(all, levels(after, columns, length)), []string{" before", " after"}
	}
	top := math.Inf(-1)
	for _, column := range slices.Concat(all...) {
		top = max(top, slices.Max(column))
	}
	rate, n := float64(p.Rate), len(all[0])
	highest := rate / 2000 // kHz
	x, marks := make([]float64, n), slices.Repeat([]float64{math.NaN()}, n)
	for i := range x {
		x[i] = (float64(from) + (float64(i)+0.5)*float64(to-from)/float64(n)) / rate
	}
	for _, g := range p.within(from, to) {
		for i := max(from, g.Start); i < min(to, g.End); i++ {
			marks[(i-from)*n/(to-from)] = -highest / 50 // just below the image
		}
	}
	for i, s := range all {
		c := newChart("Spectrogram"+names[i], fmt.Sprintf("Range %d dB from dark to light; red marks below are gaps.", spectrogramRange),
			seconds, "kHz")
		c.panel.Add(plotter.NewImage(picture(s, top), float64(from)/rate, 0, float64(to)/rate, highest))
		c.points("", Red, x, marks)
		charts = append(charts, c)
	}
	return charts
}

// mixed returns the mean of the channels, before and after the fill.
func (p *embedded) mixed(from, to int) (before, after []float64) {
	clip := p.clip(from, to)
	before = make([]float64, to-from)
	for _, c := range clip.samples {
		floats.AddScaled(before, 1/float64(p.Channels), c[from-clip.Start:to-clip.Start])
	}
	after = slices.Clone(before)
	for _, g := range p.within(from, to) {
		for _, f := range g.fills {
			for i := max(from, g.Start); i < min(to, g.End); i++ {
				after[i-from] += (f.Values(-1)[i-g.Start] - clip.samples[f.Channel][i-clip.Start]) / float64(p.Channels)
			}
		}
	}
	return before, after
}
