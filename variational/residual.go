package variational

import (
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/parallel"
)

// The sum of squared errors under the optimal q(A), with λ = τ⁻¹ and m = A⁻¹C, is
//
//	S = Σ y² − Σ C∘m = ‖y − Φ̄m‖² + Σ_k r_k m_k² + λ‖m‖²    r_k = Σ_n (E[φ_nk²] − φ̄_nk²) ≥ 0
//
// The difference is cheap but can lose digits to cancellation. The sum of squares on the
// right takes a pass over the rows (DESIGN.md, section 4).

// residualDigits is the maximum relative error of S. The term −½τS is about −½ND at an
// optimum, so its error is a tenth of the gain that ends a fit.
const residualDigits = BoundTolerance / 10

// residual returns S. It uses the difference if its rounding error is small enough. offset is
// f.Offsets(), lambda is τ⁻¹ plus any jitter.
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
		return 0, fmt.Errorf("the bound's squared errors: %w", err)
	}
	return sums.Value + lambda*sumSquares(mean), nil
}

// lost returns an upper bound of the rounding error of Σ y² − Σ C∘m (DESIGN.md, section 4).
// The error comes from the sums over n rows or from tables, the factor, and two solves with
// up to b coupled features. size is Σ |C∘m|.
func (r *Rows) lost(f *backend.Features, offset []int, size float64, s *backend.Solution, lambda float64) float64 {
	n, b := float64(r.deep), float64(widest(offset))
	if terms := float64(r.workspace.terms); terms > 0 {
		// Each entry's error is relative to the largest diagonal entry. The errors have random signs, so the norm of their
		// matrix is at most 2√b times their root mean square, which is less than half of the largest error.
		entries := math.Sqrt(b) * slices.Max(r.workspace.diagonal) * sumSquares(s.Mean)
		return unit * ((terms+2)*r.square + 2*size + 2*terms*entries + (3*b+1)*r.workspace.spread)
	}
	return unit * ((n+2)*r.square + 2*size + (2*n+3*b+1)*r.spread(f, offset, s.Mean, lambda, s.TraceGram))
}

// measure sets spread to |m|ᵀ|R||Rᵀ||m| for a dense factor R and m = s.Mean.
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

// spread returns an upper bound of |m|ᵀ|R||Rᵀ||m| for the factor R of A. Relative errors of
// the entries of R and of the sums change mᵀAm by at most this weight. A row or column of R
// has entries for at most two windows.
func (r *Rows) spread(f *backend.Features, offset []int, mean []float64, lambda, traceGram float64) float64 {
	sum := parallel.Sum(len(offset)-1, blockWindows, func(from, end int) (sum float64) {
		for v := from; v < end; v++ {
			lo, hi := offset[v], offset[v+1]
			most := 0.0
			for k := lo; k < hi; k++ {
				most += f.Power[k] + math.Abs(f.Ripple[k]) // bound of E[φ²]
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
