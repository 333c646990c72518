package vssgp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/fileio/fault"
	"github.com/vssgp/vssgp/internal/spectral"
	"github.com/vssgp/vssgp/variational"
)

// Types of package variational that are part of this package's API.
type (
	// Params are a model's parameters in the model's units.
	Params = variational.Params
	// Tensor is one of a model's arrays with its name in the model file.
	Tensor = variational.Tensor
	// Evaluation contains the bound at given parameters and, if requested, its gradient.
	Evaluation = variational.Evaluation
	// Term is a named part of a bound.
	Term = variational.Term
	// Inference selects the bound that a fit maximizes and the kind of posterior over the
	// coefficients.
	Inference = variational.Inference
	// Method is the paper's model or one of its special cases.
	Method = variational.Method
)

const (
	// Exact is VSSGP: the optimal q(A), eq. lower_bound_opt_A.
	Exact = variational.Exact
	// Factorized is fVSSGP: a diagonal q(A), eq. lower_bound_factorized.
	Factorized = variational.Factorized
	// Stochastic is sfVSSGP: Factorized on mini-batches, eq. lower_bound_SVI.
	// The fitted model has Factorized inference.
	Stochastic = variational.Stochastic

	// VSSGP is the paper's model: frequencies have a posterior.
	VSSGP = variational.VSSGP
	// SSGP is the sparse spectrum GP (Lázaro-Gredilla et al. 2010): point
	// frequencies (Σ = 0), each a cosine and a sine, optimized with the
	// hyper-parameters.
	SSGP = variational.SSGP
	// RP is random projections (Rahimi & Recht 2007): random phases, and point
	// frequencies that are drawn from the prior and not optimized.
	RP = variational.RP
)

// NewParams returns zero parameters of the given shape, including the coefficients, or nil if a number is negative
// or there would be more than 2³⁰ parameters. Windows and ComponentWindow are empty.
func NewParams(l, k, q, d int) *Params { return variational.NewParams(l, k, q, d) }

// Model contains the parameters, the maps between the model's units and the data's units
// and, after a fit, a posterior over the coefficients.
type Model struct {
	Params    *Params   // in the model's units
	Inference Inference // Exact or Factorized
	X, Y      Affine    // from the model's units to the data's units

	XNames, YNames []string // of the inputs [Q] and outputs [D]; may be empty

	// Range is the minimum and the maximum of each input [Q] in the data of the fit, in the data's units, or nil if it is not known.
	// Prediction.Beyond marks rows outside of this range, and others.
	Range [][2]float64

	// Metadata contains application metadata of the model file. Only entries whose names begin with "app." are written.
	Metadata map[string]string

	// Backend computes the passes over the rows. If it is nil, the CPU is used.
	Backend backend.Backend

	// kernel has the components of a search in the model's units, nil for other models. Params is an expansion of those that are not rough.
	kernel *spectral.Model
	// rows are the data in the model's units on which a model with rough components is conditioned. Other models do not need them.
	rows *backend.Data

	exact *variational.Posterior // Exact: m and R with R Rᵀ = A, so that S = τ⁻¹A⁻¹; nil before a fit
	hyper *Posterior             // of the hyper-parameters; nil if not computed

	noDraws string // the reason why the model has no draws, if the fit requested draws
}

// A Posterior is the posterior of the hyper-parameters given the data of a fit: a Laplace
// approximation in the logarithms of positive parameters (see docs/priors.md). The fields
// are standard deviations in the model's units. They are 0 for parameters that the fit
// did not change.
type Posterior struct {
	Variance    []float64 // [L] of log σ²
	Lengthscale []float64 // [L,Q] of log l
	Frequency   []float64 // [L,Q] of p, in cycles
	Noise       []float64 // [1] of log τ
	// Features [M,Q] are the standard deviations of the features' frequencies
	// p + w/(2πl), in cycles, including q(w); nil if the fit did not change p and μ.
	Features []float64
	Draws    []*Model // models with hyper-parameters and, after a search, structures drawn from the posterior
}

