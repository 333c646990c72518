package series

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/series"
)

// sums returns a table of sums over periods of months. effect is the value of a Saturday relative to another day, 0 for a table of means over
// days. noise is the standard deviation of a random walk and of its observations, relative to the mean.
func sums(rows, months int, effect, noise float64, random *rand.Rand) string {
	text, level := "t,y\n", 1.0
	for n := range rows {
		begin := time.Date(2000, time.Month(1+n*months), 1, 0, 0, 0, 0, time.UTC)
		y := 0.0
		for day := begin; day.Before(begin.AddDate(0, months, 0)); day = day.AddDate(0, 0, 1) {
			if y++; day.Weekday() == time.Saturday {
				y += effect - 1
			}
		}
		if effect == 0 {
			y = 1
		}
		level += noise * random.NormFloat64()
		text += fmt.Sprintf("%s,%.6f\n", begin.Format("2006-01"), y*(level+noise*random.NormFloat64()))
	}
	return text
}

// TestTradingDaysByEvidence checks that trading days are added to sums over days, and not to short series, to other noise or to numbers.
func TestTradingDaysByEvidence(t *testing.T) {
	dir, env := t.TempDir(), cli.NewEnv(t.Context(), io.Discard, io.Discard)
	const count = 20
	for _, c := range []struct {
		about         string
		rows, months  int
		effect, noise float64
		least, most   int // series with trading days
	}{
		{"months", 72, 1, 0.5, 0.003, count, count},
		{"quarters", 60, 3, 0.5, 0.0002, count, count},
		{"short", 35, 1, 0.2, 0.0001, 0, 0},
		{"means", 120, 1, 0, 0.01, 0, 1},
		{"short noise", 40, 1, 0, 0.05, 0, 1},
		{"means of quarters", 60, 3, 0, 0.01, 0, 1},
	} {
		random, found := rand.New(rand.NewPCG(7, 7)), 0
		for range count {
			path := testkit.Put(t, dir, "t.csv", sums(c.rows, c.months, c.effect, c.noise, random))
			s := testkit.Must(readSeries(t.Context(), env, path, datafile.Columns{}, false, nil, &regressors{when: auto}))(t)
			testkit.OK(t, s.explain(env, nil))
			if s.known.TradingDays {
				found++
			}
		}
		if found < c.least || found > c.most {
			t.Errorf("%s: %d of %d series have trading days; want %d to %d", c.about, found, count, c.least, c.most)
		}
	}
}

// TestTradingDayValues checks the regressors of trading days of months and quarters.
func TestTradingDayValues(t *testing.T) {
	for _, c := range []struct {
		start, regressor string
		months           int
		want             float64
	}{
		{"2024-02-01", "trading day Thursday", 1, 1}, // the only weekday with five days in a leap-year February
		{"2024-02-01", "trading day Monday", 1, 0},
		{"2024-02-01", leapYear, 1, 0.75},
		{"2023-02-01", leapYear, 1, -0.25},
		{"2023-02-01", "trading day Saturday", 1, 0},
		{"2023-03-31", leapYear, 1, 0},
		{"2023-10-01", "trading day Monday", 1, 0}, // five Sundays, Mondays and Tuesdays
		{"2023-10-01", "trading day Friday", 1, -1},
		{"2023-10-01", "trading day Saturday", 3, -1}, // 14 of 92 days are Sundays
		{"2023-03-31", leapYear, 3, -0.25},
		{"2023-02-15", "trading day Saturday", 3, -1}, // January to March
	} {
		text := fmt.Sprintf("t,y\n%s,1\n", c.start)
		s := testkit.Must(readSeries(t.Context(), cli.NewEnv(t.Context(), io.Discard, io.Discard),
			testkit.Put(t, t.TempDir(), "t.csv", text), datafile.Columns{}, false, nil, &regressors{}))(t)
		got := math.NaN()
		for _, r := range (&regressors{Months: c.months}).tradingDays(s.axis, s.X) {
			if r.Name == c.regressor {
				got = r.Values[0]
			}
		}
		testkit.Equal(t, got, c.want, c.start, " ", c.regressor, " ", c.months)
	}
}

// TestBacktestDecidesBeforeOrigins checks that values which a backtest forecasts do not decide on trading days.
func TestBacktestDecidesBeforeOrigins(t *testing.T) {
	x, y := []float64{3, 1, 2}, []float64{30, 10, 20}
	first := 2.0
	s := &timeSeries{Series: series.Series{X: x, Y: [][]float64{y}}, tested: &first}
	if got := s.untested()[0]; !math.IsNaN(got[0]) || got[1] != 10 || !math.IsNaN(got[2]) || y[0] != 30 {
		t.Errorf("%v of %v", got, y)
	}
}
