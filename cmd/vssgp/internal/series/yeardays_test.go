package series

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/internal/testkit"
)

// daily returns a table of days from May 2001 with a value for each.
func daily(rows int, value func(n int, day time.Time) float64) string {
	text := "t,y\n"
	for n := range rows {
		day := time.Date(2001, 5, 3+n, 0, 0, 0, 0, time.UTC)
		text += fmt.Sprintf("%s,%.4f\n", day.Format(time.DateOnly), value(n, day))
	}
	return text
}

// TestNoiseHasNoDaysOfYear checks that days of the year are found in at most one of twenty series without them.
func TestNoiseHasNoDaysOfYear(t *testing.T) {
	const years, count = 4, 20
	random, names := rand.New(rand.NewPCG(9, 9)), []string(nil)
	for n := range 365*years + 1 {
		names = append(names, time.Date(2001, 5, 3+n, 0, 0, 0, 0, time.UTC).Format(yearDay))
	}
	for _, c := range []struct {
		about string
		next  func(n int, last float64) float64
	}{
		{"Gaussian", func(int, float64) float64 { return random.NormFloat64() }},
		{"heavy tails", func(int, float64) float64 { return random.NormFloat64() / math.Sqrt(random.ExpFloat64()) }},
		{"random walk", func(_ int, last float64) float64 { return last + random.NormFloat64() }},
		{"weeks", func(n int, _ float64) float64 { return 20*float64(n%7) + random.NormFloat64() }},
		{"weeks and year", func(n int, _ float64) float64 {
			return 50*float64(n%7) + 200*math.Sin(2*math.Pi*float64(n)/365.25) + random.NormFloat64()
		}},
		{"few other values", func(int, float64) float64 { return float64(random.IntN(40) / 39) }},
	} {
		found := 0
		for range count {
			y := make([]float64, len(names))
			for n := range y {
				y[n] = c.next(n, y[max(0, n-1)])
			}
			if len(unusualDays([][]float64{y}, names, maxYearDays)) > 0 {
				found++
			}
		}
		if found > 1 {
			t.Errorf("%s: %d of %d series have days of the year", c.about, found, count)
		}
	}
}

// TestDaysOfYear checks that days of the year are found in daily series of three years or more, and that days of holidays are not.
func TestDaysOfYear(t *testing.T) {
	env, random := cli.NewEnv(t.Context(), io.Discard, io.Discard), rand.New(rand.NewPCG(10, 10))
	effects := map[string]float64{"12-25": -10, "12-24": -4, "01-01": -8, "07-04": 6}
	value := func(n int, day time.Time) float64 {
		weekend := 0.0
		if day.Weekday() == time.Sunday {
			weekend = -20
		}
		return 100 + 0.01*float64(n) + weekend + effects[day.Format("01-02")] + random.NormFloat64()
	}
	all := []string{"01-01", "07-04", "12-24", "12-25"}
	for _, c := range []struct {
		about string
		text  string
		g     regressors
		want  []string
	}{
		{"four years", daily(4*365+1, value), regressors{yearDays: auto}, all},
		{"ten years", daily(10*365+3, value), regressors{yearDays: auto}, all},
		{"holidays", daily(10*365+3, value), regressors{yearDays: auto, Holidays: []string{"US"}}, nil},
		{"events", daily(10*365+3, value), regressors{yearDays: auto,
			Events: []event{{"leap", []string{"2001-12-25", "2002-07-04"}}}}, all},
		{"short", daily(3*365-1, value), regressors{yearDays: auto}, nil},
		{"never", daily(4*365+1, value), regressors{yearDays: never}, nil},
	} {
		path := testkit.Put(t, t.TempDir(), "t.csv", c.text)
		s := testkit.Must(readSeries(t.Context(), env, path, datafile.Columns{}, false, nil, &c.g))(t)
		testkit.OK(t, s.explain(env, nil))
		if got := s.known.YearDays; !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.about, got, c.want)
		}
	}
}

// TestHolidaysOnWeekends checks that a holiday has a regressor of its days on weekends if enough of them are on weekends and on other days.
func TestHolidaysOnWeekends(t *testing.T) {
	env := cli.NewEnv(t.Context(), io.Discard, io.Discard)
	for _, c := range []struct {
		years    int
		name     string
		weekends float64 // number of its days; 0: no regressor
	}{
		{12, "Independence Day on a weekend", 3}, // 2004, 2009 and 2010
		{9, "Independence Day on a weekend", 0},  // twice
		{12, "Thanksgiving Day on a weekend", 0},
		{12, "09-09 on a weekend", 4},
	} {
		text := daily(365*c.years, func(int, time.Time) float64 { return 1 })
		g := &regressors{Holidays: []string{"US"}}
		path := testkit.Put(t, t.TempDir(), "t.csv", text)
		s := testkit.Must(readSeries(t.Context(), env, path, datafile.Columns{}, false, nil, g))(t)
		g.YearDays = []string{"09-09"} // setCalendar copies them
		testkit.OK(t, s.explain(env, nil))
		sum := 0.0
		for _, r := range s.Regressors {
			for n, v := range r.Values {
				if weekday := time.Unix(dayOf(s.axis, s.X[n])*secondsPerDay, 0).UTC().Weekday(); r.Name == c.name && v != 0 {
					sum += v
					if weekday != time.Saturday && weekday != time.Sunday {
						t.Errorf("%s is %v on a %v", r.Name, v, weekday)
					}
				}
			}
		}
		testkit.Equal(t, sum, c.weekends, c.name, " in ", c.years, " years")
	}
}

// TestDaysOfYearLeaveRoom checks that the days of the year do not exceed the maximum number of regressors.
func TestDaysOfYearLeaveRoom(t *testing.T) {
	y, names := []float64(nil), []string(nil)
	for n := range 5 * 365 {
		day := time.Date(2001, 1, 1+n, 0, 0, 0, 0, time.UTC)
		names, y = append(names, day.Format(yearDay)), append(y, math.Sin(float64(n*n)))
		if day.Day() == 3 {
			y[n] += 20
		}
	}
	for _, limit := range []int{-1, 0, 5, maxYearDays} {
		if got := len(unusualDays([][]float64{y}, names, limit)); got != max(0, min(limit, 12)) {
			t.Errorf("%d days, limit %d", got, limit)
		}
	}
}
