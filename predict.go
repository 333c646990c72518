package vssgp

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/linalg"
	"github.com/vssgp/vssgp/variational"
)

// Predict returns the predictive distribution of y at each row of x [N,Q], row by
// row, in the data's units (see Prediction and DESIGN.md, section 7), in O(part·M)
// memory besides the result. Rows outside of the data are marked (Prediction.Beyond).
// Errors wrap ErrData if x is not a number of rows of the model's inputs, has values
// that are not finite or so far away that a prediction is not, or has too many rows
// for the number of outputs; ErrUnfitted if there is no posterior yet; ErrParams if
// the model is invalid; and ctx.Err() soon after ctx has ended. Use a Predictor for
// rows that do not fit in memory.
func (m *Model) Predict(ctx context.Context, x []float64) (*Prediction, error) {
	if _, err := m.rows(x); err != nil {
		return nil, err
	}
	p, err := m.Predictor(ctx)
	if err != nil {
		return nil, err
	}
	return p.Predict(ctx, x)
}

// rows returns the number of rows of x, if the model can predict at them.
func (m *Model) rows(x []float64) (int, error) {
	if err := m.check(); err != nil {
		return 0, err
	}
	if q := m.Params.Q; len(x) == 0 || len(x)%q != 0 {
		return 0, fmt.Errorf("vssgp: x has %d numbers, must be one or more rows of %d inputs: %w", len(x), q, ErrData)
	}
	return len(x) / m.Params.Q, nil
}

// PredictJoint returns the mean [N,D] and the joint covariance [N·D,N·D] of the
// function (without noise) at all rows of x [N,Q]; entry (n·D+d, n'·D+d') is
//
//	1[d=d'] (φ̄_n S_d φ̄_n'ᵀ + Σ_k S_d,kk r_k) + Σ_k m_kd m_kd' r_k,   r_k = E[φ_nk φ_n'k] − φ̄_nk φ̄_n'k
//
// (eq. pred_uncertainty taken at two inputs). It costs O(N²·(M+D²)) time and
// O(chunk·M) memory besides the result. Both are in the data's units; errors are
// the errors of Predict.
func (m *Model) PredictJoint(ctx context.Context, x []float64) (mean []float64, cov *mat.SymDense, err error) {
	n, err := m.rows(x)
	if err != nil {
		return nil, nil, err
	}
	d := m.Params.D
	if err := linalg.CheckJoint(n, d); err != nil {
		return nil, nil, fmt.Errorf("vssgp: predict: %w: %w", err, ErrData)
	}
	p, err := m.Predictor(ctx)
	if err != nil {
		return nil, nil, err
	}
	single, err := p.Predict(ctx, x)
	if err != nil {
		return nil, nil, err
	}
	if cov, err = p.posterior.Joint(ctx, m.X.ToModel(x)); err != nil {
		return nil, nil, err
	}
	for i := range n * d {
		for j := range i + 1 {
			cov.SetSym(i, j, cov.At(i, j)*m.Y.Scale[i%d]*m.Y.Scale[j%d])
		}
	}
	return single.Mean, cov, nil
}

// A Predictor predicts many rows by one model, which must not change meanwhile. It
// computes once what does not depend on the rows, such as the
// inverse of an exact posterior's factor.
type Predictor struct {
	m         *Model
	posterior *variational.Predictive
	draws     []*Predictor // of which the prediction is the mean; nil: of the model alone
}

// Predictor prepares the model for predictions. Errors wrap ErrUnfitted, or
// ctx.Err() once ctx has ended.
func (m *Model) Predictor(ctx context.Context) (*Predictor, error) {
	posterior, err := m.predictive(ctx)
	if err != nil {
		return nil, err
	}
	return &Predictor{m: m, posterior: posterior}, nil
}

// PosteriorPredictor returns a Predictor whose predictions also average over the
// posterior's draws of the hyper-parameters: a mixture of Gaussians. Errors wrap ErrUnfitted if the model has no draws (Options.Posterior.Draws).
func (m *Model) PosteriorPredictor(ctx context.Context) (*Predictor, error) {
	p, err := m.Predictor(ctx)
	if err != nil {
		return nil, err
	}
	if m.hyper == nil || len(m.hyper.Draws) == 0 {
		return nil, m.withoutDraws("predict")
	}
	for _, d := range m.hyper.Draws {
		one, err := m.with(d).Predictor(ctx)
		if err != nil {
			return nil, err
		}
		p.draws = append(p.draws, one)
	}
	return p, nil
}

