package vssgp

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/blocktri"
	"github.com/vssgp/vssgp/internal/cost"
	"github.com/vssgp/vssgp/spectral"
)

// Inference is the bound that a model is fitted by and the posterior over the
// coefficients that goes with it.
type Inference string

const (
	// Exact is VSSGP: the optimal q(A), eq. lower_bound_opt_A.
	Exact Inference = "exact"
	// Factorised is fVSSGP: a diagonal q(A), eq. lower_bound_factorised.
	Factorised Inference = "factorised"
	// Stochastic is sfVSSGP: Factorised on mini-batches, eq. lower_bound_SVI.
	// A model so fitted is a Factorised one.
	Stochastic Inference = "stochastic"
)

// ErrUnfitted is wrapped where a prediction needs a posterior that the model
// does not have yet.
var ErrUnfitted = errors.New("model has no posterior over its coefficients")

// Model is a set of parameters, the maps between its units and the data's,
// and, once fitted, a posterior over the coefficients.
type Model struct {
	Params    *Params   // in the model's units
	Inference Inference // Exact or Factorised
	X, Y      Affine    // between the data's units and the model's

	XNames, YNames []string // of the inputs [Q] and outputs [D]; may be empty

	// Backend computes the passes over the rows; nil is the CPU.
	Backend spectral.Backend

	mean   []float64        // exact: m [M,D]
	factor *blocktri.Factor // exact: R with R Rᵀ = A, so that S = τ⁻¹A⁻¹

	// begun is the bound at the starting values where New had to evaluate it.
	begun *Evaluation
}

// NewModel wraps parameters as a model in the data's own units.
func NewModel(p *Params) (*Model, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	m := &Model{Params: p, Inference: Exact, X: identity(p.Q), Y: identity(p.D)}
	if len(p.CoefVar) > 0 {
		m.Inference = Factorised
	}
	return m, nil
}

// check reports a model that was put together by hand and is none: without
// parameters, with maps of other columns, or with a posterior of other shape.
func (m *Model) check() error {
	if m == nil {
		return fmt.Errorf("vssgp: the model is nil: %w", ErrParams)
	}
	if err := m.Params.Check(); err != nil {
		return err
	}
	switch m.Inference {
	case "", Exact, Factorised:
	default:
		return fmt.Errorf("vssgp: the model's inference is %q, want exact or factorised: %w", m.Inference, ErrParams)
	}
	if want := m.Params.M() * m.Params.D; m.factor != nil && len(m.mean) != want {
		return fmt.Errorf("vssgp: the posterior has %d means, the parameters want %d: condition the model on data anew: %w", len(m.mean), want, ErrUnfitted)
	}
	return m.checkMaps()
}

func (m *Model) backend() spectral.Backend {
	if m.Backend == nil {
		return cpu.New()
	}
	return m.Backend
}

// fits reports data of other columns than the model's.
func (m *Model) fits(data *Data) error {
	if data.Q != m.Params.Q || data.D != m.Params.D {
		return fmt.Errorf("vssgp: data have %d inputs and %d outputs, the model %d and %d: %w", data.Q, data.D, m.Params.Q, m.Params.D, ErrData)
	}
	return nil
}

// hold brings data to the backend in the model's units.
func (m *Model) hold(data *Data) (*held, error) { return m.holdFor(context.Background(), data) }

// holdFor is hold for evaluations that end with ctx, or with what held.ctx is
// then; nil is context.Background().
func (m *Model) holdFor(ctx context.Context, data *Data) (*held, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := data.Check(); err != nil {
		return nil, err
	}
	if err := m.fits(data); err != nil {
		return nil, err
	}
	h := &held{ctx: cmp.Or(ctx, context.Background()), n: data.N, d: data.D}
	backend := m.backend()
	var err error
	open := func() {
		x, y := m.X.ToModel(data.X), m.Y.ToModel(data.Y)
		h.square, _ = dotExact(y, y)
		h.deep = deepest(&m.Params.Windows, x, data.Q)
		h.rows, err = backend.Open(spectral.Data{
			N: data.N, Q: data.Q, D: data.D, X: x, Y: y, Windows: m.Params.Windows, Stop: func() error { return h.ctx.Err() },
		})
	}
	if _, ok := backend.(*cpu.Backend); !ok { // the rows of another hold more than memory, and have to be closed
		open()
	} else if stopped := await(h.ctx, openFlops*float64(data.N), open); stopped != nil {
		return nil, fmt.Errorf("vssgp: interrupted before the data were in order: %w", stopped)
	}
	if err != nil {
		return nil, dataError(err)
	}
	return h, nil
}

// openFlops is about what a row takes to be brought in order, as so many
// operations.
const openFlops = 5e3

// evaluate is the bound that goes with the inference.
func (h *held) evaluate(p *Params, inference Inference, rows []int, gradient bool) (*Evaluation, error) {
	if inference == Exact {
		return h.exact(p, gradient)
	}
	if len(p.CoefMean) == 0 || len(p.CoefVar) == 0 {
		return nil, fmt.Errorf("vssgp: the factorised bound needs coefficient.mean and coefficient.variance: %w", ErrUnfitted)
	}
	return h.factorised(p, rows, gradient)
}

// Evaluate is EvaluateContext without an end.
func (m *Model) Evaluate(data *Data, inference Inference, rows []int, gradient bool) (*Evaluation, error) {
	return m.EvaluateContext(context.Background(), data, inference, rows, gradient)
}

