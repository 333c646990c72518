package detect

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/parallel"
)

func init() { detectors[Clicks] = clicks }

const (
	clickHop   = 0.020 // seconds of a window's own part
	clickReach = 0.015 // seconds of the sound on either side of it that its model is fitted to
	clickEdge  = 1     // samples that are added on either side, as a click fades in and out below the noise
)

// clickTile is how many windows of a channel are read in one go.
var clickTile = 64

// clicks finds bursts of up to some sixty samples that were added to the sound or put in its place.
func clicks(ctx context.Context, r recording, o *Options) ([]Found, error) {
	step, err := r.step(o.Step)
	if err != nil {
		return nil, err
	}
	hop, reach := max(256, int(clickHop*float64(r.rate))), max(192, int(clickReach*float64(r.rate)))
	lanes := make([][]burst, r.channels)
	for lo := 0; lo < r.n; lo += clickTile * hop {
		hi := min(r.n, lo+clickTile*hop)
		from := max(0, lo-reach)
		x, err := r.Read(from, min(r.n, hi+reach))
		if err != nil {
			return nil, err
		}
		windows := (hi - lo + hop - 1) / hop
		found := make([][]burst, r.channels*windows)
		parallel.For(len(found), runtime.GOMAXPROCS(0), func(i int) {
			if ctx.Err() != nil {
				return
			}
			c, start := i/windows, lo+i%windows*hop
			end := min(r.n, start+hop)
			first := max(0, start-reach)
			own := x[c][first-from : min(r.n, end+reach)-from]
			found[i] = newClickWindow(own, step, o.Sensitivity).find(start-first, end-first)
			for k := range found[i] {
				found[i][k].lo += first
				found[i][k].hi += first
			}
		})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i, f := range found {
			lanes[i/windows] = append(lanes[i/windows], f...)
		}
		if o.Progress != nil {
			o.Progress(float64(hi) / float64(r.n))
		}
	}
	var out []Found
	for c, l := range lanes {
		for _, b := range merged(l, r.n) {
			out = append(out, Found{Gap: audio.Gap{Start: b.lo, End: b.hi, Channel: c + 1}, Kind: Clicks, Strength: b.level})
		}
	}
	return out, nil
}

// merged returns a channel's bursts in rising order with their edges; those that meet become one.
func merged(all []burst, n int) (out []burst) {
	slices.SortFunc(all, func(a, b burst) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi)) })
	for _, b := range all {
		b.lo, b.hi = max(0, b.lo-clickEdge), min(n, b.hi+clickEdge)
		if k := len(out) - 1; k >= 0 && b.lo <= out[k].hi {
			out[k].hi, out[k].level = max(out[k].hi, b.hi), math.Max(out[k].level, b.level)
			continue
		}
		out = append(out, b)
	}
	return out
}