// Posterior returns the posterior of the fitted hyper-parameters, or nil if the fit did not
// compute it (Result.NoPosterior). A fit computes it after a search, if the cost is small, or
// if Options.Posterior.Draws requests draws.
func (m *Model) Posterior() *Posterior {
	if m == nil {
		return nil
	}
	return m.hyper
}

// NewModel returns a model with the given parameters, whose units are the data's units. Errors wrap ErrParams.
func NewModel(p *Params) (*Model, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	m := &Model{Params: p, Inference: Exact, X: identity(p.Q), Y: identity(p.D)}
	if len(p.CoefVar) > 0 {
		m.Inference = Factorized
	}
	return m, nil
}

// check returns an error that wraps ErrParams if the model is not valid: it has no
// parameters, or the shapes of its maps or its posterior do not match.
func (m *Model) check() error {
	if m == nil {
		return fmt.Errorf("the model is nil: %w", ErrParams)
	}
	if err := m.Params.Check(); err != nil {
		return err
	}
	switch m.Inference {
	case "", Exact, Factorized:
	default:
		return fmt.Errorf("the model's inference is %q, must be exact or factorized: %w", m.Inference, ErrParams)
	}
	if want := m.Params.M() * m.Params.D; m.exact != nil && len(m.exact.Mean) != want {
		return fmt.Errorf("the posterior has %d means, but the parameters need %d; condition the model on data again: %w",
			len(m.exact.Mean), want, ErrUnfitted)
	}
	return m.checkMaps()
}

func (m *Model) backend() backend.Backend {
	if m.Backend == nil {
		return cpu.New()
	}
	return m.Backend
}

// fits returns an error if the number of inputs or outputs differs from the model.
func (m *Model) fits(data *Data) error {
	if data.Q != m.Params.Q || data.D != m.Params.D {
		return fault.Errorf(ErrData, "the data have %d inputs and %d outputs, but the model has %d and %d", data.Q, data.D, m.Params.Q,
			m.Params.D)
	}
	return nil
}

// open converts data to the model's units and opens them on the backend. Evaluations stop
// if ctx ends. A nil ctx is the background context.
func (m *Model) open(ctx context.Context, data *Data) (*variational.Rows, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := data.Check(); err != nil {
		return nil, err
	}
	if err := m.fits(data); err != nil {
		return nil, err
	}
	return m.openScaled(ctx, *m.scaled(data))
}

// scaled converts data to the model's units.
func (m *Model) scaled(data *Data) *backend.Data {
	return &backend.Data{N: data.N, Q: data.Q, D: data.D, X: m.X.ToModel(data.X), Y: m.Y.ToModel(data.Y)}
}

// openScaled opens data that are in the model's units.
func (m *Model) openScaled(ctx context.Context, data backend.Data) (*variational.Rows, error) {
	data.Windows = m.Params.Windows
	rows, err := variational.Open(ctx, data, m.setting())
	return rows, dataError(err)
}

// setting returns the settings with which the model's rows are opened.
func (m *Model) setting() variational.Setting {
	b := m.backend()
	_, memory := b.(*cpu.Backend) // other backends have devices or connections, which must be closed
	return variational.Setting{Backend: b, Origin: m.Y.origin(), Leave: memory}
}

