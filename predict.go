package vssgp

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/fileio/fault"
	"github.com/vssgp/vssgp/internal/linalg"
)

// Predict returns the predictive distribution of y at each row of x [N,Q], row-major and
// in the data's units (see Prediction and DESIGN.md, section 7). It needs O(part·M) memory
// in addition to the result. With a model of InitSearch it is the average over the draws of the
// hyper-parameters. Prediction.Beyond marks rows with unreliable error bars. Errors wrap
// ErrData if the length of x is not a multiple of Q, if a value or the prediction there is
// not finite, or if there are too many rows for the number of outputs. They wrap
// ErrUnfitted if the model has no posterior, ErrParams if the model is invalid, and
// ctx.Err() soon after ctx has ended; a nil ctx is the background context, here and in all
// functions of this package. Use a Predictor for rows that do not fit in memory.
func (m *Model) Predict(ctx context.Context, x []float64) (*Prediction, error) {
	if _, err := m.count(x); err != nil {
		return nil, err
	}
	p, err := m.Predictor(ctx)
	if err != nil {
		return nil, err
	}
	return p.Predict(ctx, x)
}

// count returns the number of rows of x, or an error if the model cannot predict at them.
func (m *Model) count(x []float64) (int, error) {
	if err := m.check(); err != nil {
		return 0, err
	}
	if q := m.Params.Q; len(x) == 0 || len(x)%q != 0 {
		return 0, fault.Errorf(ErrData, "x has %d numbers, must have one or more rows of %d inputs", len(x), q)
	}
	return len(x) / m.Params.Q, nil
}

// PredictJoint returns the mean [N,D] and the joint covariance [N·D,N·D] of the
// function (without noise) at all rows of x [N,Q]; entry (n·D+d, n'·D+d') is
//
//	1[d=d'] (φ̄_n S_d φ̄_n'ᵀ + Σ_k S_d,kk r_k) + Σ_k m_kd m_kd' r_k,   r_k = E[φ_nk φ_n'k] − φ̄_nk φ̄_n'k
//
// (eq. pred_uncertainty at two inputs). It takes O(N²·(M+D²)) time and O(chunk·M) memory
// in addition to the result. Both results are in the data's units. The errors are the same
// as the errors of Predict.
func (m *Model) PredictJoint(ctx context.Context, x []float64) (mean []float64, cov *mat.SymDense, err error) {
	n, err := m.count(x)
	if err != nil {
		return nil, nil, err
	}
	d := m.Params.D
	if err := linalg.CheckJoint(n, d); err != nil {
		return nil, nil, fault.Errorf(ErrData, "predict: %w", err)
	}
	p, err := m.Predictor(ctx)
	if err != nil {
		return nil, nil, err
	}
	single, err := p.Predict(ctx, x)
	if err != nil {
		return nil, nil, err
	}
	if cov, err = p.joint(ctx, x, single); err != nil {
		return nil, nil, err
	}
	return single.Mean, cov, nil
}

// joint returns the joint covariance [N·D,N·D] of the function at rows x [N,Q], for the predictions at these rows.
func (p *Predictor) joint(ctx context.Context, x []float64, at *Prediction) (*mat.SymDense, error) {
	if p.draws == nil {
		return p.m.joint(ctx, p.posterior, x)
	}
	n, share := len(at.Mean), 1/float64(len(p.draws))
	sum := mat.NewSymDense(n, nil)
	off := mat.NewVecDense(n, nil)
	for i, one := range p.draws {
		cov, err := one.joint(ctx, x, nil)
		if err != nil {
			return nil, err
		}
		floats.SubTo(off.RawVector().Data, at.parts[i].Mean, at.Mean)
		cov.SymRankOne(cov, 1, off)
		cov.ScaleSym(share, cov)
		sum.AddSym(sum, cov)
	}
	return sum, nil
}

