package variational

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/parallel"
)

// A Function is one function drawn from the posterior q(A)q(ω), in the model's units and
// without noise. Each of its features has one frequency and phase and is therefore an
// undamped cosine.
type Function struct {
	features     *backend.Features
	coefficients []float64 // A [M,D]
	d            int

	fade *Fade     // nil: none
	rest []float64 // [M,D] coefficients of the prior where features fade
}

// Draw samples a function: its coefficients and the frequency and phase of every feature.
// The coefficients come from the exact posterior or, if it is nil, from the factorized
// posterior in the parameters. Afterwards rng is ready for the next function.
func (p *Params) Draw(exact *Posterior, rng *rand.Rand) *Function {
	out := &Function{coefficients: p.drawCoefficients(exact, rng), features: p.Features(), d: p.D}
	f := out.features
	for k := range f.M {
		i := k / p.K
		for q := range p.Q {
			at := k*p.Q + q
			f.Freq[at] += math.Sqrt(p.FreqVar[at]) * rng.NormFloat64() / p.Lengthscale[i*p.Q+q]
			f.Decay[at] = 0
		}
		f.Phase[k] = p.PhaseLower[k] + (p.PhaseUpper[k]-p.PhaseLower[k])*rng.Float64()
		f.Amp[k] = math.Sqrt(2 * p.Variance[i] / float64(p.K))
	}
	return out
}

// Fade adds what replaces the features where they fade.
func (f *Function) Fade(fade *Fade, rng *rand.Rand) {
	f.fade, f.rest = fade, make([]float64, len(f.coefficients))
	for i := range f.rest {
		f.rest[i] = rng.NormFloat64()
	}
}

// drawCoefficients samples A [M,D] as m + τ^−½ R⁻ᵀ ε from the exact posterior, or as
// m + √s ∘ ε from the factorized posterior.
func (p *Params) drawCoefficients(exact *Posterior, rng *rand.Rand) []float64 {
	a := make([]float64, p.M()*p.D)
	for i := range a {
		a[i] = rng.NormFloat64()
	}
	if exact == nil {
		for i := range a {
			a[i] = p.CoefMean[i] + math.Sqrt(p.CoefVar[i])*a[i]
		}
		return a
	}
	exact.factor.SolveUpper(a, p.D)
	sd := 1 / math.Sqrt(p.NoisePrecision[0])
	for i := range a {
		a[i] = exact.Mean[i] + sd*a[i]
	}
	return a
}

// At returns the function's values [N,D] at rows x [N,Q]. Errors wrap backend.ErrShape,
// backend.ErrValue if a value is not finite, or ctx.Err().
func (f *Function) At(ctx context.Context, x []float64) ([]float64, error) {
	ctx = cmp.Or(ctx, context.Background())
	q := f.features.Q
	n := len(x) / q
	if err := (&backend.Data{N: n, Q: q, X: x, Windows: f.features.Windows}).Check(); err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	y, offset := make([]float64, n*f.d), f.features.Offsets()
	parallel.Blocks(n, ChunkRows, func(_, lo, hi int) {
		if ctx.Err() != nil {
			return
		}
		for row := lo; row < hi; row++ {
			at := x[row*q:][:q]
			a := f.coefficients
			if f.fade.reaches(at) {
				a = f.faded(at)
			}
			f.row(y[row*f.d:][:f.d], a, offset, at)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("draw: interrupted: %w", err)
	}
	return y, nil
}

// faded returns the coefficients [M,D] at x.
func (f *Function) faded(x []float64) []float64 {
	a, i := slices.Clone(f.coefficients), 0
	for _, g := range f.fade.gains(x, f.features.M) {
		for ; i < g.end*f.d; i++ {
			a[i] = g.own*a[i] + g.rest*f.rest[i]
		}
	}
	return a
}

// row evaluates the function with coefficients a at one row x [Q] and writes it to y [D].
func (f *Function) row(y, a []float64, offset []int, x []float64) {
	w := &f.features.Windows
	first, end := w.Over(w.Cell(x[w.Dim]))
	for k := offset[first]; k < offset[end]; k++ {
		phi := f.features.Mean(k, x)
		for d := range y {
			y[d] += phi * a[k*f.d+d]
		}
	}
}
