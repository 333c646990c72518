package vssgp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/spectral"
)

// Draw is DrawContext without an end.
func (m *Model) Draw(x mat.Matrix, n int, seed uint64) ([]*mat.Dense, error) {
	return m.DrawContext(context.Background(), x, n, seed)
}

// DrawContext samples n functions from the posterior q(A)q(ω) jointly at all
// rows of x [N,Q]: a frequency, a phase and a coefficient for every feature, then
// f = Φ(ω)A. Each draw is [N,D], in the data's units, without noise. The same
// seed gives the same draws. Errors are those of PredictContext, and ErrOptions
// for n that is negative or too large.
func (m *Model) DrawContext(ctx context.Context, x mat.Matrix, n int, seed uint64) ([]*mat.Dense, error) {
	rows, err := m.rows(x)
	if err != nil {
		return nil, err
	}
	if n < 0 || float64(n)*float64(rows)*float64(m.Params.D) > maxCovariances {
		return nil, fmt.Errorf("vssgp: %d draws at %d rows, want 0 or more draws of %d numbers in all at most: %w", n, rows, maxCovariances, ErrOptions)
	}
	draws, err := m.Draws(seed)
	if err != nil {
		return nil, err
	}
	out := make([]*mat.Dense, n)
	for i := range out {
		y, err := draws.At(ctx, i, borrow(x))
		if err != nil {
			return nil, err
		}
		out[i] = mat.NewDense(rows, m.Params.D, y)
	}
	return out, nil
}

// Draws are functions drawn from a posterior, one after the other. They are made
// anew wherever they are asked for, from where the generator then stood, so that
// many functions at more rows than memory holds take none. Not to be asked from
// several goroutines at once, and the model must stay as it is meanwhile.
type Draws struct {
	m  *Model
	at []rand.PCG // before each function, as far as they have been drawn
}

// Draws are the functions that Draw evaluates. Errors wrap ErrUnfitted.
func (m *Model) Draws(seed uint64) (*Draws, error) {
	if !m.Fitted() {
		return nil, fmt.Errorf("vssgp: draw: fit the model first: %w", ErrUnfitted)
	}
	return &Draws{m: m, at: []rand.PCG{*rand.NewPCG(seed, 0x5ee0)}}, nil
}

// At is function i, from 0, at rows x [N,Q]: [N,D], in the data's units, without
// noise. Errors wrap ErrData, or ctx.Err() soon after ctx has ended.
func (d *Draws) At(ctx context.Context, i int, x []float64) ([]float64, error) {
	q := d.m.Params.Q
	n := len(x) / q
	xs := d.m.X.ToModel(x)
	if err := (&spectral.Data{N: n, Q: q, X: xs, Windows: d.m.Params.Windows}).Check(); err != nil {
		return nil, fmt.Errorf("vssgp: draw: %w: %w", err, ErrData)
	}
	for len(d.at) <= i {
		d.function(len(d.at) - 1)
	}
	f, a := d.function(i)
	y := make([]float64, n*d.m.Params.D)
	offset := f.Offsets()
	parallel.For((n+drawRows-1)/drawRows, runtime.GOMAXPROCS(0), func(part int) {
		if ctx.Err() != nil {
			return
		}
		for row := part * drawRows; row < min(n, (part+1)*drawRows); row++ {
			d.m.drawAt(y[row*d.m.Params.D:][:d.m.Params.D], f, offset, a, xs[row*q:][:q])
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("vssgp: draw: interrupted: %w", err)
	}
	return y, nil
}

// drawRows is how many rows of a draw a goroutine evaluates at a time.
const drawRows = 256

// function samples function i, of which all before have been sampled: features
// and coefficients [M,D]. A sampled feature is a damped cosine without damping,
// so it is evaluated as one.
func (d *Draws) function(i int) (f *spectral.Features, a []float64) {
	p, pcg := d.m.Params, d.at[i]
	rng := rand.New(&pcg)
	f = p.Features()
	a = d.m.drawCoefficients(rng)
	for k := range f.M {
		i := k / p.K
		for q := range p.Q {
			at := k*p.Q + q
			l := p.Lengthscale[i*p.Q+q]
			f.Freq[at] += math.Sqrt(p.FreqVar[at]) * rng.NormFloat64() / l
			f.Decay[at] = 0
		}
		f.Phase[k] = p.PhaseLower[k] + (p.PhaseUpper[k]-p.PhaseLower[k])*rng.Float64()
		f.Amp[k] = math.Sqrt(2 * p.Variance[i] / float64(p.K))
	}
	if i+1 == len(d.at) {
		d.at = append(d.at, pcg)
	}
	return f, a
}

// drawAt writes a drawn function at one row to y [D].
func (m *Model) drawAt(y []float64, f *spectral.Features, offset []int, a, x []float64) {
	first, end := f.Windows.Over(f.Windows.Cell(x[f.Windows.Dim]))
	for k := offset[first]; k < offset[end]; k++ {
		phi := f.Mean(k, x)
		for d := range y {
			y[d] += phi * a[k*len(y)+d]
		}
	}
	for d := range y {
		y[d] = m.Y.Offset[d] + m.Y.Scale[d]*y[d]
	}
}

// drawCoefficients samples A [M,D]: m + τ^−½ R⁻ᵀ ε for the exact posterior,
// m + √s ∘ ε for the factorised one.
func (m *Model) drawCoefficients(rng *rand.Rand) []float64 {
	p := m.Params
	a := make([]float64, p.M()*p.D)
	for i := range a {
		a[i] = rng.NormFloat64()
	}
	if m.Inference == Factorised {
		for i := range a {
			a[i] = p.CoefMean[i] + math.Sqrt(p.CoefVar[i])*a[i]
		}
		return a
	}
	m.exact.Factor.SolveUpper(a, p.D)
	sd := 1 / math.Sqrt(p.NoisePrecision[0])
	for i := range a {
		a[i] = m.exact.Mean[i] + sd*a[i]
	}
	return a
}
