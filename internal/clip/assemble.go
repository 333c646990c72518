package clip

import (
	"slices"

	"github.com/vssgp/vssgp/cpu/simd"
)

// assemble writes the precision of the missing samples without their limits and the precision times their mean,
//
//	Q_ij = Σ_n a_{n−u_i} a_{n−u_j} / E,     −Σ_n a_{n−u_i} e_n / E,
//
// over the prediction errors e_n that they take part in, each with its tile's model, with zeros for the missing samples.
func (s *section) assemble() {
	known := slices.Clone(s.mean)
	for _, u := range s.at {
		known[u] = 0
	}
	clear(s.right)
	for _, row := range s.precision.rows {
		clear(row)
	}
	reversed, errors := make([]float64, s.order+1), []float64(nil)
	for k := range s.tiles {
		t := &s.tiles[k]
		p := t.order
		reversed = reversed[:p+1]
		for j, v := range t.model.A {
			reversed[p-j] = v / t.model.E
		}
		errors = errors[:0]
		for n := t.lo; n < t.hi; n++ {
			errors = append(errors, simd.Dot(reversed, known[n-p:n+1]))
		}
		from := s.index(t.lo - p)
		for i := from; i < s.index(t.hi); i++ {
			u := s.at[i]
			lo, hi := max(u, t.lo), min(u+p+1, t.hi)
			s.right[i] -= simd.Dot(t.model.A[lo-u:hi-u], errors[lo-t.lo:hi-t.lo])
			s.products(t, i, from, lo, hi)
		}
	}
}

// products adds a tile's part to row i: the errors at [lo, hi), as far as they reach the others, which begin with number from.
func (s *section) products(t *tile, i, from, lo, hi int) {
	u, row, first := s.at[i], s.precision.rows[i], s.precision.first[i]
	for j := max(from, first); j <= i; j++ {
		if end := min(hi, s.at[j]+t.order+1); end > lo {
			sums := t.sums[u-s.at[j]]
			row[j-first] += sums[end-u] - sums[lo-u]
		}
	}
}
