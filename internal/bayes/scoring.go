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
	firstDamping     = 1e-3 // of the information's diagonal
	leastDamping     = 1e-6
	mostDamping      = 1e12
	leastEigenvalue  = 1e-6 // of the information in units of its diagonal
	leastInformation = 1e-9
	largestStep      = 2.0 // of a coordinate, a logarithm, at once
)

// Climb finds a mode by Fisher scoring with Levenberg's damping: it solves (H + μ diag H)·step = gradient and takes the step if the value
// rises. It ends when a step promises less than gain, if one that promises less than ten times as much does not raise the value, or after the
// given number of evaluations, and returns the best coordinates.
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
		step, promise := at.step(damping)
		if promise < gain {
			break
		}
		v := slices.Clone(mode)
		for i := range step {
			v[i] += step[i]
		}
		if f(next, v) != nil || !(next.Value > at.Value) {
			if promise < 10*gain {
				break // the value is not smooth enough to rise by so little
			}
			damping = max(10*damping, firstDamping)
			continue
		}
		rise := next.Value - at.Value
		mode, at, next = v, next, at
		switch {
		case rise > 0.75*promise:
			damping = max(damping/10, leastDamping)
		case rise < 0.25*promise:
			damping *= 4
		}
	}
	return mode, at, nil
}

// step returns a damped step and the rise of the value that it promises. In units of the information's diagonal, eigenvalues count by their
// magnitude: where the information is not positive definite, a step still goes uphill.
func (e *Evaluation) step(damping float64) (step []float64, promise float64) {
	n := len(e.Gradient)
	if n == 0 {
		return nil, 0
	}
	unit := make([]float64, n)
	for i := range n {
		unit[i] = 1 / math.Sqrt(max(e.Information[i*n+i], leastInformation))
	}
	h := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			h.SetSym(i, j, e.Information[i*n+j]*unit[i]*unit[j])
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(h, true) {
		return nil, 0
	}
	var axes mat.Dense
	eigen.VectorsTo(&axes)
	step = make([]float64, n)
	for k, c := range eigen.Values(nil) {
		slope := 0.0
		for i, g := range e.Gradient {
			slope += axes.At(i, k) * g * unit[i]
		}
		c = max(math.Abs(c), leastEigenvalue)
		along := slope / (c + damping)
		promise += along * (slope - 0.5*c*along)
		for i := range step {
			step[i] += along * axes.At(i, k) * unit[i]
		}
	}
	longest := 0.0
	for _, v := range step {
		longest = max(longest, math.Abs(v))
	}
	if longest > largestStep {
		for i := range step {
			step[i] *= largestStep / longest
		}
	}
	return step, promise
}

// Gaussian is N(mode, information⁻¹).
func (e *Evaluation) Gaussian(mode, scale []float64) (*Gaussian, error) {
	n, h := len(mode), slices.Clone(e.Information)
	for i := range h {
		h[i] *= scale[i/n] * scale[i%n]
	}
	return NewGaussian(mode, scale, e.Value, h)
}
