package declip

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio/internal/ar"
	"github.com/vssgp/vssgp/internal/simd"
)

// assemble computes the precision of the missing samples without their limits, and the precision times their mean,
//
//	Q_ij = Σ_n w_n a_{n−u_i} a_{n−u_j} / E,     h_i = −Σ_n w_n a_{n−u_i} e_n / E,
//
// over the prediction errors e_n that depend on the samples. Each error has the model of its tile and a weight; e_n is computed with
// zeros for the missing samples. If weigh is true, assemble estimates the weights first.
func (s *section) assemble(weigh bool) {
	known := slices.Clone(s.mean)
	for i, u := range s.at {
		known[u], s.pull[i] = 0, 0
	}
	s.precision.Zero()
	for k := range s.tiles {
		t := &s.tiles[k]
		s.sums.Fill(t.model.A)
		if weigh {
			s.weigh(t)
		}
		s.add(t, t.errors(known))
	}
}

// add adds the contribution of a tile to Q and h. errors contains the e_n.
func (s *section) add(t *tile, errors []float64) {
	for n := range errors {
		errors[n] *= t.weight[n/s.grain] / t.model.E
	}
	weight := func(grain int) float64 {
		if grain < 0 {
			return 0
		}
		return t.weight[grain] / t.model.E
	}
	lagged := make([]float64, t.order+1) // Σ_n w_n a_{n−u} a_{n−u+l} / E
	for i := s.index(t.lo - t.order); i < s.index(t.hi); i++ {
		u := s.at[i]
		lo, hi := max(u, t.lo), min(u+t.order+1, t.hi)
		s.pull[i] -= simd.Dot(t.model.A[lo-u:hi-u], errors[lo-t.lo:hi-t.lo])
		clear(lagged)
		s.edges(t, u, func(sums []float64, before, after int) {
			if change := weight(after) - weight(before); change != 0 {
				floats.AddScaled(lagged[:len(sums)], change, sums)
			}
		})
		for _, run := range s.precision.Row(i) {
			for k, at := range s.at[run.First:][:len(run.Values)] {
				if l := u - at; l <= t.order {
					run.Values[k] += lagged[l]
				}
			}
		}
	}
}

func (t *tile) errors(x []float64) []float64 { return ar.Errors(t.model.A, x[t.lo-t.order:t.hi]) }

// weigh estimates a separate variance E/w for each grain of a tile's errors, because the excitation of a voice varies within a period.
// With an inverse gamma prior equivalent to prior errors, and c errors in the grain, the mean of w is
//
//	w = (prior + c) / (prior + Σ_n E e_n² / E),   Σ_n E e_n² = Σ_n ē_n² + Σ_ij Cov_ij Σ_n a_{n−u_i} a_{n−u_j}
func (s *section) weigh(t *tile) {
	squares, counts := make([]float64, len(t.weight)), make([]float64, len(t.weight))
	for n, e := range t.errors(s.mean) {
		squares[n/s.grain] += e * e
		counts[n/s.grain]++
	}
	lagged := make([]float64, t.order+1) // covariance at lag l, doubled for l > 0
	for i := s.index(t.lo - t.order); i < s.index(t.hi); i++ {
		u := s.at[i]
		clear(lagged)
		for _, run := range s.covariance.Row(i) {
			for k, at := range s.at[run.First:][:len(run.Values)] {
				if l := u - at; l <= t.order {
					lagged[l] = 2 * run.Values[k]
				}
			}
		}
		lagged[0] /= 2
		s.edges(t, u, func(sums []float64, before, after int) {
			v := simd.Dot(lagged[:len(sums)], sums)
			if before >= 0 {
				squares[before] -= v
			}
			if after >= 0 {
				squares[after] += v
			}
		})
	}
	for g := range t.weight {
		t.weight[g] = (prior + counts[g]) / (prior + squares[g]/t.model.E)
	}
}

// edges calls f at each grain boundary n among the errors of a tile that depend on sample u, including the first error and the end. It
// passes the sums at n−u and the grains before and after n (−1: none).
func (s *section) edges(t *tile, u int, f func(sums []float64, before, after int)) {
	lo, hi, before := max(u, t.lo), min(u+t.order+1, t.hi), -1
	for n := lo; n < hi; {
		grain := (n - t.lo) / s.grain
		f(s.sums[n-u][:t.order+1-(n-u)], before, grain)
		n, before = t.lo+(grain+1)*s.grain, grain
	}
	if hi-u <= t.order {
		f(s.sums[hi-u][:t.order+1-(hi-u)], before, -1)
	}
}
