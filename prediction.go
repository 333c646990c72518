package vssgp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Prediction is the predictive distribution at N inputs, in the data's units
// (eqs. pred_mean, pred_uncertainty).
type Prediction struct {
	N, D  int       // rows and outputs
	Mean  []float64 // [N,D]
	Cov   []float64 // [N,D,D] of the observed y: function and noise
	Noise []float64 // [D] the noise's part of each output's variance, τ⁻¹ in units of y²

	// own is Cov in the model's units, [N,D,D], and ownNoise τ⁻¹, for outputs so
	// small or large that their variances leave float64's range in Cov and Noise;
	// nil for all others. unit [D] is what SD and LogDensity multiply by then.
	own      []float64
	ownNoise float64
	unit     []float64
}

// SD is the standard deviation [N,D] of the observed y, or with noise false
// that of the function beneath it.
func (p *Prediction) SD(noise bool) []float64 {
	if p == nil {
		return nil
	}
	sd := make([]float64, p.N*p.D)
	for n := range p.N {
		for d := range p.D {
			at := (n*p.D+d)*p.D + d
			v, part, unit := 0.0, 0.0, 1.0
			if p.own != nil {
				v, part, unit = p.own[at], p.ownNoise, p.unit[d]
			} else {
				v, part = p.Cov[at], p.Noise[d]
			}
			if !noise {
				v -= part
			}
			sd[n*p.D+d] = unit * math.Sqrt(max(0, v))
		}
	}
	return sd
}

// LogDensity is LogDensityContext without an end.
func (p *Prediction) LogDensity(y []float64) ([]float64, error) {
	return p.LogDensityContext(context.Background(), y)
}

// LogDensityContext is ln N(y_n; mean_n, Cov_n) of each row n of y [N,D], the outputs of
// a row jointly, in nats; NaN where a covariance is not positive definite. Errors
// wrap ErrData, of y of another shape, or ctx.Err() soon after ctx has ended.
func (p *Prediction) LogDensityContext(ctx context.Context, y []float64) ([]float64, error) {
	if p == nil || len(y) != p.N*p.D || len(p.Mean) != len(y) || len(p.Cov) != len(y)*p.D {
		return nil, fmt.Errorf("vssgp: log density: %d values of y do not fit the prediction, want [N,D] as its mean: %w", len(y), ErrData)
	}
	d, cov := p.D, p.Cov
	if p.own != nil {
		cov = p.own
	}
	out := make([]float64, p.N)
	diff := mat.NewVecDense(max(1, d), nil)
	var chol mat.Cholesky
	for n := range out {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("vssgp: log density: interrupted: %w", err)
		}
		logUnits := 0.0
		for i := range d {
			v := y[n*d+i] - p.Mean[n*d+i]
			if p.own != nil {
				v /= p.unit[i]
				logUnits += math.Log(p.unit[i])
			}
			diff.SetVec(i, v)
		}
		var solved mat.VecDense
		if !chol.Factorize(mat.NewSymDense(d, cov[n*d*d:][:d*d])) || chol.SolveVecTo(&solved, diff) != nil {
			out[n] = math.NaN()
			continue
		}
		out[n] = -0.5*(float64(d)*math.Log(2*math.Pi)+chol.LogDet()+mat.Dot(diff, &solved)) - logUnits
	}
	return out, nil
}

// leastSquare and mostSquare bound units of y whose variances float64 holds.
const leastSquare, mostSquare = 1e-130, 1e130

// keepUnits keeps the covariances in the model's units beside those in the
// data's where these leave float64's range.
func (m *Model) keepUnits(p *Prediction) {
	if !slices.ContainsFunc(m.Y.Scale, func(s float64) bool { return s < leastSquare || s > mostSquare }) {
		return
	}
	p.unit, p.own, p.ownNoise = slices.Clone(m.Y.Scale), slices.Clone(p.Cov), 1/m.Params.NoisePrecision[0]
	for i := range p.Mean {
		p.own[i*p.D+i%p.D] += p.ownNoise
	}
}

// noise is τ⁻¹ in the units of each output.
func (m *Model) noise() []float64 {
	v := make([]float64, m.Params.D)
	for d, s := range m.Y.Scale {
		v[d] = s * s / m.Params.NoisePrecision[0]
	}
	return v
}
