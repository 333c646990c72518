package vssgp

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Iterations where the options leave them open.
const (
	exactIterations      = 300
	factorisedIterations = 600
	stochasticSteps      = 3000 // at least
	// stochasticPasses is how often each row is seen, on average.
	stochasticPasses = 10
	// directLimit is the number of features up to which the factorised
	// posterior's start is solved for exactly; beyond, by conjugate gradients.
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
		n = f.defaultIterations(inference)
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
	return f.holdNoise(stage{"all", all, n, inference == Stochastic})
}

// defaultIterations are a stage's where the options leave them open.
func (f *fitting) defaultIterations(inference Inference) int {
	switch inference {
	case Factorised:
		return factorisedIterations
	case Stochastic:
		rows := f.batchSize()
		return max(stochasticSteps, (stochasticPasses*f.data.N+rows-1)/rows)
	}
	return exactIterations
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
// or one near it, with the diagonal that is optimal beside it,
// s_k = 1/(1 + τ G_kk).
func (f *fitting) startCoefficients() error {
	p := f.model.Params
	if len(p.CoefMean) > 0 && len(p.CoefVar) > 0 {
		return nil
	}
	n := p.M() * p.D
	tau := p.NoisePrecision[0]
	diag, mean, err := f.startMean()
	if err != nil {
		return err
	}
	p.CoefMean, p.CoefVar = make([]float64, n), make([]float64, n)
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

// startMean is the diagonal of G and the exact mean at the start, or near it.
func (f *fitting) startMean() (diag, mean []float64, err error) {
	n, direct := f.meanFrom()
	var rows []int // nil: all
	if n < f.data.N {
		rows = rand.New(rand.NewPCG(f.o.Seed, meanSalt)).Perm(f.data.N)[:n]
		slices.Sort(rows)
	}
	if !direct {
		return f.held.conjugateMean(f.model.Params, rows)
	}
	return f.directMean(rows)
}

// meanFrom is how many rows startMean looks at, and whether it solves for the
// mean itself, not by conjugate gradients.
func (f *fitting) meanFrom() (rows int, direct bool) {
	p := f.model.Params
	windows := len(p.Windows.Center) > 0
	direct = p.M() <= directLimit || windows
	switch {
	case !direct:
		return min(f.data.N, max(meanRows, meanShare*p.M())), false
	case f.o.Inference == Stochastic && !windows:
		return min(f.data.N, directRows), true
	}
	return f.data.N, true
}

// directMean is exactDiagonal from the given rows, nil for all, with G and C
// scaled up to N rows: (s·G + τ⁻¹I)⁻¹ s·C is (G + τ⁻¹I/s)⁻¹ C.
func (f *fitting) directMean(rows []int) (diag, mean []float64, err error) {
	if rows == nil {
		return f.held.exactDiagonal(f.model.Params)
	}
	h, err := f.model.hold(f.data.some(rows))
	if err != nil {
		return nil, nil, err
	}
	defer h.close()
	h.ctx, h.segments = f.ctx, f.o.Segments
	p, scale := f.model.Params.Clone(), float64(f.data.N)/float64(len(rows))
	p.NoisePrecision[0] *= scale
	diag, mean, err = h.exactDiagonal(p)
	for i := range diag {
		diag[i] *= scale
	}
	return diag, mean, err
}

const (
	// The mean of more features than directLimit starts from some rows drawn
	// at random: meanRows, or meanShare for each feature where that is more.
	meanRows  = 8192
	meanShare = 4
	// directRows is how many rows the mean of fewer starts from where the rest of
	// the fit sees mini-batches alone.
	directRows = 1 << 16
	meanSalt   = 0x3ea2 // tells this random stream from the others
)

// reach is how far along the windows' input (or the first) a feature can be
// seen at most, in the model's units: a window's length, or the data's range.
func (f *fitting) reach() float64 {
	p := f.model.Params
	if len(p.Windows.Center) > 1 {
		return p.Windows.Length / 2
	}
	lo, hi := extent(f.model.X.ToModel(f.data.X), p.Q, 0)
	if hi > lo {
		return (hi - lo) / 2
	}
	return 1
}

// betterThan prefers a start that did not collapse, then the higher bound.
func (f *fitting) betterThan(o *fitting) bool {
	if (f.bad == "") != (o.bad == "") {
		return f.bad == ""
	}
	return f.bound > o.bound
}
