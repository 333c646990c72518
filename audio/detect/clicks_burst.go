package detect

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/ar"
	"github.com/vssgp/vssgp/internal/simd"
)

// A burst is damage of the samples [lo, hi).
type burst struct {
	lo, hi int
	level  float64 // decibels over the sound around
}

const (
	clickPasses  = 3    // of fitting a model to the sound without the clicks, and looking for clicks
	clickNoticed = 4.0  // standard deviations of an error from one side or both that are looked into
	clickNats    = 12.0 // that have to speak for a click 6 dB over the sound, at the default sensitivity
	clickPoint   = 2.0  // nats less for a point of sensitivity
	clickEarly   = 16.0 // nats less before the last pass: taking out too much spoils a model less than too little
	clickLevel   = 6.0  // decibels over the sound around from which clicks are usual:
	clickSofter  = 4.0  // nats more for each decibel below it,
	clickLouder  = 2.0  // and less for each above it,
	clickLoudest = 15.0 // for so many of them
	clickChance  = 8.0  // twice the logarithm of how many places noise has to be loud in
	clickRun     = 5.0  // nats that a run of samples costs
	clickEnds    = 62   // samples of the longest claim that is believed
	clickApart   = 8    // samples without damage make two clicks of one
)

// find returns the bursts whose middle lies in [lo, hi).
func (w *clickWindow) find(lo, hi int) []burst {
	if len(w.x) < 4*clickLong || !slices.ContainsFunc(w.x, func(v float64) bool { return v != 0 }) ||
		slices.ContainsFunc(w.x, func(v float64) bool { return !(math.Abs(v) < 1e100) }) {
		return nil
	}
	var found []burst
	for pass := range clickPasses {
		if !w.fit() {
			return nil
		}
		copy(w.z, w.x)
		copy(w.sound, w.x)
		w.errors()
		copy(w.whole, w.e)
		found = w.search(pass == clickPasses-1)
		if len(found) == 0 {
			return nil
		}
		clear(w.out)
		for _, b := range found {
			for n := b.lo; n < min(len(w.out), b.hi+len(w.a)-1); n++ {
				w.out[n] = true
			}
		}
	}
	return slices.DeleteFunc(found, func(b burst) bool {
		m := (b.lo + b.hi) / 2
		return m < lo || m >= hi || constant(w.x[max(0, b.lo-clickOrder):b.lo]) != constant(w.x[b.hi:min(len(w.x), b.hi+clickOrder)])
	})
}

// constant reports whether all samples are alike: where sound meets digital silence it begins or stops, but there is no click.
func constant(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return v != x[0] })
}

// search takes bursts out of z, the most conspicuous first. What looks like one but is too soft, or comes again, is taken out
// meanwhile, so that it is looked into once.
func (w *clickWindow) search(last bool) (found []burst) {
	enough := clickNats + clickPoint*(DefaultSensitivity-w.sensitivity)
	if !last {
		enough -= clickEarly
	}
	tried := make([]bool, len(w.z))
	for at := w.conspicuous(tried); at >= 0; at = w.conspicuous(tried) {
		for i := max(0, at-3); i < min(len(w.z), at+4); i++ {
			tried[i] = true
		}
		c, ok := w.likeliest(at)
		if !ok {
			continue
		}
		level := w.level(c)
		over := level - clickLevel
		chance := 10 * math.Log10(1+clickChance/float64(len(c.at))) // noise is as loud for a few samples
		c.nats += clickLouder * min(clickLoudest, max(0, over-chance))
		if !(c.nats > enough) {
			continue
		}
		c.nats -= clickSofter * max(0, -over)
		if last && c.nats > enough {
			c.nats -= w.again(c)
		}
		w.take(c)
		if !(c.nats > enough) {
			continue
		}
		w.give(c)
		for _, r := range runs(c.at) {
			found = append(found, burst{r[0], r[1], level})
		}
	}
	copy(w.z, w.sound)
	return found
}

// conspicuous returns where the largest error is that was not tried yet, from the samples before alone or from both sides, or −1.
func (w *clickWindow) conspicuous(tried []bool) int {
	at, most, root := -1, clickNoticed, math.Sqrt(w.lags[0])
	for i := len(w.a) - 1; i < len(w.z)-len(w.a); i++ {
		if v := max(math.Abs(w.y[i])/root, math.Abs(w.e[i])) / w.size[i]; v > most && !tried[i] {
			at, most = i, v
		}
	}
	return at
}

