package initialize

import (
	"context"
	"errors"
	"math"

	"github.com/vssgp/vssgp/variational"
)

// The selection criterion is the initial bound of a setting or, if the parameters are
// optimized, the bound after some iterations minus the number of point estimates
// (docs/algorithms.md, "Choosing windows and components").
const (
	// choiceExcerpts excerpts, each choiceWindows times as long as the longest window, represent
	// data that are more than twice as long as all excerpts.
	choiceExcerpts = 8
	choiceWindows  = 4
	// choiceIterations is the number of iterations before settings are compared if they are
	// optimized.
	choiceIterations = 10
	// choiceFeatures is K for the candidate with several pairs of features per component, which
	// has half the number of components.
	choiceFeatures = 2 * spectrumFeatures
)

// trials compares settings on parts of the data.
type trials struct {
	ctx       context.Context
	evaluator Evaluator
	parts     []*Series
	whole     bool // the only part is all of the data

	best       Settings
	components int // mean number of components per window of best, rounded up
	criterion  float64
	begun      *variational.Evaluation // the initial bound of best, if it was evaluated on all data
}

// choose returns the setting with the highest criterion, and its initial bound if it was evaluated
// on all data. It first selects the window length for the default number of components. If the
// parameters are optimized, it then tries twice or half the number of components, and more
// features per component.
func (s *Series) choose(ctx context.Context, lengths []float64, set Settings, evaluator Evaluator) (Settings, *variational.Evaluation, error) {
	var tried []Settings
	for _, length := range lengths {
		c := set
		c.Window, c.most = length, set.maxBins(s.steps(length))
		tried = append(tried, c)
	}
	t := &trials{ctx: ctx, evaluator: evaluator, best: tried[0], criterion: math.Inf(-1)}
	if len(tried) == 1 && !set.Optimized {
		return t.best, nil, nil
	}
	t.parts, t.whole = s.excerpts(lengths)
	var err error
	for _, c := range tried {
		if _, err = t.try(c); err != nil {
			return t.best, nil, err
		}
	}
	if set.Optimized && set.Components == 0 {
		err = t.chooseComponents(s)
	}
	if set.Optimized && set.Features == 0 && err == nil {
		more := t.best
		more.Features = choiceFeatures
		if set.Components == 0 {
			more.most = max(1, t.components*spectrumFeatures/choiceFeatures)
		}
		_, err = t.try(more)
	}
	return t.best, t.begun, err
}

// chooseComponents tries twice the number of components, unless the spectrum has no more bins. If
// that is not better, it halves the number repeatedly while the criterion increases.
func (t *trials) chooseComponents(s *Series) error {
	c := t.best
	if twice := min(2*c.most, s.binCount(s.steps(c.Window))); t.components == c.most && twice > c.most {
		c.most = twice
		if better, err := t.try(c); better || err != nil {
			return err
		}
	}
	for c.most = t.components / 2; c.most > 0; c.most = t.components / 2 {
		if better, err := t.try(c); !better || err != nil {
			return err
		}
	}
	return nil
}

// try evaluates the criterion of a setting and keeps the setting if it is the best. A setting
// without a bound is skipped.
func (t *trials) try(c Settings) (better bool, err error) {
	sum, components, begun := 0.0, 0, (*variational.Evaluation)(nil)
	for _, part := range t.parts {
		if err := t.ctx.Err(); err != nil {
			return false, err
		}
		layout := part.propose(t.ctx, noiseLevels[0], c)
		p, v := layout.params(), 0.0
		if c.Optimized {
			v, err = t.evaluator.Optimized(t.ctx, part.data, p, choiceIterations)
		} else if begun, err = t.evaluator.Bound(t.ctx, part.data, p); err == nil {
			v = begun.Bound
		}
		if errors.Is(err, variational.ErrBound) && t.ctx.Err() == nil {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		sum += v
		windows := p.Windows.Count()
		components = max(components, (p.L+windows-1)/windows)
	}
	if !(sum > t.criterion) {
		return false, nil
	}
	t.best, t.components, t.criterion, t.begun = c, components, sum, nil
	if t.whole {
		t.begun = begun
	}
	return true, nil
}

// excerpts returns evenly spaced parts of the data, except those without rows, or all of the
// data if they are not much longer than the excerpts.
func (s *Series) excerpts(lengths []float64) (parts []*Series, whole bool) {
	points, length := len(s.missing), s.excerpt(lengths)
	if length == points {
		return []*Series{s}, true
	}
	at, rows := make([]int, choiceExcerpts), make([][]int, choiceExcerpts)
	for i := range at {
		at[i] = (2*i + 1) * (points - length) / (2 * choiceExcerpts)
	}
	stride := (points - length) / choiceExcerpts
	for n, x := range s.data.X {
		point := s.index(x)
		i := min(max(0, (point-at[0])/stride), choiceExcerpts-1)
		if point >= at[i] && point < at[i]+length {
			rows[i] = append(rows[i], n)
		}
	}
	for i, lo := range at {
		if len(rows[i]) > 0 {
			part := s.cut(lo, lo+length)
			part.data = s.data.Some(rows[i])
			parts = append(parts, part)
		}
	}
	return parts, false
}

// excerpt returns the length of each excerpt in grid points for the given window lengths in
// ascending order, or the length of the data if they are not much longer than the excerpts.
func (s *Series) excerpt(lengths []float64) int {
	longest := lengths[len(lengths)-1]
	n := choiceWindows * int(math.Ceil(s.steps(longest)))
	if longest == 0 || len(s.missing) <= 2*choiceExcerpts*n {
		return len(s.missing)
	}
	return n
}
