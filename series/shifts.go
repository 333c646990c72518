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
// a shift with the optimal prior variance gains ½(s²/I − 1 − log s²/I) nats. There are two alternatives. Without a change, the gain is by
// chance up to about log N, N being the number of candidate times. The other is a temporary change (Chen & Liu 1993): a jump of the short
// memory, z = e^{−(u−t)/L} from the candidate time t on, with the correlation length L. A jump at t supports both equally, so only a level
// that persists longer than L distinguishes them. A shift must be more probable than both.
//
// If more than maxShifts shifts and temporary changes are more probable than no change, the series has large innovations rather than
// shifts, and all are rejected.
const (
	maxShifts       = 3
	shiftGain       = 3  // minimum gain over each alternative in nats: 20 times as probable
	shiftRows       = 10 // minimum number of observations on each side and between two shifts
	shiftCandidates = 20 // maximum number of candidate times
)

// shifts adds the level shifts supported by the evidence to a trial, unless the parts are fixed. They are searched for in tracks.
func (s *search) shifts(t *trial, tracks []*track) (*trial, error) {
	if s.o.certain() {
		return t, nil
	}
	before := t
	for found := 0; ; found++ {
		u, gain, jumps, err := s.shift(t, tracks)
		switch {
		case err != nil:
			return nil, err
		case found+jumps > maxShifts:
			return before, nil
		case gain == 0:
			return t, nil
		}
		next, err := s.trial(append(slices.Clone(t.parts), LevelShift{At: s.frame.x(u)}), t)
		if err != nil {
			return nil, err
		}
		if next.fit() < t.fit()+s.leastJump() {
			return t, nil
		}
		t = next
	}
}

// leastJump returns the minimum gain in nats of a change at the best of all times over no change.
func (s *search) leastJump() float64 { return math.Log(float64(s.frame.Rows)) + shiftGain }

// shift returns the time of the level shift with the largest gain among those that are more probable than the alternatives,
// and the gain, which is 0 if there is none. It also returns the number of all changes that are more probable than none.
func (s *search) shift(t *trial, tracks []*track) (best, gain float64, jumps int, err error) {
	l := t.o.layout
	at, err := (&Model{frame: s.frame, layout: l, tracks: tracks}).conditional(s.ctx, t.mode)
	if err != nil {
		return 0, 0, 0, err
	}
	for g, track := range tracks {
		p := at[g]
		steps := p.process.steps(track)
		var solved [][]float64
		for _, r := range l.residuals(track, p.weights) {
			solved = append(solved, solve(steps, r))
		}
		shift := jump{track: track, length: math.Inf(1)}
		change := jump{track: track, length: p.process.Length}
		rows := s.shiftRows(t, track, shift.scores(solved))
		gains, others := shift.gains(l, p, solved, rows), make([]float64, len(rows))
		if p.process.Ratio > 0 {
			others = change.gains(l, p, solved, rows)
		}
		var large []int
		for i, row := range rows {
			if max(gains[i], others[i]) >= s.leastJump() {
				large = append(large, row)
			}
			if gains[i] >= max(s.leastJump(), others[i]+shiftGain) && gains[i] > gain {
				best, gain = track.u[row], gains[i]
			}
		}
		jumps = max(jumps, distinct(large))
	}
	return best, gain, jumps, nil
}

// distinct returns the number of rows without those that are less than shiftRows from an earlier one in the list.
func distinct(rows []int) int {
	var kept []int
	for _, row := range rows {
		if !slices.ContainsFunc(kept, func(other int) bool { return max(row-other, other-row) < shiftRows }) {
			kept = append(kept, row)
		}
	}
	return len(kept)
}

// shiftRows returns the candidates for a further level shift: the observations with the largest local maxima of the scores. One period of
// the longest season must follow, because a shift is otherwise hard to tell from a change of the season.
func (s *search) shiftRows(t *trial, track *track, scores []float64) (rows []int) {
	last := s.frame.Range + 1
	for _, season := range ofKind[Season](t.parts) {
		last = min(last, s.frame.Range+1-season.Period/s.frame.Step)
	}
	var taken []float64
	for _, shift := range ofKind[LevelShift](t.parts) {
		taken = append(taken, s.frame.steps(shift.At))
	}
	u, n := track.u, len(track.u)
	for i := shiftRows; i <= n-shiftRows && u[i] <= last+onGrid; i++ {
		near := slices.ContainsFunc(taken, func(at float64) bool { return at > u[i-shiftRows] && at < u[i+shiftRows-1] })
		if !near && u[i] > u[i-1] && scores[i] >= scores[i-1] && scores[i] > scores[i+1] {
			rows = append(rows, i)
		}
	}
	slices.SortFunc(rows, func(a, b int) int { return int(math.Copysign(1, scores[b]-scores[a])) })
	return rows[:min(len(rows), shiftCandidates)]
}

// A jump is a change of a track's outputs at one of its observations that decays with a correlation length. It is a level shift if the
// length is infinite.
type jump struct {
	track  *track
	length float64
}

// after returns the value of a jump at observation i at observation k ≥ i.
func (j jump) after(i, k int) float64 { return math.Exp((j.track.u[i] - j.track.u[k]) / j.length) }

// scores returns λ²·Σ s² over the outputs for a jump at each observation, given λK⁻¹y of each output.
func (j jump) scores(solved [][]float64) []float64 {
	sums := make([]float64, len(j.track.u))
	for _, q := range solved {
		score := 0.0
		for i, a := range slices.Backward(q) {
			if i+1 < len(q) {
				score *= j.after(i, i+1)
			}
			score += a
			sums[i] += score * score
		}
	}
	return sums
}

// gains returns the gains of a jump at each of some observations, given λK⁻¹y of each output.
func (j jump) gains(l *layout, p *posterior, solved [][]float64, rows []int) []float64 {
	steps := p.process.steps(j.track)
	scores, information := j.scores(solved), make([]float64, len(rows))
	var columns [][]float64
	for i, row := range rows {
		z := make([]float64, len(j.track.u))
		for k := row; k < len(z); k++ {
			z[k] = j.after(row, k)
		}
		q := solve(steps, z)
		columns, information[i] = append(columns, q), dot(z, q)*p.lambda
	}
	p.variances(slices.Concat(l.project(j.track, columns)...), func(i int, variance float64) {
		information[i] -= variance
	})
	gains, outputs := make([]float64, len(rows)), float64(len(solved))
	for i, row := range rows {
		if ratio := scores[row] / information[i] / outputs; ratio > 1 {
			gains[i] = 0.5 * outputs * (ratio - 1 - math.Log(ratio))
		}
	}
	return gains
}
