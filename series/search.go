package series

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
)

const (
	enough          = 2e-3 // nats: what a step has to promise
	mostEvaluations = 100
	worth           = 2 // nats that twice the short memory's frequencies, or a season beyond its number of hyper-parameters, have to gain
)

// memories are the numbers of frequencies that the short memory is tried with.
var memories = []int{30, 60, 120, 240}

// A search finds the parts and the short memory's size, and the mode of each trial's hyper-parameters.
type search struct {
	ctx   context.Context
	o     *Options
	frame *frame
	reach float64
	peak  func(f float64) float64

	memories []int // numbers of frequencies
	try      [][]Part
	whole    *layout // everything that is tried
	sums     []*moments
	from     float64 // the place from which on they are summed
}

// newSearch looks for seasons and makes the one pass over the rows.
func newSearch(ctx context.Context, f *frame, o *Options) (*search, error) {
	spectra := make([]*spectrum, len(f.y))
	for d, y := range f.y {
		spectra[d] = newSpectrum(f.u, y, f.Range, o.Robust)
	}
	s := &search{ctx: ctx, o: o, frame: f, reach: 1.5 * f.Range, try: slices.Clone(o.Try)}
	s.peak = func(f float64) float64 {
		sum := 0.0
		for _, p := range spectra {
			sum += p.amplitude(f)
		}
		return sum / float64(len(spectra))
	}
	for _, p := range slices.Concat(append([][]Part{o.Parts}, o.Try...)...) {
		if season, ok := p.(Season); ok && season.Period < 2*f.Step*(1-onGrid) {
			return nil, fmt.Errorf("%w: a season of period %v is shorter than two steps of the data, which are %v apart", ErrOptions,
				season.Period, f.Step)
		}
	}
	if !o.Known {
		s.try = append(s.try, s.candidates(spectra)...)
	}
	everything := slices.Clone(s.fixed())
	for _, t := range s.try {
		everything = append(everything, t...)
	}
	s.memories = memories
	if s.long() {
		s.memories = memories[:1]
		if !o.Robust {
			s.from = f.Range - s.searched(everything)
		}
	}
	s.whole = s.lay(everything, s.memories[len(s.memories)-1])
	var err error
	s.sums, err = s.whole.sum(ctx, o.Backend, s.from)
	return s, err
}

// long says whether the short memory will be taken out of the rows.
func (s *search) long() bool {
	return s.frame.Rows >= longRows && slices.ContainsFunc(s.fixed(), func(p Part) bool { _, ok := p.(ShortMemory); return ok })
}

// searched is how far back from the end a long series is searched, in steps: some ten thousand rows say which parts it has.
func (s *search) searched(parts []Part) float64 {
	back := searchedRows / float64(s.frame.Rows) * s.frame.Range
	for _, p := range parts {
		if season, ok := p.(Season); ok {
			back = max(back, searchedPeriods*season.Period/s.frame.Step)
		}
	}
	return back
}

const (
	searchedRows    = 3e4
	searchedPeriods = 4 // of any season, at least
)

// candidates are those of every output, none twice, without those that Parts or Try have: whose frequencies lie within a cycle over the
// data's range.
func (s *search) candidates(spectra []*spectrum) (all [][]Part) {
	var seen []Season
	for _, p := range slices.Concat(append([][]Part{s.o.Parts}, s.o.Try...)...) {
		if season, ok := p.(Season); ok {
			seen = append(seen, season)
		}
	}
	for _, spectrum := range spectra {
		for _, c := range spectrum.candidates(s.frame.Step) {
			found := c[0].(Season)
			twice := slices.ContainsFunc(seen, func(other Season) bool {
				return math.Abs(1/found.Period-1/other.Period)*s.frame.Step*s.frame.Range < 1
			})
			if !twice && len(all) < mostSeasons {
				seen, all = append(seen, found), append(all, c)
			}
		}
	}
	return all
}

// fixed are the parts that every trial of the search has.
func (s *search) fixed() []Part {
	if s.o.Parts == nil {
		return usualParts
	}
	return s.o.Parts
}

func (s *search) lay(parts []Part, memory int) *layout {
	sines := walkSines
	if s.frame.growth() > 1 && !s.long() {
		sines = wildSines
	}
	return newLayout(s.frame, ordered(parts), s.reach, memory, sines, 0, s.peak)
}

// A trial is a layout at its mode.
type trial struct {
	parts  []Part
	memory int
	o      *objective
	mode   []float64
	at     *bayes.Evaluation
	long   *long // of a long series; nil: the layout has the memory and the noise
}

// objective is the log posterior but for its constant.
func (t *trial) objective() bayes.Scored {
	return bayes.Scored(t.o.evaluate).WithPriors(t.o.layout.priors)
}

// bound is the log marginal likelihood at the mode.
func (t *trial) bound() float64 {
	b := t.at.Value
	for i, p := range t.o.layout.priors {
		log, _ := p.Log(t.mode[i])
		b -= log
	}
	return b
}

// fit is the log posterior at the mode, less the priors' normalization: a hyper-parameter at its prior's median costs nothing.
func (t *trial) fit() float64 {
	f := t.at.Value
	for _, p := range t.o.layout.priors {
		log, _ := p.Log(math.Log(p.Median))
		f -= log
	}
	return f
}

// run tries parts in their order, then more frequencies for the short memory.
func (s *search) run() (*trial, error) {
	best, err := s.trial(s.fixed(), s.memories[0], nil)
	for _, c := range s.try {
		if err != nil {
			return nil, err
		}
		var next *trial
		next, err = s.trial(slices.Concat(best.parts, c), best.memory, best)
		if err == nil && next.fit() > best.fit()+worth+float64(len(next.mode)-len(best.mode)) {
			best = next
		}
	}
	for _, memory := range s.memories[1:] {
		if err != nil {
			return nil, err
		}
		var next *trial
		next, err = s.trial(best.parts, memory, best)
		if err == nil && (next.o.layout.features() == best.o.layout.features() || next.fit() < best.fit()+worth) {
			break
		}
		best = next
	}
	return best, err
}

// trial finds the mode of a layout, from another trial's hyper-parameters where both have them.
func (s *search) trial(parts []Part, memory int, from *trial) (*trial, error) {
	l := s.lay(parts, memory)
	return s.mode(&trial{parts: parts, memory: memory, o: newObjective(l, l.restrict(s.whole, s.sums))}, from)
}

// mode finds the trial's mode.
func (s *search) mode(t, from *trial) (*trial, error) {
	l := t.o.layout
	medians := make([]float64, len(l.priors))
	for i, p := range l.priors {
		medians[i] = math.Log(p.Median)
	}
	v, noisy := slices.Clone(medians), slices.Clone(medians)
	for i, name := range l.names {
		if from == nil {
			break
		}
		if j := slices.Index(from.o.layout.names, name); j >= 0 {
			v[i] = from.mode[j]
		}
	}
	if l.noise >= 0 {
		noisy[l.noise] += math.Log(10)
	}
	var err error
	// the other trial's mode may need more digits than the sums have with these features
	for _, start := range [][]float64{v, medians, noisy} {
		if t.mode, t.at, err = bayes.Climb(s.ctx, t.objective(), start, enough, mostEvaluations); !errors.Is(err, errUnresolved) {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("series: %w", err)
	}
	return t, nil
}
