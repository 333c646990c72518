package series

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// backtest runs Backtest at the mode and fails the test on an error.
func backtest(t *testing.T, s Series, horizon, origins int, o Options) *Backtested {
	t.Helper()
	o.Draws = AtMode
	return testkit.Must(Backtest(t.Context(), s, horizon, origins, o))(t)
}

// TestBacktest checks that the model beats both naive forecasts on a synthetic season, the seasonal naive MAE, and scores of tiny
// values.
func TestBacktest(t *testing.T) {
	slow.Race(t)
	s, o := made(120, false), Options{Parts: []Part{Constant{}, Slope{}, ShortMemory{}, Season{Period: 1}}, Known: true}
	b := backtest(t, s, 6, 3, o)
	if b.Season[0] != 12 || !(b.Model[0].CRPS < 0.8*b.Seasonal[0].CRPS && b.Seasonal[0].CRPS < b.Naive[0].CRPS) {
		t.Errorf("season %v, model %+v, seasonal %+v, naive %+v", b.Season, b.Model, b.Seasonal, b.Naive)
	}
	sum := 0.0
	for k := 1; k <= 3; k++ {
		end := 120 - 6*k
		for j := range 6 {
			sum += math.Abs(s.Y[0][end+j]-s.Y[0][end-12+j]) / 18
		}
	}
	testkit.Near(t, b.Seasonal[0].MAE, sum, 1e-12, "seasonal MAE")
	const unit = 0x1p-1000
	tiny := Series{X: s.X, Y: [][]float64{slices.Clone(s.Y[0])}}
	for n := range tiny.Y[0] {
		tiny.Y[0][n] *= unit
	}
	c := backtest(t, tiny, 6, 3, o)
	testkit.Near(t, c.Model[0].RMSE/unit, b.Model[0].RMSE, 1e-9*b.Model[0].RMSE, "RMSE of values of 1e-300, in that unit")
	testkit.Near(t, c.Naive[0].NLPD, b.Naive[0].NLPD+math.Log(unit), 1e-9, "NLPD of values of 1e-300")
	testkit.Equal(t, c.Naive[0].Coverage95, b.Naive[0].Coverage95, "coverage of values of 1e-300")
	testkit.Fails(t, testkit.Error(Backtest(context.Background(), s, 37, 3, Options{})), ErrOptions, "fewer than 10", "9 rows before the first origin")
	testkit.Fails(t, testkit.Error(Backtest(context.Background(), s, 4, 2, Options{Parts: []Part{nil}})), ErrOptions, "nil", "a nil part")
}

// TestBacktestHoles checks that naive forecasts count seasons on the grid if observations are missing, and seasons longer than the
// data.
func TestBacktestHoles(t *testing.T) {
	slow.Race(t)
	s := Series{Y: [][]float64{nil}}
	for i := range 120 { // a noiseless season with missing observations
		if i%17 != 3 {
			s.X, s.Y[0] = append(s.X, float64(i)), append(s.Y[0], math.Sin(2*math.Pi*float64(i)/12))
		}
	}
	b := backtest(t, s, 6, 2, Options{Parts: []Part{Constant{}, Season{Period: 12}}, Known: true})
	if b.Season[0] != 12 || b.Seasonal[0].MAE > 1e-12 || b.Naive[0].MAE < 0.1 {
		t.Errorf("season %v, seasonal MAE %v, naive %v: want exact seasons", b.Season, b.Seasonal[0].MAE, b.Naive[0].MAE)
	}
	b = backtest(t, s, 6, 2, Options{Parts: []Part{Constant{}, Season{Period: 1e15}}, Known: true})
	if b.Season[0] != 1 || b.Seasonal[0] != b.Naive[0] {
		t.Errorf("a season longer than the data: %+v", b)
	}
	s.X[len(s.X)-1] = 1e12 // one observation after a huge gap
	if _, err := Backtest(context.Background(), s, 6, 2, Options{Draws: AtMode}); !errors.Is(err, ErrReach) {
		t.Errorf("an observation far beyond the horizon: %v", err)
	}
	slices.Reverse(s.Y[0])
	for n := range s.X { // one observation before a huge gap
		s.X[n] = -s.X[n]
	}
	if _, err := Backtest(context.Background(), s, 6, 2, Options{Draws: AtMode}); err != nil {
		t.Errorf("a nearly empty grid: %v", err)
	}
}

// TestBacktestNaive checks the scores of the naive forecast against their definitions. Its distribution is a Gaussian with the root
// mean square of the previous steps. MASE divides by the mean absolute difference over one season.
func TestBacktestNaive(t *testing.T) {
	s := made(72, false)
	b := backtest(t, s, 6, 1, Options{Parts: []Part{Constant{}, Season{Period: 1, Harmonics: 1}}, Known: true})
	y := s.Y[0]
	variance, season := 0.0, 0.0
	for i := 1; i < 66; i++ {
		variance += (y[i] - y[i-1]) * (y[i] - y[i-1]) / 65
		if i >= 12 {
			season += math.Abs(y[i]-y[i-12]) / 54
		}
	}
	abs, density, interval := 0.0, 0.0, 2*bayes.SD95*math.Sqrt(variance)
	for _, v := range y[66:] {
		abs += math.Abs(v-y[65]) / 6
		interval += 40 * max(0, math.Abs(v-y[65])-bayes.SD95*math.Sqrt(variance)) / 6
		density -= (math.Log(2*math.Pi*variance) + (v-y[65])*(v-y[65])/variance) / 12
	}
	got := b.Naive[0]
	if math.Abs(got.MAE-abs) > 1e-9 || math.Abs(got.MASE-abs/season) > 1e-9 || math.Abs(got.NLPD+density) > 1e-9 || math.Abs(got.Interval95-interval) > 1e-6 || b.Season[0] != 12 {
		t.Errorf("season %v, %+v; want MAE %v, MASE %v, NLPD %v, interval score %v", b.Season, got, abs, abs/season, -density, interval)
	}
}

