package bayes

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
)

const (
	// difference is the finite-difference step of the gradient, in units of scale. If it exceeds the fraction stiff of a coordinate's
	// conditional standard deviation, the step is reduced to stiffStep times this standard deviation, because the objective may not
	// be quadratic over larger steps.
	difference, stiff, stiffStep = 1e-3, 0.1, 0.03
	stiffTries                   = 4
	// minCurvature is the minimum curvature in units of 1/scale². If scale is the prior standard deviation, the prior alone has
	// curvature 1. A smaller curvature at a mode would lead to draws where the approximation is invalid.
	minCurvature = 0.3
)

// A Gaussian is the Laplace approximation N(Mode, H⁻¹) of a posterior, where H is the negative Hessian of its log density at the mode.
type Gaussian struct {
	Mode  []float64
	Value float64   // objective at the mode
	Scale []float64 // natural scale of each coordinate, such as the prior standard deviation

	curvature []float64 // eigenvalues of Scale·H·Scale in increasing order
	axes      mat.Dense // eigenvectors as columns
}

// NewGaussian returns the Gaussian with curvature h [n,n] at the mode, in units of scale. It reads only the upper triangle. n may be
// 0. It returns an error if the eigendecomposition fails.
func NewGaussian(mode, scale []float64, value float64, h []float64) (g *Gaussian, err error) {
	g = &Gaussian{Mode: slices.Clone(mode), Scale: slices.Clone(scale), Value: value}
	if n := len(mode); n > 0 {
		g.curvature, err = axes(mat.NewSymDense(n, h), &g.axes)
	}
	return g, err
}

// axes returns the eigenvalues of h, at least minCurvature, and writes the eigenvectors to vectors.
func axes(h mat.Symmetric, vectors *mat.Dense) ([]float64, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(h, true) {
		return nil, errors.New("eigendecomposition of the curvature at the mode failed")
	}
	values := eigen.Values(nil)
	for i := range values {
		values[i] = max(values[i], minCurvature)
	}
	eigen.VectorsTo(vectors)
	return values, nil
}

// curvature returns Scale·H·Scale at the mode by finite differences of the gradient, the scaled gradient, and the value.
func curvature(f lbfgs.Func, mode, scale []float64) (h *mat.SymDense, gradient []float64, value float64, err error) {
	n := len(mode)
	h = mat.NewSymDense(n, nil)
	rows := make([][]float64, n)
	v, slope := slices.Clone(mode), make([]float64, n)
	for i, s := range scale {
		step := difference
		for range stiffTries {
			if rows[i], err = row(f, v, scale, i, step*s); err != nil {
				return nil, nil, 0, err
			}
			own := 1 / math.Sqrt(max(rows[i][i], 0))
			if step <= stiff*own {
				break
			}
			step = stiffStep * own
		}
	}
	for i := range n {
		for j := range i + 1 {
			h.SetSym(i, j, 0.5*(rows[i][j]+rows[j][i]))
		}
	}
	value, err = f(v, slope)
	for i := range slope {
		slope[i] *= scale[i]
	}
	return h, slope, value, err
}

// row returns row i of Scale·H·Scale at v.
func row(f lbfgs.Func, v, scale []float64, i int, step float64) ([]float64, error) {
	at, out, down := v[i], make([]float64, len(v)), make([]float64, len(v))
	defer func() { v[i] = at }()
	v[i] = at + step
	_, err := f(v, out)
	if err == nil {
		v[i] = at - step
		_, err = f(v, down)
	}
	if err != nil {
		return nil, fmt.Errorf("curvature of coordinate %d at %v: %w", i, at, err)
	}
	for j, d := range down {
		out[j] = (d - out[j]) / (2 * step) * scale[i] * scale[j]
	}
	return out, nil
}

