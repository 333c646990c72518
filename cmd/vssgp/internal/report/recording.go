package report

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/detect"
	"github.com/vssgp/vssgp/audio/restore"
)

// Limits that keep a page small enough for a browser.
const (
	// maxSound is the maximum number of bytes of audio. Above it, a page contains clips around gaps instead of the whole recording.
	maxSound = 8 << 20
	// maxListed and maxCharted are the maximum numbers of gaps in the list and of gaps with charts.
	maxListed, maxCharted = 300, 40
	// aroundGap is the length of a clip on each side of a gap, in seconds.
	aroundGap = 0.3
	// bytesGiven is the size of a sample in a page. Samples of the fill and of the reference add bytesFilled each, and a gap bytesGap.
	bytesGiven, bytesFilled, bytesGap = 2, 4, 100
)

// player is the data of player.js: clips of a recording, and the fills of the gaps in them.
type player struct {
	Rate      int         `json:"rate"`
	Channels  int         `json:"channels"`
	Gain      float64     `json:"gain,omitempty"` // factor applied to all sounds; 0: none
	Filled    bool        `json:"-"`              // the gaps have fills
	Reference bool        `json:"-"`              // the gaps have a reference
	Clips     []clip      `json:"clips"`
	Gaps      []playerGap `json:"gaps"` // in the clips
}

// playerGap is a gap [Start, End) with the mean of its fill and the reference as little-endian float32, ordered by channel.
type playerGap struct {
	Number    int    `json:"number"`
	Start     int    `json:"start"`
	End       int    `json:"end"`
	Channel   int    `json:"channel"` // from 1; 0 for all
	Mean      []byte `json:"mean,omitempty"`
	Reference []byte `json:"reference,omitempty"`
}

// clip contains the samples [channel][frame] of frames [Start, End), relative to full scale.
type clip struct {
	Start   int    `json:"start"`
	End     int    `json:"end"`
	PCM     []byte `json:"pcm"` // 16 bits, little-endian, clipped at full scale, channels interleaved
	samples [][]float64
}

func newClip(start int, samples [][]float64) clip {
	c := clip{Start: start, End: start + len(samples[0]), samples: samples}
	for i := range samples[0] {
		for _, channel := range samples {
			v := math.Max(math.MinInt16, math.Min(math.MaxInt16, math.Round(channel[i]*-math.MinInt16)))
			c.PCM = binary.LittleEndian.AppendUint16(c.PCM, uint16(int16(v)))
		}
	}
	return c
}

// singles encodes channels as little-endian float32.
func singles(channels [][]float64) (out []byte) {
	for _, v := range slices.Concat(channels...) {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
	}
	return out
}

// gap is a gap of the recording, or a detection, with its data for the page.
type gap struct {
	audio.Gap
	number    int               // in the order of time, from 1
	fills     []restore.GapFill // by channel; nil if it was not filled
	reference [][]float64       // by channel, if it is known and the gap is embedded
	found     detect.Found      // the detection at this gap; empty if there is none
	sd        float64           // expected error of the fill, from expectedError
	relative  float64           // the same relative to the surrounding level; NaN if that is unknown
	lo, hi    int               // frames to show
	embedded  bool              // the player contains it
	charted   bool
}

// embedded is the part of a recording that the page contains.
type embedded struct {
	*Fill
	player  player
	gaps    []*gap // in increasing order
	whole   bool   // the page contains the whole recording
	listed  []*gap // in the order of minSure
	charted int    // number of listed gaps with charts
}

func newEmbedded(f *Fill) (*embedded, error) {
	filled := f.Result != nil
	p := &embedded{Fill: f, player: player{Rate: f.Rate, Channels: f.Channels, Filled: filled,
		Reference: filled && f.Reference != nil, Gaps: []playerGap{}}}
	if filled {
		for i, g := range f.Result.Gaps {
			sd, relative := expectedError(f.Result.Fills[i])
			p.gaps = append(p.gaps, &gap{Gap: g, number: i + 1, fills: f.Result.Fills[i], sd: sd, relative: relative})
		}
	} else {
		for i, g := range f.Found {
			p.gaps = append(p.gaps, &gap{Gap: g.Gap, number: i + 1, found: g, relative: math.NaN()})
		}
	}
	if f.Gain < 0 {
		p.player.Gain = math.Pow(10, f.Gain/20)
	}
	p.listed = slices.Clone(p.gaps)
	slices.SortStableFunc(p.listed, minSure)
	p.listed = p.listed[:min(len(p.listed), maxListed)]
	room, side := maxSound-p.cost(0, f.Samples), int(aroundGap*float64(f.Rate))
	if p.whole = room >= 0; p.whole {
		if err := p.embed(0, f.Samples); err != nil {
			return nil, err
		}
	} else {
		room = maxSound
	}
	for _, g := range p.listed {
		g.lo, g.hi = max(0, g.Start-side), min(f.Samples, g.End+side)
		if !p.whole {
			cost := p.cost(g.lo, g.hi)
			if cost > room {
				continue
			}
			room -= cost
			if err := p.embed(g.lo, g.hi); err != nil {
				return nil, err
			}
		}
		if p.charted < maxCharted {
			p.charted++
			g.charted = true
		}
	}
	return p, nil
}

// cost returns the size of frames [lo, hi) in bytes.
func (p *embedded) cost(lo, hi int) int {
	filled := bytesFilled
	if p.player.Reference {
		filled *= 2
	}
	n := p.Channels * bytesGiven * (hi - lo)
	for _, g := range p.within(lo, hi) {
		n += bytesGap + filled*g.Len()*len(p.channels(g.Gap))
	}
	return n
}

// within returns the gaps that overlap [lo, hi).
func (p *embedded) within(lo, hi int) (inside []*gap) {
	for _, g := range p.gaps {
		if g.Start < hi && g.End > lo {
			inside = append(inside, g)
		}
	}
	return inside
}

// channels returns the channels, from 0, in which a gap's samples are missing.
func (p *embedded) channels(g audio.Gap) (channels []int) {
	for c := range p.Channels {
		if g.In(c) {
			channels = append(channels, c)
		}
	}
	return channels
}

// embed adds a clip to the player, with the fills of the gaps in it.
func (p *embedded) embed(lo, hi int) error {
	samples, err := p.Input.Read(lo, hi)
	if errors.Is(err, audio.ErrFormat) { // a gap may have values that are not finite
		samples, err = restore.Around(p.Input, p.plain()).Read(lo, hi)
	}
	if err != nil {
		return err
	}
	p.player.Clips = append(p.player.Clips, newClip(lo, samples))
	for _, g := range p.within(lo, hi) {
		if g.embedded {
			continue
		}
		g.embedded = true
		if p.player.Reference {
			reference, err := p.Reference.Read(g.Start, g.End)
			if err != nil {
				return err
			}
			for _, c := range p.channels(g.Gap) {
				g.reference = append(g.reference, reference[c])
			}
		}
		var fills [][]float64
		for _, f := range g.fills {
			fills = append(fills, f.Values(-1))
		}
		p.player.Gaps = append(p.player.Gaps,
			playerGap{Number: g.number, Start: g.Start, End: g.End, Channel: g.Channel, Mean: singles(fills), Reference: singles(g.reference)})
	}
	return nil
}

// clip returns the clip that contains frames [from, to).
func (p *embedded) clip(from, to int) clip {
	clips := p.player.Clips
	return clips[slices.IndexFunc(clips, func(c clip) bool { return c.Start <= from && to <= c.End })]
}
