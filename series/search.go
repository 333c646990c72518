package series

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/fileio/fault"
	"github.com/vssgp/vssgp/internal/heap"
)

const (
	minStepGain    = 0.01 // minimum predicted gain of an optimization step, in nats per coarseRows observations
	coarseGain     = 10   // same for trials that are only compared, relative to minStepGain
	coarseRows     = 2000
	maxEvaluations = 100
	minGain        = 2  // minimum gain of a season in nats, in addition to its number of hyper-parameters
	cycleGain      = 10 // same for a period that is not a calendar period
)

// A search selects the parts and finds the mode of the hyper-parameters of each trial.
type search struct {
	ctx   context.Context
	o     *Options
	frame *frame
	reach float64
	peak  func(f float64) float64

	try    [][]Part
	from   float64        // start of the searched observations
	whole  []*track       // all observations
	tracks []*track       // searched observations
	sides  map[string]int // layout.sides
	rest   *trial         // best trial without short memory; nil: unknown
	gain   float64        // factor of stepGain
	begun  *trial         // trial of the fixed parts and the first candidate, if density has fitted it to tracks; nil: unknown
}

// newSearch returns a search whose candidates are Options.Try and the seasons found in the spectra of the outputs.
func newSearch(ctx context.Context, f *frame, o *Options) (*search, error) {
	if need := f.memory(); o.MemoryLimit > 0 && need > o.MemoryLimit {
		return nil, fault.Errorf(ErrData, "a fit of %d rows needs about %s of memory, but only %s may be used; use fewer rows", f.Rows, heap.Size(need), heap.Size(o.MemoryLimit))
	}
	spectra := make([]*spectrum, len(f.y))
	for d, y := range f.y {
		spectra[d] = newSpectrum(f.u, y, f.z, f.Range, o.Robust == RobustAlways || f.outlierFactor != nil)
	}
	s := &search{ctx: ctx, o: o, frame: f, reach: 1.5 * f.Range, try: slices.Clone(o.Try), gain: 1}
	s.peak = func(f float64) float64 {
		sum := 0.0
		for _, p := range spectra {
			sum += p.amplitude(f)
		}
		return sum / float64(len(spectra))
	}
	for _, season := range ofKind[Season](o.all()) {
		if season.Period < 2*f.Step*(1-onGrid) {
			return nil, fault.Errorf(ErrOptions, "the period of a season is %v, must be at least two steps of the data (%v each)",
				season.Period, f.Step)
		}
	}
	if !o.Known {
		s.try = append(s.try, s.candidates(spectra)...)
	}
	s.whole = s.frame.tracks()
	s.cover(s.fixed())
	return s, nil
}

// cover selects the observations for the search: the last ten thousand and, if several periods of a season in parts are longer, bursts of
// the earlier ones. Observations that are left out do not change the model of the others. It reports whether it added observations.
func (s *search) cover(parts []Part) (more bool) {
	f := s.frame
	row := f.Range / float64(f.Rows)
	recent := max(0, f.Range-searchedRows*row)
	from := recent
	for _, season := range ofKind[Season](parts) {
		from = min(from, max(0, f.Range-searchedPeriods*season.Period/f.Step))
	}
	if s.tracks == nil || from < s.from {
		more, s.from = s.tracks != nil, from
		s.tracks = bursts(s.whole, from, recent, burstRows*row)
	}
	return more
}

const (
	searchedRows    = 1e4
	searchedPeriods = 4 // minimum for each season
	// A burst is longer than a week of hours and than most short memories. The bursts show the longest season at many phases.
	burstRows, burstCount = 250, 20
)

