package bayes

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// An Evaluation contains the value, the gradient and the information of an objective at a point. The information is a positive
// semidefinite approximation of the negative Hessian, such as the Fisher information.
type Evaluation struct {
	Value       float64
	Gradient    []float64
	Information []float64 // [n,n], both triangles
}

// Reset sets the value, the gradient [n] and the information [n,n] to 0.
func (e *Evaluation) Reset(n int) {
	e.Value, e.Gradient, e.Information = 0, make([]float64, n), make([]float64, n*n)
}

// AddTo adds v to entry (i, j) of the information.
func (e *Evaluation) AddTo(i, j int, v float64) { e.Information[i*len(e.Gradient)+j] += v }

// Add adds v to entries (i, j) and (j, i), or once if i = j.
func (e *Evaluation) Add(i, j int, v float64) {
	e.AddTo(i, j, v)
	if i != j {
		e.AddTo(j, i, v)
	}
}

// A Scored is an objective with information, without priors.
type Scored func(e *Evaluation, v []float64) error

// WithPriors returns the objective plus the log priors and their information.
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

const (
	firstDamping   = 1e-3 // relative to the diagonal of the information
	minDamping     = 1e-6
	maxDamping     = 1e12
	minEigenvalue  = 1e-6 // of the information, relative to its diagonal
	minInformation = 1e-9
	largestStep    = 2.0 // maximum step of a coordinate (a logarithm)
)

// Climb finds a mode by Fisher scoring with Levenberg–Marquardt damping. It solves (H + μ diag H)·step = gradient and accepts the
// step if the value increases. It stops if the predicted gain of a step is below gain, if a step with a predicted gain below 10·gain
// fails, or after the given number of evaluations. It returns the best coordinates and the evaluation there. The error is the error
// of ctx, or of f at start.
func Climb(ctx context.Context, f Scored, start []float64, gain float64, evaluations int) (mode []float64, at *Evaluation, err error) {
	mode, at = slices.Clone(start), &Evaluation{}
	if err := f(at, mode); err != nil {
		return nil, nil, err
	}
	next, damping := &Evaluation{}, firstDamping
	for n := 1; n < evaluations && damping < maxDamping; n++ {
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
				break // the gain is below the noise of the value
			}
			damping = max(10*damping, firstDamping)
			continue
		}
		rise := next.Value - at.Value
		mode, at, next = v, next, at
		switch {
		case rise > 0.75*promise:
			damping = max(damping/10, minDamping)
		case rise < 0.25*promise:
			damping *= 4
		}
	}
	return mode, at, nil
}

// step returns a damped step and its predicted gain. It uses the magnitudes of the eigenvalues of the information, so the step is an
// ascent direction even if the information is not positive definite.
func (e *Evaluation) step(damping float64) (step []float64, promise float64) {
	n := len(e.Gradient)
	if n == 0 {
		return nil, 0
	}
	unit := make([]float64, n)
	for i := range n {
		unit[i] = 1 / math.Sqrt(max(e.Information[i*n+i], minInformation))
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
		c = max(math.Abs(c), minEigenvalue)
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

// Gaussian returns N(mode, information⁻¹).
func (e *Evaluation) Gaussian(mode, scale []float64) (*Gaussian, error) {
	n, h := len(mode), slices.Clone(e.Information)
	for i := range h {
		h[i] *= scale[i/n] * scale[i%n]
	}
	return NewGaussian(mode, scale, e.Value, h)
}
