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
	var free []string
	switch f.o.Method {
	case SSGP:
		free = append(append(free, hyper...), "frequency.mean")
	case RP:
		free = append(free, hyper...)
	default:
		free = append(append(free, hyper...), feature...)
	}
	var stages []stage
	if inference != Exact {
		free = append(free, coefs...)
		if inference == Factorised && f.model.Params.M() > directLimit && len(f.model.Params.Windows.Center) == 0 {
			stages = append(stages, stage{"coefficients", f.unfixed(coefs), n / 10})
			n -= n / 10
		}
	}
	if held := f.noiseHold(n); held > 0 {
		stages = append(stages, stage{"all but noise", f.unfixed(slices.DeleteFunc(slices.Clone(free), isNoise)), held})
		n -= held
	}
	return append(stages, stage{"all", f.unfixed(free), n})
}

// noiseHeld is the share of the iterations for which random starting values
// keep their noise precision.
const noiseHeld = 0.2

// noiseHold is for how many of n iterations the noise precision is to stay.
// Features drawn at random explain little of the data at first, so that the
// quickest ascent is to call the data noise, an optimum of its own; with the
// noise held they have to explain them. SSGP and random projections, which have
// no KL term to flee from, do worse so and do without (DESIGN.md, "Starting
// values").
func (f *fitting) noiseHold(n int) int {
	if f.o.Method == SSGP || f.o.Method == RP || f.o.From != nil || f.o.init(f.data) != InitPaper || slices.ContainsFunc(f.o.Fix, isNoise) {
		return 0
	}
	return int(noiseHeld * float64(n))
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
	if p.M() > directLimit && len(p.Windows.Center) == 0 {
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
