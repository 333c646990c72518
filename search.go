package vssgp

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/initialize"
	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/internal/optimize/checkpoint"
	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/internal/spectral"
	"github.com/vssgp/vssgp/variational"
)

const (
	// searchDraws is the default number of draws of the hyper-parameters of a search.
	searchDraws = 20
	// searchNumbers is the maximum number of entries of the draws' matrices; with larger models there are fewer draws, but minDraws.
	// With two inputs there are none if there would be fewer: so many rows determine the hyper-parameters.
	searchNumbers, minDraws = 5e6, 4
	// minPairs is the smallest number of pairs to which a memory limit reduces models of two inputs.
	minPairs = 20
)

// searches reports whether InitSearch is the default: there is one input, or two with some rows, and no option
// describes features, windows or their optimization.
func (o *Options) searches(grid initialize.Grid, data *Data) bool {
	return (grid.Step > 0 || plane(data) && data.N >= initialize.TableFewest) && o.Init == "" && o.excludedFromSearch() == ""
}

// plane reports whether there are two inputs that both vary.
func plane(data *Data) bool {
	if data.Q != 2 {
		return false
	}
	for _, e := range data.extents() {
		if !(e[1] > e[0]) {
			return false
		}
	}
	return true
}

// pairs returns the number of pairs of cosine and sine of a large model of a search, with two inputs less if memory is
// short.
func (pr *problem) pairs() int {
	n := spectral.Pairs(&pr.rows)
	for pr.data.Q == 2 && n > minPairs && pr.Fits(spectral.Shape(&pr.rows, n)) != nil {
		n = max(minPairs, n/2)
	}
	return n
}

// continues reports whether the fit continues a search: from the components of a model that a search has found.
func (o *Options) continues() bool { return o.From != nil && o.From.kernel != nil }

// excludedFromSearch returns the first option that has no effect on a search, or "".
func (o *Options) excludedFromSearch() string {
	w := o.Windows
	for _, c := range []struct {
		set  bool
		name string
	}{
		{o.Method != "" && o.Method != VSSGP, "method " + string(o.Method)},
		{o.Inference != "" && o.Inference != Exact, "inference " + string(o.Inference)},
		{o.Components != 0, "components"},
		{o.Features != 0, "features"},
		{w.Length > 0 || w.Candidates != nil || w.Shared || w.Segments > 0 || w.Dim != 0, "window"},
		{o.Paper.Lengthscales != nil || o.Paper.Periods != nil || o.Paper.FrequencyVariance != 0, "length-scales, periods or frequency variance"},
		{o.NoisePrecision != 0, "noise precision"},
		{o.UniformPhases, "uniform phases"},
		{o.From != nil && o.From.kernel == nil, "a model to start from"},
		{o.Priors != Priors{}, "priors"},
		{o.Iterations != 0 && !(o.continues() && o.Iterations == NoIterations), "iterations"},
		{o.Optimizer != "", "optimizer " + string(o.Optimizer)},
		{o.Batch != BatchOptions{}, "batch"},
		{o.Restarts != 0, "restarts"},
		{o.Fix != nil, "fix"},
		{o.Tie != nil, "tie"},
	} {
		if c.set {
			return c.name
		}
	}
	return ""
}

// checkSearch returns an error if an option has no effect on the search that Init or From requests.
func (o *Options) checkSearch(data *Data) error {
	why := "init " + string(InitSearch)
	if o.continues() {
		why = "a model to start from that a search has found"
	} else if o.Init != InitSearch {
		return nil
	}
	if data != nil && data.Q > 2 {
		return badOption("init %s needs one input or two, but the data have %d", InitSearch, data.Q)
	}
	if name := o.excludedFromSearch(); name != "" {
		return badOption("%s cannot be combined with %s", name, why)
	}
	return nil
}

// search finds the components of the covariance, and computes the posterior of the best model and the draws for averaged predictions.
func (f *fit) search(state []spectral.Step) error {
	m, _, err := f.initialize(f.ctx, f.init, f.o.Seed)
	if err != nil {
		return err
	}
	rows, err := m.openScaled(f.ctx, f.rows)
	if err != nil {
		return optimize.Interrupted(f.ctx, err)
	}
	defer rows.Close()
	if f.o.continues() && f.o.Iterations == NoIterations {
		f.res.NoPosterior = "not requested"
		return optimize.Interrupted(f.ctx, f.adopt(m, rows, attempt{}, "starting values kept"))
	}
	found := 0
	s := spectral.New(f.ctx, &f.rows, rows, func(c spectral.Candidate) {
		found++
		f.report(optimize.Progress{Stage: "structure", Iteration: found, Bound: c.LogEvidence, Noise: c.Noise * c.Noise})
	})
	s.Limit(f.pairs())
	s.Log = state
	if f.o.continues() {
		s.From = f.o.From.kernel
	}
	if f.writer != nil {
		s.Keep = func() error {
			if !f.writer.Due() {
				return nil
			}
			return f.saveSearch(s)
		}
	}
	all, err := s.Run()
	if len(all) == 0 && len(s.Log) > 0 {
		all = []spectral.Candidate{s.Best()}
	}
	if len(all) == 0 {
		return optimize.Interrupted(f.ctx, err)
	}
	if err != nil { // finish quickly with the best model so far
		if f.writer != nil {
			err = errors.Join(err, f.saveSearch(s))
		}
		rows.Finish()
		s = s.WithContext(context.WithoutCancel(f.ctx))
	}
	return cmp.Or(f.adoptSearch(m, rows, s, all, found, err == nil), optimize.Interrupted(f.ctx, err))
}