// joint returns the joint covariance of the function at rows x, in the data's units.
func (m *Model) joint(ctx context.Context, posterior predictive, x []float64) (*mat.SymDense, error) {
	cov, err := posterior.Joint(ctx, m.X.ToModel(x))
	if err != nil {
		return nil, err
	}
	d := m.Params.D
	for i := range cov.SymmetricDim() {
		for j := range i + 1 {
			cov.SetSym(i, j, cov.At(i, j)*m.Y.Scale[i%d]*m.Y.Scale[j%d])
		}
	}
	return cov, nil
}

// predictive is the distribution of the latent function in the model's units (variational.Predictive, spectral.Conditional).
type predictive interface {
	At(ctx context.Context, b backend.Backend, x []float64) (*backend.Prediction, error)
	Joint(ctx context.Context, x []float64) (*mat.SymDense, error)
}

// A Predictor predicts many rows with one model, which must not change while the Predictor
// is used. It computes quantities that do not depend on the rows only once, such as the
// inverse of an exact posterior's factor.
type Predictor struct {
	m         *Model
	posterior predictive
	draws     []*Predictor // components of the mixture; nil for a single model
}

// Predictor returns a Predictor of the model. The predictions of a model from InitSearch are
// averages over the draws of its hyper-parameters and structures. Errors wrap ErrUnfitted, or
// ctx.Err() if ctx has ended.
func (m *Model) Predictor(ctx context.Context) (*Predictor, error) {
	if m.averages() {
		return m.PosteriorPredictor(ctx)
	}
	return m.single(ctx)
}

// averages reports whether predictions average over the draws by default.
func (m *Model) averages() bool {
	return m != nil && m.kernel != nil && m.hyper != nil && len(m.hyper.Draws) > 0
}

// single returns a Predictor that uses only the model's parameters.
func (m *Model) single(ctx context.Context) (*Predictor, error) {
	posterior, err := m.predictive(ctx)
	if err != nil {
		return nil, err
	}
	return &Predictor{m: m, posterior: posterior}, nil
}

// PosteriorPredictor returns a Predictor whose predictions also average over the posterior
// draws of the hyper-parameters, which gives a mixture of Gaussians. For a model from InitSearch it
// is the same as Predictor. Errors wrap ErrUnfitted if the model has no draws (Options.Posterior.Draws).
func (m *Model) PosteriorPredictor(ctx context.Context) (*Predictor, error) {
	p, err := m.single(ctx)
	if err != nil {
		return nil, err
	}
	if m.hyper == nil || len(m.hyper.Draws) == 0 {
		return nil, m.withoutDraws("predict")
	}
	for _, d := range m.hyper.Draws {
		one, err := m.with(d).single(ctx)
		if err != nil {
			return nil, err
		}
		p.draws = append(p.draws, one)
	}
	return p, nil
}

// with returns a copy of draw that uses m's backend and range.
func (m *Model) with(draw *Model) *Model {
	c := *draw
	c.Backend, c.Range = m.Backend, m.Range
	return &c
}

// Predict returns the predictive distribution at rows x [N,Q], as Model.Predict does.
func (p *Predictor) Predict(ctx context.Context, x []float64) (*Prediction, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	d := p.m.Params.D
	n := len(x) / p.m.Params.Q
	if float64(n)*float64(d)*float64(d) > linalg.MaxCovariances { // a file header can declare 65535 channels
		return nil, fault.Errorf(ErrData, "predict: %d rows of %d outputs have more than %d covariances; predict fewer rows at a time", n, d,
			linalg.MaxCovariances)
	}
	var out *Prediction
	for part, err := range p.Each(ctx, func(yield func([]float64, error) bool) { yield(x, nil) }) {
		switch {
		case err != nil:
			return nil, err
		case part.N == n:
			return part.Prediction, nil
		case out == nil:
			out = part.newLike(n)
		}
		out.copy(part.Prediction, part.First)
	}
	if out == nil {
		return nil, fault.Errorf(ErrData, "predict: no rows")
	}
	return out, nil
}

// check returns an error if the predictor is nil or zero.
func (p *Predictor) check() error {
	if p == nil || p.m == nil {
		return fmt.Errorf("predict: the predictor is empty; use Model.Predictor: %w", ErrUnfitted)
	}
	return nil
}

