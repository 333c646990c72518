package start

import (
	"context"

	"github.com/vssgp/vssgp/spectral"
)

// A point estimate of a spectrum is overconfident. How much noise makes its error
// bars honest depends on the recording: a held vowel wants less than running
// speech. The bound cannot tell, since it always prefers less. What can is to hide
// intervals as long as the data's own gaps, where the answer is known.

// noiseLevels are the least starting noise variances to choose from, as shares of
// the data's variance, in descending order. The first is taken if nothing can be
// hidden.
var noiseLevels = []float64{0.04, 0.02, 0.01, 0.005}

const (
	trialShare  = 0.1 // the share of the places that are hidden at most
	trialLeast  = 3   // rows between two gaps have one hidden interval if they are this many gaps long
	trialEvery  = 6   // and one for each so many gaps of their length
	trialMargin = 0.8 // the share of the predicted variance that the squared errors may reach
)

// trialGaps are intervals [start, end) of observed places to hide: as long as the
// median gap and away from the gaps; none if nothing is missing.
func (s *Series) trialGaps() [][2]int {
	length := s.medianGap()
	if length == 0 {
		return nil
	}
	var all [][2]int
	for _, r := range runs(s.missing, false) {
		observed := r[1] - r[0]
		if observed < trialLeast*length {
			continue
		}
		n := max(1, observed/(trialEvery*length))
		for i := range n {
			at := r[0] + (2*i+1)*observed/(2*n) - length/2
			all = append(all, [2]int{at, at + length})
		}
	}
	most := max(1, int(trialShare*float64(len(s.missing))/float64(length)))
	if len(all) <= most {
		return all
	}
	out := make([][2]int, most)
	for i := range out {
		out[i] = all[(2*i+1)*len(all)/(2*most)]
	}
	return out
}

// chooseNoise is the least noise level with which the predicted variance, summed
// over hidden intervals, still covers the squared errors there. Sums let loud
// intervals count more, as they do in the gaps.
func (s *Series) chooseNoise(ctx context.Context, length float64, set Settings, judge Judge) (float64, error) {
	best, trials := noiseLevels[0], s.trialGaps()
	if len(trials) == 0 || set.Noise > 0 {
		return best, nil
	}
	known, asked := s.hide(trials)
	part := NewSeries(known, s.grid())
	part.fill(ctx, length)
	for _, level := range noiseLevels[1:] {
		layout := part.propose(ctx, length, level, set)
		square, variance, err := judge.Predicted(ctx, known, asked, layout.params())
		if err != nil {
			return 0, err
		}
		if !(square <= trialMargin*variance) {
			break
		}
		best = level
	}
	return best, nil
}

// hide splits the rows into known ones, outside the intervals, and asked-for ones
// inside.
func (s *Series) hide(intervals [][2]int) (known, asked spectral.Data) {
	hidden := make([]bool, len(s.missing))
	for _, r := range intervals {
		for i := r[0]; i < r[1]; i++ {
			hidden[i] = true
		}
	}
	known, asked = spectral.Data{Q: s.data.Q, D: s.data.D}, spectral.Data{Q: s.data.Q, D: s.data.D}
	for n, x := range s.data.X {
		if hidden[s.place(x)] {
			asked.Add(&s.data, n)
		} else {
			known.Add(&s.data, n)
		}
	}
	return known, asked
}