// with is a draw on the model's backend.
func (m *Model) with(draw *Model) *Model {
	c := *draw
	c.Backend = m.Backend
	return &c
}

// Predict returns the predictive distribution at rows x [N,Q], as Model.Predict does.
func (p *Predictor) Predict(ctx context.Context, x []float64) (*Prediction, error) {
	d := p.m.Params.D
	n := len(x) / p.m.Params.Q
	if float64(n)*float64(d)*float64(d) > linalg.MostCovariances { // a recording of one sample may claim 65535 channels
		return nil, fmt.Errorf("vssgp: predict: %d rows of %d outputs have more than %d covariances; want fewer rows at a time: %w", n, d,
			linalg.MostCovariances, ErrData)
	}
	var out *Prediction
	for part, err := range p.Each(ctx, func(yield func([]float64, error) bool) { yield(x, nil) }) {
		switch {
		case err != nil:
			return nil, err
		case part.N == n:
			return part.Prediction, nil
		case out == nil:
			out = part.room(n)
		}
		out.copy(part.Prediction, part.First)
	}
	if out == nil {
		return nil, fmt.Errorf("vssgp: predict: no rows: %w", ErrData)
	}
	out.Beyond = p.m.beyond(x)
	return out, nil
}

// part predicts rows x [n,Q], in the model's units, in one pass.
func (p *Predictor) part(ctx context.Context, x []float64) (*Prediction, error) {
	if p.draws != nil {
		parts := make([]*Prediction, len(p.draws))
		for i, d := range p.draws {
			var err error
			if parts[i], err = d.part(ctx, x); err != nil {
				return nil, err
			}
		}
		return mixture(parts), nil
	}
	raw, err := p.posterior.At(ctx, p.m.backend(), x)
	if err != nil {
		return nil, dataError(err)
	}
	return p.m.inDataUnits(raw), nil
}

// predictFrom conditions the model on known rows and predicts at others, x [n,Q],
// both in the model's units. It returns the mean and the standard deviation [n,D] of
// the observed y in the data's units. It keeps the covariances of a part of the rows at a time.
func (m *Model) predictFrom(ctx context.Context, known backend.Data, x []float64) (mean, sd []float64, err error) {
	rows, err := m.openScaled(ctx, known)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	e, err := rows.Exact(m.Params, false)
	if err != nil {
		return nil, nil, err
	}
	m.adopt(e)
	predictor, err := m.Predictor(ctx)
	if err != nil {
		return nil, nil, err
	}
	for part := range slices.Chunk(x, rowsOfPart(known.D)*known.Q) {
		p, err := predictor.part(ctx, part)
		if err != nil {
			return nil, nil, err
		}
		mean, sd = append(mean, p.Mean...), append(sd, p.SD(true)...)
	}
	return mean, sd, nil
}