// part predicts rows x [n,Q] in one pass. x is in the model's units.
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

// predictFrom conditions the model on the known rows and predicts the rows x [n,Q], both in
// the model's units. It returns the mean and the standard deviation [n,D] of the observed y
// in the data's units. To save memory it computes the covariances part by part.
func (m *Model) predictFrom(ctx context.Context, known backend.Data, x []float64) (mean, sd []float64, err error) {
	rows, err := m.openScaled(ctx, known)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	if _, err := m.conditioned(rows, &known); err != nil {
		return nil, nil, err
	}
	predictor, err := m.single(ctx)
	if err != nil {
		return nil, nil, err
	}
	for part := range slices.Chunk(x, maxPartRows(known.D)*known.Q) {
		p, err := predictor.part(ctx, part)
		if err != nil {
			return nil, nil, err
		}
		mean, sd = append(mean, p.Mean...), append(sd, p.SD(true)...)
	}
	return mean, sd, nil
}

// Each predicts a sequence of rows, given as slices [n,Q] of any length, and yields the predictions
// part by part. Its memory does not grow with the number of rows. The boundaries of the parts
// depend only on the row numbers and the windows, so the predictions are bit-identical however the
// rows are sliced. A part ends at the end of a backend's tile, so on a sorted grid they are also
// bit-identical to a prediction of all rows at once. Each stops after the first error, which comes
// from rows or is an error of Predict.
func (p *Predictor) Each(ctx context.Context, rows iter.Seq2[[]float64, error]) iter.Seq2[*Part, error] {
	return func(yield func(*Part, error) bool) {
		if err := p.check(); err != nil {
			yield(nil, err)
			return
		}
		if rows == nil {
			return
		}
		c := &parts{p: p, ctx: cmp.Or(ctx, context.Background()), yield: yield}
		for x, err := range rows {
			if err == nil && len(x)%p.m.Params.Q != 0 {
				err = fault.Errorf(ErrData, "predict: a slice has %d numbers, must be a multiple of the %d inputs", len(x), p.m.Params.Q)
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

// A Part is the prediction of consecutive rows.
type Part struct {
	First int       // number of the first row, from 0
	X     []float64 // [N,Q] in the data's units; valid until the next Part
	*Prediction
}

const (
	// partRows is the maximum number of rows of a Part, except for the last one, and
	// partNumbers the maximum number of covariances.
	partRows    = 1 << 16
	partNumbers = 1 << 22
	// If a Part ends within a run of rows with the same windows, it ends a multiple of
	// partStep rows after the start of the run. Backends process evenly spaced rows in
	// tiles that begin at these multiples, and compute a row of a tile from the previous
	// rows. The last Part has at least lastRows rows if there are that many.
	partStep = 256
	lastRows = 4096
)

// maxPartRows returns the maximum number of rows of a Part.
func maxPartRows(outputs int) int {
	d := float64(outputs)
	return max(partStep, int(min(partRows, partNumbers/(d*d)))/partStep*partStep)
}

// parts divides rows into Parts.
type parts struct {
	p     *Predictor
	ctx   context.Context
	yield func(*Part, error) bool
	x     []float64 // [·,Q] rows that are not in a Part yet
	first int       // number of the first row of x
}

// take adds rows. It emits a Part when there are enough rows for this Part and the last
// one. It reports whether to continue.
func (c *parts) take(x []float64) bool {
	rows := maxPartRows(c.p.m.Params.D)
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

// cut returns the length of the next Part, at most n rows.
func (c *parts) cut(n int) int {
	w, q := &c.p.m.Params.Windows, c.p.m.Params.Q
	if w.Count() == 1 {
		return n
	}
	x := c.p.m.X.ToModel(c.x[:(n+1)*q])
	cell := func(i int) int { return w.Cell(x[i*q+w.Dim]) }
	run := n // first row with the windows of row n; if it precedes row 0, the distance is a multiple of partStep
	for run > 0 && cell(run-1) == cell(n) {
		run--
	}
	return run + (n-run)/partStep*partStep
}

// emit predicts the first n rows and reports whether to continue.
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
		out.Beyond = c.p.m.beyond(x, out)
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
	Cov   []float64 // [N,D,D] of the observed y: function plus noise
	Noise []float64 // [D] noise variance of each output, τ⁻¹ in units of y²

	// Beyond [N] marks the rows outside of the range of the fitted data (Model.Range) in any input. For a model from InitSearch it also
	// marks rows, in gaps too, at which the variance of the function exceeds half of the components' prior variance, so that the
	// prediction relies on the prior. It is nil if no row is marked. Without a search, the variance away from the data tends to τ⁻¹ + Ψ'
	// (DESIGN.md, section 7), which accounts only for the fitted frequencies and can be far too small. For time series, package series
	// has a model whose variance grows.
	Beyond []bool

	// parts are the components of a mixture; nil for a Gaussian.
	parts []*Prediction
	// own is set if the outputs are so small or large that their variances in Cov and
	// Noise overflow or underflow.
	own *modelUnits
}

// modelUnits are covariances and noise in the model's units.
type modelUnits struct {
	cov   []float64 // [N,D,D]
	noise []float64 // [D]
	unit  []float64 // [D] the model's units of y, in the data's units
}

// units returns the covariances and noise variances for further computations, and their
// units [D] of y, or nil if these are 1.
func (p *Prediction) units() (cov, noise, unit []float64) {
	if p.own != nil {
		return p.own.cov, p.own.noise, p.own.unit
	}
	return p.Cov, p.Noise, nil
}

// shaped reports whether the arrays that a method reads have the shapes of a prediction. Noise is only
// read to subtract it.
func (p *Prediction) shaped(noise bool) bool {
	return p != nil && p.N >= 0 && p.N <= len(p.Mean) && p.D >= 0 && len(p.Mean) == p.N*p.D &&
		len(p.Cov) == len(p.Mean)*p.D && (noise || len(p.Noise) == p.D)
}

// SD returns the standard deviation [N,D] of the observed y, or of the latent function
// if noise is false. It returns nil if an array does not have its shape.
func (p *Prediction) SD(noise bool) []float64 {
	if !p.shaped(noise) {
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

// LogDensity returns the joint log density of the outputs of each row n of y [N,D],
// ln N(y_n; mean_n, Cov_n), in nats. It is NaN if the covariance is not positive definite.
// Errors wrap ErrData if y has another shape, or ctx.Err() soon after ctx has ended.
func (p *Prediction) LogDensity(ctx context.Context, y []float64) ([]float64, error) {
	ctx = cmp.Or(ctx, context.Background())
	if !p.shaped(true) || len(y) != len(p.Mean) {
		return nil, fault.Errorf(ErrData, "log density: y has %d values, must have the shape [N,D] of the prediction's mean", len(y))
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
			return nil, fmt.Errorf("log density: interrupted: %w", err)
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

// minUnit and maxUnit bound the units of y for which variances do not overflow or underflow.
const minUnit, maxUnit = 1e-130, 1e130

// inDataUnits adds the noise to a prediction of the latent function and converts it to the
// data's units. It reuses raw's memory.
func (m *Model) inDataUnits(raw *backend.Prediction) *Prediction {
	d, noise := m.Params.D, m.noiseVariance()
	out := &Prediction{N: len(raw.Mean) / d, D: d, Mean: raw.Mean, Cov: raw.Cov}
	if slices.ContainsFunc(m.Y.Scale, func(s float64) bool { return s < minUnit || s > maxUnit }) {
		out.own = &modelUnits{slices.Clone(raw.Cov), slices.Repeat([]float64{noise}, d), slices.Clone(m.Y.Scale)}
		for i := range out.Mean {
			out.own.cov[i*d+i%d] += noise
		}
	}
	m.Y.toData(out.Mean)
	for _, s := range m.Y.Scale {
		out.Noise = append(out.Noise, s*s*noise)
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

// checkFinite returns an error if the prediction at rows x overflows. first is the number of the first row.
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

// inUnits returns rows x in the model's units, or an error if they overflow there. first is the number of the first row.
func (m *Model) inUnits(what string, first int, x []float64) ([]float64, error) {
	u, q := m.X.ToModel(x), m.Params.Q
	if at := slices.IndexFunc(u, func(v float64) bool { return math.IsInf(v, 0) }); at >= 0 && !math.IsInf(x[at], 0) {
		return nil, notFinite(what, first+at/q, x[at/q*q:][:q])
	}
	return u, nil
}

// notFinite returns the error about a row x whose prediction or draw overflows.
func notFinite(what string, row int, x []float64) error {
	return fault.Errorf(ErrData, "%s: row %d, x = %.6g: the result is not finite; x is too far from the model's data, or the model's parameters "+
		"are too large", what, row, x)
}

// mixture returns the equally weighted mixture of predictions. Its covariance is the mean
// of their covariances plus the covariance of their means.
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

// Quantile returns the quantile [N,D] with probability prob of each observed y, or of the latent
// function if noise is false. The distribution is a Gaussian or the mixture from a
// PosteriorPredictor. For example, 0.95 gives the 95th percentile. It panics unless 0 < prob < 1,
// and returns nil if an array does not have its shape.
func (p *Prediction) Quantile(prob float64, noise bool) []float64 {
	if !(prob > 0 && prob < 1) {
		panic(fmt.Sprintf("vssgp: quantile with probability %v, must be between 0 and 1, such as 0.95", prob))
	}
	if !p.shaped(noise) {
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

// newLike returns a zero prediction of n rows with p's outputs, units and mixture components.
func (p *Prediction) newLike(n int) *Prediction {
	out := &Prediction{N: n, D: p.D, Mean: make([]float64, n*p.D), Cov: make([]float64, n*p.D*p.D), Noise: p.Noise}
	if p.own != nil {
		out.own = &modelUnits{make([]float64, len(out.Cov)), p.own.noise, p.own.unit}
	}
	for _, one := range p.parts {
		out.parts = append(out.parts, one.newLike(n))
	}
	return out
}

// copy copies the rows of q into p, starting at row first.
func (p *Prediction) copy(q *Prediction, first int) {
	if q.Beyond != nil && p.Beyond == nil {
		p.Beyond = make([]bool, p.N)
	}
	if q.Beyond != nil {
		copy(p.Beyond[first:], q.Beyond)
	}
	copy(p.Mean[first*p.D:], q.Mean)
	copy(p.Cov[first*p.D*p.D:], q.Cov)
	if p.own != nil {
		copy(p.own.cov[first*p.D*p.D:], q.own.cov)
	}
	for i, one := range p.parts {
		one.copy(q.parts[i], first)
	}
}

// Draw samples n functions from the posterior q(A)q(ω) jointly at all rows of x [N,Q]. A
// sample f = Φ(ω)A has one frequency, phase and coefficient per feature. Each draw is
// [N,D], in the data's units, without noise. The same seed gives the same draws. The
// errors are the errors of Predict, and ErrOptions if n is negative or too large.
func (m *Model) Draw(ctx context.Context, x []float64, n int, seed uint64) ([][]float64, error) {
	rows, err := m.count(x)
	if err != nil {
		return nil, err
	}
	if n < 0 || n > maxFunctions || float64(n)*float64(rows)*float64(m.Params.D) > linalg.MaxCovariances {
		return nil, fault.Errorf(ErrOptions, "%d draws at %d rows; the number of draws must be from 0 to %d, with at most "+
			"%d numbers in total", n, rows, maxFunctions, linalg.MaxCovariances)
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

// maxFunctions is the maximum number of functions of a sequence, because the state of each is stored.
const maxFunctions = 1 << 24

// Draws is a sequence of functions drawn from a posterior. A function is sampled again
// each time it is evaluated, from the stored state of the random generator, so only one is
// in memory at a time. A Draws value must be used by one goroutine at a time, and the model
// must not change while it is used.
type Draws struct {
	m  []*Model   // function i uses model i modulo the number of models
	at []rand.PCG // states of the generator before the functions drawn so far and the next one
	// drawn has the functions of models with rough components, which take long to sample again.
	drawn map[int]function
}

// Draws returns the sequence of functions that Draw evaluates. Errors wrap ErrUnfitted.
func (m *Model) Draws(seed uint64) (*Draws, error) {
	if !m.Fitted() {
		return nil, fmt.Errorf("draw: fit the model first: %w", ErrUnfitted)
	}
	d := &Draws{m: []*Model{m}, at: []rand.PCG{*rand.NewPCG(seed, 0x5ee0)}}
	if m.averages() {
		d.m = m.ranged()
	}
	return d, nil
}

// ranged returns the models of the draws, with m's range.
func (m *Model) ranged() (all []*Model) {
	for _, d := range m.hyper.Draws {
		all = append(all, m.with(d))
	}
	return all
}

// PosteriorDraws returns functions whose hyper-parameters are also drawn. Function i uses
// draw i of the model's Posterior, modulo the number of draws. Errors wrap ErrUnfitted if
// the model has no draws (Options.Posterior.Draws).
func (m *Model) PosteriorDraws(seed uint64) (*Draws, error) {
	d, err := m.Draws(seed)
	if err != nil {
		return nil, err
	}
	if m.hyper == nil || len(m.hyper.Draws) == 0 {
		return nil, m.withoutDraws("draw")
	}
	d.m = m.ranged()
	return d, nil
}

// At returns the values [N,D] of function i, from 0, at rows x [N,Q], in the data's units
// and without noise. The functions before it are sampled first. Errors wrap ErrData, ErrOptions if
// i is negative or 2²⁴ or more, ErrUnfitted if d is nil or zero, or ctx.Err() soon after ctx has ended.
func (d *Draws) At(ctx context.Context, i int, x []float64) ([]float64, error) {
	ctx = cmp.Or(ctx, context.Background())
	switch {
	case d == nil || len(d.m) == 0:
		return nil, fmt.Errorf("draw: the sequence is empty; use Model.Draws: %w", ErrUnfitted)
	case i < 0 || i >= maxFunctions:
		return nil, badOption("draw: function %d, must be from 0 to %d", i, maxFunctions-1)
	}
	for len(d.at) <= i {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("draw: interrupted: %w", err)
		}
		if _, err := d.function(len(d.at) - 1); err != nil {
			return nil, err
		}
	}
	m := d.m[i%len(d.m)]
	u, err := m.inUnits("draw", 0, x)
	if err != nil {
		return nil, err
	}
	f, err := d.function(i)
	if err != nil {
		return nil, err
	}
	y, err := f.At(ctx, u)
	if err != nil {
		return nil, dataError(err)
	}
	m.Y.toData(y)
	if at := slices.IndexFunc(y, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }); at >= 0 {
		return nil, notFinite("draw", at/m.Params.D, x[at/m.Params.D*m.Params.Q:][:m.Params.Q])
	}
	return y, nil
}

// A function is a draw of the latent function in the model's units.
type function interface {
	At(ctx context.Context, x []float64) ([]float64, error)
}

// function samples function i. All functions before it must have been sampled.
func (d *Draws) function(i int) (f function, err error) {
	if f, ok := d.drawn[i]; ok {
		return f, nil
	}
	pcg := d.at[i]
	m := d.m[i%len(d.m)]
	random := rand.New(&pcg)
	if m.rows == nil {
		own := m.Params.Draw(m.exactPosterior(), random)
		if fade := m.fade(); fade != nil {
			own.Fade(fade, random)
		}
		f = own
	} else {
		c, err := m.conditional()
		if err != nil {
			return nil, err
		}
		f = c.Draw(random)
		if d.drawn == nil {
			d.drawn = map[int]function{}
		}
		d.drawn[i] = f
	}
	if i+1 == len(d.at) {
		d.at = append(d.at, pcg)
	}
	return f, nil
}
