package detect

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio"
)

// dropoutDetector finds runs of samples that stay within a few quantization steps of one value: zeros or a repeated sample.
type dropoutDetector struct {
	recording
	least, most, reach int     // minimum and maximum length of a dropout, and context on each side, in samples
	step               float64 // quantization step
	threshold          float64 // minimum log-odds
	zeros              bool    // find only exact zeros
}

func newDropouts(_ context.Context, r recording, o *Options) (detector, error) {
	samples := func(seconds float64) int { return audio.SamplesIn(seconds, max(r.rate, 8000)) }
	step, err := r.step(o.Step)
	return &dropoutDetector{recording: r, step: step, threshold: DefaultSensitivity + 1 - o.Sensitivity,
		least: samples(minDropout), most: samples(maxDropout), reach: samples(dropoutContext)}, err
}

// newZeros returns a detector of dropouts that are exact zeros.
func newZeros(ctx context.Context, r recording, o *Options) (detector, error) {
	d, err := newDropouts(ctx, r, o)
	d.(*dropoutDetector).zeros = true
	return d, err
}

// step returns the quantization step estimated from excerpts, or the given step if it is larger.
func (r recording) step(given float64) (float64, error) {
	const excerpts, samples = 16, 4096
	least := 0.0
	for i := range excerpts {
		lo := i * max(0, r.n-samples) / excerpts
		x, err := r.Read(lo, min(r.n, lo+samples))
		if err != nil {
			return 0, err
		}
		for _, x := range x {
			if d := audio.MinStep(x); d > 0 && (least == 0 || d < least) {
				least = d
			}
		}
	}
	return max(least, given), nil
}

func (d *dropoutDetector) size() (block, margin int) { return blockSamples, d.most + d.reach + 1 }

func (d *dropoutDetector) find(b block) (out []candidate) {
	x, widest := b.x[b.channel], maxDither
	if d.zeros {
		widest = 0
	}
	for width := 0; width <= widest; width++ {
		for _, run := range flat(x[:min(b.hi-b.from+1, len(x))], 2*float64(width)*d.step, d.least, d.most) {
			if end := run[1] + b.from; end <= b.lo || end > b.hi {
				continue
			}
			start, odds := d.logOdds(x, run[0], run[1], width)
			if d.goesOn(b.x, b.channel, run) {
				odds += otherGoesOn
			}
			if odds > d.threshold && !d.clips(x, start, run[1], width) {
				out = append(out, candidate{lo: start + b.from, hi: run[1] + b.from, logOdds: odds, width: width})
			}
		}
	}
	return out
}

// choose returns the flattest of overlapping candidates and, among equally flat ones, the longest.
func (d *dropoutDetector) choose(all []candidate) (out []candidate) {
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.width, b.width), cmp.Compare(b.hi-b.lo, a.hi-a.lo), cmp.Compare(a.lo, b.lo))
	})
	for _, c := range all {
		at, _ := slices.BinarySearchFunc(out, c, func(a, b candidate) int { return cmp.Compare(a.lo, b.lo) })
		if (at == len(out) || out[at].lo >= c.hi) && (at == 0 || out[at-1].hi <= c.lo) {
			out = slices.Insert(out, at, c)
		}
	}
	return out
}

// goesOn reports whether a channel other than c has sound during a run.
func (d *dropoutDetector) goesOn(x [][]float64, c int, run [2]int) bool {
	for o, x := range x {
		if x = x[run[0]:run[1]]; o != c && slices.Max(x)-slices.Min(x) > 8*maxDither*d.step {
			return true
		}
	}
	return false
}

// flat returns the runs [lo, hi) of x with least to most samples whose values differ by at most width, if they cannot be extended on
// either side. It omits runs at the ends of x, because they may continue.
func flat(x []float64, width float64, least, most int) (runs [][2]int) {
	var high, low []int // monotonic queues of indices: first the maximum or minimum of the run, then of the samples after it, and so on
	lo := 0
	for n, v := range x {
		if n-lo >= least && n-lo <= most && lo > 0 && !(max(v, x[high[0]])-min(v, x[low[0]]) <= width) {
			runs = append(runs, [2]int{lo, n})
		}
		for len(high) > 0 && x[high[len(high)-1]] <= v {
			high = high[:len(high)-1]
		}
		for len(low) > 0 && x[low[len(low)-1]] >= v {
			low = low[:len(low)-1]
		}
		high, low = append(high, n), append(low, n)
		for !(x[high[0]]-x[low[0]] <= width) && lo < n || n-lo > most {
			lo++
			if high[0] < lo {
				high = high[1:]
			}
			if low[0] < lo {
				low = low[1:]
			}
		}
	}
	return runs
}

