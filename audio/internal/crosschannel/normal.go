package crosschannel

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio/internal/ar"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/simd"
)

// A normal contains the normal equations of h: weighted sums of products of prediction errors.
type normal struct {
	products *blocktri.Band // Gram matrix of the lagged errors of the other channels
	right    []float64      // products of these errors with the errors of x
	square   float64        // sum of squared errors of x
	weights  float64
}

// normal returns the normal equations for predictors from, summed over the samples around the gap whose errors are all known. The weights
// decay with the distance from the gap as cos².
func (p *problem) normal(a []float64, from []int) *normal {
	reach, taps := Context(p.rate), 2*p.l+1
	lo, hi := max(0, p.gap[0]-reach), min(len(p.z[p.of]), p.gap[1]+reach)
	margin := len(a) - 1 + p.l
	from0 := max(0, lo-margin-1)
	e := func(c int) []float64 { // errors, 0 for the first samples
		return append(make([]float64, len(a)-1), ar.Errors(a, p.z[c][from0:min(len(p.z[c]), hi+p.l)])...)
	}
	x, y := e(p.of), make([][]float64, len(from))
	for k, c := range from {
		y[k] = e(c)
	}
	s := &normal{products: blocktri.NewDense(taps * len(from)), right: make([]float64, taps*len(from))}
	use := p.known(from, len(a)-1, max(lo, margin+1), min(hi, len(p.z[p.of])-p.l))
	size := max(1, int(block*p.rate))
	for _, run := range use {
		for start := run[0]; start < run[1]; start += size {
			end := min(run[1], start+size)
			d := max(float64(p.gap[0]-end), float64(start-p.gap[1]), 0)
			w := math.Cos(math.Pi / 2 * min(1, d/float64(reach)))
			s.add(x, y, start-from0, end-from0, p.l, w*w)
		}
	}
	return s
}

// add adds the products over [lo, hi). It sums the products of the first lag directly and updates them from lag to lag by two terms.
func (s *normal) add(x []float64, y [][]float64, lo, hi, l int, weight float64) {
	taps := 2*l + 1
	at := func(v []float64, i int) []float64 { return v[lo-(i-l) : hi-(i-l)] }
	s.square += weight * simd.Dot(x[lo:hi], x[lo:hi])
	s.weights += weight * float64(hi-lo)
	for k, u := range y {
		for i := range taps {
			s.right[k*taps+i] += weight * simd.Dot(x[lo:hi], at(u, i))
		}
		for m, v := range y[:k+1] {
			along := func(i, j int) {
				sum := weight * simd.Dot(at(u, i), at(v, j))
				for ; i < taps && j < taps; i, j = i+1, j+1 {
					if m < k || j <= i {
						s.products.Row(k*taps + i)[1].Values[m*taps+j] += sum
					}
					sum += weight * (u[lo-1-(i-l)]*v[lo-1-(j-l)] - u[hi-1-(i-l)]*v[hi-1-(j-l)])
				}
			}
			for i := range taps {
				along(i, 0)
			}
			for j := 1; j < taps && m < k; j++ {
				along(0, j)
			}
		}
	}
}

// solve returns h for the prior variance with the largest evidence, and the gain in log evidence over h = 0 in nats. h is nil if there is
// no gain. With mean diagonal d, ridges λd for λ = 10⁻⁹ … 10, and the maximum-likelihood noise variance, the log evidence is −½ n log(xx
// − bᵀ(P + λd)⁻¹b) − ½ log det(P + λd) + ½ m log λd up to a constant; for h = 0 it is −½ n log xx.
func (s *normal) solve() (h []float64, gain float64) {
	m := len(s.right)
	diagonal := s.products.Trace(0, 1) / float64(m)
	if s.weights < float64(2*m) || !(diagonal > 0) || !(s.square > 0) {
		return nil, 0
	}
	for power := -9; power <= 1; power++ {
		ridge := math.Pow(10, float64(power)) * diagonal
		f, err := s.products.Factorize(slices.Repeat([]float64{ridge}, m))
		if err != nil {
			continue
		}
		v := slices.Clone(s.right)
		f.Solve(v, 1)
		left := max(s.square-floats.Dot(v, s.right), 1e-12*s.square)
		if g := s.weights/2*math.Log(s.square/left) - f.LogDet()/2 + float64(m)/2*math.Log(ridge); g > gain {
			h, gain = v, g
		}
	}
	return h, gain
}
