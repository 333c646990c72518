package declip

import (
	"slices"

	"github.com/vssgp/vssgp/internal/simd"
)

// assemble writes the precision of the missing samples without their limits and the precision times their mean,
//
//	Q_ij = Σ_n w_n a_{n−u_i} a_{n−u_j} / E,     −Σ_n w_n a_{n−u_i} e_n / E,
//
// over the prediction errors e_n that they take part in, each with its tile's model and weight, with zeros for the missing samples.
func (s *section) assemble() {
	known := slices.Clone(s.mean)
	for _, u := range s.at {
		known[u] = 0
	}
	clear(s.right)
	for _, row := range s.precision.rows {
		clear(row)
	}
	for k := range s.tiles {
		t := &s.tiles[k]
		errors := t.errors(known)
		for n := range errors {
			errors[n] *= t.weight[n/s.grain] / t.model.E
		}
		for i := s.index(t.lo - t.order); i < s.index(t.hi); i++ {
			u := s.at[i]
			lo, hi := max(u, t.lo), min(u+t.order+1, t.hi)
			s.right[i] -= simd.Dot(t.model.A[lo-u:hi-u], errors[lo-t.lo:hi-t.lo])
		}
		s.pairs(t, func(i, j, grain int, product float64) {
			s.precision.rows[i][j-s.precision.first[i]] += t.weight[grain] * product
		})
	}
}

// errors returns the tile's prediction errors in the samples x.
func (t *tile) errors(x []float64) []float64 {
	p := t.order
	reversed, e := make([]float64, p+1), make([]float64, t.hi-t.lo)
	for j, v := range t.model.A {
		reversed[p-j] = v
	}
	for n := range e {
		e[n] = simd.Dot(reversed, x[t.lo+n-p:t.lo+n+1])
	}
	return e
}

// pairs calls f with Σ_n a_{n−u_i} a_{n−u_j} / E over each grain of the tile's errors, for all pairs i ≥ j of missing samples in it.
func (s *section) pairs(t *tile, f func(i, j, grain int, product float64)) {
	from := s.index(t.lo - t.order)
	for i := from; i < s.index(t.hi); i++ {
		u := s.at[i]
		lo := max(u, t.lo)
		for j := max(from, s.precision.first[i]); j <= i; j++ {
			hi := min(s.at[j]+t.order+1, t.hi)
			if hi <= lo {
				continue
			}
			sums := t.sums[u-s.at[j]]
			for n := lo; n < hi; {
				grain := (n - t.lo) / s.grain
				end := min(hi, t.lo+(grain+1)*s.grain)
				f(i, j, grain, sums[end-u]-sums[n-u])
				n = end
			}
		}
	}
}

// weigh gives every grain of errors a variance of its own, E/w: a voice's errors are large while its cords close, which is where it
// is loudest. With an inverse gamma prior of so many errors, and c errors in a grain, the mean of w is
//
//	w = (prior + c) / (prior + Σ_n E e_n² / E),   Σ_n E e_n² = Σ_n ē_n² + Σ_ij Cov_ij Σ_n a_{n−u_i} a_{n−u_j}
func (s *section) weigh() {
	for k := range s.tiles {
		t := &s.tiles[k]
		squares := make([]float64, len(t.weight))
		counts := make([]float64, len(t.weight))
		for n, e := range t.errors(s.mean) {
			squares[n/s.grain] += e * e / t.model.E
			counts[n/s.grain]++
		}
		s.pairs(t, func(i, j, grain int, product float64) {
			if i != j {
				product *= 2
			}
			squares[grain] += product * s.precision.covariance(i, j)
		})
		for g := range t.weight {
			t.weight[g] = (prior + counts[g]) / (prior + squares[g])
		}
	}
}