// Each predicts rows that come in slices [n,Q] of any lengths, and yields their
// predictions part by part, in memory that does not grow with the number of
// rows. The parts depend on the rows' numbers and windows alone, so that the same
// rows have the same predictions, to the last bit, however they are sliced. A part
// ends at the end of a backend's tile, so that the predictions on a sorted grid
// also have the bits of one prediction of all rows. Each stops after the first
// error, from rows or with the errors of Predict.
func (p *Predictor) Each(ctx context.Context, rows iter.Seq2[[]float64, error]) iter.Seq2[*Part, error] {
	return func(yield func(*Part, error) bool) {
		c := &parts{p: p, ctx: ctx, yield: yield}
		for x, err := range rows {
			if err == nil && len(x)%p.m.Params.Q != 0 {
				err = fmt.Errorf("vssgp: predict: %d numbers for rows of %d inputs: %w", len(x), p.m.Params.Q, ErrData)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !c.take(x) {
				return
			}
		}
		c.emit(len(c.x) / p.m.Params.Q)
	}
}

// A Part is the prediction at some consecutive rows of many.
type Part struct {
	First int       // the number of its first row, from 0
	X     []float64 // [N,Q] its rows, in the data's units; good until the next Part
	*Prediction
}

const (
	// partRows bounds the rows of a Part, but for the last one, and partNumbers its
	// covariances: with many outputs it has fewer rows.
	partRows    = 1 << 16
	partNumbers = 1 << 22
	// A Part whose last rows are followed by others under the same windows ends a
	// multiple of partStep rows after the first of those. Backends walk evenly spaced
	// rows in tiles that begin at such multiples, and compute a row of a tile from the
	// rows before it. The last Part has at least lastRows rows, if there are as many.
	partStep = 256
	lastRows = 4096
)

// rowsOfPart is the most rows that a Part of so many outputs has.
func rowsOfPart(outputs int) int {
	d := float64(outputs)
	return max(partStep, int(min(partRows, partNumbers/(d*d)))/partStep*partStep)
}

// parts cuts rows into Parts.
type parts struct {
	p     *Predictor
	ctx   context.Context
	yield func(*Part, error) bool
	x     []float64 // [·,Q] rows that have come and are not in a Part yet
	first int       // the number of the first of them
}

// take adds rows and emits a Part whenever there are enough rows for it and for
// the last one. It reports whether to go on.
func (c *parts) take(x []float64) bool {
	rows := rowsOfPart(c.p.m.Params.D)
	full := (rows + lastRows) * c.p.m.Params.Q
	for len(x) > 0 {
		n := min(len(x), full-len(c.x))
		c.x, x = append(c.x, x[:n]...), x[n:]
		if len(c.x) == full && !c.emit(c.cut(rows)) {
			return false
		}
	}
	return true
}

// cut is the length of a Part of at most n rows.
func (c *parts) cut(n int) int {
	w, q := &c.p.m.Params.Windows, c.p.m.Params.Q
	if w.Count() == 1 {
		return n
	}
	x := c.p.m.X.ToModel(c.x[:(n+1)*q])
	cell := func(i int) int { return w.Cell(x[i*q+w.Dim]) }
	run := n // the first row under the windows of row n; row 0 is a multiple of partStep after it
	for run > 0 && cell(run-1) == cell(n) {
		run--
	}
	return run + (n-run)/partStep*partStep
}

// emit predicts the first n rows and reports whether to go on.
func (c *parts) emit(n int) bool {
	if n == 0 {
		return false
	}
	q := c.p.m.Params.Q
	x := c.x[:n*q]
	var out *Prediction
	u, err := c.p.m.inUnits("predict", c.first, x)
	if err == nil {
		out, err = c.p.part(c.ctx, u)
	}
	if err == nil {
		out.Beyond = c.p.m.beyond(x)
		err = out.checkFinite(c.first, x)
	}
	if err != nil {
		c.yield(nil, err)
		return false
	}
	ok := c.yield(&Part{First: c.first, X: x, Prediction: out}, nil)
	c.first += n
	c.x = append(c.x[:0], c.x[n*q:]...)
	return ok
}

// Prediction is the predictive distribution at N inputs, in the data's units
// (eqs. pred_mean, pred_uncertainty).
type Prediction struct {
	N, D  int       // rows and outputs
	Mean  []float64 // [N,D]
	Cov   []float64 // [N,D,D] of the observed y: function and noise
	Noise []float64 // [D] the noise's part of each output's variance, τ⁻¹ in units of y²

	// Beyond [N] marks the rows that lie outside of the data of the fit (Model.Range), in any input; nil: none does, or it is not known.
	// Do not trust the error bars there: away from the data the variance goes to τ⁻¹ + Ψ' (DESIGN.md, section 7). It allows for the
	// fitted frequencies alone, so it can be far too small. For a series, package series has a model whose variance grows.
	Beyond []bool

	// parts are the predictions that this is the mean of, if it is a mixture.
	parts []*Prediction
	// own is set where outputs are so small or large that their variances leave
	// float64's range in Cov and Noise.
	own *modelUnits
}

// modelUnits are covariances and noise in the model's units.
type modelUnits struct {
	cov   []float64 // [N,D,D]
	noise []float64 // [D]
	unit  []float64 // [D] of y, in its own
}

// units are the covariances and noise variances to compute with, and the units
// [D] of y in which they are, nil for 1.
func (p *Prediction) units() (cov, noise, unit []float64) {
	if p.own != nil {
		return p.own.cov, p.own.noise, p.own.unit
	}
	return p.Cov, p.Noise, nil
}

// SD returns the standard deviation [N,D] of the observed y, or of the latent function
// if noise is false.
func (p *Prediction) SD(noise bool) []float64 {
	if p == nil {
		return nil
	}
	cov, part, unit := p.units()
	sd := make([]float64, p.N*p.D)
	for i := range sd {
		d := i % p.D
		v := cov[i*p.D+d]
		if !noise {
			v -= part[d]
		}
		sd[i] = math.Sqrt(max(0, v))
		if unit != nil {
			sd[i] *= unit[d]
		}
	}
	return sd
}

// LogDensity returns ln N(y_n; mean_n, Cov_n) of each row n of y [N,D], the outputs of
// a row jointly, in nats; NaN if a covariance is not positive definite. Errors
// wrap ErrData if y has another shape, or ctx.Err() soon after ctx has ended.
func (p *Prediction) LogDensity(ctx context.Context, y []float64) ([]float64, error) {
	if p == nil || len(y) != p.N*p.D || len(p.Mean) != len(y) || len(p.Cov) != len(y)*p.D {
		return nil, fmt.Errorf("vssgp: log density: %d values of y do not fit the prediction, want [N,D] as its mean: %w", len(y), ErrData)
	}
	d := p.D
	cov, _, unit := p.units()
	logUnits := 0.0
	for _, u := range unit {
		logUnits += math.Log(u)
	}
	out := make([]float64, p.N)
	diff := mat.NewVecDense(max(1, d), nil)
	var chol mat.Cholesky
	for n := range out {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("vssgp: log density: interrupted: %w", err)
		}
		for i := range d {
			v := y[n*d+i] - p.Mean[n*d+i]
			if unit != nil {
				v /= unit[i]
			}
			diff.SetVec(i, v)
		}
		var solved mat.VecDense
		if !chol.Factorize(mat.NewSymDense(d, cov[n*d*d:][:d*d])) || chol.SolveVecTo(&solved, diff) != nil {
			out[n] = math.NaN()
			continue
		}
		out[n] = -0.5*(float64(d)*math.Log(2*math.Pi)+chol.LogDet()+mat.Dot(diff, &solved)) - logUnits
	}
	return out, nil
}