// Evaluate returns the bound of the model's parameters on data, in nats, for y in the
// model's units, and its gradient if requested. It does not change the model. rows
// selects a mini-batch S for the factorized bound, whose data term is then scaled by
// N/|S|; nil selects all rows. Errors wrap ErrData (the columns differ from the model, a
// row index is out of range, or rows are given for the exact bound), ErrOptions (an
// unknown inference), ErrParams, ErrUnfitted or ErrBound, or ctx.Err() soon after ctx has
// ended.
func (m *Model) Evaluate(ctx context.Context, data *Data, inference Inference, rows []int, gradient bool) (*Evaluation, error) {
	opened, err := m.open(ctx, data)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	switch inference {
	case Exact, Factorized, Stochastic:
	default:
		return nil, fault.Errorf(ErrOptions, "inference %q, must be exact, factorized or stochastic", inference)
	}
	if err := (&backend.Data{N: data.N}).CheckRows(rows); err != nil {
		return nil, fault.Errorf(ErrData, "%w", err)
	}
	if rows != nil && inference == Exact {
		return nil, fault.Errorf(ErrData, "the exact bound is not a sum over rows; a mini-batch needs factorized inference")
	}
	switch rough := m.kernel.Rough(); {
	case rough && (gradient || inference != Exact):
		return nil, fault.Errorf(ErrOptions, "a model with rough components (matern32, ou or damped) has only the exact bound, without a gradient")
	case rough:
		return m.at(m.Params).Condition(ctx, data)
	}
	return opened.Evaluate(m.Params, inference, rows, gradient)
}

// withoutDraws returns the error about a model without draws of its hyper-parameters.
func (m *Model) withoutDraws(what string) error {
	why := cmp.Or(m.noDraws, "fit it with draws (Options.Posterior.Draws)")
	return fmt.Errorf("%s: the model has no draws of its hyper-parameters: %s: %w", what, why, ErrUnfitted)
}

// Condition computes the exact posterior of the coefficients given data,
// q(A) = N(m_d, τ⁻¹A⁻¹) with A = G + τ⁻¹I and m = A⁻¹C, and sets the model's inference to
// Exact. It also conditions the draws of the model's Posterior. The other parameters do
// not change. Errors wrap ErrData, ErrBound or ErrParams, or ctx.Err() soon after ctx has
// ended. If there is an error, the model is unchanged.
func (m *Model) Condition(ctx context.Context, data *Data) (*Evaluation, error) {
	opened, err := m.open(ctx, data)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	rows := m.scaled(data)
	e, err := m.conditioned(opened, rows)
	if err != nil {
		return nil, err
	}
	if m.hyper != nil {
		hyper := *m.hyper
		hyper.Draws = make([]*Model, len(hyper.Draws))
		for i, d := range m.hyper.Draws {
			hyper.Draws[i] = d.clone()
			if _, err := hyper.Draws[i].conditioned(opened, rows); err != nil {
				return nil, fmt.Errorf("draw %d of the hyper-parameters: %w", i, err)
			}
		}
		m.hyper = &hyper
	}
	m.Range = data.extents()
	return e, nil
}

// conditioned sets the model's exact posterior given rows, and returns the bound.
func (m *Model) conditioned(opened *variational.Rows, rows *backend.Data) (*Evaluation, error) {
	if m.kernel.Rough() {
		c, err := spectral.Condition(*m.kernel, m.Params, rows)
		if err != nil {
			return nil, err
		}
		m.Inference, m.exact, m.rows = Exact, nil, rows
		return c.Evaluation(), nil
	}
	e, err := opened.Exact(m.Params, false)
	if err != nil {
		return nil, err
	}
	m.adopt(e)
	return e, nil
}

// conditional returns the distribution of the function of a model with rough components.
func (m *Model) conditional() (*spectral.Conditional, error) {
	return spectral.Condition(*m.kernel, m.Params, m.rows)
}

// beyond marks the rows of x [N,Q] outside of the model's Range, and the rows at which the prediction relies on the prior. It returns nil
// if there are none.
func (m *Model) beyond(x []float64, p *Prediction) (marks []bool) {
	limit := relyingOnPrior * m.priorVariance()
	cov, noise, unit := p.units()
	for n := range p.N {
		out := false
		for q, r := range m.Range {
			v := x[n*len(m.Range)+q]
			out = out || v < r[0] || v > r[1]
		}
		for d := 0; d < p.D && !math.IsInf(limit, 1); d++ {
			scale := m.Y.Scale[d]
			if unit != nil {
				scale = 1
			}
			out = out || cov[(n*p.D+d)*p.D+d]-noise[d] > limit*scale*scale
		}
		if out && marks == nil {
			marks = make([]bool, p.N)
		}
		if out {
			marks[n] = true
		}
	}
	return marks
}