// EvaluateContext is the bound of the model's parameters on data, in the model's
// units, with its gradient if asked for; the model stays as it is. rows, for
// the factorised bound alone, picks a mini-batch whose data term is scaled by
// N/|S|; nil is every row. Errors wrap ErrData (data that do not fit the model,
// rows that they do not have, a mini-batch of the exact bound), ErrOptions
// (another inference), ErrParams, ErrUnfitted or ErrBound, or ctx.Err() soon
// after ctx has ended.
func (m *Model) EvaluateContext(ctx context.Context, data *Data, inference Inference, rows []int, gradient bool) (*Evaluation, error) {
	h, err := m.holdFor(ctx, data)
	if err != nil {
		return nil, err
	}
	defer h.close()
	switch inference {
	case Exact, Factorised, Stochastic:
	default:
		return nil, fmt.Errorf("vssgp: inference %q, want exact, factorised or stochastic: %w", inference, ErrOptions)
	}
	if err := (&spectral.Data{N: data.N}).CheckRows(rows); err != nil {
		return nil, fmt.Errorf("vssgp: %w: %w", err, ErrData)
	}
	if rows != nil && inference == Exact {
		return nil, fmt.Errorf("vssgp: the exact bound is not a sum over rows; a mini-batch needs factorised inference: %w", ErrData)
	}
	return h.evaluate(m.Params, inference, rows, gradient)
}

// Condition is ConditionContext without an end.
func (m *Model) Condition(data *Data) (*Evaluation, error) {
	return m.ConditionContext(context.Background(), data)
}

// ConditionContext computes the exact posterior of the coefficients given data,
// leaving the parameters as they are, and makes the model an Exact one:
// q(A) = N(m_d, τ⁻¹A⁻¹) with A = G + τ⁻¹I and m = A⁻¹C. Errors wrap ErrData or
// ErrBound (of a model that is none, ErrParams), or ctx.Err() soon after ctx has
// ended, and leave the model as it was.
func (m *Model) ConditionContext(ctx context.Context, data *Data) (*Evaluation, error) {
	h, err := m.holdFor(ctx, data)
	if err != nil {
		return nil, err
	}
	defer h.close()
	e, err := h.exact(m.Params, false)
	if err != nil {
		return nil, err
	}
	m.adopt(e)
	return e, nil
}

// adopt takes the exact posterior of an evaluation.
func (m *Model) adopt(e *Evaluation) {
	m.Inference = Exact
	m.mean, m.factor = e.mean, e.factor
	m.Params.CoefMean, m.Params.CoefVar = nil, nil
}

// Fitted reports whether the model has a posterior to predict with.
func (m *Model) Fitted() bool {
	if m == nil || m.Params == nil {
		return false
	}
	if m.Inference == Factorised {
		return len(m.Params.CoefMean) > 0 && len(m.Params.CoefVar) > 0
	}
	return m.factor != nil
}

// posterior is the Gaussian over the coefficients that predictions use.
func (m *Model) posterior(ctx context.Context) (*spectral.Posterior, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	p := m.Params
	if m.Inference == Factorised {
		if !m.Fitted() {
			return nil, fmt.Errorf("vssgp: predict: fit the model first: %w", ErrUnfitted)
		}
		return &spectral.Posterior{Mean: p.CoefMean, Var: p.CoefVar, D: p.D}, nil
	}
	if !m.Fitted() {
		return nil, fmt.Errorf("vssgp: predict: fit the model, or condition it on data, first: %w", ErrUnfitted)
	}
	factor := m.factor.Clone()
	var s *spectral.Gram
	if err := await(ctx, cost.Inverse(factor.R.Offset), func() { s = factor.Inverse() }); err != nil {
		return nil, fmt.Errorf("vssgp: predict: interrupted: %w", err)
	}
	for _, blocks := range [][][]float64{s.Diag, s.Below} {
		for _, b := range blocks {
			for i := range b {
				b[i] /= p.NoisePrecision[0]
			}
		}
	}
	return &spectral.Posterior{Mean: m.mean, Cov: s, D: p.D}, nil
}

// awaitedFlops is from how many operations on work is worth a goroutine to be
// waited for: a tenth of a second on one core.
const awaitedFlops = 1e9

// await does work of so many operations, or, as soon as ctx has ended, leaves it
// to come to its end unheeded: what it reads and writes is then its own.
func await(ctx context.Context, flops float64, work func()) error {
	if ctx.Done() == nil || flops < awaitedFlops {
		work()
		return ctx.Err()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	select {
	case <-done:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Coefficients are the posterior mean [M,D] of the Fourier coefficients and
// the diagonal of their covariance, [M,D], in the model's units. Both are copies.
// Errors wrap ErrUnfitted, and of a model that is none ErrParams.
func (m *Model) Coefficients() (mean, variance *mat.Dense, err error) {
	post, err := m.posterior(context.Background())
	if err != nil {
		return nil, nil, err
	}
	mu, v := m.coefficients(post)
	n, d := m.Params.M(), m.Params.D
	return mat.NewDense(n, d, append([]float64(nil), mu...)), mat.NewDense(n, d, v), nil
}

// coefficients are a posterior's mean and the diagonal of its covariance, [M,D].
func (m *Model) coefficients(post *spectral.Posterior) (mean, variance []float64) {
	n, d := m.Params.M(), m.Params.D
	v := make([]float64, n*d)
	for k := range n {
		for j := range d {
			if post.Cov != nil {
				v[k*d+j] = post.Cov.At(k, k)
			} else {
				v[k*d+j] = post.Var[k*d+j]
			}
		}
	}
	return post.Mean, v
}
