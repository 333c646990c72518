package series

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// driven returns a series that depends on a temperature (2 units per degree) and an event (5 units), with these regressors.
func driven(n int) Series {
	s := made(n, false)
	temperature, event := make([]float64, n), make([]float64, n)
	for i := range n {
		temperature[i] = 15 + 8*math.Sin(float64(i*i))
		if i%17 == 3 {
			event[i] = 1
		}
		s.Y[0][i] += 2*temperature[i] + 5*event[i]
	}
	s.Regressors = []Regressor{{Name: "temperature", Values: temperature}, {Name: "fair", Group: "events", Values: event}}
	return s
}

// TestRegressors checks effects, forecasts and components of a model with regressors, and that a backtest uses their future values.
func TestRegressors(t *testing.T) {
	slow.Race(t)
	const n, ahead = 120, 12
	all := driven(n + ahead)
	train, rest := all.rows(0, n), all.rows(n, n+ahead)
	m := fit(t, train, Options{})
	for i, want := range []float64{2, 5} {
		e := testkit.Must(m.Effects(t.Context()))(t)[i]
		if e.Name != all.Regressors[i].Name || math.Abs(e.Mean[0]-want) > 3*e.SD[0] || e.SD[0] > 0.1*want {
			t.Errorf("effect %+v, true value %v", e, want)
		}
	}
	p := testkit.Must(m.Predict(t.Context(), rest.X, rest.regressorValues()...))(t)
	for i, y := range rest.Y[0] {
		if math.Abs(p.Mean[0][i]-y) > 4*p.SD[0][i] || p.SD[0][i] > 1.5 {
			t.Errorf("step %d: %v ± %v, want %v", i+1, p.Mean[0][i], p.SD[0][i], y)
		}
	}
	var names []string
	for _, c := range testkit.Must(m.Components(t.Context(), rest.X, rest.regressorValues()...))(t) {
		names = append(names, c.Name)
	}
	if !slices.Contains(names, "temperature") || !slices.Contains(names, "events") {
		t.Errorf("components %q", names)
	}
	with := backtest(t, all, ahead, 2, Options{})
	all.Regressors = nil
	if without := backtest(t, all, ahead, 2, Options{}); !(with.Model[0].CRPS < 0.2*without.Model[0].CRPS) {
		t.Errorf("CRPS %v, without regressors %v", with.Model[0].CRPS, without.Model[0].CRPS)
	}
}

// TestRegressorErrors checks the errors for invalid regressors. Missing regressor values are allowed if all outputs are missing too.
func TestRegressorErrors(t *testing.T) {
	slow.Race(t)
	s := driven(60)
	m := fit(t, s, Options{Draws: AtMode})
	nan := math.NaN()
	testkit.Fails(t, testkit.Error(m.Forecast(t.Context(), 2)), ErrOptions, "0 regressors, but the model has 2", "none")
	testkit.Fails(t, testkit.Error(m.Forecast(t.Context(), 2, []float64{1, nan}, []float64{0, 0})), ErrData, `"temperature" is NaN at x[1]`, "missing")
	other := s
	other.Regressors = []Regressor{s.Regressors[1], s.Regressors[0]}
	_, _, _, scored := m.Score(t.Context(), other)
	for _, err := range []error{scored, testkit.Error(m.Evaluate(t.Context(), other)), testkit.Error(m.Fill(t.Context(), other))} {
		testkit.Fails(t, err, ErrData, `must be ["temperature" "fair"] in this order`, "regressors in another order")
	}
	if m := fit(t, s, Options{Draws: AtMode, Log: LogAlways}); !m.Log() {
		t.Error("no logarithms")
	}
	s.Regressors[0].Values[7] = nan
	testkit.Fails(t, testkit.Error(Fit(context.Background(), s, Options{})), ErrData, `"temperature" is NaN`, "missing in a row with a value")
	s.Y[0][7] = nan
	fit(t, s, Options{Draws: AtMode})
	s.Regressors[1].Name = "temperature"
	testkit.Fails(t, testkit.Error(Fit(context.Background(), s, Options{})), ErrData, "must be different", "twice")
	s.Regressors[1] = Regressor{Name: "short", Values: []float64{1}}
	testkit.Fails(t, testkit.Error(Fit(context.Background(), s, Options{})), ErrData, "1 values for 60 times", "short")
}
