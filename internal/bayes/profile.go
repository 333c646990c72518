package bayes

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
)

// A Profile is the Laplace approximation over the first coordinates of an objective. The other coordinates, such as variational
// parameters, are profiled out: they maximize the objective given the first coordinates.
type Profile struct {
	*Gaussian
	// Short is the estimated distance ½ gᵀH⁻¹g of the objective from its maximum, in nats. A value much above 1 means that the
	// optimization has not converged.
	Short float64

	others   []float64 // other coordinates at the mode
	response mat.Dense // d others / d own, in units of their scales
	scale    []float64 // scale of the other coordinates
}

// LaplaceProfile returns the Profile of the first n coordinates at a mode, using two gradients per coordinate. With the blocks A
// (first), C (other) and B (cross) of the curvature, the profile has curvature A − B·C⁻¹·Bᵀ, and the other coordinates respond with
// −C⁻¹·Bᵀ. It returns an error of f or of the eigendecomposition.
func LaplaceProfile(f lbfgs.Func, mode, scale []float64, n int) (*Profile, error) {
	h, gradient, value, err := curvature(f, mode, scale)
	if err != nil {
		return nil, err
	}
	p := &Profile{others: slices.Clone(mode[n:]), scale: slices.Clone(scale[n:])}
	own, slope := mat.NewSymDense(n, nil), mat.NewVecDense(n, slices.Clone(gradient[:n]))
	for i := range n {
		for j := range i + 1 {
			own.SetSym(i, j, h.At(i, j))
		}
	}
	if m := len(mode) - n; m > 0 {
		if err := p.follow(h, mat.NewVecDense(m, gradient[n:]), own, slope); err != nil {
			return nil, err
		}
	}
	if p.Gaussian, err = NewGaussian(mode[:n], scale[:n], value, own.RawSymmetric().Data); err != nil {
		return nil, err
	}
	p.Short += halfForm(&p.axes, p.curvature, slope)
	return p, nil
}

// follow sets the response, and forms the Schur complement own and the reduced gradient slope.
func (p *Profile) follow(h *mat.SymDense, gradient *mat.VecDense, own *mat.SymDense, slope *mat.VecDense) error {
	n, m := slope.Len(), gradient.Len()
	c, b := mat.NewSymDense(m, nil), mat.NewDense(n, m, nil)
	for i := range m {
		for j := range i + 1 {
			c.SetSym(i, j, h.At(n+i, n+j))
		}
		for j := range n {
			b.Set(j, i, h.At(j, n+i))
		}
	}
	var vectors, turned, inverse, product mat.Dense
	values, err := axes(c, &vectors)
	if err != nil {
		return err
	}
	p.Short = halfForm(&vectors, values, gradient)
	turned.Mul(b, &vectors)
	inverse.CloneFrom(&turned)
	inverse.Apply(func(_, j int, v float64) float64 { return v / values[j] }, &inverse)
	product.Mul(&inverse, turned.T())
	for i := range n {
		for j := range i + 1 {
			own.SetSym(i, j, own.At(i, j)-0.5*(product.At(i, j)+product.At(j, i)))
		}
	}
	p.response.Mul(&vectors, inverse.T())
	p.response.Scale(-1, &p.response)
	var way mat.VecDense
	way.MulVec(p.response.T(), gradient)
	slope.AddVec(slope, &way)
	return nil
}

// halfForm returns ½ gᵀH⁻¹g for the eigendecomposition of H.
func halfForm(vectors *mat.Dense, values []float64, g *mat.VecDense) (sum float64) {
	var along mat.VecDense
	along.MulVec(vectors.T(), g)
	for i, v := range values {
		sum += 0.5 * along.AtVec(i) * along.AtVec(i) / v
	}
	return sum
}

// All returns all coordinates, given the first coordinates own and the first-order response of the others.
func (p *Profile) All(own []float64) []float64 {
	all := append(slices.Clone(own), p.others...)
	for i, s := range p.scale {
		for j, v := range own {
			all[len(own)+i] += s * p.response.At(i, j) * (v - p.Mode[j]) / p.Scale[j]
		}
	}
	return all
}
