// Package clicks finds clicks of up to 40 samples in sound, those below the level of the sound too. A window of the sound gets an
// autoregressive model; a candidate is a run of samples whose change by a free amount explains the model's errors best; and its log-odds
// are a quadratic form of features of the errors. Its weights are fitted to damaged recordings by `bench clicks -fit`.
package clicks

import (
	"cmp"
	"math"
	"slices"
)

// A Candidate is a possible click of the samples [Lo, Hi).
type Candidate struct {
	Lo, Hi   int
	LogOdds  float64 // of a click, in nats
	Features [Features]float64
}

// A Search has what is the same for all windows of a recording.
type Search struct {
	Rate    int     // samples a second
	Step    float64 // the quantizer's step
	Weights *Weights
	Least   float64 // log-odds below which no candidate is returned
}

// New returns a Search with the fitted weights for a sensitivity of 0 to 10.
func New(rate int, step, sensitivity float64) *Search {
	return &Search{rate, step, &fitted, threshold(sensitivity) - crowd*math.Log(mostDense+few)}
}

// Size returns the samples of a window's own part, and how many on either side of a range of windows Find has to be given.
func (s *Search) Size() (hop, margin int) {
	hop, reach := s.seconds(hopSeconds, 256), s.seconds(reachSeconds, 192)
	return hop, hop + 2*reach
}

// seconds returns a time in samples, at least so many.
func (s *Search) seconds(t float64, least int) int { return max(least, int(t*float64(s.Rate))) }

// Find returns the candidates whose middle lies in [lo, hi) or just outside, as windows may place a click on their border differently, by
// rising middle of their windows. lo is a multiple of the window's own part, and x has the samples from `from` on, with the margin on both
// sides of the range where the recording has it.
func (s *Search) Find(x []float64, from, lo, hi int) (out []Candidate) {
	hop, _ := s.Size()
	reach := s.seconds(reachSeconds, 192)
	w := window{Search: s}
	for start := lo; start < hi; start += hop {
		end := min(hi, start+hop)
		last := min(from+len(x), max(end, hop+reach)+reach)
		first := max(from, min(start-reach, last-hop-2*reach))
		if !w.open(x[first-from : last-from]) {
			continue
		}
		for _, c := range w.find(start-first, end-first) {
			c.Lo, c.Hi = c.Lo+first, c.Hi+first
			if m := (c.Lo + c.Hi) / 2; m >= start-border && m < end+border && c.LogOdds >= s.Least {
				out = append(out, c)
			}
		}
	}
	return out
}

// Choose returns those candidates of a channel of n samples that are reported at a sensitivity, rising and apart. Clicks seldom come alone,
// so crowd·log(ρ + few) is added to their log-odds, where ρ is how many candidates a second have more than sure within crowdSeconds.
func Choose(all []Candidate, n, rate int, sensitivity float64) (out []Candidate) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Candidate) int { return cmp.Or(cmp.Compare(a.Lo, b.Lo), cmp.Compare(a.Hi, b.Hi)) })
	var certain []int
	for _, c := range all {
		if c.LogOdds > sure {
			certain = append(certain, c.Lo)
		}
	}
	for _, c := range all {
		from, to := max(0, c.Lo-crowdSeconds*rate), min(n, c.Lo+crowdSeconds*rate)
		lo, _ := slices.BinarySearch(certain, from)
		hi, _ := slices.BinarySearch(certain, to)
		density := float64((hi-lo)*rate) / float64(max(to-from, crowdSeconds*rate))
		c.LogOdds += crowd * math.Log(min(density, mostDense)+few)
		if !(c.LogOdds > threshold(sensitivity)) {
			continue
		}
		if k := len(out) - 1; k >= 0 && c.Lo <= out[k].Hi+join {
			out[k].Hi, out[k].LogOdds = max(out[k].Hi, c.Hi), max(out[k].LogOdds, c.LogOdds)
			continue
		}
		out = append(out, c)
	}
	return out
}

// threshold returns the log-odds from which a candidate is reported.
func threshold(sensitivity float64) float64 { return usual - point*(sensitivity-5) }
