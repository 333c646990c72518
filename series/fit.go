package series

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// Fit selects the parts supported by the evidence, finds the mode of their hyper-parameters, and draws hyper-parameters from the
// posterior. Errors wrap ErrData, ErrOptions or the error of ctx.
func Fit(ctx context.Context, s Series, o Options) (*Model, error) {
	if err := cmp.Or(s.check(), o.check()); err != nil {
		return nil, err
	}
	if o.Positive {
		for d, y := range s.Y {
			if n := slices.IndexFunc(y, func(v float64) bool { return v < 0 }); n >= 0 {
				return nil, fault.Errorf(ErrData, "y[%d][%d] is %v, must be at least 0 for positive predictions", d, n, y[n])
			}
		}
	}
	all, err := fits(ctx, &s, &o)
	if err == nil {
		all, err = counted(ctx, &s, &o, all)
	}
	if err != nil {
		return nil, err
	}
	m, err := all[0].model(ctx, &o)
	if err != nil {
		return nil, err
	}
	if m.frame.Counts != nil {
		if m.bound, err = m.Evaluate(ctx, s); err != nil {
			return nil, err
		}
	}
	if len(all) > 1 {
		if m.other, err = all[1].model(ctx, &o); err != nil {
			return nil, err
		}
	}
	if m.frame.Counts != nil || !m.frame.Log && (m.other == nil || !m.other.frame.Log) {
		return m, nil
	}
	var usual [][]float64 // regressors
	for _, r := range m.frame.Regressors {
		usual = append(usual, []float64{r.Mean})
	}
	ahead, err := m.Predict(ctx, []float64{m.frame.x(1.1 * m.frame.Range)}, usual...)
	if err != nil {
		return nil, err
	}
	for _, median := range ahead.Median { // one choice for all times, so that neighbors are comparable
		m.medians = append(m.medians, median[0])
	}
	return m, nil
}

// A fitted contains the variants of the best trial of a search over the values or their logarithms.
type fitted struct {
	*search
	tracks   []*track // of all observations
	variants []*variant
	share    float64 // posterior probability
}

// evidence returns the log of the mean evidence of the variants, in units of the data.
func (f *fitted) evidence() float64 {
	return total(f.variants) - math.Log(float64(len(f.variants))) + f.frame.jacobian(math.Inf(-1))
}

// fit searches the parts and fits the variants.
func (s *search) fit() (*fitted, error) {
	s, best, tracks, err := find(s)
	if err != nil {
		return nil, err
	}
	if s.from > 0 {
		if best, err = s.mode(best.parts, tracks, best, finalEvaluations); err != nil {
			return nil, err
		}
	}
	all, err := s.variants(best)
	return &fitted{search: s, tracks: tracks, variants: all, share: 1}, err
}

// model returns the model of the variants.
func (f *fitted) model(ctx context.Context, o *Options) (*Model, error) {
	m := &Model{frame: f.frame, layout: f.variants[0].o.layout, tracks: f.tracks}
	return m, m.average(ctx, f.variants, o, f.share)
}

// fits returns the fits to the values, to their logarithms or to both, the most probable first.
func fits(ctx context.Context, s *Series, o *Options) ([]*fitted, error) {
	logs, positive := s.logarithm()
	if o.Log == LogAlways && !positive {
		return nil, errNotPositive
	}
	begin := func(s *Series, log bool) (*search, error) {
		f, err := newFrame(s, o.Robust == RobustAlways)
		if err != nil {
			return nil, err
		}
		f.Log, f.Positive = log, o.Positive
		return newSearch(ctx, f, o)
	}
	alone := func(one *search, err error) ([]*fitted, error) {
		if err != nil {
			return nil, err
		}
		f, err := one.fit()
		return []*fitted{f}, err
	}
	if o.Log == LogAlways {
		return alone(begin(&logs, true))
	}
	plain, err := begin(s, false)
	if err != nil || o.Log == LogNever || !positive || o.informed() {
		return alone(plain, err)
	}
	first, err := plain.density()
	if err != nil {
		return nil, err
	}
	other, err := begin(&logs, true)
	if err != nil {
		return nil, err
	}
	second, err := other.density()
	if errors.Is(err, errUnresolved) {
		return alone(plain, nil)
	}
	if err != nil {
		return nil, err
	}
	if !plain.averages() || math.Abs(second-first) > clearGain {
		if second < first+logGain {
			return alone(plain, nil)
		}
		return alone(other, nil)
	}
	return both(plain, other)
}