// bursts returns the observations at times u ≥ recent and a burst in each of burstCount equal parts of the time between from and recent.
// The places of the bursts in the parts differ, so that they are not in step with a season.
func bursts(tracks []*track, from, recent, length float64) (all []*track) {
	part := (recent - from) / burstCount
	if part <= length {
		return since(tracks, from)
	}
	for _, t := range since(tracks, from) {
		all = append(all, t.where(func(u float64) bool {
			k := math.Floor((u - from) / part)
			_, place := math.Modf(k * math.Phi)
			into := u - from - k*part - place*(part-length)
			return u >= recent || into >= 0 && into < length
		}))
	}
	return all
}

// candidates returns the candidates of all outputs without duplicates of each other or of Options. Seasons are duplicates if their
// frequencies differ by less than one cycle over the data range.
func (s *search) candidates(spectra []*spectrum) (all [][]Part) {
	seen := ofKind[Season](s.o.all())
	for _, spectrum := range spectra {
		for _, c := range spectrum.candidates(s.frame.Step) {
			found := c[0].(Season)
			twice := slices.ContainsFunc(seen, func(other Season) bool {
				return math.Abs(1/found.Period-1/other.Period)*s.frame.Step*s.frame.Range < 1
			})
			if !twice && len(all) < maxSeasons {
				seen, all = append(seen, found), append(all, c)
			}
		}
	}
	return all
}

// fixed returns the parts that all trials of the search contain.
func (s *search) fixed() []Part {
	if s.o.Parts == nil {
		return defaultParts
	}
	return s.o.Parts
}

// A trial is a set of parts with the mode of its hyper-parameters.
type trial struct {
	parts []Part
	o     *objective
	mode  []float64
	at    *bayes.Evaluation
}

// objective returns the log posterior up to a constant.
func (t *trial) objective() bayes.Scored {
	return bayes.Scored(t.o.evaluate).WithPriors(t.o.layout.priors)
}

// around returns the objective with the old coordinates fixed. The state-space model does not change, so the observations are whitened only
// once.
func (t *trial) around(old []bool) bayes.Scored {
	f := t.objective()
	return func(e *bayes.Evaluation, v []float64) error {
		t.o.fixed = true
		defer func() { t.o.fixed = false }()
		if err := f(e, v); err != nil {
			return err
		}
		for i := range v {
			if !old[i] {
				continue
			}
			for j := range v {
				e.Information[i*len(v)+j], e.Information[j*len(v)+i] = 0, 0
			}
			e.Gradient[i], e.Information[i*len(v)+i] = 0, 1
		}
		return nil
	}
}

func (t *trial) bound() float64 { return t.less(t.mode) }

// fit returns the log posterior at the mode minus the maximum of the log prior. A hyper-parameter at its prior median has no cost.
func (t *trial) fit() float64 { return t.less(t.o.layout.medians()) }

// less returns the log posterior at the mode minus the log prior at v.
func (t *trial) less(v []float64) float64 {
	f := t.at.Value
	for i, p := range t.o.layout.priors {
		log, _ := p.Log(v[i])
		f -= log
	}
	return f
}

// coarse makes the fits that follow coarse, until the function that it returns is called.
func (s *search) coarse() (end func()) {
	usual := s.gain
	s.gain = coarseGain
	return func() { s.gain = usual }
}

// run returns the best trial with the fixed parts.
func (s *search) run() (*trial, error) {
	end := s.coarse()
	t, err := s.best(s.fixed())
	if err == nil {
		t, err = s.sharper(t)
	}
	end()
	if err != nil {
		return nil, err
	}
	return s.trial(t.parts, t)
}

