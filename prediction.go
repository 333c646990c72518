package vssgp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/bayes"
)

// Prediction is the predictive distribution at N inputs, in the data's units
// (eqs. pred_mean, pred_uncertainty).
type Prediction struct {
	N, D  int       // rows and outputs
	Mean  []float64 // [N,D]
	Cov   []float64 // [N,D,D] of the observed y: function and noise
	Noise []float64 // [D] the noise's part of each output's variance, τ⁻¹ in units of y²

	// Beyond [N] marks the rows that lie outside of the data of the fit (Model.Range), in any input; nil: none does, or it is not known.
	// Do not trust the error bars there: away from the data the variance goes to τ⁻¹ + Ψ' (DESIGN.md, section 7), which is what the fitted
	// frequencies leave open and not what else the function may do, so it can be far too small. For a series, package series has a model
	// whose variance grows.
	Beyond []bool

	// parts are the predictions that this is the mean of, if it is a mixture.
	parts []*Prediction
	// own is set where outputs are so small or large that their variances leave
	// float64's range in Cov and Noise.
	own *modelUnits
}

// modelUnits are covariances and noise in the model's units.
type modelUnits struct {
	cov   []float64 // [N,D,D]
	noise []float64 // [D]
	unit  []float64 // [D] of y, in its own
}

// units are the covariances and noise variances to compute with, and the units
// [D] of y in which they are, nil for 1.
func (p *Prediction) units() (cov, noise, unit []float64) {
	if p.own != nil {
		return p.own.cov, p.own.noise, p.own.unit
	}
	return p.Cov, p.Noise, nil
}

// SD is the standard deviation [N,D] of the observed y, or of the latent function
// if noise is false.
func (p *Prediction) SD(noise bool) []float64 {
	if p == nil {
		return nil
	}
	cov, part, unit := p.units()
	sd := make([]float64, p.N*p.D)
	for i := range sd {
		d := i % p.D
		v := cov[i*p.D+d]
		if !noise {
			v -= part[d]
		}
		sd[i] = math.Sqrt(max(0, v))
		if unit != nil {
			sd[i] *= unit[d]
		}
	}
	return sd
}

