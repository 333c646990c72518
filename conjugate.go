package vssgp

import (
	"math"

	"github.com/vssgp/vssgp/spectral"
)

const (
	// conjugateSteps bounds the iterations of conjugateGradients, and
	// conjugateEnd is the residual's share of c at which they are done: what
	// they solve for is a start.
	conjugateSteps = 50
	conjugateEnd   = 1e-3
)

// conjugateMean is nearly what exactDiagonal solves for, in O(|S|·M) time a
// step and O(M) memory. It takes G from passes of the factorised bound, whose
// data term has the gradient −2(C − Gm) by m and G's diagonal by s. rows are S,
// nil for all; G and C are scaled up to N rows.
func (h *held) conjugateMean(p *Params, rows []int) (diag, mean []float64, err error) {
	f := p.Features()
	n := f.M * h.d
	scale, ridge := 1.0, 1/p.NoisePrecision[0]
	if rows != nil {
		scale = float64(h.n) / float64(len(rows))
	}
	w := &spectral.Weights{Mean: make([]float64, n), Var: make([]float64, n), D: h.d}
	sums := spectral.NewFactorisedSums(f, h.d)
	if err := h.rows.Factorised(sums, f, w, rows); err != nil {
		return nil, nil, err
	}
	c, size := make([]float64, n), make([]float64, n)
	for i := range c {
		c[i] = -0.5 * scale * sums.Weights.Mean[i]
		size[i] = scale*sums.Weights.Var[i] + ridge
		if i%h.d == 0 {
			diag = append(diag, scale*sums.Weights.Var[i])
		}
	}
	mean, err = conjugateGradients(c, size, func(av, v []float64) error {
		copy(w.Mean, v)
		if err := h.ctx.Err(); err != nil {
			return err
		}
		if err := h.rows.Factorised(sums, f, w, rows); err != nil {
			return err
		}
		for i, g := range sums.Weights.Mean {
			av[i] = 0.5*scale*g + c[i] + ridge*v[i]
		}
		return nil
	})
	return diag, mean, err
}

// conjugateGradients solves A·x = c for a positive definite A, preconditioned by
// its diagonal; apply sets av to A·v.
func conjugateGradients(c, diag []float64, apply func(av, v []float64) error) ([]float64, error) {
	n := len(c)
	x, v, av := make([]float64, n), make([]float64, n), make([]float64, n)
	r := append([]float64(nil), c...)
	end, was := conjugateEnd*math.Sqrt(dotSelf(c)), 0.0
	for range conjugateSteps {
		if !(math.Sqrt(dotSelf(r)) > end) {
			break
		}
		rz, turn := 0.0, 0.0
		for i, s := range diag {
			rz += r[i] * r[i] / s
		}
		if was > 0 {
			turn = rz / was
		}
		was = rz
		for i, s := range diag {
			v[i] = r[i]/s + turn*v[i]
		}
		if err := apply(av, v); err != nil {
			return nil, err
		}
		curve := 0.0
		for i := range v {
			curve += v[i] * av[i]
		}
		if !(curve > 0) {
			break
		}
		for i := range v {
			x[i] += rz / curve * v[i]
			r[i] -= rz / curve * av[i]
		}
	}
	return x, nil
}
