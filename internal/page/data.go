package page

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"html/template"
	"math"
	"strconv"

	"github.com/vssgp/vssgp/internal/figure"
)

// floats are numbers in JSON, null where they are not finite, rounded to the
// given digits.
type floats struct {
	values []float64
	digits int
}

// MarshalJSON writes an array.
func (f floats) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, v := range f.values {
		if i > 0 {
			out = append(out, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			out = append(out, "null"...)
			continue
		}
		out = strconv.AppendFloat(out, v, 'g', f.digits, 64)
	}
	return append(out, ']'), nil
}

// Digits of what is drawn; x may be a date or a time, of which the differences matter.
const digitsX, digitsY = 12, 7

type layerJSON struct {
	Name string      `json:"name"`
	Kind figure.Kind `json:"kind"`
	Ink  figure.Ink  `json:"ink"`
	X    floats      `json:"x"`
	Y    *floats     `json:"y,omitempty"`
	Lo   *floats     `json:"lo,omitempty"`
	Hi   *floats     `json:"hi,omitempty"`
}

type labelJSON struct {
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
	Text string  `json:"text"`
}

// figureJSON is a figure as chart.js takes it. The encoder escapes what could
// end a script.
func figureJSON(f *figure.Figure) (template.JS, error) {
	var layers []layerJSON
	some := func(v []float64) *floats {
		if v == nil {
			return nil
		}
		return &floats{v, digitsY}
	}
	for _, l := range f.Layers {
		j := layerJSON{Name: l.Name, Kind: l.Kind, Ink: l.Ink, X: floats{l.X, digitsX}, Y: some(l.Y), Lo: some(l.Lo), Hi: some(l.Hi)}
		if l.Kind == figure.Stems {
			j.Lo, j.Hi = &floats{l.Lo, digitsX}, &floats{l.Hi, digitsX}
		}
		layers = append(layers, j)
	}
	labels := []labelJSON{}
	for _, l := range f.Labels {
		labels = append(labels, labelJSON(l))
	}
	text, err := json.Marshal(map[string]any{"layers": layers, "labels": labels, "xLabel": f.XLabel, "yLabel": f.YLabel, "logY": f.LogY})
	return template.JS(text), err
}

// Recording is sound that a page holds: stretches of a recording, and what is
// known of the gaps in them.
type Recording struct {
	Rate, Channels int
	Stretches      []Stretch
	Gaps           []Filled
}

// Stretch is a part of the recording from frame Start on, [channel][frame] in
// full scale.
type Stretch struct {
	Start   int
	Samples [][]float64
}

// Filled is a gap [Start, End) with the mean and standard deviation of its fill
// and, where one is known, the reference, all [channel][frame].
type Filled struct {
	Start, End          int
	Mean, SD, Reference [][]float64
}

type stretchJSON struct {
	Start  int    `json:"start"`
	Frames int    `json:"frames"`
	PCM    []byte `json:"pcm"` // 16 bits, little-endian, the channels of a frame together
}

type filledJSON struct {
	Start     int    `json:"start"`
	End       int    `json:"end"`
	Mean      string `json:"mean"` // float32, little-endian, channel after channel
	SD        string `json:"sd"`
	Reference string `json:"reference,omitempty"` // 16 bits
}

func (r *Recording) json() (template.JS, error) {
	var stretches []stretchJSON
	for _, s := range r.Stretches {
		j := stretchJSON{Start: s.Start, Frames: len(s.Samples[0])}
		for i := range s.Samples[0] {
			for c := range s.Samples {
				j.PCM = appendPCM(j.PCM, s.Samples[c][i])
			}
		}
		stretches = append(stretches, j)
	}
	var gaps []filledJSON
	for _, g := range r.Gaps {
		j := filledJSON{Start: g.Start, End: g.End, Mean: singles(g.Mean), SD: singles(g.SD)}
		var reference []byte
		for _, c := range g.Reference {
			for _, v := range c {
				reference = appendPCM(reference, v)
			}
		}
		j.Reference = base64.StdEncoding.EncodeToString(reference)
		gaps = append(gaps, j)
	}
	text, err := json.Marshal(map[string]any{"rate": r.Rate, "channels": r.Channels, "stretches": stretches, "gaps": gaps})
	return template.JS(text), err
}

// appendPCM appends a sample as 16-bit PCM, clipped at full scale.
func appendPCM(out []byte, v float64) []byte {
	v = math.Max(-32768, math.Min(32767, math.Round(v*32768)))
	return binary.LittleEndian.AppendUint16(out, uint16(int16(v)))
}

// singles are numbers as float32 in base64.
func singles(channels [][]float64) string {
	var out []byte
	for _, c := range channels {
		for _, v := range c {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
		}
	}
	return base64.StdEncoding.EncodeToString(out)
}