// TestScoresMatchTheirDefinitions checks each score of values below, inside and above a Gaussian's 95 % interval against its definition.
func TestScoresMatchTheirDefinitions(t *testing.T) {
	m, z := bayes.Mixture{Means: []float64{1}, SDs: []float64{2}}, bayes.SD95
	for y, outside := range map[float64]float64{-9: -9 - (1 - 2*z), 1.5: 0, 8: 8 - (1 + 2*z)} {
		var sum tally
		sum.add(y, m, 4)
		sum.add(math.NaN(), m, 4)
		got := sum.scores(10)
		for name, c := range map[string][2]float64{
			"RMSE":           {got.RMSE, 10 * math.Abs(y-1)},
			"MAE":            {got.MAE, 10 * math.Abs(y-1)},
			"MASE":           {got.MASE, math.Abs(y-1) / 4},
			"CRPS":           {got.CRPS, 10 * m.CRPS(y)},
			"interval score": {got.Interval95, 10 * (4*z + 40*math.Abs(outside))},
			"NLPD":           {got.NLPD, math.Log(10) - m.LogDensity(y)},
			"coverage":       {got.Coverage95, map[bool]float64{true: 1}[outside == 0]},
		} {
			testkit.Near(t, c[0], c[1], 1e-6*math.Abs(c[1]), fmt.Sprintf("%s of %v", name, y))
		}
	}
}

// TestBacktestSeason checks that the seasonal naive forecast uses the shortest season within the data range, in steps.
func TestBacktestSeason(t *testing.T) {
	for _, c := range []struct {
		periods []float64 // the step is 0.5
		want    int
	}{{[]float64{3.5, 12}, 7}, {[]float64{12, 3.5}, 7}, {[]float64{60}, 1}, {nil, 1}} {
		m := &Model{frame: &frame{Range: 100, Step: 0.5}, layout: &layout{}}
		for _, p := range c.periods {
			m.layout.parts = append(m.layout.parts, Season{Period: p})
		}
		testkit.Equal(t, m.season(), c.want, "seasons ", c.periods)
	}
}

// TestBacktestCalendar checks that the seasonal naive forecast repeats the shortest season in the options although the model has none, if
// the rows before the first origin contain it.
func TestBacktestCalendar(t *testing.T) {
	slow.Race(t)
	season := func(period float64) []Part { return []Part{Constant{}, Season{Period: period, Harmonics: 1}} }
	year := func(steps float64) [][]Part { return Calendar("month", 1, steps, nil, nil) }
	for name, c := range map[string]struct {
		rows, origins int
		o             Options
		want          int
	}{
		"a calendar":                {60, 2, Options{Try: year(60)}, 12},
		"a calendar and its part":   {60, 2, Options{Parts: season(4), Try: year(60)}, 4},
		"a given season":            {60, 2, Options{Parts: season(9), Known: true}, 9},
		"neither":                   {60, 2, Options{Known: true}, 1},
		"exactly one season before": {42, 5, Options{Try: year(60), Known: true}, 12},
		"less than one season":      {42, 5, Options{Try: [][]Part{{Season{Period: 40}}}, Known: true}, 1},
	} {
		random := rand.New(rand.NewPCG(1, 1))
		s := seriesOf(c.rows, func(float64) float64 { return random.NormFloat64() })
		b := backtest(t, s, 6, c.origins, c.o)
		testkit.Equal(t, b.Season[0], c.want, name)
		sum, values := 0.0, 6*c.origins
		for n := c.rows - values; n < c.rows; n++ {
			before := n - c.want
			for before >= n-(n-(c.rows-values))%6 { // a value after the origin
				before -= c.want
			}
			sum += math.Abs(s.Y[0][n]-s.Y[0][before]) / float64(values)
		}
		testkit.Near(t, b.Seasonal[0].MAE, sum, 1e-12, name, ": seasonal MAE")
		testkit.Equal(t, b.Seasonal[0] == b.Naive[0], c.want == 1, name, ": whether both naive forecasts are the same")
	}
}

// TestMeanScores checks that MeanScores averages every field.
func TestMeanScores(t *testing.T) {
	var one, three Scores
	for i, to := range []*Scores{&one, &three} {
		for f := range reflect.ValueOf(to).Elem().NumField() {
			reflect.ValueOf(to).Elem().Field(f).SetFloat(float64(f*10 + 1 + 2*i))
		}
	}
	if got := MeanScores([]Scores{one, three}); got.RMSE != 2 || got.Interval95 != 52 || got.NLPD != 62 {
		t.Errorf("%+v", got)
	}
}
