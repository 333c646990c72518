package timewarp

import (
	"context"
	"math"
	"slices"
)

// A score accumulates the errors of a candidate on trial gaps.
type score struct {
	logs  float64 // sum of the logarithms of the mean squared errors
	share float64 // maximum ratio of mean squared error to mean variance
	out   bool    // it was dropped because of its errors
}

// trials scores the candidates on artificial gaps of the same length before and after the gap, at increasing distances. The excerpts
// have the same gap and rate. After each pair of trials, trials drops candidates with much larger errors, and ends if stop returns
// true. It returns the scores [excerpt][candidate] and the number of trials. The error is the error of ctx.
func (f *Filler) trials(ctx context.Context, excerpts []*excerpt, of []*Candidate, stop func(scores [][]score, trials int) bool) (
	scores [][]score, n int, err error) {
	floor := max(trialFloor*meanSquare(excerpts[0].z), math.SmallestNonzeroFloat64)
	var sides [][2]*excerpt
	for _, x := range excerpts {
		sides = append(sides, x.sides())
		scores = append(scores, make([]score, len(of)))
	}
	start, end := excerpts[0].gap()
	for _, d := range f.candidates.Distances {
		for side := range 2 {
			for k, s := range scores {
				if err := ctx.Err(); err != nil {
					return nil, 0, err
				}
				x, truth := sides[k][side].trial(samples(d, excerpts[0].rate), end-start)
				if x == nil {
					break // no space in any excerpt
				}
				for i, c := range of {
					if !s[i].out {
						s[i].add(f.parts(x, c, false), truth, floor)
					}
				}
				if k == len(scores)-1 {
					n++
				}
			}
		}
		for _, s := range scores {
			drop(s, n)
		}
		if n > 0 && stop(scores, n) {
			break
		}
	}
	return scores, n, nil
}

// trial returns an excerpt with an artificial gap of n samples that ends at least distance samples before the end of x and does not
// overlap other gaps, and the true samples in it. It returns nil if there is no space.
func (x *excerpt) trial(distance, n int) (trial *excerpt, truth []float64) {
	start := len(x.z) - distance - n
	at := len(x.gaps)
	for ; at > 0 && x.gaps[at-1][1] > start; at-- {
		if g := x.gaps[at-1]; g[0] < start+n {
			start = g[0] - n
		}
	}
	if start < samples(minBefore, x.rate) {
		return nil, nil
	}
	y := excerpt{x.z, slices.Insert(slices.Clone(x.gaps), at, [2]int{start, start + n}), at, x.rate, x.backward}
	return y.filled(nil).prefilled(), x.z[start : start+n]
}

// add adds the error of a fill to the score. An empty fill counts as zeros.
func (s *score) add(fill []part, truth []float64, floor float64) {
	mean, variance := mix(fill, len(truth))
	e, share := errorOf(mean, variance, truth)
	s.logs += math.Log(e + floor)
	s.share = max(s.share, share)
}

// errorOf returns the mean squared error of a fill, and its ratio to the mean variance (1 if the variance is 0).
func errorOf(mean, variance, truth []float64) (e, share float64) {
	v := 0.0
	for i, y := range truth {
		e, v = e+square(mean[i]-y)/float64(len(truth)), v+variance[i]/float64(len(truth))
	}
	if !(v > 0) {
		return e, 1
	}
	return e, e / v
}

// least returns the smallest sum of logarithms among the candidates that were not dropped.
func least(s []score) float64 {
	least := math.Inf(1)
	for _, c := range s {
		if !c.out {
			least = min(least, c.logs)
		}
	}
	return least
}

// drop drops the candidates whose mean log error after n trials exceeds the best by more than trialStop.
func drop(s []score, n int) {
	best := least(s)
	for i := range s {
		s[i].out = s[i].out || s[i].logs-best > trialStop*float64(n)
	}
}