// LogDensity is ln N(y_n; mean_n, Cov_n) of each row n of y [N,D], the outputs of
// a row jointly, in nats; NaN where a covariance is not positive definite. Errors
// wrap ErrData if y has another shape, or ctx.Err() soon after ctx has ended.
func (p *Prediction) LogDensity(ctx context.Context, y []float64) ([]float64, error) {
	if p == nil || len(y) != p.N*p.D || len(p.Mean) != len(y) || len(p.Cov) != len(y)*p.D {
		return nil, fmt.Errorf("vssgp: log density: %d values of y do not fit the prediction, want [N,D] as its mean: %w", len(y), ErrData)
	}
	d := p.D
	cov, _, unit := p.units()
	logUnits := 0.0
	for _, u := range unit {
		logUnits += math.Log(u)
	}
	out := make([]float64, p.N)
	diff := mat.NewVecDense(max(1, d), nil)
	var chol mat.Cholesky
	for n := range out {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("vssgp: log density: interrupted: %w", err)
		}
		for i := range d {
			v := y[n*d+i] - p.Mean[n*d+i]
			if unit != nil {
				v /= unit[i]
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

// inDataUnits adds the noise to a prediction of the latent function and brings it
// to the data's units. It takes raw's memory.
func (m *Model) inDataUnits(raw *backend.Prediction) *Prediction {
	d, noise := m.Params.D, 1/m.Params.NoisePrecision[0]
	out := &Prediction{N: len(raw.Mean) / d, D: d, Mean: raw.Mean, Cov: raw.Cov}
	if slices.ContainsFunc(m.Y.Scale, func(s float64) bool { return s < leastSquare || s > mostSquare }) {
		out.own = &modelUnits{slices.Clone(raw.Cov), slices.Repeat([]float64{noise}, d), slices.Clone(m.Y.Scale)}
		for i := range out.Mean {
			out.own.cov[i*d+i%d] += noise
		}
	}
	m.Y.toData(out.Mean)
	for _, s := range m.Y.Scale {
		out.Noise = append(out.Noise, s*s/m.Params.NoisePrecision[0])
	}
	for i := range out.Cov {
		at, e := i/d%d, i%d
		out.Cov[i] *= m.Y.Scale[at] * m.Y.Scale[e]
		if at == e {
			out.Cov[i] += out.Noise[e]
		}
	}
	return out
}

// checkFinite refuses a prediction that overflows, at rows x of which the first has a number.
func (p *Prediction) checkFinite(first int, x []float64) error {
	sd := p.SD(true)
	bad := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
	for n := range p.N {
		if slices.ContainsFunc(p.Mean[n*p.D:(n+1)*p.D], bad) || slices.ContainsFunc(sd[n*p.D:(n+1)*p.D], bad) {
			q := len(x) / p.N
			return notFinite("predict", first+n, x[n*q:(n+1)*q])
		}
	}
	return nil
}

// inUnits maps rows x to the model's units, of which the first has a number, and refuses those that leave float64's range there.
func (m *Model) inUnits(what string, first int, x []float64) ([]float64, error) {
	u, q := m.X.ToModel(x), m.Params.Q
	if at := slices.IndexFunc(u, func(v float64) bool { return math.IsInf(v, 0) }); at >= 0 && !math.IsInf(x[at], 0) {
		return nil, notFinite(what, first+at/q, x[at/q*q:][:q])
	}
	return u, nil
}

// notFinite is the error about a row x whose prediction or draw overflows.
func notFinite(what string, row int, x []float64) error {
	return fmt.Errorf("vssgp: %s: row %d, x = %.6g: the result is not finite; want x of the size of the model's data, and a model with such numbers: %w", what, row, x, ErrData)
}

// mixture is the mean of predictions: its covariance is their mean covariance and the
// covariance of their means.
func mixture(parts []*Prediction) *Prediction {
	first := parts[0]
	d, n := first.D, float64(len(parts))
	out := &Prediction{N: first.N, D: d, Mean: make([]float64, len(first.Mean)), Cov: make([]float64, len(first.Cov)), Noise: make([]float64, d), parts: parts}
	unit, cov, noise := slices.Repeat([]float64{1}, d), out.Cov, out.Noise
	if first.own != nil {
		unit, cov, noise = first.own.unit, make([]float64, len(cov)), make([]float64, d)
		out.own = &modelUnits{cov, noise, unit}
	}
	for _, p := range parts {
		for i, v := range p.Mean {
			out.Mean[i] += v / n
		}
	}
	off := func(p *Prediction, row, d int) float64 { return (p.Mean[row+d] - out.Mean[row+d]) / unit[d] }
	for _, p := range parts {
		one, own, _ := p.units()
		for i, v := range one {
			row := i / d / d * d
			cov[i] += (v + off(p, row, i/d%d)*off(p, row, i%d)) / n
		}
		for i, v := range own {
			noise[i] += v / n
		}
	}
	for i := 0; out.own != nil && i < len(cov); i++ {
		out.Cov[i] = cov[i] * unit[i/d%d] * unit[i%d]
	}
	for i := 0; out.own != nil && i < d; i++ {
		out.Noise[i] = noise[i] * unit[i] * unit[i]
	}
	return out
}

// Quantile is the value [N,D] that each observed y, or the latent function if noise is
// false, stays below with probability prob: of a Gaussian, or of the mixture from a
// PosteriorPredictor. It panics unless 0 < prob < 1: the 95th percentile is that of 0.95.
func (p *Prediction) Quantile(prob float64, noise bool) []float64 {
	if !(prob > 0 && prob < 1) {
		panic(fmt.Sprintf("vssgp: quantile of probability %v, want a number between 0 and 1, such as 0.95", prob))
	}
	if p == nil {
		return nil
	}
	parts := p.parts
	if parts == nil {
		parts = []*Prediction{p}
	}
	sds := make([][]float64, len(parts))
	for s, one := range parts {
		sds[s] = one.SD(noise)
	}
	out := make([]float64, len(p.Mean))
	mix := bayes.Mixture{Means: make([]float64, len(parts)), SDs: make([]float64, len(parts))}
	for i := range out {
		for s, one := range parts {
			mix.Means[s], mix.SDs[s] = one.Mean[i], max(sds[s][i], math.SmallestNonzeroFloat64)
		}
		out[i] = mix.Quantile(prob)
	}
	return out
}

// room makes a prediction like p of n rows, to be filled in.
func (p *Prediction) room(n int) *Prediction {
	out := &Prediction{N: n, D: p.D, Mean: make([]float64, n*p.D), Cov: make([]float64, n*p.D*p.D), Noise: p.Noise}
	if p.own != nil {
		out.own = &modelUnits{make([]float64, len(out.Cov)), p.own.noise, p.own.unit}
	}
	for _, one := range p.parts {
		out.parts = append(out.parts, one.room(n))
	}
	return out
}

// copy copies the rows of q to those of p from row first.
func (p *Prediction) copy(q *Prediction, first int) {
	copy(p.Mean[first*p.D:], q.Mean)
	copy(p.Cov[first*p.D*p.D:], q.Cov)
	if p.own != nil {
		copy(p.own.cov[first*p.D*p.D:], q.own.cov)
	}
	for i, one := range p.parts {
		one.copy(q.parts[i], first)
	}
}
