package variational

import (
	"math"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit"
)

// solves are rows whose sums a device computes from tables.
type solves struct{ backend.Rows }

func (solves) Solve(s *backend.Solution, _ *backend.Features, _ float64) error {
	s.Terms, s.TraceGram = 1000, math.Inf(1)
	return nil
}

// TestLevelOfCondition compares the noise level of a factor's rounding errors with the formula in DESIGN.md,
// section 10.
func TestLevelOfCondition(t *testing.T) {
	const n = 40
	// a row meets all, or two windows of two
	for windows, want := range map[int]float64{0: math.Sqrt(n + 3*6), 3: 2 * math.Sqrt(n+3*4)} {
		p := NewParams(3, 2, 1, 1)
		for i := range p.Variance {
			p.Variance[i], p.Lengthscale[i] = 1, 1
		}
		if windows > 0 {
			p.Windows, p.ComponentWindow = backend.Windows{Center: []float64{0, 1, 2}, Length: 2}, []int{0, 1, 2}
		}
		r := &Rows{D: 1, N: n, deep: n, square: 7}
		testkit.Near(t, r.NoiseLevel(p, true).Condition, conditionMargin*unit*n*want, 1e-9*unit*n, windows, " windows")
	}
}

// TestRoundingErrorMatchesFormulas compares the rounding error of Σ y² − Σ C∘m with the formulas in DESIGN.md, section 4.
func TestRoundingErrorMatchesFormulas(t *testing.T) {
	const n, square, size, lambda = 40, 7, 3, 0.25
	for _, windows := range []int{0, 2, 3} {
		offset := []int{0, 2, 5, 9}[:max(2, windows+1)]
		m := offset[len(offset)-1]
		f, s := backend.NewFeatures(m, 1), &backend.Solution{D: 1,
			Mean: testkit.Numbers(m, func(k int) float64 { return float64(k + 1) }), TraceGram: math.Inf(1)}
		for k := range m {
			f.Power[k], f.Ripple[k] = 0.5, -0.125*float64(k)
		}
		trace := 0.0 // Σ_v tr(A_vv)‖m_v‖²
		for v := range len(offset) - 1 {
			diagonal, mean := 0.0, 0.0
			for k := offset[v]; k < offset[v+1]; k++ {
				diagonal += n*(0.5+0.125*float64(k)) + lambda
				mean += float64((k + 1) * (k + 1))
			}
			trace += diagonal * mean
		}
		if windows > 1 {
			trace *= 2
		}
		r := &Rows{D: 1, N: n, deep: n, square: square, rows: solves{}}
		b := float64(widest(offset))
		testkit.Near(t, r.lost(f, offset, size, s, lambda)/unit, (n+2)*square+2*size+(2*n+3*b+1)*trace, 1e-9*n*trace,
			windows, " windows")
		if windows > 0 {
			continue
		}
		testkit.OK(t, r.solveOnDevice(s, f, lambda))
		squares, largest := sumSquares(s.Mean), n*(0.5+0.125*float64(m-1))
		testkit.Near(t, r.lost(f, offset, size, s, lambda)/unit,
			1002*square+2*size+2000*math.Sqrt(b)*largest*squares+(3*b+1)*trace, 1e-9*n*trace, "tables")
	}
}
