package series

import (
	"math"
	"slices"
)

// Level shifts are detected in a fit without them. With the covariance K of a group's outputs, the step function z at a candidate time,
// and
//
//	s = zᵀK⁻¹y      I = zᵀK⁻¹z
//
// a shift with the optimal prior variance gains ½(s²/I − 1 − log s²/I) nats. The minimum gain increases with the number of candidate
// times. If more than maxShifts are found, the series has large innovations rather than shifts, and all are rejected. All are also
// rejected if the last one is too recent to be known as permanent.
const (
	maxShifts       = 3
	shiftGain       = 5  // minimum gain in nats, in addition to log N
	shiftRows       = 10 // minimum number of observations on each side and between two shifts
	shiftStays      = 40 // minimum steps from the last shift to the end
	shiftCandidates = 20 // maximum number of candidate times
)

// shifts adds the level shifts supported by the evidence to a trial, unless the parts are fixed.
func (s *search) shifts(t *trial) (*trial, error) {
	if s.o.certain() {
		return t, nil
	}
	before := t
	for range maxShifts + 1 {
		u, gain, err := s.shift(t)
		least := shiftGain + math.Log(float64(s.frame.Rows))
		if err != nil || gain < least {
			return t, err
		}
		next, err := s.trial(append(slices.Clone(t.parts), LevelShift{At: s.frame.x(u)}), t)
		if err != nil {
			return nil, err
		}
		if next.fit() < t.fit()+least {
			return t, nil
		}
		if u > s.frame.Range-shiftStays {
			return before, nil
		}
		t = next
	}
	return before, nil
}

// shift returns the time of the level shift with the largest gain, and the gain.
func (s *search) shift(t *trial) (best, gain float64, err error) {
	l := t.o.layout
	at, err := (&Model{frame: s.frame, layout: l, tracks: s.tracks}).conditional(s.ctx, t.mode)
	if err != nil {
		return 0, 0, err
	}
	var taken []float64
	for _, shift := range ofKind[LevelShift](t.parts) {
		taken = append(taken, s.frame.steps(shift.At))
	}
	for g, track := range s.tracks {
		p, n := at[g], len(track.u)
		steps := p.process.steps(track)
		sums := make([]float64, n) // Σ s² over the outputs, for a shift at each observation
		for _, r := range l.residuals(track, p.weights) {
			score := 0.0
			for i, a := range slices.Backward(solve(steps, r)) {
				score += a / p.lambda
				sums[i] += score * score
			}
		}
		var rows []int
		for i := shiftRows; i <= n-shiftRows; i++ {
			near := slices.ContainsFunc(taken, func(u float64) bool { return u > track.u[i-shiftRows] && u < track.u[i+shiftRows-1] })
			if !near && track.u[i] > track.u[i-1] && sums[i] >= sums[i-1] && sums[i] > sums[i+1] {
				rows = append(rows, i)
			}
		}
		slices.SortFunc(rows, func(a, b int) int { return int(math.Copysign(1, sums[b]-sums[a])) })
		rows = rows[:min(len(rows), shiftCandidates)]
		var solved [][]float64
		information := make([]float64, len(rows))
		for i, row := range rows {
			z := make([]float64, n)
			for k := row; k < n; k++ {
				z[k] = 1
			}
			q := solve(steps, z)
			solved, information[i] = append(solved, q), dot(z, q)/p.lambda
		}
		p.variances(slices.Concat(l.project(track, solved)...), func(i int, variance float64) {
			information[i] -= variance / (p.lambda * p.lambda)
		})
		outputs := float64(len(track.y))
		for i, row := range rows {
			ratio := sums[row] / information[i] / outputs
			if v := 0.5 * outputs * (ratio - 1 - math.Log(ratio)); ratio > 1 && v > gain {
				best, gain = track.u[row], v
			}
		}
	}
	return best, gain, nil
}
