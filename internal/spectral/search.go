package spectral

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/variational"
)

// A Search looks for the structure of a series.
type Search struct {
	ctx      context.Context
	domain   *Domain
	data     *backend.Data
	rows     *variational.Rows
	series   *series // the rows of data
	spectrum *spectrum
	report   func(Candidate)

	// From, unless it is nil, is one more model to start from.
	From *Model
	// Log has the results so far. Keep, unless it is nil, is called after each new one; an error ends the search.
	Log  []Step
	Keep func() error
	next int // number of results of the Log that have been used

	inflation float64 // of all models from now on (Model.Inflation)

	work float64     // operations so far
	pool []Candidate // every model that was optimized jointly
}

// New returns a search for data of one input or two, which rows contain. report is called with each better model.
func New(ctx context.Context, data *backend.Data, rows *variational.Rows, report func(Candidate)) *Search {
	d := NewDomain(data)
	if d.planar() {
		return &Search{ctx: ctx, domain: d, data: data, rows: rows, report: report}
	}
	return &Search{ctx: ctx, domain: d, data: data, rows: rows, series: newSeries(data), spectrum: newSpectrum(d, data.X), report: report}
}

// Limit reduces the largest number of pairs of cosine and sine of models of two inputs. It does not change models of
// one input.
func (s *Search) Limit(pairs int) {
	s.domain.last = min(s.domain.last, pairs)
	s.domain.pairs = min(s.domain.pairs, pairs)
}

const (
	// Numbers of iterations: of the new components alone, of a path of lines, of an initial broad component, of all components of a changed
	// structure, of the best changes, and of the result.
	newIterations, lineIterations, broadIterations, changeIterations, jointIterations, finalIterations = 12, 25, 20, 20, 40, 100
	// optimizeGain ends an optimization if five steps in a row gain less, in nats. A line search for less than leastRise ends, too.
	optimizeGain, leastRise = 1e-3, 1e-7
	// Nodes are chosen again up to rebuilds times if a length has changed by more than rebuildRatio, which is less than nodeMargin.
	rebuilds, rebuildRatio = 4, 1.5

	maxComponents  = 25
	candidatesMost = 4  // number of moves of a round that are optimized jointly
	candidatesNats = 30 // only if the first optimization ends at most so far below the present score

	// Models with more than maxEvaluation operations per evaluation are not tried.
	maxEvaluation = 1e9
	// filterWork is the number of operations per number of the rough components and entry of a covariance of their states.
	filterWork = 60
	// maxWork is the approximate number of operations after which the search ends with the best model so far.
	maxWork = 3e10
)

// Run returns the best model and the alternatives within some nats, best first. Errors are errors of rows or wrap ctx.Err(); the candidates
// found so far are returned, if any.
func (s *Search) Run() ([]Candidate, error) {
	start, improve, last := s.start, s.improve, finalIterations
	if s.domain.planar() {
		start, improve, last = s.surface, s.enlarge, lastIterations
	}
	best, err := start()
	if err != nil {
		return nil, err
	}
	if best, err = s.drop(best); err != nil {
		return alternatives(best, s.pool), err
	}
	if best, err = improve(best); err != nil {
		return alternatives(best, s.pool), err
	}
	s.domain.pairs = s.domain.last
	final, err := s.inflated(best, last)
	if err == nil && final.Inflation == best.Inflation {
		final, err = s.optimize(best.Model, last, nil)
	}
	if err != nil {
		return alternatives(best, s.pool), err
	}
	if final.Inflation != best.Inflation || final.value > best.value {
		best = final
	}
	best, err = s.inflated(best, 0) // κ is relative to the noise, which has changed
	return alternatives(best, s.pool), err
}

// keep adds a candidate to the pool.
func (s *Search) keep(c Candidate) { s.pool = append(s.pool, c) }

// improve changes the structure while the score increases by minGain.
func (s *Search) improve(best Candidate) (Candidate, error) {
	for len(best.Components) < maxComponents && s.work < maxWork {
		next, err := s.round(best)
		if err != nil || !(next.Score > best.Score+minGain) {
			return best, err
		}
		best = next
		s.report(best)
		if best, err = s.drop(best); err != nil {
			return best, err
		}
	}
	return best, nil
}

// round tries all moves from a model and returns the best result.
func (s *Search) round(from Candidate) (best Candidate, err error) {
	best.Score = math.Inf(-1)
	r, err := s.residual(s.domain.expand(from.Model), peakMost)
	if err != nil {
		return best, err
	}
	type trial struct {
		name string
		Candidate
	}
	var trials []trial
	moves := s.moves(from.Model, r)
	for i, m := range moves {
		moves[i].cost = s.cost(s.domain.expand(Model{Components: m.components, Noise: from.Noise}))
	}
	slices.SortStableFunc(moves, func(a, b move) int { return cmp.Compare(a.cost, b.cost) }) // maxWork leaves out the expensive ones
	for _, m := range moves {
		next := Model{Components: m.components, Noise: from.Noise}
		if s.work > maxWork {
			break
		}
		iterations, fixed := changeIterations, 0
		if m.added > 0 {
			iterations, fixed = newIterations, len(m.components)-m.added
		}
		c, err := s.optimize(next, iterations, s.domain.free(next, fixed))
		if err != nil {
			return best, err
		}
		trials = append(trials, trial{m.name, c})
	}
	slices.SortStableFunc(trials, func(a, b trial) int { return cmp.Compare(b.Score, a.Score) })
	seen := map[string]bool{}
	for _, t := range trials {
		if len(seen) == candidatesMost || !(t.Score > from.Score-candidatesNats) {
			break
		}
		if seen[t.name] {
			continue
		}
		seen[t.name] = true
		if err := s.try(&best, t.Model, jointIterations); err != nil {
			return best, err
		}
	}
	return best, nil
}