// logOdds returns the log-odds in nats that the run x[lo:hi] is damage, and its start: lo+1 for a repeated nonzero value (x[lo] is sound).
//
// The log-odds are the minimum of three terms. With innovations of standard deviation σ, a sample is within h of any value with probability
// at most erf(h/σ√2), so L samples give −L·log erf(h/σ√2) nats. log(60·rate) is subtracted, because a run can begin at every sample and one
// false positive per minute is accepted. The other terms are the evidence on each side that the sound ends abruptly.
func (d *dropoutDetector) logOdds(x []float64, lo, hi, width int) (start int, odds float64) {
	never := math.Inf(-1)
	least, most := slices.Min(x[lo:hi]), slices.Max(x[lo:hi])
	middle, silent := (least+most)/2, least <= 0 && most >= 0
	if silent {
		middle = 0
	} else {
		lo++
	}
	if d.zeros && (least != 0 || most != 0) {
		return 0, never
	}
	left, right := side(x[max(0, lo-d.reach):lo], middle, false), side(x[hi:min(len(x), hi+d.reach)], middle, true)
	sound, half := slices.Concat(left, right), (float64(width)+0.5)*d.step
	quiet := 4 * max(half, d.step) // softer sound cannot be distinguished from the run
	if !loud(left, quiet, d.least) || !loud(right, quiet, d.least) || !silent && extreme(sound, middle, half) {
		return 0, never
	}
	step := max(d.step, finest(sound, middle))
	half = (float64(width) + 0.5) * step
	l, r := newEdge(left, 2*d.least, step, half, !silent), newEdge(right, 2*d.least, step, half, !silent)
	if l == nil || r == nil {
		return 0, never
	}
	odds = -float64(hi-lo)*math.Log(math.Erf(half/(min(l.sd, r.sd)*math.Sqrt2))) - math.Log(60*float64(d.rate))
	if odds+otherGoesOn > d.threshold { // the edges are expensive to compute
		odds = min(odds, l.abrupt(), r.abrupt())
	}
	return lo, odds
}

// side returns the samples minus the middle. It reverses the samples after a run, so that the last sample is adjacent to the run.
func side(x []float64, middle float64, reverse bool) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v - middle
	}
	if reverse {
		slices.Reverse(y)
	}
	return y
}

// finest returns the smallest difference between sound values that have the sign of the middle and at least half its magnitude. This is
// the local quantization step if steps differ, as in μ-law.
func finest(sound []float64, middle float64) float64 {
	return audio.MinStep(slices.DeleteFunc(slices.Clone(sound), func(v float64) bool { return v*middle < -middle*middle/2 }))
}

// loud reports whether the magnitude of any of the last 2n samples exceeds a limit.
func loud(y []float64, limit float64, n int) bool {
	return floats.Norm(y[max(0, len(y)-2*n):], math.Inf(1)) > limit
}

// clips reports whether the run x[lo:hi] of a repeated value is at a clipping level: within the maximum length of a
// dropout, several other runs have the same value, are local maxima, and are at least as long as this run together.
func (d *dropoutDetector) clips(x []float64, lo, hi, width int) bool {
	value := x[(lo+hi)/2]
	side, tolerance := math.Copysign(1, value), max((2*float64(width)+1)*d.step, math.Abs(value)/clipGrain)
	if math.Abs(value) <= tolerance {
		return false
	}
	tops, samples := 0, 0
	from, to := max(0, lo-d.most), min(len(x), hi+d.most)
	for n := from; n < to; n++ {
		if side*(x[n]-value) < -tolerance {
			continue
		}
		start, most := n, 0.0
		for ; n < to && side*(x[n]-value) >= -tolerance; n++ {
			most = max(most, side*(x[n]-value))
		}
		if most <= tolerance && (start >= hi || n <= lo) {
			tops, samples = tops+1, samples+n-start
		}
	}
	return tops >= clipPairs && samples >= hi-lo
}

// extreme reports whether no sample of the sound is farther from zero than the middle. The run is then at a clipping limit.
func extreme(sound []float64, middle, half float64) bool {
	return !slices.ContainsFunc(sound, func(v float64) bool { return v*math.Copysign(1, middle) > 2*half })
}
