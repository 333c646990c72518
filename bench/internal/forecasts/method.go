package forecasts

import (
	"context"
	"fmt"
	"math"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/series"
)

// A Forecast is a method's prediction for a problem. It contains for each input the mean and the standard deviation of
// an observation, including noise. A method that averages over hyper-parameters also provides the means and standard
// deviations of its draws [draws][inputs], whose mixture with equal weights is scored. Peers write forecasts as lines
// of JSON.
type Forecast struct {
	Key
	Method  string      `json:"method"`
	Version string      `json:"version,omitempty"` // version of the library
	Mean    []float64   `json:"mean,omitempty"`
	SD      []float64   `json:"sd,omitempty"`
	Means   [][]float64 `json:"means,omitempty"`
	SDs     [][]float64 `json:"sds,omitempty"`
	Seconds float64     `json:"seconds"`
	Status  string      `json:"status"` // ok, or the error

	own *series.Prediction // prediction of package series, which contains the draws; nil for other methods
}

// A forecaster forecasts a problem.
type forecaster func(ctx context.Context, p *Problem) (Forecast, error)

// A method is a forecaster with its name.
type method struct {
	name     string
	forecast forecaster
}

// methods lists the methods of this program in the order of the tables.
var methods = []method{
	{"vssgp", structural},
	{"naive", naive},
	{"seasonal_naive", seasonal},
	{"drift", drift},
}

// Methods returns the names of the methods of this program.
func Methods() []string { return jsonl.Distinct(methods, func(m method) string { return m.name }) }

// structural forecasts with package series and its default options. It does not use the season of the problem.
func structural(ctx context.Context, p *Problem) (f Forecast, err error) {
	s := series.Series{X: p.X, Y: [][]float64{p.Y}}
	for j, values := range columns(p.Regressors) {
		s.Regressors = append(s.Regressors, series.Regressor{Name: fmt.Sprint(j), Values: values})
	}
	m, err := series.Fit(ctx, s, series.Options{})
	if err != nil {
		return f, err
	}
	if f.own, err = m.Predict(ctx, p.At, columns(p.AtRegressors)...); err != nil {
		return f, err
	}
	f.Mean, f.SD = f.own.Mean[0], f.own.SD[0]
	return f, nil
}

// columns transposes rows.
func columns(rows [][]float64) (out [][]float64) {
	for i, row := range rows {
		if i == 0 {
			out = make([][]float64, len(row))
		}
		for j, v := range row {
			out[j] = append(out[j], v)
		}
	}
	return out
}

// naive repeats the last value. The standard deviation is estimated from past errors at the same distance.
func naive(_ context.Context, p *Problem) (Forecast, error) {
	return near(p.Series, 1, 0, p.At)
}

// seasonal repeats the last value at the same phase of the season.
func seasonal(_ context.Context, p *Problem) (Forecast, error) {
	return near(p.Series, p.Season, 0, p.At)
}

// drift extrapolates the line through the first and the last value.
func drift(_ context.Context, p *Problem) (Forecast, error) {
	n := len(p.Y) - 1
	return near(p.Series, 1, (p.Y[n]-p.Y[0])/float64(len(newGrid(p.Series).y)-1), p.At)
}

// near forecasts by the nearest value at a distance of whole seasons, plus drift for each step.
func near(s Series, season int, drift float64, at []float64) (f Forecast, err error) {
	g := newGrid(s)
	for _, x := range at {
		i := g.at(x)
		from := g.nearest(i, season)
		if from < 0 {
			return f, fmt.Errorf("x = %g: there is no observation at a distance of whole seasons", x)
		}
		far := max(i-from, from-i)
		sd := g.spread(far, season, drift)
		if drift != 0 { // adds the uncertainty of the drift
			sd *= math.Sqrt(1 + float64(far)/float64(len(g.y)-1))
		}
		f.Mean = append(f.Mean, g.y[from]+drift*float64(i-from))
		f.SD = append(f.SD, sd)
	}
	return f, nil
}
