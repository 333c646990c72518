package vssgp

import (
	"context"
	"fmt"
	"iter"

	"gonum.org/v1/gonum/mat"

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

// A Predictor predicts many rows by one model, which must stay as it is
// meanwhile. It computes once what does not depend on the rows, such as the
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

// PosteriorPredictor is a Predictor over the posterior of the hyper-parameters too:
// its predictions are the mean of those of the posterior's draws, a mixture of
// Gaussians. Errors wrap ErrUnfitted if the model has no draws (Options.Posterior).
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

// Predict is Model.Predict at rows x [N,Q].
func (p *Predictor) Predict(ctx context.Context, x []float64) (*Prediction, error) {
	d := p.m.Params.D
	n := len(x) / p.m.Params.Q
	if float64(n)*float64(d)*float64(d) > linalg.MostCovariances { // a recording of one sample may claim 65535 channels
		return nil, fmt.Errorf("vssgp: predict: %d rows of %d outputs have more than %d covariances; want fewer rows at a time: %w", n, d, linalg.MostCovariances, ErrData)
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

// Each predicts rows that come in slices [n,Q] of any lengths, and gives their
// predictions part by part, in memory that does not grow with the number of
// rows. Parts are cut by the rows' numbers and windows alone, so that the same
// rows have the same predictions, to the last bit, however they come. They are
// cut where a backend's own tiles end, so that the predictions on a sorted grid
// also have the bits of one prediction of all rows. After an error, which rows
// yields or Predict would return, nothing more comes.
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
	run := n // the first row under the windows of row n; row 0 is a multiple of partStep behind it
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