// adopt sets the model's posterior to the exact posterior of an evaluation.
func (m *Model) adopt(e *Evaluation) {
	m.Inference, m.exact = Exact, e.Posterior
	m.Params.CoefMean, m.Params.CoefVar = nil, nil
}

// Fitted reports whether the model has a posterior over its coefficients.
func (m *Model) Fitted() bool {
	if m == nil || m.Params == nil {
		return false
	}
	if m.Inference == Factorized {
		return len(m.Params.CoefMean) > 0 && len(m.Params.CoefVar) > 0
	}
	return m.exact != nil || m.rows != nil
}

// predictive returns the model's distribution over functions in the model's units. Errors
// wrap ErrParams or ErrUnfitted, or ctx.Err() if ctx has ended.
func (m *Model) predictive(ctx context.Context) (predictive, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if !m.Fitted() {
		return nil, fmt.Errorf("predict: fit the model or condition it on data first: %w", ErrUnfitted)
	}
	if m.rows != nil {
		return m.conditional()
	}
	p, err := variational.NewPredictive(ctx, m.Params, m.exactPosterior())
	if err != nil {
		return nil, err
	}
	p.Fade = m.fade()
	return p, nil
}

// fade returns how a model of two inputs from InitSearch fades outside of its Range, nil for other models.
func (m *Model) fade() *variational.Fade {
	var ranges [][2]float64
	for q, r := range m.Range {
		a := Affine{m.X.Offset[q : q+1], m.X.Scale[q : q+1]}
		ends := a.ToModel(r[:])
		ranges = append(ranges, [2]float64{ends[0], ends[1]})
	}
	return m.kernel.Fade(m.Params, ranges)
}

// exactPosterior returns the posterior of an Exact model, or nil for a Factorized model.
func (m *Model) exactPosterior() *variational.Posterior {
	if m.Inference == Factorized {
		return nil
	}
	return m.exact
}

// Coefficients returns the posterior mean [M,D] of the Fourier coefficients and
// the diagonal of their covariance, [M,D], in the model's units. Both are copies.
// Errors wrap ErrUnfitted, or ErrParams if the model is invalid.
func (m *Model) Coefficients() (mean, variance []float64, err error) {
	p, err := m.predictive(context.Background())
	if err != nil {
		return nil, nil, err
	}
	if c, ok := p.(*spectral.Conditional); ok {
		mean, variance = c.Coefficients()
		return mean, variance, nil
	}
	own := p.(*variational.Predictive)
	return slices.Clone(own.Coefficients.Mean), own.Variances(), nil
}

// clone returns a copy of the model. It shares the posterior, which is never modified.
func (m *Model) clone() *Model {
	c := *m
	c.Params = m.Params.Clone()
	return &c
}

// bare returns a copy of the model with parameters p and without a posterior.
func (m *Model) bare(p *Params) *Model {
	c := *m
	c.Params, c.exact, c.hyper, c.rows = p, nil, nil, nil
	return &c
}