// sharper doubles the number of harmonics of each season as often as the evidence supports it.
func (s *search) sharper(t *trial) (*trial, error) {
	if s.o.certain() {
		return t, nil
	}
	for i, p := range t.parts {
		season, ok := p.(Season)
		if !ok || season.Harmonics != 0 || season.Cycle || s.frame.fewPeriods(season) {
			continue
		}
		carrier := s.frame.Step / season.Period
		for most := 2 * defaultHarmonics; most <= sharpestHarmonics; most *= 2 {
			now := t.parts[i].(Season).harmonics(carrier)
			season.Harmonics = most
			if season.harmonics(carrier) == now {
				break
			}
			parts := slices.Clone(t.parts)
			parts[i] = season
			next, err := s.trial(parts, t)
			if errors.Is(err, errUnresolved) {
				break
			}
			if err != nil {
				return nil, err
			}
			if next.fit() < t.fit()+s.leastGain([]Part{season}, len(next.mode)-len(t.mode)) {
				break
			}
			t = next
			s.sides = t.sides()
		}
	}
	return t, nil
}

// best returns the best trial that contains parts. If there are few periods of a season, the short memory or the random
// walk may take the variance of the season. Candidates are then chosen without the first of these two, and all parts begin
// at this mode. They are chosen with all parts only if this finds none or if its log posterior is lower.
func (s *search) best(parts []Part) (*trial, error) {
	fewer := without(parts, ShortMemory{})
	if len(fewer) == len(parts) {
		fewer = without(parts, RandomWalk{})
	}
	if !s.few() || len(fewer) == len(parts) {
		return s.choose(parts)
	}
	second, rest, err := s.second(parts, fewer)
	if errors.Is(err, errUnresolved) {
		return s.choose(parts)
	}
	if err != nil {
		return nil, err
	}
	sides := s.sides
	if len(second.parts) > len(parts) {
		s.sides = nil
		none, err := s.trial(parts, nil)
		if err == nil && second.fit() > none.fit() {
			s.sides = sides
			return second, nil
		}
	}
	first, err := s.choose(parts)
	if err == nil && (second.fit() > first.fit() || s.averages() && rest.fit() > first.fit()) {
		s.sides = sides
		return second, nil
	}
	return first, err
}

// second returns the best trial that contains fewer parts, and the trial of all parts and its candidates that begins at its mode.
func (s *search) second(parts, fewer []Part) (second, rest *trial, err error) {
	if rest, err = s.best(fewer); err != nil {
		return nil, nil, err
	}
	if len(without(parts, ShortMemory{})) < len(parts) {
		s.rest = rest
	}
	second, err = s.trial(slices.Concat(parts, rest.parts[len(fewer):]), rest)
	return second, rest, err
}

// choose adds each candidate in turn to parts and keeps it if the gain is large enough.
func (s *search) choose(parts []Part) (*trial, error) {
	s.sides = nil
	best, err := s.trial(parts, nil)
	for _, c := range s.try {
		if err != nil {
			return nil, err
		}
		parts := slices.Concat(best.parts, c)
		if s.cover(parts) {
			if best, err = s.trial(best.parts, best); err != nil {
				return nil, err
			}
		}
		next := s.begun
		if next == nil || !slices.Equal(next.parts, parts) {
			next, err = s.trial(parts, best)
		}
		if err == nil && next.fit() > best.fit()+s.leastGain(c, len(next.mode)-len(best.mode)) {
			best = next
			s.sides = best.sides()
		}
	}
	return best, err
}

// leastGain returns the minimum gain of a candidate with a number of further hyper-parameters, in nats. A calendar season
// with few periods needs none, because its prior already shrinks it.
func (s *search) leastGain(c []Part, further int) float64 {
	season, ok := c[0].(Season)
	switch {
	case ok && s.frame.fewPeriods(season):
		return 0
	case ok && season.Cycle:
		return float64(cycleGain + further)
	}
	return float64(minGain + further)
}

// few reports whether the data contain a season or a candidate fewer than fewestCycles times. With many observations,
// the short memory is needed.
func (s *search) few() bool {
	if s.frame.Rows > averagedRows {
		return false
	}
	all := append(ofKind[Season](s.fixed()), ofKind[Season](slices.Concat(s.try...))...)
	return slices.ContainsFunc(all, func(p Season) bool { return s.frame.Range*s.frame.Step < fewestCycles*p.Period })
}

