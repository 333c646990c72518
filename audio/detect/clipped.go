package detect

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/vssgp/vssgp/audio"
)

func init() { detectors[Clipped] = clipped }

const (
	clipTile   = 1 << 16 // samples that are read at a time
	clipGrain  = 2048    // samples within 1/2048 of the largest value, or within clipSteps, may lie at the level:
	clipSteps  = 3       // dither and rounding after a change of volume spread it so far
	clipFine   = 16      // parts of that width, to find how much of it the level takes
	clipBelow  = 16      // such widths below are what a smooth tail is told by
	clipExcess = 8       // times as many samples as there; a tone that stays equally loud has 4
	clipPairs  = 4       // pairs of neighbors at the level; peaks that are merely equal have fewer
	railPairs  = 2       // where the level is the largest value of the format
)

// A rail is the level of one side of a channel.
type rail struct {
	side  float64 // 1 or −1
	top   float64 // the largest side·x
	width float64
	depth [clipFine * (1 + clipBelow)]int // samples by top − side·x, in parts of width/clipFine
	least float64                         // samples from here on lie at the level
	pairs int
	runs  []audio.Gap
}

// clipped finds the samples at a channel's largest or smallest values. Either side has a level of its own. It is one if far more
// samples lie there than in as much space just below, and many of them side by side: a sound's loudest peaks differ in height, and what
// touches full scale once or twice is not clipped. Single samples at a level that others prove are clipped too. What cannot be told:
// square waves; clipping before a filter or a change of rate, which spread the level; a second, lower level in the same channel.
func clipped(ctx context.Context, r recording, o *Options) ([]Found, error) {
	rails := make([]rail, 2*r.channels)
	passes := []func(l *rail, n int, x float64){
		func(l *rail, _ int, x float64) { l.top = max(l.top, x) },
		(*rail).count,
		(*rail).mark,
	}
	for p, pass := range passes {
		for lo := 0; lo < r.n; lo += clipTile {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			hi := min(lo+clipTile, r.n)
			samples, err := r.Read(lo, hi)
			if err != nil {
				return nil, err
			}
			for i := range rails {
				rails[i].side = float64(1 - 2*(i%2))
				for n, x := range samples[i/2] {
					pass(&rails[i], lo+n, rails[i].side*x)
				}
			}
			if o.Progress != nil {
				o.Progress((float64(p) + float64(hi)/float64(r.n)) / float64(len(passes)))
			}
		}
		for i := range rails {
			if l := &rails[i]; p == 0 {
				l.width = max(l.top/clipGrain, clipSteps*o.Step)
			} else if p == 1 {
				l.settle(o)
			}
		}
	}
	var found []Found
	for c := range r.channels {
		var runs []audio.Gap
		for i := range 2 {
			if l := &rails[2*c+i]; l.proven(o) {
				runs = append(runs, l.runs...)
			}
		}
		slices.SortFunc(runs, func(a, b audio.Gap) int { return cmp.Compare(a.Start, b.Start) })
		for _, g := range runs {
			g.Channel, g.Clipped = c+1, true
			found = append(found, Found{Gap: g, Kind: Clipped})
		}
	}
	return found, nil
}

// count enters a sample near the top.
func (l *rail) count(_ int, x float64) {
	if part := (l.top - x) / l.width * clipFine; part < float64(len(l.depth)) {
		l.depth[int(part)]++
	}
}

// settle finds where the level begins, or puts it out of reach where there is none: the smallest part of the width at the top that has
// 19 of 20 samples there.
func (l *rail) settle(o *Options) {
	at, below := 0, 0
	for i, n := range l.depth {
		if i < clipFine {
			at += n
		} else {
			below += n
		}
	}
	excess := clipExcess * math.Exp2((DefaultSensitivity-o.Sensitivity)/2)
	l.least = math.Inf(1)
	if l.top <= 16*o.Step || !(float64(at) > excess*float64(below)/clipBelow) {
		return
	}
	sum := 0
	for i, n := range l.depth[:clipFine] {
		if sum += n; 20*sum >= 19*at {
			l.least = l.top - l.width*float64(i+1)/clipFine
			return
		}
	}
}

// mark enters a sample at the level, or beyond it.
func (l *rail) mark(n int, x float64) {
	if !(x > l.least) {
		return
	}
	if k := len(l.runs) - 1; k >= 0 && l.runs[k].End == n {
		l.runs[k].End++
		l.pairs++
		return
	}
	l.runs = append(l.runs, audio.Gap{Start: n, End: n + 1})
}

// proven reports whether enough samples lie side by side.
func (l *rail) proven(o *Options) bool {
	if l.top >= 1-1.5*o.Step {
		return l.pairs >= railPairs
	}
	return l.pairs >= clipPairs
}
