package baseline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/matrices"
)

// startingNoise is the share of a column's variance that is noise where
// Options.NoisePrecision is 0.
const startingNoise = 0.01

// problem is data and options made ready for a fit: x in its own units, y scaled.
type problem struct {
	units
	o     Options
	n, d  int
	x     []float64 // [N,Q]
	y     []float64 // [N,D], mean 0 and standard deviation 1 by column
	start hyper
	began time.Time
}

// units are the number of inputs, and the scale of the outputs.
type units struct {
	q   int
	out vssgp.Affine // of the outputs
}

// prepare checks data and options, scales y and completes the starting values.
// Errors wrap vssgp.ErrData or ErrOptions.
func prepare(data *vssgp.Data, o Options) (*problem, error) {
	began := time.Now()
	if data == nil {
		return nil, fmt.Errorf("baseline: no data: %w", vssgp.ErrData)
	}
	if err := data.Check(); err != nil {
		return nil, fmt.Errorf("baseline: %w", err)
	}
	_, y := data.Standardise()
	p := &problem{units: units{data.Q, y}, o: o, n: data.N, d: data.D, x: slices.Clone(data.X), y: y.ToModel(data.Y), began: began}
	if o.Covariance.isZero() {
		p.start.cov = defaultCovariance(data)
	} else {
		p.start.cov = o.Covariance.Clone()
	}
	if err := p.start.cov.check(data.Q); err != nil {
		return nil, err
	}
	if o.Iterations < NoIterations {
		return nil, fmt.Errorf("baseline: %d iterations; want a positive number, 0 for the default or NoIterations: %w",
			o.Iterations, ErrOptions)
	}
	p.start.noise = startingNoise
	if o.NoisePrecision != 0 {
		p.start.noise = 1 / (o.NoisePrecision * y.Scale[0] * y.Scale[0])
	}
	if !(p.start.noise > 0) || math.IsInf(p.start.noise, 0) {
		return nil, fmt.Errorf("baseline: noise precision %v, the first output's standard deviation %v; want a positive number, or 0 for the default: %w",
			o.NoisePrecision, y.Scale[0], ErrOptions)
	}
	return p, nil
}

// iterations are how many to take at most; usual is for the option's 0.
func (p *problem) iterations(usual int) int {
	switch p.o.Iterations {
	case 0:
		return usual
	case NoIterations:
		return 0
	}
	return p.o.Iterations
}

// rows are the rows of x [n,Q] one after the other.
func (u units) rows(x mat.Matrix) ([]float64, error) {
	n, q, ok := matrices.Dims(x)
	if !ok || n == 0 || q != u.q {
		return nil, fmt.Errorf("baseline: inputs to predict at have %d rows of %d columns; the model has %d inputs: %w",
			n, q, u.q, vssgp.ErrData)
	}
	out := make([]float64, 0, n*q)
	for i := range n {
		for j := range q {
			v := x.At(i, j)
			if !finite(v) {
				return nil, fmt.Errorf("baseline: input %d of row %d to predict at is %v; want a finite number: %w", j, i, v, vssgp.ErrData)
			}
			out = append(out, v)
		}
	}
	return out, nil
}

// prediction turns the function's mean and variance [n,D] and the noise's
// variance, all of the scaled y, into the data's units. The outputs are
// independent of each other.
func (u units) prediction(mean, variance []float64, noise float64) *vssgp.Prediction {
	d := len(u.out.Scale)
	p := &vssgp.Prediction{
		N: len(mean) / d, D: d, Mean: make([]float64, len(mean)), Cov: make([]float64, len(mean)*d), Noise: make([]float64, d),
	}
	for e, s := range u.out.Scale {
		p.Noise[e] = noise * s * s
	}
	for i, m := range mean {
		s := u.out.Scale[i%d]
		p.Mean[i] = u.out.Offset[i%d] + s*m
		p.Cov[i*d+i%d] = max(0, variance[i])*s*s + p.Noise[i%d]
	}
	return p
}

// fit is the result of a fit.
func (p *problem) fit(m Model, e *end, bound float64) *Fit {
	return &Fit{
		Model: m, Bound: bound, Covariance: e.h.cov.upright(), NoiseSD: math.Sqrt(e.h.noise) * p.out.Scale[0],
		Iterations: e.iterations, Ended: e.ended, Elapsed: time.Since(p.began),
	}
}

// report calls Options.Progress; of is how many iterations there may be.
func (p *problem) report(stage string, done, of int, bound, noise float64) {
	if p.o.Progress == nil {
		return
	}
	elapsed := time.Since(p.began)
	left := time.Duration(0)
	if done > 0 {
		left = time.Duration(float64(elapsed) / float64(done) * float64(of-done))
	}
	p.o.Progress(vssgp.Progress{
		Start: 1, Starts: 1, Stage: stage, Iteration: done, Iterations: of, Bound: bound,
		NoiseSD: math.Sqrt(noise) * p.out.Scale[0], Elapsed: elapsed, Left: left,
	})
}

// end is where an optimiser came to.
type end struct {
	h          hyper
	z          []float64 // inducing inputs, nil if there are none
	iterations int
	ended      string // why
}

// ended is the error of a fit that ctx has ended, nil if it has not.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("baseline: fit interrupted: %w", err)
	}
	return nil
}
