package detect

import (
	"context"
	"math"
	"runtime"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/clicks"
	"github.com/vssgp/vssgp/internal/parallel"
)

func init() { detectors[Clicks] = findClicks }

// clickEdge is how many samples are added on either side, as a click fades in and out below the noise.
const clickEdge = 1

// clickTile is how many windows of a channel are read in one go.
var clickTile = 64

// findClicks finds clicks and crackle (see package clicks).
func findClicks(ctx context.Context, r recording, o *Options) (out []Found, err error) {
	step, err := r.step(o.Step)
	if err != nil {
		return nil, err
	}
	search := clicks.New(r.rate, step, o.Sensitivity)
	hop, margin := search.Size()
	lanes := make([][]clicks.Candidate, r.channels)
	for lo := 0; lo < r.n; lo += clickTile * hop {
		hi, from := min(r.n, lo+clickTile*hop), max(0, lo-margin)
		x, err := r.Read(from, min(r.n, hi+margin))
		if err != nil {
			return nil, err
		}
		found := make([][]clicks.Candidate, r.channels*clickTile)
		parallel.For(len(found), runtime.GOMAXPROCS(0), func(i int) {
			if start := lo + i%clickTile*hop; start < hi && ctx.Err() == nil {
				found[i] = search.Find(x[i/clickTile], from, start, min(hi, start+hop))
			}
		})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i, f := range found {
			lanes[i/clickTile] = append(lanes[i/clickTile], f...)
		}
		if o.Progress != nil {
			o.Progress(float64(hi) / float64(r.n))
		}
	}
	for c, l := range lanes {
		for _, k := range clicks.Choose(l, r.n, r.rate, o.Sensitivity) {
			g := audio.Gap{Start: max(0, k.Lo-clickEdge), End: min(r.n, k.Hi+clickEdge), Channel: c + 1}
			out = append(out, Found{Gap: g, Kind: Clicks, Strength: 10 * math.Log10E * k.LogOdds})
		}
	}
	return out, nil
}
