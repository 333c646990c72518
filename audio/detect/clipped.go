package detect

import (
	"context"
	"math"
	"slices"
)

// clippedDetector finds the samples at a channel's largest or smallest values. Each side has a separate level. A
// level is clipping if far more samples are there than in equal ranges of values just below, and many of them are
// adjacent. The peaks of unclipped sound differ in height, so few of them have the same value. If a level is
// clipping, single samples at it are clipped too. Levels below the largest values are found by levelCounts. Channels
// with nearly all samples at the levels are square waves or pulses, not clipping. The method fails for clipping before
// a filter or resampler, which spreads the level.
type clippedDetector struct {
	levels []clipLevel    // [2·channel + side]
	lower  [][]levelRange // [2·channel + side] other levels
	rate   int
}

// A clipLevel counts the samples near the largest value of one side of a channel.
type clipLevel struct {
	side    float64 // 1 or −1
	top     float64 // maximum of side·x
	step    float64 // quantization step of the sound, which may be larger than the format's
	width   float64 // range of values below top that may be clipped
	depth   [clipParts * (1 + clipParts)]int
	pairs   [clipParts]int // numbers of adjacent samples at the level, by the part of the lower one
	last    int            // part of the previous sample
	least   float64        // samples above this value are clipped
	logOdds float64
	counts  levelCounts
}

// threshold returns the minimum log-odds of a level.
func (l *clipLevel) threshold(o *Options) float64 {
	return (DefaultSensitivity - o.Sensitivity) / 2 * math.Ln2
}

// newClipped measures the levels in two passes over the recording.
func newClipped(ctx context.Context, r recording, o *Options) (detector, error) {
	d := &clippedDetector{make([]clipLevel, 2*r.channels), make([][]levelRange, 2*r.channels), r.rate}
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
	step, err := r.step(o.Step)
	if err != nil {
		return nil, err
	}
	stepOfTop := step
	if !slices.ContainsFunc(d.levels, func(l clipLevel) bool { return l.top > clipParts*step }) {
		stepOfTop = o.Step // a periodic sound can have so few values, too
	}
	for i := range d.levels {
		l := &d.levels[i]
		l.step, l.width, l.last = stepOfTop, max(l.top/clipGrain, clipSteps*stepOfTop), clipParts
		l.counts = newLevelCounts(l.top)
	}
	if err := pass((*clipLevel).count); err != nil {
		return nil, err
	}
	for i := range d.levels {
		l := &d.levels[i]
		l.decide(o)
		d.lower[i] = l.counts.find(min(l.least, l.top-clipParts*l.width), step, l.threshold(o))
		l.counts = levelCounts{}
	}
	return d, d.omitSquareWaves(ctx, r)
}

// omitSquareWaves removes the levels of each channel in which nearly all samples are near them or in runs of equal
// samples: square waves, pulses, trapezoids with steep edges, and sounds that are small compared with their offset.
// Samples near zero are not counted, because they are the pauses of pulses or of a clipped sound.
func (d *clippedDetector) omitSquareWaves(ctx context.Context, r recording) error {
	levels := make([][]levelRange, len(d.levels))
	for i, l := range d.levels {
		levels[i] = slices.Clone(d.lower[i])
		if l.least <= l.top {
			levels[i] = append(levels[i], levelRange{least: l.least, most: l.top})
		}
	}
	if !slices.ContainsFunc(levels, func(l []levelRange) bool { return len(l) > 0 }) {
		return nil
	}
	flat, all := make([]int, r.channels), make([]int, r.channels)
	err := r.tiles(ctx, 0, func(x [][]float64, _, _, _ int) error {
		for c, x := range x {
			least, run := clipRange*max(d.levels[2*c].top, d.levels[2*c+1].top), 0
			for i, v := range x {
				if run++; i == 0 || v != x[i-1] {
					run = 1
				}
				size, side := math.Abs(v), 2*c
				if v < 0 {
					side++
				}
				if size < least {
					continue
				}
				all[c]++
				if run > clipPairs || slices.ContainsFunc(levels[side], func(l levelRange) bool { return l.near(size) }) {
					flat[c]++
				}
			}
		}
		return nil
	})
	for i := range d.levels {
		if c := i / 2; float64(flat[c]) > clipMost*float64(all[c]) {
			d.levels[i].least, d.lower[i] = math.Inf(1), nil
		}
	}
	return err
}