// leastSquare and mostSquare bound units of y whose variances are within the range of float64.
const leastSquare, mostSquare = 1e-130, 1e130

// inDataUnits adds the noise to a prediction of the latent function and brings it
// to the data's units. It takes raw's memory.
func (m *Model) inDataUnits(raw *backend.Prediction) *Prediction {
	d, noise := m.Params.D, 1/m.Params.NoisePrecision[0]
	out := &Prediction{N: len(raw.Mean) / d, D: d, Mean: raw.Mean, Cov: raw.Cov}
	if slices.ContainsFunc(m.Y.Scale, func(s float64) bool { return s < leastSquare || s > mostSquare }) {
		out.own = &modelUnits{slices.Clone(raw.Cov), slices.Repeat([]float64{noise}, d), slices.Clone(m.Y.Scale)}
		for i := range out.Mean {
			out.own.cov[i*d+i%d] += noise
		}
	}
	m.Y.toData(out.Mean)
	for _, s := range m.Y.Scale {
		out.Noise = append(out.Noise, s*s/m.Params.NoisePrecision[0])
	}
	for i := range out.Cov {
		at, e := i/d%d, i%d
		out.Cov[i] *= m.Y.Scale[at] * m.Y.Scale[e]
		if at == e {
			out.Cov[i] += out.Noise[e]
		}
	}
	return out
}

// checkFinite refuses a prediction that overflows, at rows x of which the first has a number.
func (p *Prediction) checkFinite(first int, x []float64) error {
	sd := p.SD(true)
	bad := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
	for n := range p.N {
		if slices.ContainsFunc(p.Mean[n*p.D:(n+1)*p.D], bad) || slices.ContainsFunc(sd[n*p.D:(n+1)*p.D], bad) {
			q := len(x) / p.N
			return notFinite("predict", first+n, x[n*q:(n+1)*q])
		}
	}
	return nil
}

