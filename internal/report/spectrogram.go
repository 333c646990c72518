package report

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
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
	fft := fourier.NewFFT(frame)
	in, coefficients := make([]float64, frame), make([]complex128, frame/2+1)
	rows := min(frame/2, mostRowsHigh)
	out := make(levels, columns)
	for t := range out {
		center := int((float64(t) + 0.5) * float64(len(x)) / float64(columns))
		clear(in)
		for i := range in {
			if at := center - frame/2 + i; at >= 0 && at < len(x) {
				in[i] = x[at] * (0.5 - 0.5*math.Cos(2*math.Pi*(float64(i)+0.5)/float64(frame)))
			}
		}
		fft.Coefficients(coefficients, in)
		out[t] = make([]float64, rows)
		for r := range out[t] {
			lo, hi := r*(frame/2)/rows, (r+1)*(frame/2)/rows
			power := 0.0
			for _, c := range coefficients[lo:hi] {
				power += real(c)*real(c) + imag(c)*imag(c)
			}
			out[t][r] = 10 * math.Log10(power/float64(hi-lo)+1e-30)
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
