package timewarp

import (
	"context"
	"math"
	"slices"
)

// A score sums up the errors of a candidate in trial gaps.
type score struct {
	logs  float64 // sum of the logarithms of the mean squared errors
	share float64 // the largest mean squared error by the mean variance of the fill
	out   bool    // it is so far behind that it takes part no longer
}

// trials has the candidates fill artificial gaps of the gap's length, by turns before and after it, at rising distances. The excerpts have
// the same gap and are those of slowest. After each pair of trials, candidates that are far behind drop out, and the trials end if stop reports true. It returns the
// scores [excerpt][candidate] and the number of trials. Errors are ctx's.
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
					break // for lack of space, in all excerpts
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

// trial returns an excerpt with a gap of n samples that ends a distance before the side's end, clear of other gaps, and the samples that
// were in it. It returns nil if there is too little space.
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

// add adds a fill's error to the score. Without a fill it is zeros.
func (s *score) add(fill []part, truth []float64, floor float64) {
	mean, variance := mix(fill, len(truth))
	e, share := errorOf(mean, variance, truth)
	s.logs += math.Log(e + floor)
	s.share = max(s.share, share)
}

// errorOf returns a fill's mean squared error, and that as a share of its mean variance; 1 if the variance is 0.
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

// least returns the least sum of logarithms among the candidates that take part.
func least(s []score) float64 {
	least := math.Inf(1)
	for _, c := range s {
		if !c.out {
			least = min(least, c.logs)
		}
	}
	return least
}

// drop drops the candidates that are far behind the best after n trials.
func drop(s []score, n int) {
	best := least(s)
	for i := range s {
		s[i].out = s[i].out || s[i].logs-best > trialStop*float64(n)
	}
}

// weigh returns a Filling with the weights of the candidates: exp(−8·mean logarithm of their mean squared error in trial gaps).
func (f *Filler) weigh(ctx context.Context, x *excerpt, of []*Candidate) (*Filling, error) {
	n := len(of)
	out := &Filling{Weights: slices.Repeat([]float64{1 / float64(n)}, n), narrow: 1}
	if n == 1 {
		out.Trials = -1
		return out, nil
	}
	low := slowest(x)
	scores, trials, err := f.trials(ctx, low, of, func(s [][]score, _ int) bool { // the first dropped out, or all others
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

// narrow returns the factor of the variances, below 1 if all trials were filled far better than their variances, and so is a wider gap with
// margins on both sides that are known: then nothing changes in the gap. largest is the trials' largest share of error in variance.
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

// Compare returns by how much the mean squared errors of fills of b are below those of a: the mean difference of their logarithms over
// trial gaps of the length of gap number which, by the best candidate for each. Both series have the same gaps, as in Fill. Without
// space for a trial, of which it returns the number, it is 0. Errors are ctx's.
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

// slowest returns the excerpts at the lowest rate that keeps most of the power of each, lowRate and minSamples in the gap. Short gaps need
// a higher rate: only frequencies above the inverse of their length are uncertain.
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
