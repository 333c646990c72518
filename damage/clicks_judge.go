package damage

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

const (
	// clickNats is what has to speak for a click at the default sensitivity, beside the logarithm of the samples of a second, each of
	// which could begin one. A step of the sensitivity is worth natsPerSensitivity; natsPerSample and natsPerDecibel have to be added for each
	// sample, and for each decibel that a click is below the sound around: few clicks are long or soft.
	clickNats          = 8.0
	natsPerSensitivity = 3.0
	natsPerSample      = 0.4
	natsPerDecibel     = 1.0
	// hopeless is what the first tries at a place have to have at least.
	hopeless = -10.0
)

// A judge looks for clicks in a block.
type judge struct {
	*block
	threshold float64
	after     [longestClick + clickOrder]float64 // prediction errors without a click
	added     [longestClick]float64
}

// climb moves the ends of a click for as long as more speaks for it, and reports whether that is enough.
func (j *judge) climb(lo, hi int) (best click, ok bool) {
	if j.kinds == nil {
		j.kinds = clickKinds(j.model)
	}
	usual := j.usual(lo, hi)
	if len(usual) == 0 {
		return best, false
	}
	best.nats = math.Inf(-1)
	try := func(lo, hi, shape int) bool {
		if lo < clickOrder || hi > len(j.z)-clickOrder || hi <= lo || hi-lo > longestClick {
			return false
		}
		c := j.likeliest(lo, hi, shape, usual)
		if c.nats > best.nats {
			best = c
			return true
		}
		return false
	}
	for _, n := range [...]int{0, 2, 6, 15, 25, 40} {
		for s := range clickShapes {
			try(lo, hi+n, s)
			try(lo-n/2, hi+n/2, s)
			try(lo-n, hi, s)
		}
	}
	for moved := best.nats > hopeless; moved; {
		moved = false
		lo, hi := best.lo, best.hi
		for _, k := range [...]int{1, 2, 3, 5, 8, 13, 21, 34} {
			for _, ends := range [...][2]int{{lo, hi + k}, {lo - k, hi}, {lo, hi - k}, {lo + k, hi}, {lo - k, hi - k}, {lo + k, hi + k}} {
				moved = try(ends[0], ends[1], best.shape) || moved
			}
		}
		for s := range clickShapes {
			moved = try(best.lo, best.hi, s) || moved
		}
	}
	if best.nats <= j.threshold || best.hi-best.lo == longestClick { // which could go on
		return best, false
	}
	j.nats(&best, usual)
	best.added = slices.Clone(j.added[:best.hi-best.lo])
	best.strength = j.strength(&best)
	return best, best.nats > j.threshold+natsPerSample*float64(best.hi-best.lo)+natsPerDecibel*max(0, -best.strength)
}

// likeliest returns a click of a shape, at the level that it seems to have.
func (j *judge) likeliest(lo, hi, shape int, usual []errorsLike) (best click) {
	c := click{lo: lo, hi: hi, shape: shape, level: len(clickLevels) - 2}
	best.nats = math.Inf(-1)
	for range 2 {
		var level float64
		if c.nats, level = j.nats(&c, usual); c.nats > best.nats {
			best = c
		}
		next := min(max(0, int(math.Round(math.Log10(level)))), len(clickLevels)-1)
		if next == c.level {
			break
		}
		c.level = next
	}
	return best
}

// nats returns how much speaks for a click, and what its level seems to be. That is how much likelier the errors are without it, less what
// its samples cost. On whichever side the errors are usually larger, or have longer tails, that counts, and right beside the click nothing
// else may be going on.
func (j *judge) nats(c *click, usual []errorsLike) (nats, level float64) {
	n, k := c.hi-c.lo, &j.kinds[c.shape][c.level]
	if n > len(k.costs) {
		return math.Inf(-1), 1
	}
	added, after, before := j.added[:n], j.after[:n+clickOrder], j.e[c.lo:c.hi+clickOrder]
	k.posterior.Solve(added, j.h[c.lo:c.hi])
	copy(after, before)
	for i, v := range added {
		floats.AddScaled(after[i:i+clickOrder+1], -v, j.model.A)
	}
	near := j.deviation(after[n:])
	if c.lo-beside >= clickOrder {
		if j.left[c.lo] < 0 {
			j.left[c.lo] = j.deviation(j.e[c.lo-beside : c.lo])
		}
		near = max(near, j.left[c.lo])
	}
	moves, most := k.innovations(added), near
	nats = math.Inf(1)
	for _, u := range usual {
		u.scale = max(u.scale, near)
		most = max(most, u.scale)
		nats = min(nats, u.unlikely(before)-u.unlikely(after)-moves/(2*k.level*u.scale*u.scale))
	}
	return nats - k.costs[n-1], moves / (float64(n) * most * most)
}