// adoptSearch makes the best candidate the result of the fit. If the search is not complete, the result has no draws.
func (f *fit) adoptSearch(m *Model, rows *variational.Rows, s *spectral.Search, all []spectral.Candidate, found int, complete bool) error {
	expanded := s.Expand(all[0].Model)
	m.expand(expanded)
	end := attempt{end: checkpoint.Best{Iterations: found}, prior: all[0].LogPrior(), floor: expanded.Floor}
	ended := lbfgs.Converged
	if !complete {
		ended = lbfgs.Stopped
	}
	if err := f.adopt(m, rows, end, string(ended)); err != nil {
		return err
	}
	if !complete || f.o.Posterior.Draws == NoPosterior {
		f.res.NoPosterior = "not requested"
		return nil
	}
	count := f.drawCount(m.Params)
	if count == 0 {
		f.res.NoPosterior = "the model has too many features"
		return nil
	}
	about, err := s.Posterior(all[0])
	if err != nil || about == nil {
		f.res.NoPosterior = "the bound cannot be evaluated near the fit"
		return err
	}
	m.hyper = searchPosterior(about, m.Params)
	draws, err := s.Draws(all, count, f.o.Seed)
	if err != nil {
		return err
	}
	for _, d := range draws {
		one := f.model(nil)
		one.expand(d)
		if _, err := one.conditioned(rows, &f.rows); err != nil {
			return err
		}
		m.hyper.Draws = append(m.hyper.Draws, one)
	}
	return nil
}

// adopt conditions m on the rows and makes it the result of the fit. ended is the reason why its optimization ended.
func (f *fit) adopt(m *Model, rows *variational.Rows, end attempt, ended string) error {
	e, err := m.conditioned(rows, &f.rows)
	if err != nil {
		return err
	}
	end.model, end.end.At = m, *e
	f.best = &end
	f.progress.Results = append(f.progress.Results, checkpoint.Result{Seed: f.o.Seed, Bound: checkpoint.Number(e.Bound), Ended: ended})
	f.progress.Kept, f.progress.Start = 0, 1
	return nil
}

// drawCount returns the number of draws for a model with parameters p, 0 if its posterior is not computed by default.
func (f *fit) drawCount(p *Params) int {
	if f.o.Posterior.Draws > 0 {
		return f.o.Posterior.Draws
	}
	m := float64(p.M())
	n := int(searchNumbers / (m * m))
	if p.Q == 2 && n < minDraws {
		return 0
	}
	return min(searchDraws, max(minDraws, n))
}

// expand sets the components and their expansion in features.
func (m *Model) expand(e spectral.Expanded) {
	m.kernel, m.Params = &e.Model, e.Params
}

// searchPosterior returns the standard deviations of the numbers of the expansion p.
func searchPosterior(about *spectral.Posterior, p *Params) *Posterior {
	h := &Posterior{Lengthscale: make([]float64, p.L*p.Q), Noise: []float64{2 * about.NoiseSD}}
	h.Variance, h.Frequency = about.Spreads()
	for k := range p.M() {
		i := k / p.K
		h.Features = append(h.Features, h.Frequency[i*p.Q:(i+1)*p.Q]...)
	}
	return h
}

// saveSearch writes a checkpoint of a search in progress.
func (f *fit) saveSearch(s *spectral.Search) error {
	f.progress.Search = slices.Clone(s.Log)
	m := f.model(nil)
	m.expand(s.Expand(s.Best().Model))
	return f.save(m, nil)
}

// relyingOnPrior is the share of the prior variance of the components above which a prediction's variance means that the data say little
// about the function there.
const relyingOnPrior = 0.5

// priorVariance returns the prior variance of the components in the model's units, or +Inf if it is not known.
func (m *Model) priorVariance() float64 {
	if m.kernel == nil || len(m.kernel.Components) == 0 {
		return math.Inf(1)
	}
	v := 0.0
	for _, c := range m.kernel.Components {
		v += c.SD * c.SD
	}
	return v
}
