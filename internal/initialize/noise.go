package initialize

import (
	"context"

	"github.com/vssgp/vssgp/backend"
)

// A point estimate of a spectrum is overconfident. The noise variance that gives calibrated error
// bars depends on the data. For example, a sustained vowel needs less than running speech. The
// bound cannot select it, since it always prefers less noise. Predictions of held-out intervals as
// long as the data's gaps can.

// noiseLevels are the candidates for the minimum initial noise variance, relative to the data's
// variance, in descending order. The first is used if no interval can be held out.
var noiseLevels = []float64{0.04, 0.02, 0.01, 0.005}

const (
	trialShare  = 0.1 // maximum fraction of samples that are held out
	trialLeast  = 3   // minimum length of a run between two gaps, in gap lengths, for a held-out interval
	trialEvery  = 6   // length of a longer run per held-out interval, in gap lengths
	trialMargin = 0.8 // maximum ratio of squared errors to predicted variance
)

// trialGaps returns intervals [start, end) of observed samples to hold out, as long as the
// median gap and away from the gaps. There are none if nothing is missing, or if the settings
// or the optimizer determine the noise.
func (s *Series) trialGaps(set *Settings) [][2]int {
	length, _ := s.gaps()
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

// chooseNoise returns the smallest noise level for which the predicted variance, summed over
// held-out intervals, covers the squared errors. Loud intervals dominate the sums, as they do
// in the gaps.
func (s *Series) chooseNoise(ctx context.Context, set Settings, evaluator Evaluator) (float64, error) {
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
	known, asked := split(s.data, ascending(s.data.N), func(n int) bool { return hidden[s.index(s.data.X[n])] })
	part := NewSeries(known, s.grid)
	part.fill(ctx, set.Window)
	for _, level := range noiseLevels[1:] {
		layout := part.propose(ctx, level, set)
		square, variance, err := evaluator.Predicted(ctx, known, asked, layout.params())
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

// split divides rows, in the given order, into known and held-out ones. hide reports for an index
// in the order whether the row is held out.
func split(data backend.Data, order []int, hide func(i int) bool) (known, asked backend.Data) {
	var rows [2][]int
	for i, n := range order {
		of := &rows[0]
		if hide(i) {
			of = &rows[1]
		}
		*of = append(*of, n)
	}
	return data.Some(rows[0]), data.Some(rows[1])
}
