package features

import (
	"context"
	"math"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/lbfgs"
	"github.com/vssgp/vssgp/internal/posterior"
)

// least is the gain of the bound for each row that an optimisation goes on for.
const least = 1e-6

// amplitudes maximises the bound and the log priors by the components' amplitudes σ and the noise's standard deviation, all else fixed,
// and returns the iterations that it took. The priors are log-normal about where each of them begins, which Options.Priors, with one
// median for all components, cannot say.
func amplitudes(ctx context.Context, m *vssgp.Model, rows *vssgp.Data, sd float64, iterations int) (int, error) {
	params := m.Params
	n := params.L
	v, priors := make([]float64, n+1), make([]posterior.Prior, n+1)
	for i, s := range params.Variance {
		v[i] = math.Log(s) / 2
	}
	v[n] = -math.Log(params.NoisePrecision[0]) / 2
	for i := range v {
		priors[i] = posterior.Prior{Median: math.Exp(v[i]), SD: sd}
	}
	write := func(v []float64) {
		for i := range n {
			params.Variance[i] = math.Exp(2 * v[i])
		}
		params.NoisePrecision[0] = math.Exp(-2 * v[n])
	}
	objective := posterior.With(func(v, gradient []float64) (float64, error) {
		write(v)
		e, err := m.EvaluateContext(ctx, rows, vssgp.Exact, nil, true)
		if err != nil {
			return 0, err
		}
		for i, g := range e.Gradient.Variance {
			gradient[i] = 2 * params.Variance[i] * g
		}
		gradient[n] = -2 * params.NoisePrecision[0] * e.Gradient.NoisePrecision[0]
		return e.Bound, nil
	}, priors)
	state, err := lbfgs.Start(objective, v)
	if err != nil {
		return 0, err
	}
	_, err = lbfgs.Maximise(objective, state, lbfgs.Settings{Iterations: iterations, Gain: least * float64(rows.N)})
	write(state.X)
	if err == nil {
		err = ctx.Err() // evaluations that it cuts short only shorten steps
	}
	return state.Iterations, err
}
