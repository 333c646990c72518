package autoregression

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/internal/linalg/blocktri"
)

// The prediction errors of z with coefficients a (a_0 = 1) are, for n = p … N-1 and m = 0 … N-1-p,
//
//	forward  e_n = Σ_k a_k z_{n-k}        backward  f_m = Σ_k a_k z_{m+k}
//
// Both steps of a fill minimize E = Σ e² + Σ f²: modifiedCovariance over a, solveMissing over the missing z.

// modifiedCovariance returns the coefficients a [p+1] that minimize E. They are exact for sinusoids. The problem is well posed for N
// ≥ 2p+1. If it has several solutions (fewer than p/2 sinusoids and no noise), the ridge selects one.
func modifiedCovariance(z []float64, p int) []float64 {
	a := make([]float64, p+1)
	a[0] = 1
	c := lagProducts(z, p)
	q := p + 1
	g := blocktri.NewDense(p)
	for i := 1; i <= p; i++ {
		row := g.Row(i - 1)[1].Values
		for j := range row {
			row[j] = c[i*q+j+1] + c[(p-i)*q+p-j-1]
		}
		a[i] = -c[i] - c[(p-i)*q+p]
	}
	mean := g.Trace(0, 1) / float64(p)
	f, err := g.Factorize(slices.Repeat([]float64{covarianceRidge * mean}, p))
	if err != nil { // silence, or numbers too large to be squared
		return append(a[:1], make([]float64, p)...)
	}
	f.Solve(a[1:], 1)
	return a
}

// lagProducts returns the matrix c_ij = Σ_{n=p}^{N-1} z_{n-i} z_{n-j} for i, j = 0, …, p. It updates each row from the previous row,
// so the cost is N·p + p².
func lagProducts(z []float64, p int) []float64 {
	n, q := len(z), p+1
	c := make([]float64, q*q)
	for j := range q {
		c[j] = floats.Dot(z[p:], z[p-j:n-j])
		c[j*q] = c[j]
	}
	for i := range p {
		for j := i; j < p; j++ {
			v := c[i*q+j] + z[p-1-i]*z[p-1-j] - z[n-1-i]*z[n-1-j]
			c[(i+1)*q+j+1] = v
			c[(j+1)*q+i+1] = v
		}
	}
	return c
}

// solveMissing sets z at the increasing positions u to the values that minimize E. If this fails, it returns false and sets them to 0.
func solveMissing(z []float64, u []int, a []float64) bool {
	for _, i := range u {
		z[i] = 0
	}
	b := missingRHS(z, u, a)
	f, err := missingNormal(len(z), u, a).Factorize(nil)
	if err != nil {
		return false
	}
	f.Solve(b, 1)
	for i, at := range u {
		z[at] = b[i]
	}
	return true
}

// missingNormal returns half the Hessian of E with respect to z_u. Entry (i, j) sums over the errors that depend on both z_{u_i} and
// z_{u_j}. It is 0 if u_i - u_j > p. Far from the ends it depends only on u_i - u_j.
func missingNormal(n int, u []int, a []float64) *blocktri.Band {
	p := len(a) - 1
	sums := NewLagSums(a)
	return Band(u, p, func(hi, lo int) (v float64) {
		l := hi - lo
		if hi >= p && lo+p < n {
			return 2 * sums[0][l]
		}
		if k, last := max(p, hi), min(n-1, lo+p); k <= last {
			v += sums.Between(l, k-hi, last-hi+1)
		}
		if k, last := max(0, hi-p), min(n-1-p, lo); k <= last {
			v += sums.Between(l, lo-last, lo-k+1)
		}
		return v
	})
}

// Band returns the band matrix with the given entries for pairs of positions u at most p apart.
func Band(u []int, p int, entry func(hi, lo int) float64) *blocktri.Band {
	b := blocktri.NewBand(u, p)
	for i, hi := range u {
		for _, run := range b.Row(i) {
			for k, lo := range u[run.First:][:len(run.Values)] {
				if hi-lo <= p {
					run.Values[k] = entry(hi, lo)
				}
			}
		}
	}
	return b
}

// LagSums contains Σ_{k≥t} a_k a_{k+l} at [t][l], t+l ≤ p, for the coefficients of a model of order p.
type LagSums [][]float64

// NewLagSums returns the LagSums of coefficients a [p+1].
func NewLagSums(a []float64) LagSums {
	s := make(LagSums, len(a))
	for t := range s {
		s[t] = make([]float64, len(a)-t)
	}
	s.Fill(a)
	return s
}

// Fill recomputes the sums for coefficients a, at most as many as before.
func (s LagSums) Fill(a []float64) {
	for t := len(a) - 1; t >= 0; t-- {
		row, last := s[t], len(a)-1-t
		if last > 0 {
			floats.AddScaledTo(row[:last], s[t+1][:last], a[t], a[t:len(a)-1])
		}
		row[last] = a[t] * a[len(a)-1]
	}
}

// Between returns Σ_k a_k a_{k+l} over from ≤ k < to.
func (s LagSums) Between(l, from, to int) (sum float64) {
	if from+l < len(s) {
		sum = s[from][l]
	}
	if to+l < len(s) {
		sum -= s[to][l]
	}
	return sum
}

// missingRHS returns −½ times the gradient of E with respect to z_u at z_u = 0.
func missingRHS(z []float64, u []int, a []float64) []float64 {
	n, p, reversed := len(z), len(a)-1, slices.Clone(a)
	slices.Reverse(reversed)
	forward := make([]float64, n) // e_k for k ≥ p
	backward := make([]float64, n)
	for k := 0; k+p < n; k++ {
		forward[k+p] = floats.Dot(reversed, z[k:k+p+1])
		backward[k] = floats.Dot(a, z[k:k+p+1])
	}
	b := make([]float64, len(u))
	for i, at := range u {
		for k := max(p, at); k <= min(n-1, at+p); k++ {
			b[i] -= a[k-at] * forward[k]
		}
		for k := max(0, at-p); k <= min(n-1-p, at); k++ {
			b[i] -= a[at-k] * backward[k]
		}
	}
	return b
}