// try optimizes a model, adds it to the pool, and sets best to it if its score is higher.
func (s *Search) try(best *Candidate, m Model, iterations int) error {
	c, err := s.optimize(m, iterations, nil)
	if err != nil {
		return err
	}
	s.keep(c)
	if c.Score > best.Score {
		*best = c
	}
	return nil
}

// drop removes components while the score increases.
func (s *Search) drop(best Candidate) (Candidate, error) {
	for len(best.Components) > 1 {
		var tried []Candidate
		for i := range best.Components {
			m := best.Model
			m.Components = slices.Delete(slices.Clone(m.Components), i, i+1)
			c, err := s.evaluate(m)
			if err != nil {
				return best, err
			}
			tried = append(tried, c)
		}
		slices.SortStableFunc(tried, func(a, b Candidate) int { return cmp.Compare(b.Score, a.Score) })
		better := false
		for _, c := range tried[:min(2, len(tried))] {
			c, err := s.optimize(c.Model, lineIterations, nil)
			if err != nil {
				return best, err
			}
			if c.Score > best.Score {
				best, better = c, true
				break
			}
		}
		if !better {
			break
		}
	}
	return best, nil
}

// free reports which coordinates of a model are optimized if the first components are fixed, or nil for all.
func (d *Domain) free(m Model, fixed int) []bool {
	if fixed == 0 {
		return nil
	}
	free := make([]bool, len(d.read(m)))
	free[0] = true
	for i := len(d.read(Model{Components: m.Components[:fixed], Noise: m.Noise})); i < len(free); i++ {
		free[i] = true
	}
	return free
}

// optimize maximizes the objective from a model over the free coordinates (nil for all). The score is −Inf if the bound cannot be
// evaluated.
func (s *Search) optimize(m Model, iterations int, free []bool) (Candidate, error) {
	m.Inflation = s.inflation
	if c, ok := s.replay(); ok {
		return c, nil
	}
	c, err := s.optimized(m, iterations, free)
	if err == nil {
		err = s.record(c)
	}
	return c, err
}

// optimized implements optimize.
func (s *Search) optimized(m Model, iterations int, free []bool) (Candidate, error) {
	best := failed(m)
	for range rebuilds {
		o := s.newObjective(m)
		o.free = free
		if !s.domain.planar() && s.cost(o.expansion) > maxEvaluation { // a length has become too short
			return failed(m), nil
		}
		state, err := lbfgs.Start(s.counted(o), s.domain.clip(s.domain.read(m), o.limits))
		if err != nil {
			return best, s.stopped(err)
		}
		set := lbfgs.Settings{Iterations: iterations, Gain: optimizeGain, Rise: leastRise}
		if s.domain.planar() {
			set.Gain = planarGain
		}
		if _, err := lbfgs.Maximize(s.counted(o), state, set); err != nil {
			return best, s.stopped(err)
		}
		before := m
		m = s.domain.set(m, state.X)
		best = s.candidate(o, m, state)
		if s.domain.planar() {
			iterations -= state.Iterations
		}
		if !moved(before, m) || iterations < 1 {
			break
		}
	}
	return best, nil
}

// candidate returns the model at the end of an optimization.
func (s *Search) candidate(o *objective, m Model, state *lbfgs.State) Candidate {
	evidence := state.F
	for i, v := range state.X {
		log, _ := o.limits[i].log(v)
		evidence -= log
	}
	return Candidate{m, evidence, evidence - s.domain.price(m.Components), state.F, o.pairs()}
}

// evaluate returns a model with its score, without optimization.
func (s *Search) evaluate(m Model) (Candidate, error) {
	m.Inflation = s.inflation
	o := s.newObjective(m)
	state, err := lbfgs.Start(s.counted(o), s.domain.read(m))
	if err != nil {
		return failed(m), s.stopped(err)
	}
	return s.candidate(o, m, state), nil
}

// cost returns the approximate number of operations of an evaluation.
func (s *Search) cost(e *expansion) float64 {
	m := float64(2 * (1 + e.pairs()))
	cost := operations(2 * (1 + e.pairs()))
	if terms := e.model.terms(); terms != nil {
		states, columns := float64(2*len(terms)), m+float64(s.domain.Outputs)
		numbers := float64(3*len(terms) + 1)
		cost += float64(s.data.N) * (columns*(columns+10*states) + filterWork*numbers*states*states)
	}
	return cost
}

// operations returns the approximate number of operations of an evaluation with some features, if its sums over rows
// come from tables.
func operations(features int) float64 {
	m := float64(features)
	return m * m * (200 + 2*m)
}

// counted counts the operations of an objective.
func (s *Search) counted(o *objective) lbfgs.Func {
	cost := s.cost(o.expansion)
	return func(v, g []float64) (float64, error) {
		s.work += cost
		return o.at(v, g)
	}
}

// stopped returns err if the search must end, or nil if only this model cannot be evaluated.
func (s *Search) stopped(err error) error {
	if stop := s.ctx.Err(); stop != nil {
		return stop
	}
	if errors.Is(err, lbfgs.ErrStop) {
		return err
	}
	return nil
}

// clip returns coordinates within the walls.
func (d *Domain) clip(v []float64, limits []limit) []float64 {
	for i, l := range limits {
		v[i] = min(max(v[i], l.low), l.high)
	}
	return v
}

// moved reports whether a length has changed so much that the nodes must be chosen again.
func moved(a, b Model) bool {
	if planarMoved(a, b) {
		return true
	}
	for i, c := range a.Components {
		if c.Length > 0 && !c.filtered() && math.Abs(math.Log(c.Length/b.Components[i].Length)) > math.Log(rebuildRatio) {
			return true
		}
	}
	return false
}