// likeliest returns the likeliest claim around a sample. The best of about 1, 2, 4, … samples by the squares of their leave-out errors
// is looked at closely. If it is as long as may be, it has no end, and is sound.
func (w *clickWindow) likeliest(at int) (top claim, ok bool) {
	type extent struct {
		lo, length int
		nats       float64
	}
	var extents [8]extent
	n, p, s := len(w.z), len(w.a)-1, w.size[at]*w.size[at]
	for lo := max(p, at-clickLong); lo <= at+2; lo++ {
		t, class := 0.0, 0
		for m, b := range w.backward[:min(len(w.backward), max(0, n-p-lo))] {
			length := m + 1
			if length > 1<<class {
				class++
			}
			q := simd.Dot(b, w.y[lo:lo+length])
			t += q * q / s
			if lo+length+2 >= at && t/2 > extents[class].nats {
				if nats := t/2 - price(t, length); nats > extents[class].nats {
					extents[class] = extent{lo, length, nats}
				}
			}
		}
	}
	for _, x := range extents {
		if x.nats > 0 {
			if c, fits := w.claim(from(x.lo, x.lo+x.length)); fits && (!ok || c.nats > top.nats) {
				top, ok = c, true
			}
		}
	}
	if !ok || len(top.at) > clickEnds {
		return top, false
	}
	for better := true; better; {
		top, better = w.fewer(top)
	}
	return top, true
}

// fewer leaves out the samples to which little was added, or a run of them that is not worth its nats, or else reports false.
func (w *clickWindow) fewer(c claim) (claim, bool) {
	size := w.size[c.at[len(c.at)/2]]
	var little []int
	for i, n := range c.at {
		if c.d[i]*c.d[i] < 6*size*size*c.sure[i] {
			little = append(little, n)
		}
	}
	for _, r := range runs(little) {
		if r[1]-r[0] >= clickApart {
			if rest, ok := w.without(c, r); ok && rest.nats > c.nats {
				return rest, true
			}
		}
	}
	if all := runs(c.at); len(all) > 1 {
		for _, r := range all {
			if rest, ok := w.without(c, r); ok && rest.nats > c.nats-clickRun {
				return rest, true
			}
		}
	}
	return c, false
}

func (w *clickWindow) without(c claim, run [2]int) (claim, bool) {
	rest := slices.DeleteFunc(slices.Clone(c.at), func(n int) bool { return n >= run[0] && n < run[1] })
	if len(rest) == 0 {
		return c, false
	}
	return w.claim(rest)
}

// from lists lo … hi−1.
func from(lo, hi int) (at []int) {
	for n := lo; n < hi; n++ {
		at = append(at, n)
	}
	return at
}

// runs returns the unbroken runs [lo, hi) of rising places.
func runs(at []int) (out [][2]int) {
	for _, n := range at {
		if k := len(out) - 1; k >= 0 && out[k][1] == n {
			out[k][1]++
		} else {
			out = append(out, [2]int{n, n + 1})
		}
	}
	return out
}

// claim returns what the samples at some places, given the others, say was added to the sound there.
func (w *clickWindow) claim(at []int) (c claim, ok bool) {
	p := len(w.a) - 1
	first := at[0] - p
	gaps := runs(at)
	for i := range gaps {
		gaps[i][0], gaps[i][1] = gaps[i][0]-first, gaps[i][1]-first
	}
	z := w.z[first:min(len(w.z), at[len(at)-1]+p+1)]
	sound, ok := ar.Model{A: w.a, E: 1}.Conditional([][]float64{z}, gaps, nil)
	if !ok {
		return c, false
	}
	c = claim{at: at, d: make([]float64, len(at)), sure: sound.Variance}
	t := 0.0
	for i, n := range at {
		c.d[i] = w.z[n] - sound.Means[0][i]
		t += c.d[i] * w.y[n]
	}
	size := w.size[at[len(at)/2]]
	c.nats = w.against(c) - price(t/(size*size), len(at))
	return c, true
}
