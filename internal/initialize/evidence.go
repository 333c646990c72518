package initialize

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/variational"
)

// A gaussian is an exact Gaussian process on a few rows. Its covariance is a sum of squared
// exponentials, each with a length-scale for every input, and noise.
type gaussian struct {
	ctx   context.Context
	rows  *backend.Data
	parts int // number of squared exponentials
	prior TablePriors

	scaled [][]float64 // [parts] x/l [N,Q]
	terms  [][]float64 // [parts] σ²·exp(−½r²), [N,N], lower triangle
	sum    *backend.Gram
	y      []float64 // outputs divided by their factors [N,D]
	alpha  []float64 // K⁻¹y [N,D]
}

const (
	// gaussianJitter is added to the noise, relative to the variance of the kernel.
	gaussianJitter = 1e-9
	// gaussianBlock is the number of rows of the kernel matrix that a core computes at a time.
	gaussianBlock = 16
)

// newGaussian returns a Gaussian process on rows without parameters.
func newGaussian(ctx context.Context, rows *backend.Data, parts int, prior TablePriors) *gaussian {
	g := &gaussian{ctx: ctx, rows: rows, parts: parts, prior: prior}
	g.sum, g.y, g.alpha = backend.NewGram([]int{0, rows.N}), slices.Clone(rows.Y), make([]float64, len(rows.Y))
	for range parts {
		g.scaled = append(g.scaled, make([]float64, len(rows.X)))
		g.terms = append(g.terms, make([]float64, rows.N*rows.N))
	}
	return g
}

// gaussianBytes returns the memory of a gaussian of n rows.
func gaussianBytes(n, parts int) float64 { return 8 * float64(n) * float64(n) * float64(parts+2) }

// evidence returns the log marginal likelihood of the rows plus the log prior, and its gradient with
// respect to v: the logarithms of the noise variance, and then of σ² and of l [Q] for each part. If v
// is longer, its last entries are the logarithms of factors by which the outputs after the first are
// divided. evidence implements lbfgs.Func. With α = K⁻¹y and H = ½(ααᵀ − D·K⁻¹), the derivative
// in direction dK is ΣH∘dK.
func (g *gaussian) evidence(v, gradient []float64) (float64, error) {
	if err := g.ctx.Err(); err != nil {
		return 0, fmt.Errorf("%w: %w", lbfgs.ErrStop, err)
	}
	n, d, noise := g.rows.N, g.rows.D, math.Exp(v[0])
	variance := g.covariance(v)
	factor, err := blocktri.Factorize(g.sum, noise+gaussianJitter*variance, 1)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", variational.ErrBound, err)
	}
	factors := v[g.kernelSize():]
	for i := range g.y {
		if k := i%d - 1; k >= 0 && k < len(factors) {
			g.y[i] = g.rows.Y[i] * math.Exp(-factors[k])
		}
	}
	copy(g.alpha, g.y)
	factor.Solve(g.alpha, d)
	squares := make([]float64, d) // yᵀα of each output
	for i, a := range g.alpha {
		squares[i%d] += a * g.y[i]
	}
	value := -0.5 * (float64(d)*factor.LogDet() + float64(n*d)*math.Log(2*math.Pi))
	for _, s := range squares {
		value -= 0.5 * s
	}
	factor.Inverse()
	g.differentiate(v, gradient)
	for k, f := range factors {
		if s := squares[k+1]; s > 0 { // any factor is right for an output of zeros
			value -= float64(n) * f
			gradient[g.kernelSize()+k] = s - float64(n)
		}
	}
	return value + g.logPrior(v, gradient), nil
}

// kernelSize returns the number of coordinates of the noise and the kernel.
func (g *gaussian) kernelSize() int { return 1 + g.parts*(1+g.rows.Q) }

// logPrior returns the log density of v and adds its gradient.
func (g *gaussian) logPrior(v, gradient []float64) (sum float64) {
	add := func(i int, p bayes.Prior) {
		if p != (bayes.Prior{}) {
			value, slope := p.Log(v[i])
			sum += value
			gradient[i] += slope
		}
	}
	add(0, g.prior.Noise)
	for i := 1; i < g.kernelSize(); i += 1 + g.rows.Q {
		add(i, g.prior.Variance)
		for q, p := range g.prior.Lengthscale {
			add(i+1+q, p)
		}
	}
	return sum
}

// covariance computes the kernel matrix for v and returns its diagonal Σσ².
func (g *gaussian) covariance(v []float64) (variance float64) {
	n, q := g.rows.N, g.rows.Q
	scale := make([]float64, q)
	amplitudes := make([]float64, g.parts)
	for p := range g.parts {
		at := v[1+p*(q+1):][:q+1]
		amplitudes[p] = math.Exp(at[0])
		variance += amplitudes[p]
		for k := range q {
			scale[k] = math.Exp(-at[1+k])
		}
		for i, x := range g.rows.X {
			g.scaled[p][i] = x * scale[i%q]
		}
	}
	sum := g.sum.Diag[0][:n*n]
	parallel.Blocks(n, gaussianBlock, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := sum[i*n:][:i+1]
			clear(row)
			for p, x := range g.scaled {
				term, own := g.terms[p][i*n:][:i+1], x[i*q:][:q]
				for j := range term {
					r := 0.0
					for k, u := range x[j*q:][:q] {
						r += (own[k] - u) * (own[k] - u)
					}
					term[j] = amplitudes[p] * math.Exp(-0.5*r)
					row[j] += term[j]
				}
			}
		}
	})
	parallel.Blocks(n, gaussianBlock, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			for j := range i {
				sum[j*n+i] = sum[i*n+j]
			}
		}
	})
	return variance
}

// differentiate writes the gradient of the evidence. The memory of the kernel matrix contains K⁻¹.
func (g *gaussian) differentiate(v, gradient []float64) {
	n, q, d := g.rows.N, g.rows.Q, g.rows.D
	inverse := g.sum.Diag[0]
	blocks := (n + gaussianBlock - 1) / gaussianBlock
	sums := make([][]float64, blocks)
	parallel.Blocks(n, gaussianBlock, func(b, lo, hi int) {
		out := make([]float64, len(v))
		for i := lo; i < hi; i++ {
			h := make([]float64, i+1) // row of 2H; of H on the diagonal
			for j := range h {
				h[j] = -float64(d) * inverse[i*n+j]
				for k := range d {
					h[j] += g.alpha[i*d+k] * g.alpha[j*d+k]
				}
			}
			h[i] *= 0.5
			out[0] += h[i]
			for p, x := range g.scaled {
				own, at := x[i*q:][:q], out[1+p*(q+1):][:q+1]
				for j, k := range g.terms[p][i*n:][:i+1] {
					w := h[j] * k
					at[0] += w
					for c, u := range x[j*q:][:q] {
						at[1+c] += w * (own[c] - u) * (own[c] - u)
					}
				}
			}
		}
		sums[b] = out
	})
	clear(gradient)
	for _, part := range sums {
		for i, s := range part {
			gradient[i] += s
		}
	}
	gradient[0] *= math.Exp(v[0])
}
