package vssgp

import (
	"math"
	"slices"
)

// Iterations where the options leave them open.
const (
	exactIterations      = 300
	factorisedIterations = 600
	stochasticSteps      = 3000
	// directLimit is the number of features up to which the factorised
	// posterior's start is solved for exactly rather than climbed to.
	directLimit = 1024
)

// hyper are the covariance's and the noise's tensors, feature those of the
// features' own distribution.
var (
	hyper   = []string{"kernel.variance", "kernel.lengthscale", "kernel.frequency", "noise.precision"}
	feature = []string{"inducing.location", "frequency.mean", "frequency.variance", "phase.lower", "phase.upper"}
	coefs   = []string{"coefficient.mean", "coefficient.variance"}
)

// stages are the schedule of which tensors move when.
func (f *fitting) stages(inference Inference) []stage {
	n := f.o.Iterations
	if n == NoIterations {
		return nil
	}
	if n == 0 {
		n = map[Inference]int{Exact: exactIterations, Factorised: factorisedIterations, Stochastic: stochasticSteps}[inference]
	}
	free := f.freeTensors()
	all := append(slices.Clone(free), coefs...)
	if f.warms(inference) {
		stages := f.holdNoise(stage{"warm-up", all, warmSteps * n, true})
		if inference == Factorised {
			free = all
		}
		return append(stages, stage{"all", f.unfixed(free), n, false})
	}
	if inference == Exact {
		return f.holdNoise(stage{"all", free, n, false})
	}
	var stages []stage
	if inference == Factorised && !f.direct() {
		stages = append(stages, stage{"coefficients", f.unfixed(coefs), n / 10, false})
		n -= n / 10
	}
	return append(stages, f.holdNoise(stage{"all", all, n, inference == Stochastic})...)
}

// freeTensors are what the method lets move, the coefficients apart.
func (f *fitting) freeTensors() []string {
	switch f.o.Method {
	case SSGP:
		return append(slices.Clone(hyper), "frequency.mean")
	case RP:
		return slices.Clone(hyper)
	}
	return append(slices.Clone(hyper), feature...)
}

// random reports whether the fit starts from random features of a posterior
// over frequencies, which need the schedule's help (DESIGN.md, "Starting
// values"). SSGP and random projections have no KL term to flee from: they do
// worse with that help.
func (f *fitting) random() bool {
	return f.o.Method != SSGP && f.o.Method != RP && f.o.From == nil && f.o.init(f.data) == InitPaper
}

const (
	// warmFeatures is the least number of random features for which L-BFGS has
	// a warm-up: RMSPROP, which scales each coordinate by itself, on
	// mini-batches of the factorised bound. It comes to far better optima of
	// many features in less time.
	warmFeatures = 100
	// warmSteps is how many of its steps go before each iteration of L-BFGS.
	warmSteps = 3
	// warmShare bounds its mini-batches' share of the rows, which is their use:
	// steps on all rows reach higher bounds and fill gaps worse.
	warmShare = 4
	// noiseHeld is the share of the iterations for which random starting
	// values keep their noise precision.
	noiseHeld = 0.2
)

// warms reports whether L-BFGS has a warm-up.
func (f *fitting) warms(inference Inference) bool {
	return inference != Stochastic && f.random() && f.model.Params.M() >= warmFeatures
}

// holdNoise cuts a stage in two, where the noise precision may move at first
// only later: features drawn at random explain little of the data, so that the
// quickest ascent is to call the data noise, an optimum of its own; with the
// noise held they have to explain them.
func (f *fitting) holdNoise(s stage) []stage {
	s.free = f.unfixed(s.free)
	held := int(noiseHeld * float64(s.iterations))
	if held == 0 || !f.random() || !slices.ContainsFunc(s.free, isNoise) {
		return []stage{s}
	}
	first := s
	first.name += ", noise held"
	first.free = slices.DeleteFunc(slices.Clone(s.free), isNoise)
	first.iterations = held
	s.iterations -= held
	return []stage{first, s}
}

func isNoise(tensor string) bool { return tensor == "noise.precision" }

// direct reports whether the coefficients are few enough to be solved for.
func (f *fitting) direct() bool {
	return f.model.Params.M() <= directLimit || len(f.model.Params.Windows.Center) > 0
}

// unfixed leaves out what Options.Fix keeps. A phase's two ends move as one:
// fixing either fixes both.
func (f *fitting) unfixed(names []string) []string {
	fixed := slices.Clone(f.o.Fix)
	if slices.Contains(fixed, "phase.upper") || slices.Contains(fixed, "phase.lower") {
		fixed = append(fixed, "phase.lower", "phase.upper")
	}
	var free []string
	for _, name := range names {
		if !slices.Contains(fixed, name) {
			free = append(free, name)
		}
	}
	return free
}

// startCoefficients gives the factorised posterior its start: the exact mean
// with the diagonal that is optimal beside it, s_k = 1/(1 + τ G_kk), where that
// solve is cheap; else the prior's zero mean with the same diagonal, which
// needs only the second moments' bound G_kk ≤ 2NA0.
func (f *fitting) startCoefficients() error {
	p := f.model.Params
	if len(p.CoefMean) > 0 && len(p.CoefVar) > 0 {
		return nil
	}
	n := p.M() * p.D
	tau := p.NoisePrecision[0]
	p.CoefMean, p.CoefVar = make([]float64, n), make([]float64, n)
	if !f.direct() {
		for i := range p.CoefVar {
			share := p.Variance[i/p.D/p.K] / float64(p.K)
			p.CoefVar[i] = 1 / (1 + tau*share*float64(f.held.n))
		}
		return nil
	}
	diag, mean, err := f.held.exactDiagonal(p)
	if err != nil {
		return err
	}
	copy(p.CoefMean, mean)
	for i := range p.CoefVar {
		p.CoefVar[i] = 1 / (1 + tau*diag[i/p.D])
	}
	return nil
}

// collapsed recognises the two bad optima: everything explained as noise, and
// features so short that they touch one row each. It says which, or nothing.
func (f *fitting) collapsed() string {
	if f.final == nil {
		return "the bound could not be evaluated"
	}
	p := f.model.Params
	variance := f.held.square / float64(f.held.n*f.held.d)
	if variance == 0 {
		return "" // the data are constant: there is nothing to explain
	}
	if 1/p.NoisePrecision[0] > noiseShare*variance {
		return "all of the data taken for noise"
	}
	step := (&Data{N: f.data.N, Q: f.data.Q, D: f.data.D, X: f.model.X.ToModel(f.data.X)}).evenStep()
	if step == 0 {
		return ""
	}
	short := 0
	for k := range p.M() {
		l := p.Lengthscale[(k/p.K)*p.Q]
		if l/math.Sqrt(p.FreqVar[k*p.Q]) < step {
			short++
		}
	}
	if 2*short > p.M() {
		return "most features reach less than one step of x"
	}
	return ""
}

// noiseShare is the share of the data's variance beyond which the noise is
// taken to have swallowed everything.
const noiseShare = 0.98
