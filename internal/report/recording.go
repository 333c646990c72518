package report

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"html/template"
	"math"
)

// recording is the sound that a page holds: clips of a recording, and the fills
// of the gaps in them.
type recording struct {
	Channels int         `json:"channels"`
	Gaps     []filledGap `json:"gaps"`
	Rate     int         `json:"rate"`
	Clips    []clip      `json:"stretches"`
}

// clip is the samples [channel][frame] from frame start on, in full scale.
type clip struct {
	start   int
	samples [][]float64
}

// filledGap is a gap [Start, End) with the mean and standard deviation of its
// fill and, where one is known, the reference, all [channel][frame].
type filledGap struct {
	Start     int     `json:"start"`
	End       int     `json:"end"`
	Mean      singles `json:"mean"`
	SD        singles `json:"sd"`
	Reference pcm     `json:"reference,omitempty"`
}

// JSON is the recording as sound.js takes it.
func (r *recording) JSON() (template.JS, error) {
	text, err := json.Marshal(r)
	return template.JS(text), err
}

// MarshalJSON gives the clip as 16-bit PCM, little-endian, the channels of a
// frame together.
func (c clip) MarshalJSON() ([]byte, error) {
	frames := len(c.samples[0])
	var b []byte
	for i := range frames {
		for _, channel := range c.samples {
			b = appendPCM(b, channel[i])
		}
	}
	return json.Marshal(struct {
		Start  int    `json:"start"`
		Frames int    `json:"frames"`
		PCM    []byte `json:"pcm"`
	}{c.start, frames, b})
}

// pcm are samples as 16-bit PCM, channel after channel.
type pcm [][]float64

// MarshalText is base64.
func (p pcm) MarshalText() ([]byte, error) {
	var b []byte
	for _, c := range p {
		for _, v := range c {
			b = appendPCM(b, v)
		}
	}
	return base64.StdEncoding.AppendEncode(nil, b), nil
}

// appendPCM appends a sample as 16-bit PCM, clipped at full scale.
func appendPCM(out []byte, v float64) []byte {
	v = math.Max(-32768, math.Min(32767, math.Round(v*32768)))
	return binary.LittleEndian.AppendUint16(out, uint16(int16(v)))
}

// singles are numbers as float32, little-endian, channel after channel.
type singles [][]float64

// MarshalText is base64.
func (s singles) MarshalText() ([]byte, error) {
	var b []byte
	for _, c := range s {
		for _, v := range c {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		}
	}
	return base64.StdEncoding.AppendEncode(nil, b), nil
}