// without returns the parts except those with the names of others.
func without(parts []Part, others ...Part) []Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p Part) bool {
		return slices.ContainsFunc(others, func(q Part) bool { return q.name() == p.name() })
	})
}

// negligible is the minimum ratio of data precision to prior precision of a feature's weight. A feature below it has no effect on the
// fit.
const negligible = 0.05

// sides returns, for each amplitude, the number of sidebands that the data can determine.
func (t *trial) sides() map[string]int {
	sides, l := map[string]int{}, t.o.layout
	lambda, _ := l.variance(t.mode)
	d := make([]float64, l.size())
	l.amplitudes(d, t.mode, nil)
	var sums []*moments
	for _, track := range t.o.tracks {
		sums = append(sums, l.whiten(track, []stateSpace{l.stateSpaceAt(t.mode)})[0])
	}
	for _, b := range l.blocks {
		if b.offset == nil {
			continue
		}
		name, step := l.names[b.amp.sd], 1/l.period()
		sides[name] = max(sides[name], 0)
		for i, offset := range b.offset {
			for k := b.lo + 2*i; k < b.lo+2*i+2; k++ {
				for _, s := range sums {
					if d[k]*d[k]*s.gram[k*len(d)+k] > negligible*lambda {
						sides[name] = max(sides[name], int(math.Round(math.Abs(offset)/step)))
					}
				}
			}
		}
	}
	return sides
}

// trial finds the mode for parts. It is initialized with the hyper-parameters that parts share with another trial.
func (s *search) trial(parts []Part, from *trial) (*trial, error) {
	return s.mode(parts, s.tracks, from, maxEvaluations)
}

// stepGain is the minimum predicted gain of an optimization step for a number of observations, in nats.
func stepGain(rows int) float64 { return minStepGain * max(1, float64(rows)/coarseRows) }

// mode finds the mode for parts given observations. Without another trial, it is initialized with the mode for the last observations.
func (s *search) mode(parts []Part, tracks []*track, from *trial, evaluations int) (*trial, error) {
	rows := 0
	for _, t := range tracks {
		rows = max(rows, len(t.u))
	}
	if from == nil && rows > 2*coarseRows {
		var last []*track
		for _, t := range tracks {
			last = append(last, t.rows(max(0, len(t.u)-coarseRows), len(t.u)))
		}
		var err error
		if from, err = s.mode(parts, last, nil, evaluations); err != nil {
			return nil, err
		}
	}
	l := newLayout(s.frame, s.frame.ordered(parts), s.reach, s.sides, 0, s.peak)
	t := &trial{parts: parts, o: newObjective(s.ctx, l, tracks)}
	t.o.simulated = steppingRows
	medians := l.medians()
	v, noisy, old := slices.Clone(medians), slices.Clone(medians), make([]bool, len(medians))
	for i, name := range l.names {
		if from == nil {
			break
		}
		if j := slices.Index(from.o.layout.names, name); j >= 0 {
			v[i], old[i] = from.mode[j], true
		}
	}
	noisy[l.noise] += math.Log(10)
	var err error
	// the mode of the other trial may exceed the numerical precision with these features
	for _, start := range [][]float64{v, medians, noisy} {
		gain := s.gain * stepGain(rows)
		if slices.Contains(old, false) && l.index.in(old) && old[l.noise] {
			if at, _, err := bayes.Climb(s.ctx, t.around(old), start, gain, evaluations); err == nil {
				start = at
			}
		}
		if t.mode, t.at, err = bayes.Climb(s.ctx, t.objective(), start, gain, evaluations); !errors.Is(err, errUnresolved) {
			break
		}
	}
	if errors.Is(err, errUnresolved) {
		return nil, fault.Errorf(ErrData, "at their prior medians, %w", err)
	} else if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	t.o.forgetMoments()
	s.o.trialDone(len(s.try))
	return t, nil
}
