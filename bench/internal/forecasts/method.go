package forecasts

import (
	"context"
	"fmt"
	"math"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/series"
)

// A Forecast is a method's prediction for a problem: for each input the mean and the standard deviation of an observation, noise included.
// A method that averages over hyper-parameters adds the means and deviations of its draws, [draws][inputs], whose equal mixture is then
// scored. It is a line of JSON that peers write, too.
type Forecast struct {
	Key
	Method  string      `json:"method"`
	Version string      `json:"version,omitempty"` // of the library
	Mean    []float64   `json:"mean,omitempty"`
	SD      []float64   `json:"sd,omitempty"`
	Means   [][]float64 `json:"means,omitempty"`
	SDs     [][]float64 `json:"sds,omitempty"`
	Seconds float64     `json:"seconds"`
	Status  string      `json:"status"` // ok, or the error

	own *series.Prediction // of this program's model, which has its draws itself
}

// A forecaster forecasts a problem.
type forecaster func(ctx context.Context, p *Problem) (Forecast, error)

// A method is a forecaster with its name.
type method struct {
	name     string
	forecast forecaster
}

// methods are the methods of this program, in the order of the tables.
var methods = []method{
	{"vssgp", structural},
	{"naive", naive},
	{"seasonal_naive", seasonal},
	{"drift", drift},
}

// Methods are the names of this program's methods.
func Methods() []string { return jsonl.Distinct(methods, func(m method) string { return m.name }) }

// structural is package series as it comes. It is not told the season.
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

// columns returns the columns of rows of numbers.
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

// naive repeats the last number, with the standard deviation of its past errors at that distance.
func naive(_ context.Context, p *Problem) (Forecast, error) {
	return near(p.Series, 1, 0, p.At)
}

// seasonal repeats the last number of the same part of the season.
func seasonal(_ context.Context, p *Problem) (Forecast, error) {
	return near(p.Series, p.Season, 0, p.At)
}

// drift continues the line through the first and the last number.
func drift(_ context.Context, p *Problem) (Forecast, error) {
	n := len(p.Y) - 1
	return near(p.Series, 1, (p.Y[n]-p.Y[0])/float64(len(newGrid(p.Series).y)-1), p.At)
}

// near forecasts by the nearest number that is whole seasons away, plus a drift a step. Beyond the end that is the last one.
func near(s Series, season int, drift float64, at []float64) (f Forecast, err error) {
	g := newGrid(s)
	for _, x := range at {
		i := g.at(x)
		from := g.nearest(i, season)
		if from < 0 {
			return f, fmt.Errorf("x = %g: no observation at a distance of a whole number of seasons", x)
		}
		far := max(i-from, from-i)
		sd := g.spread(far, season, drift)
		if drift != 0 { // the drift is an estimate, too
			sd *= math.Sqrt(1 + float64(far)/float64(len(g.y)-1))
		}
		f.Mean = append(f.Mean, g.y[from]+drift*float64(i-from))
		f.SD = append(f.SD, sd)
	}
	return f, nil
}
