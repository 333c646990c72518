package variational

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/backend"
)

const (
	// conjugateSteps is the maximum number of iterations of conjugateGradients. They end
	// earlier if the residual is below conjugateEnd times |c|. The result is used only as an
	// initial value.
	conjugateSteps = 50
	conjugateEnd   = 1e-3
)

// SolveMean returns the diagonal of G [M] and m = A⁻¹C [M,D] at p.
func (r *Rows) SolveMean(p *Params) (diag, mean []float64, err error) {
	f := p.Features()
	if err := checkExact(f.Offsets()); err != nil {
		return nil, nil, err
	}
	s, mom := backend.NewSolution(f.M, r.D), r.workspace.momentsOf(f, r.D)
	_, err = withJitter(s, f, 1/p.NoisePrecision[0], func(s *backend.Solution, f *backend.Features, lambda float64) error {
		_, err := r.factor(s, f, mom, lambda, max(2, r.Segments))
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return slices.Clone(r.workspace.diagonal), s.Mean, nil
}

// ApproximateMean approximates SolveMean by conjugate gradients, in O(|S|·M) time per step and
// O(M) memory. It computes products with G by passes of the factorized bound, whose data term has
// the gradient −2(C − Gm) with respect to m and the diagonal of G with respect to s. rows is S;
// nil means all rows. G and C are scaled by N/|S|.
func (r *Rows) ApproximateMean(p *Params, rows []int) (diag, mean []float64, err error) {
	f := p.Features()
	n := f.M * r.D
	scale, ridge := 1.0, 1/p.NoisePrecision[0]
	if rows != nil {
		scale = float64(r.N) / float64(len(rows))
	}
	w := &backend.Weights{Mean: make([]float64, n), Var: make([]float64, n), D: r.D}
	sums := backend.NewFactorizedSums(f, r.D)
	if err := r.rows.Factorized(sums, f, w, rows); err != nil {
		return nil, nil, err
	}
	c, size := make([]float64, n), make([]float64, n)
	for i := range c {
		c[i] = -0.5 * scale * sums.Weights.Mean[i]
		size[i] = scale*sums.Weights.Var[i] + ridge
		if i%r.D == 0 {
			diag = append(diag, scale*sums.Weights.Var[i])
		}
	}
	mean, err = conjugateGradients(c, size, func(av, v []float64) error {
		copy(w.Mean, v)
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if err := r.rows.Factorized(sums, f, w, rows); err != nil {
			return err
		}
		for i, g := range sums.Weights.Mean {
			av[i] = 0.5*scale*g + c[i] + ridge*v[i]
		}
		return nil
	})
	return diag, mean, err
}

// conjugateGradients solves A·x = c for a positive definite A with a diagonal
// preconditioner. apply sets av to A·v.
func conjugateGradients(c, diag []float64, apply func(av, v []float64) error) ([]float64, error) {
	n := len(c)
	x, v, av := make([]float64, n), make([]float64, n), make([]float64, n)
	r := append([]float64(nil), c...) // the residual
	end, was := conjugateEnd*math.Sqrt(sumSquares(c)), 0.0
	for range conjugateSteps {
		if !(math.Sqrt(sumSquares(r)) > end) {
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