// checkMaps returns an error if an affine map has the wrong length or a scale that is not
// positive.
func (m *Model) checkMaps() error {
	for _, a := range []struct {
		name string
		Affine
		want int
	}{{"x", m.X, m.Params.Q}, {"y", m.Y, m.Params.D}} {
		if len(a.Offset) != a.want || len(a.Scale) != a.want {
			return fmt.Errorf("%s.offset and %s.scale have %d and %d entries, must have %d: %w", a.name, a.name, len(a.Offset),
				len(a.Scale), a.want, ErrParams)
		}
		for i, s := range a.Scale {
			if !(s > 0) || math.IsInf(s, 0) || math.IsInf(a.Offset[i], 0) || math.IsNaN(a.Offset[i]) {
				return fmt.Errorf("%s.scale[%d] is %v, must be positive, and %s.offset[%d] is %v, must be finite: %w", a.name, i, s,
					a.name, i, a.Offset[i], ErrParams)
			}
		}
	}
	if n := len(m.Range); n != 0 && n != m.Params.Q ||
		slices.ContainsFunc(m.Range, func(ends [2]float64) bool { return !(ends[0] <= ends[1]) }) {
		return fmt.Errorf("x.range is %.6g, must have a minimum and a maximum for each of %d inputs: %w", m.Range, m.Params.Q,
			ErrParams)
	}
	if n := len(m.XNames); n != 0 && n != m.Params.Q {
		return fmt.Errorf("%d x.names for %d inputs: %w", n, m.Params.Q, ErrParams)
	}
	if n := len(m.YNames); n != 0 && n != m.Params.D {
		return fmt.Errorf("%d y.names for %d outputs: %w", n, m.Params.D, ErrParams)
	}
	return nil
}

// A Frequency describes the posterior of one feature's frequency in the data's units.
type Frequency struct {
	Feature   int       `json:"feature"`      // k, from 0 to M−1
	Component int       `json:"-"`            // i = k/K
	Location  []float64 `json:"location"`     // [Q] z, units of x
	Mean      []float64 `json:"frequency"`    // [Q] |μ/l + 2πp|/2π, cycles per unit of x
	SD        []float64 `json:"frequency_sd"` // [Q] under Model.Posterior, cycles per unit of x; nil without it
	Period    []float64 `json:"period"`       // [Q] 1/Mean, units of x; +Inf if Mean is 0
	PeriodSD  []float64 `json:"period_sd"`    // [Q] SD/Mean², to first order; nil without SD
	Spread    []float64 `json:"-"`            // [Q] √Σ/(2πl), from q(w) alone: too small if the hyper-parameters are uncertain
	Reach     []float64 `json:"reach"`        // [Q] l/√Σ, units of x: decay length of the feature around z; +Inf without decay
}

// length returns the squared norm of SD, or of Spread if SD is nil.
func (f Frequency) length() (sum float64) {
	of := f.SD
	if of == nil {
		of = f.Spread
	}
	for _, sd := range of {
		sum += sd * sd
	}
	return sum
}

// Frequencies returns the posteriors of all features' frequencies in order of increasing
// uncertainty: the norm of SD, or of Spread if the model has no Posterior. For a model from
// InitSearch these are the frequencies of its lines, each once (of its cosine). It returns nil if
// the model is invalid.
func (m *Model) Frequencies() []Frequency {
	if m.check() != nil {
		return nil
	}
	p := m.Params
	out := make([]Frequency, p.M())
	for k := range out {
		f := Frequency{Feature: k, Component: k / p.K}
		for q, unit := range m.X.Scale {
			at, l := k*p.Q+q, p.Lengthscale[k/p.K*p.Q+q]*unit
			mean := math.Abs(p.FreqMean[at]/(2*math.Pi*l) + p.Frequency[k/p.K*p.Q+q]/unit)
			f.Location = append(f.Location, m.X.Offset[q]+unit*p.Location[at])
			f.Mean, f.Period = append(f.Mean, mean), append(f.Period, 1/mean)
			f.Spread = append(f.Spread, math.Sqrt(p.FreqVar[at])/(2*math.Pi*l))
			if m.hyper != nil && m.hyper.Features != nil {
				sd := m.hyper.Features[at] / unit
				f.SD, f.PeriodSD = append(f.SD, sd), append(f.PeriodSD, sd/(mean*mean))
			}
			f.Reach = append(f.Reach, l/math.Sqrt(p.FreqVar[at]))
		}
		out[k] = f
	}
	if m.kernel != nil {
		out = slices.DeleteFunc(out, func(f Frequency) bool { return f.Feature%p.K > 0 || !m.kernel.HasLine(p.Frequency[f.Component*p.Q]) })
	}
	slices.SortStableFunc(out, func(a, b Frequency) int { return cmp.Compare(a.length(), b.length()) })
	return out
}