// If the log densities of values and logarithms differ by more than clearGain nats, only the better scale is fitted. Without
// an average over variants it must be better by logGain nats to be the logarithm.
const logGain, clearGain = 5, 12

// both returns the fits of two searches with their posterior probabilities, the most probable first. A fit without a draw
// is left out, and with AtMode the less probable one.
func both(plain, other *search) ([]*fitted, error) {
	a, err := plain.fit()
	if err != nil {
		return nil, err
	}
	b, err := other.fit()
	if errors.Is(err, errUnresolved) {
		return []*fitted{a}, nil
	}
	if err != nil {
		return nil, err
	}
	b.share = 1 / (1 + math.Exp(plain.temper()*(a.evidence()-b.evidence())))
	a.share = 1 - b.share
	all := []*fitted{a, b}
	if b.share > a.share {
		slices.Reverse(all)
	}
	if all[1].share*defaultDraws < 0.5 || plain.o.Draws == AtMode {
		all = all[:1]
		all[0].share = 1
	}
	return all, nil
}

// density returns the log density of the last values, in data units, under the fixed parts and the first candidate.
func (s *search) density() (float64, error) {
	parts := s.fixed()
	if len(s.try) > 0 {
		parts = slices.Concat(parts, s.try[0])
	}
	whole := s.tracks
	defer func() { s.tracks = whole }()
	from := math.Inf(1)
	for _, t := range whole {
		from = min(from, t.u[max(0, len(t.u)-coarseRows)])
	}
	s.tracks = since(whole, from)
	defer s.coarse()()
	t, err := s.trial(parts, nil)
	if err != nil {
		return 0, err
	}
	if from <= s.from {
		s.begun = t
	}
	changing, _, err := s.refit(t, t, t)
	if err != nil {
		return 0, err
	}
	if changing != nil {
		t = changing
	}
	return t.bound() + s.frame.jacobian(from), nil
}

// find returns the best trial, its search and the tracks of all observations. If outliers are possible, it detects them in the best trial
// and repeats the search with them downweighted.
func find(plain *search) (s *search, best *trial, whole []*track, err error) {
	if best, err = plain.run(); err != nil {
		return nil, nil, nil, err
	}
	first, searched := best, *plain
	if best, whole, err = plain.settle(best); err != nil || plain.o.Robust == RobustNever {
		return plain, best, whole, err
	}
	before := 0.0 // the log density
	if plain.o.Robust == RobustByEvidence {
		if plain.o.certain() {
			return plain, best, whole, nil
		}
		left, err := plain.leftOutLast(best)
		if err != nil {
			return nil, nil, nil, err
		}
		if before = left.density(0, 1); !left.better(before, left.usual(), robustGain/2) {
			return plain, best, whole, nil
		}
	}
	probable := func(s *search, t *trial) (bool, error) {
		left, err := s.leftOutLast(t)
		return err == nil && left.better(before, 1, robustGain), err
	}
	if plain.o.Robust == RobustAlways {
		probable = func(*search, *trial) (bool, error) { return true, nil }
	}
	s, robust, all, err := searched.withOutliers(first, probable)
	if err != nil && (plain.o.Robust == RobustAlways || !errors.Is(err, errUnresolved)) {
		return nil, nil, nil, err
	}
	if err != nil || robust == nil {
		plain.frame.outlierFactor = nil
		return plain, best, whole, nil
	}
	return s, robust, all, nil
}