// inUnits maps rows x to the model's units, of which the first has a number, and refuses those that leave float64's range there.
func (m *Model) inUnits(what string, first int, x []float64) ([]float64, error) {
	u, q := m.X.ToModel(x), m.Params.Q
	if at := slices.IndexFunc(u, func(v float64) bool { return math.IsInf(v, 0) }); at >= 0 && !math.IsInf(x[at], 0) {
		return nil, notFinite(what, first+at/q, x[at/q*q:][:q])
	}
	return u, nil
}

// notFinite is the error about a row x whose prediction or draw overflows.
func notFinite(what string, row int, x []float64) error {
	return fmt.Errorf("vssgp: %s: row %d, x = %.6g: the result is not finite; want x of the size of the model's data, and a model with such numbers: %w", what, row, x, ErrData)
}

// mixture is the mean of predictions: its covariance is their mean covariance and the
// covariance of their means.
func mixture(parts []*Prediction) *Prediction {
	first := parts[0]
	d, n := first.D, float64(len(parts))
	out := &Prediction{N: first.N, D: d, Mean: make([]float64, len(first.Mean)), Cov: make([]float64, len(first.Cov)),
		Noise: make([]float64, d), parts: parts}
	unit, cov, noise := slices.Repeat([]float64{1}, d), out.Cov, out.Noise
	if first.own != nil {
		unit, cov, noise = first.own.unit, make([]float64, len(cov)), make([]float64, d)
		out.own = &modelUnits{cov, noise, unit}
	}
	for _, p := range parts {
		for i, v := range p.Mean {
			out.Mean[i] += v / n
		}
	}
	off := func(p *Prediction, row, d int) float64 { return (p.Mean[row+d] - out.Mean[row+d]) / unit[d] }
	for _, p := range parts {
		one, own, _ := p.units()
		for i, v := range one {
			row := i / d / d * d
			cov[i] += (v + off(p, row, i/d%d)*off(p, row, i%d)) / n
		}
		for i, v := range own {
			noise[i] += v / n
		}
	}
	for i := 0; out.own != nil && i < len(cov); i++ {
		out.Cov[i] = cov[i] * unit[i/d%d] * unit[i%d]
	}
	for i := 0; out.own != nil && i < d; i++ {
		out.Noise[i] = noise[i] * unit[i] * unit[i]
	}
	return out
}

// Quantile returns the value [N,D] that each observed y, or the latent function if noise is
// false, stays below with probability prob: of a Gaussian, or of the mixture from a
// PosteriorPredictor. It panics unless 0 < prob < 1: 0.95 gives the 95th percentile.
func (p *Prediction) Quantile(prob float64, noise bool) []float64 {
	if !(prob > 0 && prob < 1) {
		panic(fmt.Sprintf("vssgp: quantile of probability %v, want a number between 0 and 1, such as 0.95", prob))
	}
	if p == nil {
		return nil
	}
	parts := p.parts
	if parts == nil {
		parts = []*Prediction{p}
	}
	sds := make([][]float64, len(parts))
	for s, one := range parts {
		sds[s] = one.SD(noise)
	}
	out := make([]float64, len(p.Mean))
	mix := bayes.Mixture{Means: make([]float64, len(parts)), SDs: make([]float64, len(parts))}
	for i := range out {
		for s, one := range parts {
			mix.Means[s], mix.SDs[s] = one.Mean[i], max(sds[s][i], math.SmallestNonzeroFloat64)
		}
		out[i] = mix.Quantile(prob)
	}
	return out
}

// room makes a prediction like p of n rows, to be filled in.
func (p *Prediction) room(n int) *Prediction {
	out := &Prediction{N: n, D: p.D, Mean: make([]float64, n*p.D), Cov: make([]float64, n*p.D*p.D), Noise: p.Noise}
	if p.own != nil {
		out.own = &modelUnits{make([]float64, len(out.Cov)), p.own.noise, p.own.unit}
	}
	for _, one := range p.parts {
		out.parts = append(out.parts, one.room(n))
	}
	return out
}

