package variational

import (
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/parallel"
)

// The squared errors that the optimal q(A) leaves, with λ = τ⁻¹ and m = A⁻¹C, are
//
//	S = Σ y² − Σ C∘m = ‖y − Φ̄m‖² + Σ_k r_k m_k² + λ‖m‖²    r_k = Σ_n (E[φ_nk²] − φ̄_nk²) ≥ 0
//
// The left side costs nothing and cancels; the right side is a sum of squares
// and takes a pass over the rows (DESIGN.md, section 4).

// residualDigits is the largest relative error of S: of −½τS, which is about −½ND
// at an optimum, a tenth of the gain that ends a fit.
const residualDigits = BoundTolerance / 10

// residual is S, by the difference if its rounding error is known to be small.
// offset are f.Offsets(), lambda is τ⁻¹ and any jitter.
func (r *Rows) residual(f *backend.Features, offset []int, solved *backend.Solution, lambda float64) (float64, error) {
	mean := solved.Mean
	product, size := dotExact(solved.C, mean)
	s := r.square - product
	if r.lost(f, offset, size, solved, lambda) <= residualDigits*s {
		return s, nil
	}
	sums := r.workspace.sumsOf(f, r.D)
	w := &backend.Weights{Mean: mean, Var: r.workspace.zeros(len(mean)), D: r.D}
	if err := r.rows.Factorized(sums, f, w, nil); err != nil {
		return 0, fmt.Errorf("vssgp: the bound's squared errors: %w", err)
	}
	return sums.Value + lambda*sumSquares(mean), nil
}

// lost bounds the rounding error of Σ y² − Σ C∘m from above (DESIGN.md, section
// 4): sums of n terms or from tables, a factor and two solves of b features that
// meet. size is Σ |C∘m|.
func (r *Rows) lost(f *backend.Features, offset []int, size float64, s *backend.Solution, lambda float64) float64 {
	n, b := float64(r.deep), float64(widest(offset))
	if terms := float64(r.workspace.terms); terms > 0 {
		// An error is relative to the largest entry of the diagonal, and the errors do not share a sign: the norm of their
		// matrix is at most 2√b times their root mean square, which is less than half the largest.
		entries := math.Sqrt(b) * slices.Max(r.workspace.diagonal) * sumSquares(s.Mean)
		return unit * ((terms+2)*r.square + 2*size + 2*terms*entries + (3*b+1)*r.workspace.spread)
	}
	return unit * ((n+2)*r.square + 2*size + (2*n+3*b+1)*r.spread(f, offset, s.Mean, lambda, s.TraceGram))
}

// measure leaves |m|ᵀ|R||Rᵀ||m| of a dense factor R and s.Mean.
func (w *workspace) measure(factor *backend.Gram, s *backend.Solution) {
	m := factor.M()
	w.columns = append(w.columns[:0], w.zeros(m*s.D)...)
	for i := range m {
		for k, v := range factor.Diag[0][i*m:][:i+1] {
			for d := range s.D {
				w.columns[k*s.D+d] += math.Abs(v * s.Mean[i*s.D+d])
			}
		}
	}
	w.spread = sumSquares(w.columns)
}

// spread bounds |m|ᵀ|R||Rᵀ||m|, R a factor of A, from above: the weight that the
// errors of the factor's and the sums' entries have in mᵀAm. A row or column of R
// meets the features of two windows at most.
func (r *Rows) spread(f *backend.Features, offset []int, mean []float64, lambda, traceGram float64) float64 {
	sum := parallel.Sum(len(offset)-1, blockWindows, func(from, end int) (sum float64) {
		for v := from; v < end; v++ {
			lo, hi := offset[v], offset[v+1]
			most := 0.0
			for k := lo; k < hi; k++ {
				most += f.Power[k] + math.Abs(f.Ripple[k]) // E[φ²] at most
			}
			gram := min(traceGram, float64(r.deep)*most)
			sum += (gram + float64(hi-lo)*lambda) * squares(mean[lo*r.D:hi*r.D])
		}
		return sum
	})
	if len(offset) > 2 {
		sum *= 2
	}
	return sum
}
