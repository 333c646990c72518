package detect

import (
	"math"
	"slices"
)

// A recording can be clipped at levels below its largest values: a part was made softer after clipping, or an
// undamaged part is louder. levelCounts finds such levels of one side of a channel. At a clipping level there are
// far more samples than in equal ranges of values on both sides, and many of them are adjacent. A long run counts
// little, because it may be a dropout of a repeated sample. Bins are logarithmic: octaves of 2^levelBits bins of
// equal width.
type levelCounts struct {
	base  int   // index of the first bin
	bins  []int // number of samples, at most clipPairs of each run of samples in the same or in adjacent bins
	pairs []int // number of such runs of at least two samples, by the bin of the second
	last  int   // bin of the previous sample, −2 if it has none
	run   int   // length of the run that ends with it
}

const levelBits = 13 // bits of the mantissa that distinguish bins

// binOf returns the index of the bin that contains a positive value.
func binOf(x float64) int { return int(math.Float64bits(x) >> (52 - levelBits)) }

// binStart returns the smallest value in a bin.
func binStart(bin int) float64 { return math.Float64frombits(uint64(bin) << (52 - levelBits)) }

// newLevelCounts returns counts of the levels from clipRange below top up to top.
func newLevelCounts(top float64) levelCounts {
	if !(top*clipRange > 0) {
		return levelCounts{base: math.MaxInt}
	}
	base := binOf(top * clipRange)
	n := binOf(top) - base + 1
	return levelCounts{base: base, bins: make([]int, n), pairs: make([]int, n), last: -2}
}

// count counts a sample.
func (l *levelCounts) count(x float64) {
	bin := -2
	if x > 0 {
		if b := binOf(x) - l.base; b >= 0 && b < len(l.bins) {
			bin = b
			if d := b - l.last; d < -1 || d > 1 {
				l.run = 0
			}
			if l.run++; l.run <= clipPairs {
				l.bins[b]++
			}
			if l.run == 2 {
				l.pairs[b]++
			}
		}
	}
	l.last = bin
}

// A levelRange is a range of values [least, most) in which samples are clipped if they are local maxima.
type levelRange struct {
	least, most float64
	logOdds     float64
}

// find returns at most clipLevels levels below a limit, in any order. step is the quantization step.
func (l *levelCounts) find(below, step, threshold float64) (all []levelRange) {
	sums, pairs := cumulative(l.bins), cumulative(l.pairs)
	in := func(sums []int, lo, hi int) float64 {
		lo, hi = max(0, lo), min(len(l.bins), hi)
		return float64(sums[max(lo, hi)] - sums[lo])
	}
	taken := make([]bool, len(l.bins))
	for len(all) < clipLevels {
		var best levelRange
		at, from, width := 0.0, 0, 0
		for i := range 4 * len(l.bins) {
			i, scale := i/4, i%4
			if taken[i] || l.bins[i] == 0 {
				continue
			}
			w := l.width(i, step) << scale
			n := in(sums, i, i+w)
			gain := n * (1 - 0.1*float64(scale)) // a wider range must have clearly more samples
			if gain <= at || binStart(l.base+i+w) > below || i < clipParts*w {
				continue
			}
			around := max(in(sums, i-clipParts*w, i), in(sums, i+w, i+(1+clipParts)*w)) / clipParts
			odds := math.Log(n) - math.Log(max(around, 1)) - math.Log(clipExcess)
			if odds > threshold && in(pairs, i, i+w) >= clipPairs && n > clipExcess/2*l.third(sums, i, w) {
				at, from, width = gain, i, w
				best = levelRange{binStart(l.base + i), binStart(l.base + i + w), odds}
			}
		}
		if at == 0 {
			return all
		}
		all = append(all, best)
		for i := max(0, from-clipParts*width); i < min(len(taken), from+clipParts*width); i++ {
			taken[i] = true
		}
	}
	return all
}

// width returns the number of bins of a level that begins at bin i: the range 1/clipGrain, or clipSteps
// quantization steps.
func (l *levelCounts) width(i int, step float64) int {
	size := binStart(l.base+i+1) - binStart(l.base+i)
	return max(1<<levelBits/clipGrain*2, int(math.Ceil(clipSteps*step/size)))
}

// third returns the third-largest number of samples in other ranges of w bins within clipAround ranges of bin i.
// Several ranges with many samples mean that the sound has few different values, such as a test tone or μ-law.
func (l *levelCounts) third(sums []int, i, w int) float64 {
	var others []float64
	for k := -clipAround; k <= clipAround; k++ {
		lo, hi := i+k*w, i+(k+1)*w
		if k < -1 || k > 1 {
			others = append(others, float64(sums[max(0, min(hi, len(l.bins)))]-sums[max(0, min(lo, len(l.bins)))]))
		}
	}
	slices.Sort(others)
	return others[len(others)-3]
}

// cumulative returns the sums of the first 0, …, len(x) values.
func cumulative(x []int) []int {
	s := make([]int, len(x)+1)
	for i, v := range x {
		s[i+1] = s[i] + v
	}
	return s
}
