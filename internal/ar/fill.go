package ar

import "gonum.org/v1/gonum/mat"

// fillRounds alternations of model and fill settle the samples to a small part
// of their error.
const fillRounds = 8

// Fill replaces the missing samples of x by the least-squares fill of an
// autoregressive model of the given order, model and fill estimated in turn
// (Janssen, Veldhuis & Vries 1986). x is left as it is where nothing is
// missing or nothing is known.
func Fill(x []float64, missing []bool, order int) {
	var at []int
	for i, m := range missing {
		if m {
			at = append(at, i)
			x[i] = 0
		}
	}
	if len(at) == 0 || len(at) == len(x) || order < 1 {
		return
	}
	for range fillRounds {
		m := YuleWalker(Autocorrelation(x, order))
		if m.E == 0 {
			return
		}
		m.solve(x, at)
	}
}

// solve sets x[at] to minimise Σ e_n²: with b_l = Σ_j a_j a_{j+l}, the banded
// system Σ_j b_{|at_i − at_j|} x_{at_j} = −Σ_{known n} b_{|at_i − n|} x_n.
func (m Model) solve(x []float64, at []int) {
	p := len(m.A) - 1
	b := make([]float64, p+1)
	for l := range b {
		for j := 0; j+l <= p; j++ {
			b[l] += m.A[j] * m.A[j+l]
		}
	}
	for _, i := range at {
		x[i] = 0
	}
	band := 0
	for i, j := 0, 0; i < len(at); i++ {
		for at[i]-at[j] > p {
			j++
		}
		band = max(band, i-j)
	}
	h := mat.NewSymBandDense(len(at), band, nil)
	rhs := mat.NewVecDense(len(at), nil)
	for i, n := range at {
		for j := i; j >= 0 && n-at[j] <= p; j-- {
			h.SetSymBand(j, i, b[n-at[j]])
		}
		s := 0.0
		for k := max(0, n-p); k <= min(len(x)-1, n+p); k++ {
			s += b[max(k-n, n-k)] * x[k]
		}
		rhs.SetVec(i, -s)
	}
	var c mat.BandCholesky
	var v mat.VecDense
	if !c.Factorize(h) || c.SolveVecTo(&v, rhs) != nil {
		return // an ill-conditioned model: keep zeros, the next round's model differs
	}
	for i, n := range at {
		x[n] = v.AtVec(i)
	}
}