// copy copies the rows of q to p from row first.
func (p *Prediction) copy(q *Prediction, first int) {
	copy(p.Mean[first*p.D:], q.Mean)
	copy(p.Cov[first*p.D*p.D:], q.Cov)
	if p.own != nil {
		copy(p.own.cov[first*p.D*p.D:], q.own.cov)
	}
	for i, one := range p.parts {
		one.copy(q.parts[i], first)
	}
}

// Draw samples n functions from the posterior q(A)q(ω) jointly at all rows of
// x [N,Q]: a frequency, a phase and a coefficient for every feature, then f = Φ(ω)A.
// Each draw is [N,D], in the data's units, without noise. The same seed gives the
// same draws. Errors are the errors of Predict, and ErrOptions if n is negative or
// too large.
func (m *Model) Draw(ctx context.Context, x []float64, n int, seed uint64) ([][]float64, error) {
	rows, err := m.rows(x)
	if err != nil {
		return nil, err
	}
	if n < 0 || float64(n)*float64(rows)*float64(m.Params.D) > linalg.MostCovariances {
		return nil, fmt.Errorf("vssgp: %d draws at %d rows, want 0 or more draws of %d numbers in all at most: %w", n, rows,
			linalg.MostCovariances, ErrOptions)
	}
	draws, err := m.Draws(seed)
	if err != nil {
		return nil, err
	}
	out := make([][]float64, n)
	for i := range out {
		if out[i], err = draws.At(ctx, i, x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Draws are functions drawn from a posterior, one after the other. Each is sampled
// again whenever it is asked for, from the generator's state before it, so that
// memory needs to store one at a time. Draws are for one goroutine, and the model must
// not change meanwhile.
type Draws struct {
	m  []*Model   // the first function is of the first of them, and so on
	at []rand.PCG // before each function, as far as they have been drawn
}

// Draws returns the functions that Draw evaluates. Errors wrap ErrUnfitted.
func (m *Model) Draws(seed uint64) (*Draws, error) {
	if !m.Fitted() {
		return nil, fmt.Errorf("vssgp: draw: fit the model first: %w", ErrUnfitted)
	}
	return &Draws{m: []*Model{m}, at: []rand.PCG{*rand.NewPCG(seed, 0x5ee0)}}, nil
}

// PosteriorDraws returns functions whose hyper-parameters are drawn, too: function i
// is of draw i modulo the number of draws of the model's Posterior. Errors wrap
// ErrUnfitted if the model has no draws (Options.Posterior.Draws).
func (m *Model) PosteriorDraws(seed uint64) (*Draws, error) {
	d, err := m.Draws(seed)
	if err != nil {
		return nil, err
	}
	if m.hyper == nil || len(m.hyper.Draws) == 0 {
		return nil, m.withoutDraws("draw")
	}
	d.m = m.hyper.Draws
	return d, nil
}

// At returns the values of function i, from 0, at rows x [N,Q]: [N,D], in the data's
// units, without noise. Errors wrap ErrData, or ctx.Err() soon after ctx has ended.
func (d *Draws) At(ctx context.Context, i int, x []float64) ([]float64, error) {
	for len(d.at) <= i {
		d.function(len(d.at) - 1)
	}
	m := d.m[i%len(d.m)]
	u, err := m.inUnits("draw", 0, x)
	if err != nil {
		return nil, err
	}
	y, err := d.function(i).At(ctx, u)
	if err != nil {
		return nil, dataError(err)
	}
	m.Y.toData(y)
	if at := slices.IndexFunc(y, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }); at >= 0 {
		return nil, notFinite("draw", at/m.Params.D, x[at/m.Params.D*m.Params.Q:][:m.Params.Q])
	}
	return y, nil
}

// function samples function i, before which all others have been sampled.
func (d *Draws) function(i int) *variational.Function {
	pcg := d.at[i]
	m := d.m[i%len(d.m)]
	f := m.Params.Draw(m.exactPosterior(), rand.New(&pcg))
	if i+1 == len(d.at) {
		d.at = append(d.at, pcg)
	}
	return f
}