// Along returns mode + Scale·V·z/√curvature. It is a draw if z is standard normal.
func (g *Gaussian) Along(z []float64) []float64 {
	v := slices.Clone(g.Mode)
	for k, c := range g.curvature {
		for i := range v {
			v[i] += g.Scale[i] * g.axes.At(i, k) * z[k] / math.Sqrt(c)
		}
	}
	return v
}

// By returns mode + Scale·V·(Vᵀz/√curvature), using the symmetric root of the inverse curvature, so that z_i mostly affects
// coordinate i. It is a draw if z is standard normal.
func (g *Gaussian) By(z []float64) []float64 {
	turned := make([]float64, len(z))
	for k := range turned {
		for i, v := range z {
			turned[k] += g.axes.At(i, k) * v
		}
	}
	return g.Along(turned)
}

// Slack is the usual slack of Plausible, in nats.
const Slack = 3

// A draw moves toward the mode by the factor rayBack per step, down to rayLeast of its distance.
const rayBack, rayLeast = 0.7, 0.01

// Plausible returns to(z), where to is Along or By: a draw if z is standard normal. The Gaussian is too wide in
// directions in which the curvature increases away from the mode, and then a draw may be hundreds of nats less probable
// than the Gaussian says. So while the objective is more than slack nats below the Gaussian, the draw moves toward the
// mode. Plausible returns nil if every point up to the mode is below it, and the errors of the objective, which is -Inf
// at points where it cannot be evaluated.
func (g *Gaussian) Plausible(
	z []float64, to func([]float64) []float64, objective func([]float64) (float64, error), slack float64,
) ([]float64, error) {
	half := floats.Dot(z, z) / 2
	for t := 1.0; t > rayLeast; t *= rayBack {
		v := to(floats.ScaleTo(make([]float64, len(z)), t, z))
		value, err := objective(v)
		if err != nil {
			return nil, err
		}
		if value >= g.Value-t*t*half-slack {
			return v, nil
		}
	}
	return nil, nil
}

// Normals returns n draws of m standard normal variables, [n][m], for variance reduction. Each variable has one value in each of n
// equally probable intervals (Latin hypercube: McKay, Beckman & Conover 1979). Their order follows multiples of square roots of
// primes (Richtmyer 1951), so that consecutive draws are far apart.
func Normals(n, m int, random *rand.Rand) [][]float64 {
	draws, order, at := make([][]float64, n), make([]int, n), make([]float64, n)
	for i := range draws {
		draws[i], order[i] = make([]float64, m), i
	}
	prime := big.NewInt(1)
	for j := range m {
		for prime.Add(prime, big.NewInt(1)); !prime.ProbablyPrime(0); {
			prime.Add(prime, big.NewInt(1))
		}
		shift, step := random.Float64(), math.Sqrt(float64(prime.Int64()))
		for i := range at {
			_, at[i] = math.Modf(shift + float64(i)*step)
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
		for k, i := range order {
			draws[i][j] = math.Sqrt2 * math.Erfinv(2*(float64(k)+random.Float64())/float64(n)-1)
		}
	}
	return draws
}

// SD returns the standard deviation of coordinate i.
func (g *Gaussian) SD(i int) float64 {
	variance := 0.0
	for k, c := range g.curvature {
		a := g.Scale[i] * g.axes.At(i, k)
		variance += a * a / c
	}
	return math.Sqrt(variance)
}

// Information returns the curvature [n,n] in units of Scale, with eigenvalues of at least minCurvature.
func (g *Gaussian) Information() []float64 {
	n := len(g.Mode)
	h := make([]float64, n*n)
	for k, c := range g.curvature {
		for i := range n {
			for j := range n {
				h[i*n+j] += c * g.axes.At(i, k) * g.axes.At(j, k)
			}
		}
	}
	return h
}

// LogEvidence returns the Laplace approximation of the log integral of exp(objective).
func (g *Gaussian) LogEvidence() float64 {
	e := g.Value
	for i, c := range g.curvature {
		e += 0.5*math.Log(2*math.Pi/c) + math.Log(g.Scale[i])
	}
	return e
}
