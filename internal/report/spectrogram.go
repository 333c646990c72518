package report

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/internal/ar"
)

// A spectrogram's size and depth.
const (
	// spectrogramRange is how far below the loudest the darkest is, in dB.
	spectrogramRange = 80
	// mostRowsHigh bounds a spectrogram's height.
	mostRowsHigh = 200
)

// viridis are colors of equally rising lightness, from dark to light.
var viridis = [][3]float64{
	{68, 1, 84}, {72, 40, 120}, {62, 74, 137}, {49, 104, 142},
	{38, 130, 142}, {31, 158, 137}, {53, 183, 121}, {109, 205, 89}, {180, 222, 44}, {253, 231, 37},
}

// gapInk is the last color of a spectrogram's palette, which marks gaps along its foot.
const gapInk = 255

var spectrogramPalette = func() color.Palette {
	var p color.Palette
	for i := range gapInk {
		at := float64(i) / (gapInk - 1) * float64(len(viridis)-1)
		k := min(int(at), len(viridis)-2)
		mix := func(c int) uint8 {
			return uint8(math.Round(viridis[k][c] + (at-float64(k))*(viridis[k+1][c]-viridis[k][c])))
		}
		p = append(p, color.RGBA{mix(0), mix(1), mix(2), 0xff})
	}
	return append(p, color.RGBA{0xff, 0x5a, 0x4a, 0xff})
}()

// levels is a spectrogram in dB, [column][row] from the lowest frequency up.
type levels [][]float64

// spectrogram computes the power of x in frames of the given length, spread evenly
// over it, under a Hann window. It averages neighboring frequencies if an image
// shows fewer.
func spectrogram(x []float64, columns, frame int) levels {
	columns = min(columns, len(x))
	frame += frame % 2
	transform := ar.NewSpectrum(frame, ar.Hann(frame))
	in, powers := make([]float64, frame), make([]float64, frame/2+1)
	rows := min(frame/2, mostRowsHigh)
	out := make(levels, columns)
	for t := range out {
		center := int((float64(t) + 0.5) * float64(len(x)) / float64(columns))
		clear(in)
		for i := range in {
			if at := center - frame/2 + i; at >= 0 && at < len(x) {
				in[i] = x[at]
			}
		}
		clear(powers)
		transform.Add(powers, in)
		out[t] = make([]float64, rows)
		for r := range out[t] {
			lo, hi := r*(frame/2)/rows, (r+1)*(frame/2)/rows
			out[t][r] = 10 * math.Log10(floats.Sum(powers[lo:hi])/float64(hi-lo)+1e-30)
		}
	}
	return out
}

func (s levels) loudest() float64 {
	most := math.Inf(-1)
	for _, c := range s {
		most = max(most, slices.Max(c))
	}
	return most
}

// encode writes the levels below top as a PNG and marks missing columns along its
// foot.
func (s levels) encode(top float64, missing func(column int) bool) ([]byte, error) {
	height := len(s[0])
	img := image.NewPaletted(image.Rect(0, 0, len(s), height), spectrogramPalette)
	foot := max(2, height/50)
	for t, c := range s {
		for r, v := range c {
			i := gapInk - 1 + (v-top)*(gapInk-1)/spectrogramRange
			img.SetColorIndex(t, height-1-r, uint8(math.Max(0, math.Min(gapInk-1, i))))
			if r < foot && missing(t) {
				img.SetColorIndex(t, height-1-r, gapInk)
			}
		}
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&b, img); err != nil {
		return nil, fmt.Errorf("draw a spectrogram: %w", err)
	}
	return b.Bytes(), nil
}

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
		for k, f := range p.fillings(g) {
			c := p.lanes(g)[k]
			for i := max(from, g.Start); i < min(to, g.End); i++ {
				after[i-from] += (f.Mean[i-g.Start] - held.samples[c][i-held.start]) / float64(p.Channels)
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