// withOutliers detects outliers in a trial and repeats the search with them downweighted. The best trial is nil if they are not probable,
// with the parts of the trial or of the repeated search.
func (s *search) withOutliers(t *trial, probable func(*search, *trial) (bool, error)) (
	next *search, best *trial, whole []*track, err error) {
	if t, err = s.robust(t); err != nil {
		return nil, nil, nil, err
	}
	early, t, err := s.changing(t)
	if err != nil {
		return nil, nil, nil, err
	}
	if ok, err := probable(early, t); err != nil || !ok {
		return nil, nil, nil, err
	}
	if next, err = newSearch(s.ctx, s.frame, s.o); err != nil {
		return nil, nil, nil, err
	}
	best, err = next.run()
	if err == nil {
		best, err = next.robust(best)
	}
	if err == nil && !next.averages() {
		best, err = next.trial(best.parts, best)
	}
	if err == nil {
		best, whole, err = next.settle(best)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if ok, err := probable(next, best); err != nil || !ok {
		return nil, nil, nil, err
	}
	return next, best, whole, nil
}

// settle adds a volatility and level shifts to the best trial if the evidence supports them. It also returns the tracks of all
// observations. If no variants follow, it refines the coarse mode.
func (s *search) settle(t *trial) (best *trial, whole []*track, err error) {
	if best, whole, err = s.volatile(t, s.whole); err == nil && best != t && !s.averages() {
		best, err = s.trial(best.parts, best)
	}
	if err == nil {
		best, err = s.shifts(best, since(whole, s.from)) // also between the bursts
	}
	return best, whole, err
}

// average draws hyper-parameters from all variants in proportion to their probabilities and sets the mode to the most probable variant.
func (m *Model) average(ctx context.Context, all []*variant, o *Options, share float64) error {
	best := slices.MaxFunc(all, func(a, b *variant) int { return cmp.Compare(a.weight, b.weight) })
	m.bound = best.bound()
	var err error
	if m.at, err = best.embed(m.layout); err != nil {
		return err
	}
	count := o.Draws
	if len(m.layout.names) == 0 {
		count = AtMode
	}
	if count == 0 {
		size := float64(m.layout.size())
		count = min(defaultDraws, max(fewestDraws, int(drawWork/(float64(m.frame.Rows)*size*size))))
	}
	if count > 0 {
		count = max(1, int(math.Round(share*float64(count))))
	}
	if count < 0 {
		m.draws = [][]float64{slices.Clone(m.at.Mode)}
		return m.condition(ctx)
	}
	random := rand.New(rand.NewPCG(o.Seed, 1))
	normals, due := bayes.Normals(count, len(m.layout.names), random), 0.0
	for _, v := range all {
		due += v.weight * float64(count)
		for _, z := range v.own(m.layout, normals[len(m.draws):min(count, int(math.Round(due)))]) {
			own, err := v.gaussian.Plausible(z, v.gaussian.By, v.value, drawSlack)
			if err != nil {
				return err
			}
			if own == nil {
				own = v.mode
			}
			m.draws = append(m.draws, v.widen(m.layout, own))
		}
		v.o.forgetMoments()
	}
	return m.condition(ctx)
}

const (
	// finalEvaluations limits the evaluations over all observations of a long series. They start at the mode for the searched subset.
	finalEvaluations = 2

	// drawSlack is the number of nats below the Laplace approximation at which a draw is an artifact of it. It is
	// larger than bayes.Slack, because the moderate excess of the approximation makes up for models that are not among
	// the variants: with 3 nats, intervals of short series contain 1 to 3 % fewer values.
	drawSlack = 30

	defaultDraws = 40
	fewestDraws  = 6
	drawWork     = 5e10 // maximum operations for the moments of all draws
)
