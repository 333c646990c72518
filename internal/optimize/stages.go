package optimize

import (
	"slices"

	"github.com/vssgp/vssgp/variational"
)

// Settings say which parameters move, how, and for how long. The zero value
// optimizes the exact bound.
type Settings struct {
	Inference variational.Inference // of the bound that is raised; the zero value is Exact
	Method    variational.Method
	// Random says that the start drew its features at random: fixNoiseFirst then applies.
	Random     bool
	Iterations int      // of L-BFGS, or steps on mini-batches; 0: chosen by the inference; negative: none
	PerWindow  int      // windows step each by itself where there are as many as this; 0: PerWindow
	Batch      int      // rows of a mini-batch; 0: batchRows at most
	Contiguous bool     // mini-batches of neighboring rows
	Along      int      // the input along which rows are neighbors, where there are no windows
	Fix        []string // tensors that stay as they are
	Ties       Ties
	Priors     Priors
	Seed       uint64
}

// Iterations where the settings leave them open.
const (
	exactIterations      = 300
	factorizedIterations = 600
	stochasticSteps      = 3000 // at least
	// stochasticPasses is how often each row is seen, on average.
	stochasticPasses = 10
)

// Names of the tensors of the covariance and the noise, of the features'
// distribution, and of the coefficients.
var (
	hyperparameters = variational.Names(func(t variational.Tensor) bool {
		return t.Group == variational.Covariance || t.Group == variational.Noise
	})
	// FeatureTensors names the tensors of the features' own distribution.
	FeatureTensors = variational.Names(func(t variational.Tensor) bool { return t.Group == variational.FeatureDist })
	coefficients   = variational.Names(func(t variational.Tensor) bool { return t.Group == variational.Coefficients })
	noise          = variational.Names(func(t variational.Tensor) bool { return t.Group == variational.Noise })
	phaseEnds      = variational.Names(func(t variational.Tensor) bool {
		return t.Coordinate == variational.Phase || t.Coordinate == variational.PhaseEnd
	})
)

// stage is a part of the optimization in which only some tensors move.
type stage struct {
	name       string
	free       []string
	iterations int
	stochastic bool // by RMSPROP on mini-batches of the factorized bound
}

// stages say which tensors of m features move when, over so many rows.
func (s *Settings) stages(rows, m int) []stage {
	n := s.Iterations
	if n < 0 {
		return nil
	}
	if n == 0 {
		n = s.defaultIterations(rows)
	}
	all := stage{"all", s.unfixed(s.freeTensors()), n, s.Inference == variational.Stochastic}
	warm := stage{"warm-up", slices.Concat(all.free, s.unfixed(coefficients)), warmSteps * n, true}
	if s.Inference != variational.Exact {
		all.free = warm.free
	}
	if s.Inference != variational.Stochastic && s.random() && m >= warmFeatures {
		return append(s.fixNoiseFirst(warm), all)
	}
	return s.fixNoiseFirst(all)
}

// defaultIterations are a stage's where the settings leave them open.
func (s *Settings) defaultIterations(rows int) int {
	switch s.Inference {
	case variational.Factorized:
		return factorizedIterations
	case variational.Stochastic:
		batch := s.batchSize(rows)
		return max(stochasticSteps, (stochasticPasses*rows+batch-1)/batch)
	}
	return exactIterations
}

// freeTensors are what the method lets move, the coefficients apart.
func (s *Settings) freeTensors() []string {
	switch s.Method {
	case variational.SSGP:
		return slices.Concat(hyperparameters, []string{variational.FrequencyMean})
	case variational.RP:
		return hyperparameters
	}
	return slices.Concat(hyperparameters, FeatureTensors)
}

const (
	// warmFeatures is the least number of random features for which L-BFGS has
	// a warm-up: RMSPROP, which scales each coordinate by itself, on
	// mini-batches of the factorized bound. It comes to far better optima of
	// many features in less time.
	warmFeatures = 100
	// warmSteps is the number of its steps for each iteration of L-BFGS.
	warmSteps = 3
	// warmShare bounds its mini-batches to a share of the rows. Steps on all
	// rows reach higher bounds and fill gaps worse.
	warmShare = 4
	// noiseFixed is the share of the iterations for which random starting
	// values keep their noise precision.
	noiseFixed = 0.2
)

// random reports whether the run starts from random features of a posterior
// over frequencies, which need the stages' help (DESIGN.md, "Starting values").
// SSGP and random projections have no KL term to flee from: they do worse with
// that help.
func (s *Settings) random() bool {
	return s.Random && s.Method != variational.SSGP && s.Method != variational.RP
}

// fixNoiseFirst cuts a stage in two, and keeps the noise fixed in the first.
// Randomly drawn features explain little of the data, so the fastest way to raise
// the bound is to raise the noise until it explains everything: a local optimum.
// With the noise fixed the features have to explain the data.
func (s *Settings) fixNoiseFirst(whole stage) []stage {
	fixed := int(noiseFixed * float64(whole.iterations))
	first := stage{whole.name + ", noise fixed", without(whole.free, noise), fixed, whole.stochastic}
	if fixed == 0 || !s.random() || len(first.free) == len(whole.free) {
		return []stage{whole}
	}
	whole.iterations -= fixed
	return []stage{first, whole}
}

// without is the names that are not among others.
func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

// unfixed leaves out what Settings.Fix keeps. A phase's two ends move as one:
// fixing either fixes both.
func (s *Settings) unfixed(names []string) []string {
	if len(without(phaseEnds, s.Fix)) < len(phaseEnds) {
		names = without(names, phaseEnds)
	}
	return without(names, s.Fix)
}

// needsCoefficients reports whether the stages need a factorized posterior.
func (s *Settings) needsCoefficients(stages []stage) bool {
	return s.Inference != variational.Exact || slices.ContainsFunc(stages, func(one stage) bool { return one.stochastic })
}

// batchRows is the rows of a mini-batch where the settings leave it open, at
// most.
const batchRows = 512

// batchSize is the rows of a mini-batch, of so many.
func (s *Settings) batchSize(rows int) int {
	size := s.Batch
	if size == 0 {
		size = batchRows
		if s.Inference != variational.Stochastic { // a warm-up
			size = min(size, (rows+warmShare-1)/warmShare)
		}
	}
	return min(size, rows)
}

// PerWindow is the least number of windows for which each window steps separately,
// if Settings.PerWindow is 0: see BenchmarkOptimizer.
const PerWindow = 32