// near reports whether a positive value is in the range or so close to it that it may be the level and noise.
func (r levelRange) near(v float64) bool {
	return v >= r.least*(1-clipRange) && v <= r.most*(1+clipRange)
}

// count counts a sample if it is near the top.
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
	l.counts.count(x)
}

// decide determines the lower end of the level. With coarse steps, as in 8-bit sound, clipSteps steps and the
// widths below are much of the range of values, where sounds have far more samples than at their peaks. So a width of
// one step is tried, too. A smooth unclipped peak has about 5 times as many samples at its largest value as at each of
// those below, or less.
func (l *clipLevel) decide(o *Options) {
	l.least, l.logOdds = math.Inf(1), math.Inf(-1)
	if l.top <= clipParts*l.step {
		return
	}
	l.decideFor(clipParts, o)
	if l.width == clipSteps*l.step {
		l.decideFor(clipParts/clipSteps, o)
	}
}

// decideFor determines the lower end of the level for a width of so many parts: the smallest range below the top that
// contains 95 % of the samples in the width. The log-odds are log(n/m) − log clipExcess, with n samples in the width
// and a mean of m samples in the widths below. They must exceed the log-odds of another width.
func (l *clipLevel) decideFor(parts int, o *Options) {
	count := func(lo, hi int) (n float64) {
		for _, k := range l.depth[lo:hi] {
			n += float64(k)
		}
		return n
	}
	at, below := count(0, parts), count(parts, parts*(1+clipParts))
	logOdds := math.Log(at) - math.Log(max(below, 0.5)/clipParts) - math.Log(clipExcess)
	if !(logOdds > max(l.threshold(o), l.logOdds)) {
		return
	}
	adjacent := clipPairs
	if l.top >= 1-1.5*l.step {
		adjacent /= 2
	}
	pairs := 0
	for i := range parts {
		if pairs += l.pairs[i]; 20*count(0, i+1) >= 19*at {
			if pairs >= adjacent {
				l.least, l.logOdds = l.top-l.width*float64(i+1)/clipParts, logOdds
			}
			return
		}
	}
}

func (d *clippedDetector) size() (block, margin int) { return blockSamples, clipMargin }

// clipMargin is the number of samples on each side of a block in which an excursion above a lower level must begin
// and end.
const clipMargin = 1 << 10

func (d *clippedDetector) find(b block) (out []candidate) {
	for i := range 2 {
		l := &d.levels[2*b.channel+i]
		for at := b.lo; at < b.hi; at++ {
			if !(l.side*b.x[b.channel][at-b.from] > l.least) {
				continue
			}
			if k := len(out) - 1; k >= 0 && out[k].hi == at {
				out[k].hi++
				continue
			}
			out = append(out, candidate{lo: at, hi: at + 1, logOdds: l.logOdds})
		}
		for level, r := range d.lower[2*b.channel+i] {
			out = append(out, r.tops(b, l.side, 2*level+i)...)
		}
	}
	return out
}

// tops returns the excursions to a range and not beyond that end in a block. They have the width of the level, −1 −
// level for a single sample.
func (r *levelRange) tops(b block, side float64, level int) (out []candidate) {
	x := b.x[b.channel]
	for n := 0; n < len(x); n++ {
		if side*x[n] < r.least {
			continue
		}
		start, top := n, 0.0
		for ; n < len(x) && side*x[n] >= r.least; n++ {
			top = max(top, side*x[n])
		}
		c := candidate{lo: start + b.from, hi: n + b.from, logOdds: r.logOdds, width: 1 + level}
		if c.hi-c.lo == 1 {
			c.width = -c.width
		}
		if top < r.most && c.hi > b.lo && c.hi <= b.hi {
			out = append(out, c)
		}
	}
	return out
}

// choose omits single samples at lower levels that are not near longer runs at the same level.
func (d *clippedDetector) choose(all []candidate) []candidate {
	near := int(clipNear * float64(d.rate))
	longer := map[int][]int{} // starts of runs by level
	for _, c := range all {
		if c.width > 0 {
			longer[c.width] = append(longer[c.width], c.lo)
		}
	}
	for _, starts := range longer {
		slices.Sort(starts)
	}
	return joined(slices.DeleteFunc(all, func(c candidate) bool {
		at := longer[-c.width]
		k, _ := slices.BinarySearch(at, c.lo-near)
		return c.width < 0 && (k == len(at) || at[k] > c.lo+near)
	}))
}
