package initialize

import "context"

// A point estimate of a spectrum is overconfident. How much noise makes its error
// bars honest depends on the recording: a held vowel wants less than running
// speech. The bound cannot tell, since it always prefers less noise. Hidden intervals
// as long as the data's own gaps can, since the answer is known there.

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
// median gap and away from the gaps; none if nothing is missing, or if the settings
// or the optimizer choose the noise.
func (s *Series) trialGaps(set *Settings) [][2]int {
	length := s.medianGap()
	if length == 0 || set.Optimized || set.Noise > 0 {
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
func (s *Series) chooseNoise(ctx context.Context, set Settings, judge Judge) (float64, error) {
	best, trials := noiseLevels[0], s.trialGaps(&set)
	if len(trials) == 0 {
		return best, nil
	}
	hidden := make([]bool, len(s.missing))
	for _, r := range trials {
		for i := r[0]; i < r[1]; i++ {
			hidden[i] = true
		}
	}
	known, asked := split(s.data, ascending(s.data.N), func(n int) bool { return hidden[s.place(s.data.X[n])] })
	part := NewSeries(known, s.grid)
	part.fill(ctx, set.Window)
	for _, level := range noiseLevels[1:] {
		layout := part.propose(ctx, level, set)
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
