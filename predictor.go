package vssgp

import (
	"context"
	"fmt"
	"iter"

	"github.com/vssgp/vssgp/spectral"
)

// A Predictor predicts many rows by one model, which must stay as it is
// meanwhile: what does not depend on the rows, such as the inverse of an exact
// posterior's factor, is computed once.
type Predictor struct {
	m    *Model
	post *spectral.Posterior
	f    *spectral.Features
}

// Predictor prepares the model for predictions. Errors wrap ErrUnfitted, or
// ctx.Err() once ctx has ended.
func (m *Model) Predictor(ctx context.Context) (*Predictor, error) {
	post, err := m.posterior(ctx)
	if err != nil {
		return nil, err
	}
	return &Predictor{m: m, post: post, f: m.Params.Features()}, nil
}

// A Part is the prediction at some consecutive rows of many.
type Part struct {
	First int       // the number of its first row, from 0
	X     []float64 // [N,Q] its rows, in the data's units; good until the next Part
	*Prediction
}

const (
	// partRows is how many rows a Part has at most, but for the last one, and
	// partNumbers how many covariances: with many outputs it has fewer rows.
	partRows    = 1 << 16
	partNumbers = 1 << 22
	// partStep is what the rows of a Part that other rows under the same windows
	// follow are a multiple of, counted from the first of those, and lastRows how
	// many the last Part has at least, if there are as many. Backends go along
	// evenly spaced rows in tiles that begin at such multiples, and in a tile a
	// row is computed from those before it.
	partStep = 256
	lastRows = 4096
)

// rowsOfPart is how many rows a Part of d outputs has.
func rowsOfPart(outputs int) int {
	d := float64(outputs)
	return max(partStep, int(min(partRows, partNumbers/(d*d)))/partStep*partStep)
}

// Each predicts rows that come in slices [n,Q] of any lengths, and gives their
// predictions part by part, in memory that does not grow with the number of
// rows. Parts are cut by the rows' numbers and windows alone, so that the same
// rows have the same predictions, to the last bit, however they come; and they
// are cut where a backend's own tiles end, so that those of a sorted grid are
// also as if all rows were predicted at once. An error, of rows or as Predict's,
// is the last that comes.
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

// parts cuts rows into Parts.
type parts struct {
	p     *Predictor
	ctx   context.Context
	yield func(*Part, error) bool
	x     []float64 // [·,Q] rows that wait
	first int       // the number of the first
}

// take adds rows and emits a Part each time that there are enough for it and
// the last one. It reports whether to go on.
func (c *parts) take(x []float64) bool {
	q, rows := c.p.m.Params.Q, rowsOfPart(c.p.post.D)
	full := (rows + lastRows) * q
	for len(x) > 0 {
		n := min(len(x), full-len(c.x))
		c.x, x = append(c.x, x[:n]...), x[n:]
		if len(c.x) == full && !c.emit(c.cut(rows)) {
			return false
		}
	}
	return true
}

// cut is where a Part of about n rows, and of no more, ends.
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
	out, err := c.p.part(c.ctx, c.p.m.X.ToModel(x), n)
	if err != nil {
		c.yield(nil, err)
		return false
	}
	ok := c.yield(&Part{First: c.first, X: x, Prediction: out}, nil)
	c.first += n
	c.x = append(c.x[:0], c.x[n*q:]...)
	return ok
}

// part predicts n rows x [n,Q], in the model's units, in one pass.
func (p *Predictor) part(ctx context.Context, x []float64, n int) (*Prediction, error) {
	m, d := p.m, p.post.D
	rows, err := m.backend().Open(spectral.Data{N: n, Q: m.Params.Q, X: x, Windows: m.Params.Windows, Stop: ctx.Err})
	if err != nil {
		return nil, fmt.Errorf("vssgp: predict: %w", dataError(err))
	}
	defer rows.Close()
	raw := spectral.NewPrediction(n, d)
	if err := rows.Predict(raw, p.f, p.post); err != nil {
		return nil, fmt.Errorf("vssgp: predict: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("vssgp: predict: interrupted: %w", err)
	}
	out := &Prediction{N: n, D: d, Mean: raw.Mean, Cov: raw.Cov, Noise: m.noise()}
	for i := range out.Mean {
		own := &out.Cov[i*d+i%d]
		*own = max(0, *own) // rounding may take what is next to nothing below
	}
	m.keepUnits(out)
	for i := range out.Mean {
		row := i % d
		out.Mean[i] = m.Y.Offset[row] + m.Y.Scale[row]*out.Mean[i]
		for e := range d {
			out.Cov[i*d+e] *= m.Y.Scale[row] * m.Y.Scale[e]
		}
		out.Cov[i*d+row] += out.Noise[row]
	}
	return out, nil
}

// maxCovariances bounds what one Prediction holds, N·D²: a recording of one
// sample may claim 65535 channels.
const maxCovariances = 1 << 31

// Predict is Model.PredictContext for rows in one slice x [N,Q].
func (p *Predictor) Predict(ctx context.Context, x []float64) (*Prediction, error) {
	q, d := p.m.Params.Q, p.post.D
	n := len(x) / q
	if float64(n)*float64(d)*float64(d) > maxCovariances {
		return nil, fmt.Errorf("vssgp: predict: %d rows of %d outputs have more than %d covariances; want fewer rows at a time: %w", n, d, maxCovariances, ErrData)
	}
	var out *Prediction
	for part, err := range p.Each(ctx, func(yield func([]float64, error) bool) { yield(x, nil) }) {
		if err != nil {
			return nil, err
		}
		if part.N == n {
			return part.Prediction, nil
		}
		if out == nil {
			out = &Prediction{N: n, D: d, Mean: make([]float64, n*d), Cov: make([]float64, n*d*d), Noise: part.Noise, unit: part.unit, ownNoise: part.ownNoise}
			if part.own != nil {
				out.own = make([]float64, n*d*d)
			}
		}
		copy(out.Mean[part.First*d:], part.Mean)
		copy(out.Cov[part.First*d*d:], part.Cov)
		if part.own != nil {
			copy(out.own[part.First*d*d:], part.own)
		}
	}
	if out == nil {
		return nil, fmt.Errorf("vssgp: predict: no rows: %w", ErrData)
	}
	return out, nil
}