// A Component describes one component of the fitted covariance, in the data's units.
type Component struct {
	// Kind is "line", "band", "rbf" (squared exponential), "matern32", "ou" (Ornstein–Uhlenbeck) or "damped" (a damped
	// oscillation) if a search has found the component, and "" otherwise.
	Kind        string    `json:"kind,omitempty"`
	SD          []float64 `json:"sd"`               // [D] σ, units of y; a line with the amplitude a has about a/√2
	Lengthscale []float64 `json:"lengthscale"`      // [Q] l, units of x; of "ou" and "damped" the time of decay to 1/e; +Inf for a line
	Period      []float64 `json:"period"`           // [Q] 1/|p|, units of x; +Inf if p is 0
	Window      *int      `json:"window,omitempty"` // index of the window; nil without windows
}

// Components returns the components that a search has found, or the model's components in the order of Params. It returns nil if the
// model is invalid.
func (m *Model) Components() []Component {
	if m.check() != nil {
		return nil
	}
	if m.kernel != nil {
		return m.found()
	}
	p := m.Params
	out := make([]Component, p.L)
	for i := range out {
		c := &out[i]
		for _, unit := range m.Y.Scale {
			c.SD = append(c.SD, math.Sqrt(p.Variance[i])*unit)
		}
		for q, unit := range m.X.Scale {
			c.Lengthscale = append(c.Lengthscale, p.Lengthscale[i*p.Q+q]*unit)
			c.Period = append(c.Period, unit/math.Abs(p.Frequency[i*p.Q+q]))
		}
		if p.ComponentWindow != nil {
			window := p.ComponentWindow[i]
			c.Window = &window
		}
	}
	return out
}

// found returns the components of a search in the data's units.
func (m *Model) found() []Component {
	out := make([]Component, len(m.kernel.Components))
	for i, k := range m.kernel.Components {
		c := Component{Kind: string(k.Kind), Lengthscale: []float64{math.Inf(1)}, Period: []float64{m.X.Scale[0] / k.Frequency}}
		switch {
		case k.Lengths != nil:
			c.Lengthscale, c.Period = nil, nil
			for q, l := range k.Lengths {
				c.Lengthscale, c.Period = append(c.Lengthscale, l*m.X.Scale[q]), append(c.Period, math.Inf(1))
			}
		case k.Kind.Wide():
			c.Lengthscale[0] = k.Length * m.X.Scale[0]
		}
		for _, unit := range m.Y.Scale {
			c.SD = append(c.SD, k.SD*unit)
		}
		out[i] = c
	}
	return out
}

// noiseVariance returns the noise variance of an observation in the model's units. It is smaller than τ⁻¹ if the rows
// count as fewer independent ones.
func (m *Model) noiseVariance() float64 {
	v := 1 / m.Params.NoisePrecision[0]
	if m.kernel != nil {
		v /= m.kernel.Inflated()
	}
	return v
}

// NoiseSD returns the noise standard deviation [D] in units of y, or nil if the model is invalid. For averaged predictions it is the root
// mean square over the draws.
func (m *Model) NoiseSD() []float64 {
	if m.check() != nil {
		return nil
	}
	variance := m.noiseVariance()
	if m.averages() {
		variance = 0
		for _, d := range m.hyper.Draws {
			variance += d.noiseVariance() / float64(len(m.hyper.Draws))
		}
	}
	sd := make([]float64, 0, m.Params.D)
	for _, unit := range m.Y.Scale {
		sd = append(sd, unit*math.Sqrt(variance))
	}
	return sd
}
