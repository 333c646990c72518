package optimize

import (
	"slices"

	"github.com/vssgp/vssgp/variational"
)

// Settings specify the parameters to optimize, the method, and the number of iterations. The
// zero value optimizes the exact bound.
type Settings struct {
	Inference variational.Inference // of the bound to maximize; the zero value is Exact
	Method    variational.Method
	// Random is set if the initial features are random: fixNoiseFirst then applies.
	Random     bool
	Iterations int      // of L-BFGS, or steps on mini-batches; 0: chosen by the inference; negative: none
	PerWindow  int      // minimum number of windows for separate steps; 0: PerWindow
	Batch      int      // rows of a mini-batch; 0: batchRows at most
	Contiguous bool     // mini-batches of neighboring rows
	Along      int      // the input by which rows are sorted if there are no windows
	Fix        []string // tensors that are not optimized
	Ties       Ties
	Priors     Priors
	Seed       uint64
}

// Default numbers of iterations.
const (
	exactIterations      = 300
	factorizedIterations = 600
	stochasticSteps      = 3000 // minimum
	// stochasticPasses is the mean number of times that each row is used.
	stochasticPasses = 10
)

// Names of the tensors of the covariance and the noise, of the features' distribution, and of
// the coefficients.
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

// A stage is a part of the optimization in which only some tensors are optimized.
type stage struct {
	name       string
	free       []string
	iterations int
	stochastic bool // by RMSProp on mini-batches of the factorized bound
}

// stages returns the stages for m features and the given number of rows.
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

// defaultIterations returns the default number of iterations of a stage.
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

// freeTensors returns the tensors that the method optimizes, except the coefficients.
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
	// warmFeatures is the minimum number of random features for which RMSProp on mini-batches of
	// the factorized bound precedes L-BFGS. RMSProp scales each coordinate separately. With many
	// features it reaches far better optima in less time.
	warmFeatures = 100
	// warmSteps is the number of its steps per iteration of L-BFGS.
	warmSteps = 3
	// warmShare limits its mini-batches to a fraction of the rows. Steps on all rows reach higher
	// bounds but fill gaps worse.
	warmShare = 4
	// noiseFixed is the fraction of the iterations for which the noise precision is fixed after a
	// random initialization.
	noiseFixed = 0.2
)

// random reports whether the run begins with random features with a posterior over frequencies,
// which need additional stages (DESIGN.md, section 11). SSGP and random projections have no KL
// term and are worse with them.
func (s *Settings) random() bool {
	return s.Random && s.Method != variational.SSGP && s.Method != variational.RP
}

// fixNoiseFirst divides a stage in two, with fixed noise in the first. Randomly drawn features
// explain little of the data, so the bound increases fastest if the noise explains everything,
// which is a local optimum. With fixed noise the features must explain the data.
func (s *Settings) fixNoiseFirst(whole stage) []stage {
	fixed := int(noiseFixed * float64(whole.iterations))
	first := stage{whole.name + ", noise fixed", without(whole.free, noise), fixed, whole.stochastic}
	if fixed == 0 || !s.random() || len(first.free) == len(whole.free) {
		return []stage{whole}
	}
	whole.iterations -= fixed
	return []stage{first, whole}
}

// without returns the names that are not among others.
func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

// unfixed returns the names without Settings.Fix. The two ends of a phase are optimized
// together: fixing either fixes both.
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

// batchRows is the default maximum size of a mini-batch.
const batchRows = 512

// batchSize returns the size of a mini-batch for the given number of rows.
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

// PerWindow is the default of Settings.PerWindow; see BenchmarkOptimizer.
const PerWindow = 32