// weigh returns a Filling with the weights of the candidates: exp(−trialPower·mean log squared error on trial gaps), normalized.
func (f *Filler) weigh(ctx context.Context, x *excerpt, of []*Candidate) (*Filling, error) {
	n := len(of)
	out := &Filling{Weights: slices.Repeat([]float64{1 / float64(n)}, n), narrow: 1}
	if n == 1 {
		out.Trials = -1
		return out, nil
	}
	low := slowest(x)
	scores, trials, err := f.trials(ctx, low, of, func(s [][]score, _ int) bool { // the first or all others were dropped
		return s[0][0].out || !slices.ContainsFunc(s[0][1:], func(c score) bool { return !c.out })
	})
	if err != nil || trials == 0 {
		return out, err
	}
	best, total := least(scores[0]), 0.0
	for k, s := range scores[0] {
		out.Weights[k] = 0
		if !s.out {
			out.Weights[k] = math.Exp(-trialPower * (s.logs - best) / float64(trials))
		}
		total += out.Weights[k]
	}
	largest := 0.0
	for k := range out.Weights {
		if out.Weights[k] /= total; out.Weights[k] > 0 {
			largest = max(largest, scores[0][k].share)
		}
	}
	out.Trials = trials
	if trials > 1 {
		out.narrow = f.narrow(low[0], of, out.Weights, largest)
	}
	return out, nil
}

// narrow returns the factor of the variances. It is below 1 if the errors in all trials, and in known margins on both sides when the
// gap is widened by them, are much smaller than the variances. largest is the maximum ratio of error to variance in the trials.
func (f *Filler) narrow(x *excerpt, of []*Candidate, weights []float64, largest float64) float64 {
	start, end := x.gap()
	margin := max(minMargin, (end-start)/4)
	lo, hi := start-margin, end+margin
	if before := samples(minBefore, x.rate); exactSafety*largest >= 1 || lo < before || len(x.z)-hi < before ||
		x.which > 0 && x.gaps[x.which-1][1] > lo || x.which+1 < len(x.gaps) && x.gaps[x.which+1][0] < hi {
		return 1
	}
	wide := &excerpt{x.z, slices.Clone(x.gaps), x.which, x.rate, x.backward}
	wide.gaps[x.which] = [2]int{lo, hi}
	mean, variance := mix(f.weighted(wide.filled(nil).prefilled(), of, weights, false), hi-lo)
	n := hi - lo - margin
	for _, v := range [][2]int{{0, margin}, {n, hi - lo}} {
		_, share := errorOf(mean[v[0]:v[1]], variance[v[0]:v[1]], x.z[lo+v[0]:lo+v[1]])
		largest = max(largest, share)
	}
	return min(1, max(minNarrow, exactSafety*largest))
}

// Compare returns the gain of filling b instead of a: the mean decrease of the log squared error over trial gaps of the length of the
// gap with index which, using the best candidate for each. Both series have the same gaps, as in Fill. It also returns the number of
// trials; if it is 0, so is the gain. The error is the error of ctx.
func (f *Filler) Compare(ctx context.Context, a, b []float64, gaps [][2]int, which int) (gain float64, trials int, err error) {
	x := f.excerpt(a, gaps, which)
	y := f.excerpt(b, gaps, which)
	start, end := x.gap()
	difference := func(s [][]score, n int) float64 { return (least(s[0]) - least(s[1])) / float64(max(1, n)) }
	scores, n, err := f.trials(ctx, slowest(x, y), f.candidates.of(end-start, f.rate), func(s [][]score, n int) bool {
		return math.Abs(difference(s, n)) > trialStop
	})
	if err != nil {
		return 0, 0, err
	}
	return difference(scores, n), n, nil
}

// slowest returns the excerpts decimated to the lowest rate that preserves most of their power, with at least lowRate and minSamples
// samples in the gap. Short gaps need a higher rate, because only frequencies above the inverse of their length are uncertain.
func slowest(excerpts ...*excerpt) []*excerpt {
	start, end := excerpts[0].gap()
	low := make([]*excerpt, len(excerpts))
	for by := min(int(excerpts[0].rate/lowRate), (end-start)/minSamples); by > 1; by-- {
		keeps := true
		for i, x := range excerpts {
			low[i] = x.slower(by)
			keeps = keeps && meanSquare(low[i].z) >= minPower*meanSquare(x.z)
		}
		if keeps {
			return low
		}
	}
	return excerpts
}
