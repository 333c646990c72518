// Package clicks detects clicks of up to 40 samples in audio, including clicks below the level of the audio. It fits an
// autoregressive model to each window. A candidate is a hypothesized click: a run of samples and additive changes that explain the
// prediction errors. Its log-odds are a quadratic form of features of the errors, with weights fitted to damaged recordings by
// package train.
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

// A Search contains the settings for all windows of a recording.
type Search struct {
	Rate    int     // samples per second
	Step    float64 // quantization step
	Weights *Weights
	Least   float64 // minimum log-odds of a returned candidate
}

// New returns a Search with the fitted weights for a sensitivity of 0 to 10.
func New(rate int, step, sensitivity float64) *Search {
	return &Search{rate, step, &fitted, threshold(sensitivity) - rateWeight*math.Log(maxRate+cleanRate)}
}

// Size returns the hop between windows, and the number of samples that Find needs on each side of its range.
func (s *Search) Size() (hop, margin int) {
	hop, reach := s.seconds(hopSeconds, 256), s.seconds(reachSeconds, 192)
	return hop, hop + 2*reach
}

// seconds converts a duration to samples, with a minimum.
func (s *Search) seconds(t float64, least int) int { return max(least, int(t*float64(s.Rate))) }

// Find returns the candidates whose center is in [lo, hi) or slightly outside, in the order of their windows. lo must be a multiple
// of the hop. x contains the samples from index `from`, with the margin on both sides of the range unless the recording ends there.
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

// Choose returns the candidates of a channel of n samples that are reported at a sensitivity, sorted and disjoint. Clicks are rarely
// isolated, so it adds rateWeight·log(ρ + cleanRate) to the log-odds, where ρ is the number of candidates per second with log-odds above countedLogOdds
// within rateSeconds.
func Choose(all []Candidate, n, rate int, sensitivity float64) (out []Candidate) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Candidate) int { return cmp.Or(cmp.Compare(a.Lo, b.Lo), cmp.Compare(a.Hi, b.Hi)) })
	var certain []int
	for _, c := range all {
		if c.LogOdds > countedLogOdds {
			certain = append(certain, c.Lo)
		}
	}
	for _, c := range all {
		from, to := max(0, c.Lo-rateSeconds*rate), min(n, c.Lo+rateSeconds*rate)
		lo, _ := slices.BinarySearch(certain, from)
		hi, _ := slices.BinarySearch(certain, to)
		density := float64((hi-lo)*rate) / float64(max(to-from, rateSeconds*rate))
		c.LogOdds += rateWeight * math.Log(min(density, maxRate)+cleanRate)
		if !(c.LogOdds > threshold(sensitivity)) {
			continue
		}
		if k := len(out) - 1; k >= 0 && c.Lo <= out[k].Hi+mergeGap {
			out[k].Hi, out[k].LogOdds = max(out[k].Hi, c.Hi), max(out[k].LogOdds, c.LogOdds)
			continue
		}
		out = append(out, c)
	}
	return out
}

// threshold returns the minimum log-odds of a reported candidate.
func threshold(sensitivity float64) float64 { return baseThreshold - thresholdStep*(sensitivity-5) }
