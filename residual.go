package vssgp

import (
	"fmt"
	"math"

	"github.com/vssgp/vssgp/spectral"
)

// What is left of the data by the optimal q(A), with λ = τ⁻¹ and m = A⁻¹C, is
//
//	S = Σ y² − Σ C∘m = ‖y − Φ̄m‖² + Σ_k r_k m_k² + λ‖m‖²    r_k = Σ_n (E[φ_nk²] − φ̄_nk²) ≥ 0
//
// The left side costs nothing and cancels; the right side is a sum of squares
// and takes a pass over the rows (DESIGN.md, section 4).

// residualDigits is how much of S rounding may have changed: of −½τS, which is
// about −½ND at an optimum, a tenth of what ends a fit (gainPerRow).
const residualDigits = gainPerRow / 10

// unit is float64's unit roundoff.
const unit = 0x1p-53

// residual is S, by the difference where its rounding error is known to be
// small. lambda is τ⁻¹ and any jitter.
func (h *held) residual(f *spectral.Features, c, mean []float64, lambda, traceGram float64) (float64, error) {
	product, _ := dotExact(c, mean)
	s := h.square - product
	if h.lost(f, c, mean, lambda, traceGram) <= residualDigits*s {
		return s, nil
	}
	sums := h.room.sumsOf(f, h.d)
	w := &spectral.Weights{Mean: mean, Var: h.room.zeros(len(mean)), D: h.d}
	if err := h.rows.Factorised(sums, f, w, nil); err != nil {
		return 0, fmt.Errorf("vssgp: the bound's squared errors: %w", err)
	}
	return sums.Value + lambda*dotSelf(mean), nil
}

// lost bounds the rounding error of Σ y² − Σ C∘m from above (DESIGN.md, section
// 4): sums of n terms, a factor and two solves of b features that meet.
func (h *held) lost(f *spectral.Features, c, mean []float64, lambda, traceGram float64) float64 {
	_, size := dotExact(c, mean)
	n, b := float64(h.deep), float64(widest(f.Offsets()))
	return unit * ((n+2)*h.square + 2*size + (2*n+3*b+1)*h.spread(f, mean, lambda, traceGram))
}

// spread bounds |m|ᵀ|R||Rᵀ||m|, R a factor of A, from above: by which the
// errors of the factor's and the sums' entries reach mᵀAm. A row or column of R
// meets the features of two windows at most.
func (h *held) spread(f *spectral.Features, mean []float64, lambda, traceGram float64) float64 {
	offset, sum := f.Offsets(), 0.0
	for v := range len(offset) - 1 {
		lo, hi := offset[v], offset[v+1]
		most := 0.0
		for k := lo; k < hi; k++ {
			most += f.Power[k] + math.Abs(f.Ripple[k]) // E[φ²] at most
		}
		gram := min(traceGram, float64(h.deep)*most)
		sum += (gram + float64(hi-lo)*lambda) * dotSelf(mean[lo*h.d:hi*h.d])
	}
	if len(offset) > 2 {
		sum *= 2
	}
	return sum
}

// widest is the most features that meet in the rows of a run: those of two
// neighbouring windows.
func widest(offset []int) int {
	most := 0
	for v := range len(offset) - 1 {
		most = max(most, offset[min(v+2, len(offset)-1)]-offset[v])
	}
	return most
}

// deepest is the most rows of x [N,Q] that one of the windows meets.
func deepest(w *spectral.Windows, x []float64, q int) int {
	count := make([]int, w.Count()+1) // of the cells from −1 on
	for at := 0; at < len(x); at += q {
		count[w.Cell(x[at+w.Dim])+1]++
	}
	most := count[0]
	for v := range w.Count() {
		most = max(most, count[v]+count[v+1])
	}
	return most
}

// dotExact is Σ a∘b to some units in its last place (Ogita, Rump & Oishi 2005),
// and Σ |a∘b|.
func dotExact(a, b []float64) (sum, size float64) {
	low := 0.0
	for i, x := range a {
		p := x * b[i]
		t := sum + p
		z := t - sum
		low += math.FMA(x, b[i], -p) + ((sum - (t - z)) + (p - z))
		sum = t
		size += math.Abs(p)
	}
	return sum + low, size
}
