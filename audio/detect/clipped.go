package detect

import (
	"context"
	"math"
)

// clippedDetector finds the samples at a channel's largest or smallest values. Each side has its own level. A level is clipping if far more
// samples lie there than in an equal range of values just below, and many of them are adjacent: the loudest peaks of a sound differ in
// height, and a sound that touches full scale once or twice is not clipped. Single samples at a level are then clipped too. Limits of the
// method: square waves; clipping before a filter or a change of rate, which spread the level; a second, lower level in the same channel.
type clippedDetector struct {
	levels []clipLevel // [2·channel + side]
}

// A clipLevel counts the samples near the largest value of one side of a channel.
type clipLevel struct {
	side    float64 // 1 or −1
	top     float64 // the largest side·x
	width   float64 // samples within it may be at the level
	depth   [clipParts * (1 + clipParts)]int
	pairs   [clipParts]int // of adjacent samples at the level, by the lower one
	last    int            // part of the previous sample
	least   float64        // samples above it are at the level
	logOdds float64
}

// newClipped measures the levels, in two passes over the recording.
func newClipped(ctx context.Context, r recording, o *Options) (detector, error) {
	d := &clippedDetector{make([]clipLevel, 2*r.channels)}
	pass := func(do func(l *clipLevel, x float64)) error {
		return r.tiles(ctx, 0, func(x [][]float64, _, _, _ int) error {
			for i := range d.levels {
				l := &d.levels[i]
				l.side = float64(1 - 2*(i%2))
				for _, v := range x[i/2] {
					do(l, l.side*v)
				}
			}
			return nil
		})
	}
	if err := pass(func(l *clipLevel, x float64) { l.top = max(l.top, x) }); err != nil {
		return nil, err
	}
	for i := range d.levels {
		l := &d.levels[i]
		l.width, l.last = max(l.top/clipGrain, clipSteps*o.Step), clipParts
	}
	if err := pass((*clipLevel).count); err != nil {
		return nil, err
	}
	for i := range d.levels {
		d.levels[i].decide(o)
	}
	return d, nil
}

// count enters a sample near the top.
func (l *clipLevel) count(x float64) {
	part := len(l.depth)
	if p := (l.top - x) / l.width * clipParts; p < float64(len(l.depth)) {
		part = int(p)
		l.depth[part]++
	}
	if pair := max(part, l.last); pair < clipParts {
		l.pairs[pair]++
	}
	l.last = part
}

// decide finds where the level begins: the smallest part of the width at the top that contains 19 of its 20 samples. The log-odds are
// log(n/m) − log clipExcess, for n samples in the width and m in the mean of the widths below.
func (l *clipLevel) decide(o *Options) {
	at, below := 0, 0
	for i, n := range l.depth {
		if i < clipParts {
			at += n
		} else {
			below += n
		}
	}
	l.least = math.Inf(1)
	l.logOdds = math.Log(float64(at)) - math.Log(max(float64(below), 0.5)/clipParts) - math.Log(clipExcess)
	if l.top <= clipParts*o.Step || !(l.logOdds > (DefaultSensitivity-o.Sensitivity)/2*math.Ln2) {
		return
	}
	adjacent := clipPairs
	if l.top >= 1-1.5*o.Step {
		adjacent /= 2
	}
	sum, pairs := 0, 0
	for i, n := range l.depth[:clipParts] {
		sum, pairs = sum+n, pairs+l.pairs[i]
		if 20*sum >= 19*at {
			if pairs >= adjacent {
				l.least = l.top - l.width*float64(i+1)/clipParts
			}
			return
		}
	}
}

func (d *clippedDetector) size() (block, margin int) { return blockSamples, 0 }

func (d *clippedDetector) find(b block) (out []candidate) {
	for i := range 2 {
		l := &d.levels[2*b.channel+i]
		for n, v := range b.x[b.channel] {
			if !(l.side*v > l.least) {
				continue
			}
			at := b.from + n
			if k := len(out) - 1; k >= 0 && out[k].hi == at {
				out[k].hi++
				continue
			}
			out = append(out, candidate{at, at + 1, l.logOdds, 0})
		}
	}
	return out
}

func (d *clippedDetector) choose(all []candidate) []candidate { return joined(all) }
