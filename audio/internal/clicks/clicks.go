// Package clicks detects clicks of up to 40 samples in audio, including clicks below the level of the audio. It fits an
// autoregressive model to each window. A candidate is a hypothesized click: a run of samples and additive changes that explain the
// prediction errors. Its log-odds are a quadratic form of features of the errors, with weights fitted to damaged recordings by
// package train.
package clicks

import (
	"cmp"
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/simd"
)

// A Candidate is a possible click of the samples [Lo, Hi).
type Candidate struct {
	Lo, Hi   int
	LogOdds  float64 // of a click, in nats
	Size     float64 // largest change of a sample, in quantization steps
	Features [Features]float64
}

// A Search contains the settings for all windows of a recording.
type Search struct {
	Rate    int     // samples per second
	Step    float64 // quantization step
	Weights *Weights
	Least   float64 // minimum log-odds of a returned candidate
	Again   float64 // minimum log-odds of a candidate whose feature fAgain, which is expensive, is computed
	Strict  float64 // added to the minimum log-odds of a reported candidate
	Prior   float64 // log-odds that the rate of clicks adds to the decision to remove a candidate from the sound
}

// SetRate sets Prior for a rate of clicks per second, which never makes the search remove less.
func (s *Search) SetRate(rate float64) { s.Prior = max(0, ratePrior(rate)) }

// removal returns the minimum log-odds of a candidate that is removed from the sound before the search continues.
func (s *Search) removal() float64 { return firstPassLogOdds - s.Prior }

// New returns a Search with the fitted weights for a sensitivity of 0 to 10.
func New(rate int, step, sensitivity float64) *Search {
	least := threshold(sensitivity) - ratePrior(maxRate)
	return &Search{Rate: rate, Step: step, Weights: &fitted, Least: least, Again: least}
}

// Vinyl returns the Search with the weights for records.
func (s *Search) Vinyl() *Search {
	v := *s
	v.Weights, v.Strict, v.Again = &vinyl, vinylStrict, vinylAgain
	return &v
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

// Choose returns the candidates of a channel of n samples that are reported at a sensitivity, sorted and disjoint, with
// the log-odds given their context. Clicks are rarely isolated, and impulsive sounds have many unsure candidates.
func (s *Search) Choose(all []Candidate, n int, sensitivity float64) (out []Candidate) {
	all = slices.Clone(all)
	Sort(all)
	context := s.Around(all, n)
	for _, c := range all {
		terms := context(c)
		c.LogOdds = simd.Dot(s.Weights.Context[:], terms[:])
		if !(terms[1]+rateWeight*terms[2] > threshold(sensitivity)+s.Strict) {
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

// Around returns a function that returns the context of a candidate among all, which must be in increasing order: its
// log-odds and the rates of sure and of unsure candidates within rateSeconds.
func (s *Search) Around(all []Candidate, n int) func(Candidate) [Contexts]float64 {
	var sure, unsure []int
	for _, c := range all {
		switch {
		case c.LogOdds > countedLogOdds:
			sure = append(sure, c.Lo)
		case math.Abs(c.LogOdds) <= unsureLogOdds:
			unsure = append(unsure, c.Lo)
		}
	}
	return func(c Candidate) [Contexts]float64 {
		from, to := max(0, c.Lo-rateSeconds*s.Rate), min(n, c.Lo+rateSeconds*s.Rate)
		perSecond := func(at []int) float64 {
			lo, _ := slices.BinarySearch(at, from)
			hi, _ := slices.BinarySearch(at, to)
			return float64((hi-lo)*s.Rate) / float64(max(to-from, rateSeconds*s.Rate))
		}
		return Context(c.LogOdds, perSecond(sure), perSecond(unsure))
	}
}

// Sort sorts candidates in increasing order.
func Sort(all []Candidate) {
	slices.SortStableFunc(all, func(a, b Candidate) int { return cmp.Or(cmp.Compare(a.Lo, b.Lo), cmp.Compare(a.Hi, b.Hi)) })
}

// ratePrior returns the log-odds that a rate of clicks per second adds during a search.
func ratePrior(rate float64) float64 { return rateWeight * math.Log(min(rate, maxRate)+cleanRate) }

// Rate returns the smallest rate ρ of clicks per second that equals the sum of the posterior probabilities of the
// candidates per second, Σ 1/(1 + exp(−odds − rateWeight·log(ρ + cleanRate))) / seconds.
func Rate(all []Candidate, seconds float64) (rate float64) {
	for range 100 {
		prior, sum := ratePrior(rate), 0.0
		for _, c := range all {
			sum += 1 / (1 + math.Exp(-c.LogOdds-prior))
		}
		next := sum / seconds
		if next-rate < 1e-3*(rate+1e-3) {
			return next
		}
		rate = next
	}
	return rate
}

// threshold returns the minimum log-odds of a reported candidate.
func threshold(sensitivity float64) float64 { return baseThreshold - thresholdStep*(sensitivity-5) }
