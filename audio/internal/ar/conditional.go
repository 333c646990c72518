package ar

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/internal/initialize/autoregression"
	"github.com/vssgp/vssgp/internal/simd"
)

// A Conditional is the Gaussian distribution of missing samples given the others.
type Conditional struct {
	Mean, Variance []float64   // [missing sample]
	Deviations     [][]float64 // [draw][missing sample], draws minus the mean
}

// Conditional returns the distribution of the missing samples of z given the other samples. The gaps [start, end) must be sorted and
// disjoint. normal [draw][missing sample] contains independent standard normal variables; they are overwritten by the deviations.
// With zeros before z, the density of z is the density of its prediction errors, so the precision of the missing samples u is Q/E,
// Q_ij = Σ_n a_{n−u_i} a_{n−u_j}. Q is a Toeplitz matrix for one gap with at least p samples after it, a product of triangular
// Toeplitz matrices for one gap at the end, and a band matrix otherwise. ok is false if Q is not positive definite in float64.
func (m Model) Conditional(z []float64, gaps [][2]int, normal [][]float64) (c Conditional, ok bool) {
	p, n, at := len(m.A)-1, len(z), autoregression.Positions(gaps)
	first, last := gaps[0][0], gaps[len(gaps)-1][1]
	c.Deviations = normal
	switch {
	case len(gaps) == 1 && last == n: // noise filtered by 1/a
		c.Mean, c.Variance, ok = m.Continued(z[:first], n)[first:], m.Continued([]float64{1}, n-first), true
		floats.Mul(c.Variance, c.Variance)
		floats.CumSum(c.Variance, c.Variance)
		for _, d := range normal {
			m.filter(d, 0)
		}
	case len(gaps) == 1 && last+p <= n:
		r := make([]float64, len(at))
		for i := range min(len(r), p+1) {
			r[i] = simd.Dot(m.A[:p+1-i], m.A[i:])
		}
		c.Mean = m.gradient(z, gaps, at, first, last+p)
		c.Variance, ok = toeplitz(r, c.Mean, normal)
	default:
		c.Mean = m.gradient(z, gaps, at, first, min(n, last+p))
		c.Variance, ok = m.banded(n, at, c.Mean, normal)
	}
	if !ok {
		return c, false
	}
	floats.Scale(m.E, c.Variance)
	for _, d := range normal {
		floats.Scale(math.Sqrt(m.E), d)
	}
	return c, true
}

// Continued returns n samples: z followed by the predictions of the model.
func (m Model) Continued(z []float64, n int) []float64 {
	y := make([]float64, n)
	copy(y, z)
	m.filter(y, len(z))
	return y
}

// filter adds the prediction from earlier samples to each sample from first on.
func (m Model) filter(y []float64, first int) {
	p := len(m.A) - 1
	reversed := slices.Clone(m.A[1:])
	slices.Reverse(reversed)
	for n := max(1, first); n < len(y); n++ {
		k := min(p, n)
		y[n] -= simd.Dot(reversed[p-k:], y[n-k:n])
	}
}

// gradient returns −Σ_n a_{n−u} e_n for each missing sample u, where e_n, first ≤ n < end, are the errors of z with zeros in the gaps.
func (m Model) gradient(z []float64, gaps [][2]int, at []int, first, end int) []float64 {
	p := len(m.A) - 1
	from := max(0, first-p)
	known := make([]float64, p+end-first) // from first−p on
	copy(known[from-(first-p):], z[from:end])
	for _, g := range gaps {
		clear(known[g[0]-(first-p) : min(g[1], end)-(first-p)])
	}
	e, y := Errors(m.A, known), make([]float64, len(at))
	for i, u := range at {
		later := e[u-first:]
		later = later[:min(p+1, len(later))]
		y[i] = -simd.Dot(m.A[:len(later)], later)
	}
	return y
}

// banded does the same as toeplitz for the band matrix Q of the missing samples at positions u of n samples.
func (m Model) banded(n int, u []int, right []float64, draws [][]float64) (diagonal []float64, ok bool) {
	p, sums := len(m.A)-1, autoregression.NewLagSums(m.A)
	q := autoregression.Band(u, p, func(hi, lo int) float64 { return sums.Between(hi-lo, 0, n-hi) })
	f, err := q.Factorize(nil)
	if err != nil {
		return nil, false
	}
	f.Solve(right, 1)
	for _, d := range draws {
		f.SolveUpper(d, 1)
	}
	inverse := q.Like(f.Inverse())
	diagonal = make([]float64, len(u))
	for i := range diagonal {
		diagonal[i] = inverse.Diagonal(i)
	}
	return diagonal, true
}
