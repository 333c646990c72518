package bayes

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// An Evaluation is an objective's value at a place, with its gradient and the information: a positive semidefinite matrix that stands for
// the negative Hessian, such as its expectation over data (Fisher's information).
type Evaluation struct {
	Value       float64
	Gradient    []float64
	Information []float64 // [n,n], both triangles
}

// Reset makes room for n coordinates and sets everything to 0.
func (e *Evaluation) Reset(n int) {
	e.Value, e.Gradient, e.Information = 0, make([]float64, n), make([]float64, n*n)
}

// AddTo adds to entry (i, j) of the information.
func (e *Evaluation) AddTo(i, j int, v float64) { e.Information[i*len(e.Gradient)+j] += v }

// Add adds to entries (i, j) and (j, i), or to (i, i).
func (e *Evaluation) Add(i, j int, v float64) {
	e.AddTo(i, j, v)
	if i != j {
		e.AddTo(j, i, v)
	}
}

// Scored is an objective with information, without priors.
type Scored func(e *Evaluation, v []float64) error

// WithPriors adds the log priors and their information.
func (f Scored) WithPriors(priors []Prior) Scored {
	return func(e *Evaluation, v []float64) error {
		if err := f(e, v); err != nil {
			return err
		}
		for i, p := range priors {
			log, slope := p.Log(v[i])
			e.Value += log
			e.Gradient[i] += slope
			e.AddTo(i, i, 1/(p.SD*p.SD))
		}
		return nil
	}
}

// Func is the objective as L-BFGS and HMC want it.
func (f Scored) Func(v, gradient []float64) (float64, error) {
	var e Evaluation
	if err := f(&e, v); err != nil {
		return 0, err
	}
	copy(gradient, e.Gradient)
	return e.Value, nil
}

const (
	firstDamping = 1e-3 // of the information's diagonal
	mostDamping  = 1e12
	largestStep  = 2.0 // of a coordinate, a logarithm, at once
)

// Climb finds a mode by Fisher scoring with Levenberg's damping: it solves (H + μ diag H)·step = gradient and takes the step if the value
// rises. It ends when a step promises less than gain, or after the given number of evaluations, and returns the best place.
func Climb(ctx context.Context, f Scored, start []float64, gain float64, evaluations int) (mode []float64, at *Evaluation, err error) {
	mode, at = slices.Clone(start), &Evaluation{}
	if err := f(at, mode); err != nil {
		return nil, nil, err
	}
	next, damping := &Evaluation{}, firstDamping
	for n := 1; n < evaluations && damping < mostDamping; n++ {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		step, promise, ok := at.step(damping)
		if ok && promise < gain {
			break
		}
		v := slices.Clone(mode)
		for i := range step {
			v[i] += step[i]
		}
		if !ok || f(next, v) != nil || !(next.Value > at.Value) {
			damping *= 10
			continue
		}
		rise := next.Value - at.Value
		mode, at, next = v, next, at
		switch {
		case rise > 0.75*promise:
			damping = max(damping/10, 1e-9)
		case rise < 0.25*promise:
			damping *= 4
		}
	}
	return mode, at, nil
}

// step solves for a damped step, and says by how much it should raise the value.
func (e *Evaluation) step(damping float64) (step []float64, promise float64, ok bool) {
	n := len(e.Gradient)
	if n == 0 {
		return nil, 0, true
	}
	h := mat.NewSymDense(n, slices.Clone(e.Information))
	for i := range n {
		h.SetSym(i, i, h.At(i, i)*(1+damping))
	}
	var c mat.Cholesky
	var s mat.VecDense
	if !c.Factorize(h) || c.SolveVecTo(&s, mat.NewVecDense(n, e.Gradient)) != nil {
		return nil, 0, false
	}
	step = slices.Clone(s.RawVector().Data)
	longest := 0.0
	for _, v := range step {
		longest = max(longest, math.Abs(v))
	}
	if longest > largestStep {
		for i := range step {
			step[i] *= largestStep / longest
		}
	}
	for i, s := range step {
		promise += e.Gradient[i] * s
		for j, t := range step {
			promise -= 0.5 * s * t * e.Information[i*n+j]
		}
	}
	return step, promise, true
}

// Gaussian is N(mode, information⁻¹).
func (e *Evaluation) Gaussian(mode, scale []float64) (*Gaussian, error) {
	n, h := len(mode), slices.Clone(e.Information)
	for i := range h {
		h[i] *= scale[i/n] * scale[i%n]
	}
	return NewGaussian(mode, scale, e.Value, h)
}
