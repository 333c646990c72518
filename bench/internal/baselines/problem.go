package baselines

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/vssgp/vssgp"
)

// startingNoise is the share of a column's variance that is noise where
// Options.NoisePrecision is 0.
const startingNoise = 0.01

// A problem holds data and options made ready for a fit: x in its own units, y scaled.
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
// Errors wrap vssgp.ErrData or vssgp.ErrOptions.
func prepare(data *vssgp.Data, o Options) (*problem, error) {
	began := time.Now()
	if data == nil {
		return nil, fmt.Errorf("baselines: no data: %w", vssgp.ErrData)
	}
	if err := data.Check(); err != nil {
		return nil, fmt.Errorf("baselines: %w", err)
	}
	_, y := data.Standardize()
	p := &problem{units: units{data.Q, y}, o: o, n: data.N, d: data.D, x: slices.Clone(data.X), y: y.ToModel(data.Y), began: began}
	p.start = hyper{cov: o.Covariance.Clone(), noise: startingNoise}
	if reflect.ValueOf(o.Covariance).IsZero() {
		p.start.cov = defaultCovariance(data)
	}
	if err := p.start.cov.check(data.Q); err != nil {
		return nil, err
	}
	if o.Iterations < NoIterations {
		return nil, fmt.Errorf("baselines: %d iterations; want a positive number, 0 for the default or NoIterations: %w",
			o.Iterations, vssgp.ErrOptions)
	}
	if o.NoisePrecision != 0 {
		p.start.noise = 1 / (o.NoisePrecision * y.Scale[0] * y.Scale[0])
	}
	if !positive(p.start.noise) {
		return nil, fmt.Errorf("baselines: noise precision %v, the first output's standard deviation %v; "+
			"want a positive number, or 0 for the default: %w", o.NoisePrecision, y.Scale[0], vssgp.ErrOptions)
	}
	return p, nil
}

// iterations returns how many to take at most; usual is for the option's 0.
func (p *problem) iterations(usual int) int {
	return max(0, cmp.Or(p.o.Iterations, usual)) // NoIterations is negative
}

// checkRows reports rows x [n,Q] that a model cannot predict at.
func (u units) checkRows(ctx context.Context, x []float64) error {
	if len(x) == 0 || len(x)%u.q != 0 {
		return fmt.Errorf("baselines: x has %d numbers, must be one or more rows of %d inputs: %w", len(x), u.q, vssgp.ErrData)
	}
	for i, v := range x {
		if !finite(v) {
			return fmt.Errorf("baselines: input %d of row %d to predict at is %v; want a finite number: %w", i%u.q, i/u.q, v, vssgp.ErrData)
		}
	}
	return ctx.Err()
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

// noiseSD returns the noise's standard deviation in units of the first output.
func (u units) noiseSD(h hyper) float64 { return math.Sqrt(h.noise) * u.out.Scale[0] }

// fit returns the result of a fit that ended at h.
func (p *problem) fit(m Model, h hyper, bound float64, iterations int, ended string) *Fit {
	return &Fit{
		Model: m, Bound: bound, Covariance: h.cov.upright(), NoiseSD: p.noiseSD(h),
		Iterations: iterations, Ended: ended, Elapsed: time.Since(p.began),
	}
}

// report calls Options.Progress after some iterations of so many.
func (p *problem) report(done, of int, bound float64, h hyper) {
	if p.o.Progress == nil {
		return
	}
	elapsed := time.Since(p.began)
	p.o.Progress(vssgp.Progress{
		Start: 1, Starts: 1, Stage: "all", Iteration: done, Iterations: of, Bound: bound, NoiseSD: p.noiseSD(h),
		Elapsed: elapsed, Left: time.Duration(float64(elapsed) / float64(done) * float64(of-done)),
	})
}

// ended returns the error of a fit that ctx has ended, nil if it has not.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("baselines: fit interrupted: %w", err)
	}
	return nil
}
