package damage

import (
	"context"
	"math"
	"slices"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/parallel"
	"gonum.org/v1/gonum/floats"
)

func init() { detectors[Clicks] = clicks }

const (
	// halfBlock is how many samples of sound are searched at a time, or halfBlockTime seconds; as many again, on both sides together, are
	// modelled with them.
	halfBlock     = 400
	halfBlockTime = 0.020
	// seam is how far beyond its own samples a block's finds count: where a click begins may differ a little from block to block.
	seam        = 8
	clickMargin = 1  // samples on either side of a click that are taken for damaged, too
	leastPulse  = 16 // samples: shorter clicks are all alike
	clickRounds = 4  // of finding clicks and modelling what is left
)

// clicks finds short bursts that were added to the sound or put in its place.
func clicks(ctx context.Context, r recording, o *Options) (out []Found, err error) {
	step, err := r.step(o.Step)
	if err != nil {
		return nil, err
	}
	half := max(halfBlock, int(math.Round(halfBlockTime*float64(r.rate))))
	around := max(leastAround, int(math.Round(aroundClicks*float64(r.rate))))
	threshold := math.Log(float64(r.rate)) + clickNats + natsPerSensitivity*(DefaultSensitivity-o.Sensitivity)
	lanes, tile := make([][]Found, r.channels), tileSamples/half*half
	for lo := 0; lo < r.n; lo += tile {
		hi := min(r.n, lo+tile)
		from := max(0, lo-half)
		x, err := r.Read(from, min(r.n, hi+half))
		if err != nil {
			return nil, err
		}
		blocks := (hi - lo + half - 1) / half
		finds := make([][]Found, len(x)*blocks)
		if err := parallel.Try(len(finds), 0, func(i int) error {
			own := lo + i%blocks*half
			begin := max(0, own-half/2)
			for _, c := range findClicks(x[i/blocks][begin-from:min(r.n, own+half+half/2)-from], around, step, threshold) {
				if at := begin + c.lo; at >= own-seam && at < own+half+seam {
					g := audio.Gap{Start: max(0, at-clickMargin), End: min(r.n, begin+c.hi+clickMargin), Channel: i/blocks + 1}
					finds[i] = append(finds[i], Found{Gap: g, Kind: Clicks, Strength: c.strength})
				}
			}
			return ctx.Err()
		}); err != nil {
			return nil, err
		}
		for i, f := range finds {
			lanes[i/blocks] = append(lanes[i/blocks], f...)
		}
		if o.Progress != nil {
			o.Progress(float64(hi) / float64(r.n))
		}
	}
	return slices.Concat(lanes...), nil
}

// findClicks returns the clicks in some sound: in turn the model is fitted to what is left, and its errors say what to take out.
func findClicks(x []float64, around int, step, threshold float64) (found []click) {
	j := &judge{block: newBlock(x, around, step), threshold: threshold}
	for round := range clickRounds {
		if j.fit(); !(j.model.E > 0) {
			break
		}
		again := found
		found = nil
		for i := range again { // under the model of what is left
			if again[i].hi-again[i].lo > longestClick { // several that met
				found = append(found, again[i])
				continue
			}
			j.add(&again[i], 1)
			if c, ok := j.climb(again[i].lo, again[i].hi); ok {
				found = j.take(found, c, x)
			}
		}
		fresh := false
		for _, seed := range j.seeds() {
			if c, ok := j.climb(seed, seed+1); ok {
				found = j.take(found, c, x)
				fresh = true
			}
		}
		if len(found) == 0 || !fresh && round > 0 {
			break
		}
	}
	copy(j.z, x)
	j.update(0, len(x))
	return slices.DeleteFunc(found, func(c click) bool {
		return constant(x[max(0, c.lo-beside):c.lo]) != constant(x[c.hi:min(len(x), c.hi+beside)]) || c.hi-c.lo >= leastPulse && j.recurs(c.lo, c.hi+clickOrder)
	})
}

// constant reports whether all samples are alike: where sound meets digital silence it stops or begins, but there is no click.
func constant(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return v != x[0] })
}

// take takes a click out of the sound and adds it to those found. Those that it meets become one with it.
func (j *judge) take(found []click, c click, x []float64) []click {
	j.add(&c, -1)
	kept := found[:0]
	for _, other := range found {
		if other.hi < c.lo || other.lo > c.hi {
			kept = append(kept, other)
			continue
		}
		c = click{lo: min(c.lo, other.lo), hi: max(c.hi, other.hi), strength: max(c.strength, other.strength)}
		c.added = make([]float64, c.hi-c.lo)
		floats.SubTo(c.added, x[c.lo:c.hi], j.z[c.lo:c.hi])
	}
	return append(kept, c)
}
