package report

import (
	"encoding/binary"
	"encoding/json"
	"math"
)

// recording is the sound that a page holds, as sound.js takes it: clips of a
// recording, and the fills of the gaps in them.
type recording struct {
	Channels int         `json:"channels"`
	Filled   bool        `json:"filled"` // the gaps have fills
	Gaps     []filledGap `json:"gaps"`   // that lie in the clips
	Rate     int         `json:"rate"`
	Total    int         `json:"total"` // gaps, of which the clips may have fewer
	Clips    []clip      `json:"stretches"`
}

// clip is the samples [channel][frame] from frame start on, in full scale.
type clip struct {
	start   int
	samples [][]float64
}

// filledGap is a gap [Start, End) with the mean of its fill (singles), if it has one: that of each channel that misses the samples, one
// after the other.
type filledGap struct {
	Number  int    `json:"number"` // in time, from 1
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Channel int    `json:"channel"` // from 1; 0: all
	Mean    []byte `json:"mean,omitempty"`
}

// MarshalJSON gives the clip as pcm, the channels of a frame together.
func (c clip) MarshalJSON() ([]byte, error) {
	var mixed []float64
	frames := len(c.samples[0])
	for i := range frames {
		for _, channel := range c.samples {
			mixed = append(mixed, channel[i])
		}
	}
	return json.Marshal(struct {
		Start  int    `json:"start"`
		Frames int    `json:"frames"`
		PCM    []byte `json:"pcm"`
	}{c.start, frames, pcm(mixed)})
}

// pcm writes samples as 16-bit PCM, little-endian and
// clipped at full scale.
func pcm(samples []float64) (out []byte) {
	for _, v := range samples {
		v = math.Max(-32768, math.Min(32767, math.Round(v*32768)))
		out = binary.LittleEndian.AppendUint16(out, uint16(int16(v)))
	}
	return out
}

// singles writes numbers as little-endian float32.
func singles(numbers []float64) (out []byte) {
	for _, v := range numbers {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
	}
	return out
}
