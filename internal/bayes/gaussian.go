package bayes

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
)

const (
	// difference is the step of the gradient's differences, in units of scale. A coordinate so stiff that this is more than stiff of the
	// standard deviation that it has by itself takes the step stiffStep of that instead: the objective need not be quadratic any further.
	difference, stiff, stiffStep = 1e-3, 0.1, 0.03
	stiffTries                   = 4
	// leastCurvature bounds the curvature from below, in units of 1/scale². With scale a prior's standard deviation the prior alone has
	// a curvature of one; less, at a mode of a likelihood that curves the other way, would send draws where the approximation is void.
	leastCurvature = 0.3
)

// A Gaussian is N(Mode, H⁻¹): Laplace's approximation of a posterior, H being the negative Hessian of its log density at the mode.
type Gaussian struct {
	Mode  []float64
	Value float64   // the objective at the mode
	Scale []float64 // a natural length of each coordinate, such as its prior's standard deviation

	curvature []float64 // eigenvalues of Scale·H·Scale, rising
	axes      mat.Dense // eigenvectors, a column each
}

// NewGaussian takes apart the curvature h [n,n] at the mode, in units of scale. Its upper triangle counts. n may be 0.
func NewGaussian(mode, scale []float64, value float64, h []float64) (g *Gaussian, err error) {
	g = &Gaussian{Mode: slices.Clone(mode), Scale: slices.Clone(scale), Value: value}
	if n := len(mode); n > 0 {
		g.curvature, err = axes(mat.NewSymDense(n, h), &g.axes)
	}
	return g, err
}

// axes are h's eigenvalues, none below leastCurvature, and its eigenvectors.
func axes(h mat.Symmetric, vectors *mat.Dense) ([]float64, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(h, true) {
		return nil, errors.New("the curvature at the mode has no eigenvalues")
	}
	values := eigen.Values(nil)
	for i := range values {
		values[i] = max(values[i], leastCurvature)
	}
	eigen.VectorsTo(vectors)
	return values, nil
}

// curvature is Scale·H·Scale at the mode, by differences of the gradient, with the value and the gradient there, which is scaled, too.
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

// row is row i of Scale·H·Scale at v.
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
		return nil, fmt.Errorf("the curvature of coordinate %d at %v: %w", i, at, err)
	}
	for j, d := range down {
		out[j] = (d - out[j]) / (2 * step) * scale[i] * scale[j]
	}
	return out, nil
}

// Along is mode + Scale·V·z/√curvature: a draw, if z is standard normal.
func (g *Gaussian) Along(z []float64) []float64 {
	v := slices.Clone(g.Mode)
	for k, c := range g.curvature {
		for i := range v {
			v[i] += g.Scale[i] * g.axes.At(i, k) * z[k] / math.Sqrt(c)
		}
	}
	return v
}

// By is mode + Scale·V·(Vᵀz/√curvature), by the symmetric root of the inverse curvature: coordinate i changes mostly by z_i. It is a draw, too.
func (g *Gaussian) By(z []float64) []float64 {
	turned := make([]float64, len(z))
	for k := range turned {
		for i, v := range z {
			turned[k] += g.axes.At(i, k) * v
		}
	}
	return g.Along(turned)
}

// Draw is a draw from the Gaussian.
func (g *Gaussian) Draw(random *rand.Rand) []float64 { return g.Along(normals(random, len(g.Mode))) }

// Normals returns n draws of m standard normal variables, [n][m]. Each variable is once in each of n equally probable intervals (a Latin
// hypercube: McKay, Beckman & Conover 1979), in an order in which draws that follow each other are far apart (by multiples of the roots of
// primes: Richtmyer 1951). So means over all draws and over a part of them vary less than means over independent draws.
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

// SD is the standard deviation of coordinate i.
func (g *Gaussian) SD(i int) float64 {
	variance := 0.0
	for k, c := range g.curvature {
		a := g.Scale[i] * g.axes.At(i, k)
		variance += a * a / c
	}
	return math.Sqrt(variance)
}

// Information is the curvature that NewGaussian takes, [n,n], with its least eigenvalues raised.
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

// LogEvidence is the log of the integral of exp(objective), by the Gaussian.
func (g *Gaussian) LogEvidence() float64 {
	e := g.Value
	for i, c := range g.curvature {
		e += 0.5*math.Log(2*math.Pi/c) + math.Log(g.Scale[i])
	}
	return e
}

// slopeAlong turns a gradient by v into one by the z of Along.
func (g *Gaussian) slopeAlong(gradient []float64) []float64 {
	slope := make([]float64, len(gradient))
	for k, c := range g.curvature {
		for i, d := range gradient {
			slope[k] += g.Scale[i] * g.axes.At(i, k) * d / math.Sqrt(c)
		}
	}
	return slope
}

func normals(random *rand.Rand, n int) []float64 {
	z := make([]float64, n)
	for i := range z {
		z[i] = random.NormFloat64()
	}
	return z
}
