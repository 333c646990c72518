package series

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/series"
)

// TestSeries checks the columns of a series by default and by flags.
func TestSeries(t *testing.T) {
	dir, nan := t.TempDir(), math.NaN()
	prices := []int{199811, 199812, 199901, 199912, 200003, 200012, 200105, 200110, 200201, 200211} // also months
	join := func(names string, row func(i int) string) string {
		for i := range prices {
			names += "\n" + row(i)
		}
		return names + "\n"
	}
	months := func(i int) int { return 201506 + i + i/7*88 }
	years := join("year,price", func(i int) string { return fmt.Sprint(2010+i, ",", prices[i]) })
	index := join("t,y", func(i int) string { return fmt.Sprint(i, ",", months(i)) })
	for name, c := range map[string]struct {
		text, x, y string
		holes      bool
		wantX      string // name, unit
		at         []float64
		wantY      string
		first      []float64 // of the second row
	}{
		"dates":          {"n,date,a,b\n1,2024-01-01,5,6\n2,2024-01-03,,7\n", "", "", false, "date days", []float64{0, 2}, "b", []float64{7}},
		"holes":          {"n,date,a,b\n1,2024-01-01,5,6\n2,2024-01-03,,7\n", "", "", true, "date days", []float64{0, 2}, "a", []float64{nan}},
		"numbers":        {"t,a,b\n1,5,6\n2,6,7\n", "", "", true, "t ", []float64{1, 2}, "b", []float64{7}},
		"one column":     {"y\n5\n6\n", "", "", false, "row rows", []float64{1, 2}, "y", []float64{6}},
		"an output":      {"t,a,b\n1,5,6\n2,6,7\n", "", "a", false, "t ", []float64{1, 2}, "a", []float64{6}},
		"an input":       {"t,a,b\n1,5,6\n2,6,7\n", "b", "", false, "b ", []float64{6, 7}, "a", []float64{6}},
		"both":           {"t,a,b\n1,5,6\n2,6,\n", "a", "t,b", false, "a ", []float64{5, 6}, "t b", []float64{2, nan}},
		"the only left":  {"w,y\nu,5\nv,6\n", "", "", false, "row rows", []float64{1, 2}, "y", []float64{6}},
		"text alone":     {"w\nu\nv\n", "", "", false, "", nil, "", nil},
		"two inputs":     {"t,a,b\n1,5,6\n2,6,7\n", "t,a", "b", false, "", nil, "", nil},
		"prices by year": {years, "", "", false, "year ", []float64{2010, 2011}, "price", []float64{199812}},
		"prices by day": {join("date,price", func(i int) string { return fmt.Sprintf("2020-01-%02d,%d", i+1, prices[i^1]) }),
			"", "", false, "date days", []float64{0, 1}, "price", []float64{199811}},
		"only prices": {join("price", func(i int) string { return fmt.Sprint(prices[i^1]) }),
			"", "", false, "row rows", []float64{1, 2}, "price", []float64{199811}},
		"regular values": {index, "", "", false, "t ", []float64{0, 1}, "y", []float64{201507}},
		"regular values by day": {join("date,y", func(i int) string { return fmt.Sprintf("2020-01-%02d,%d", i+1, months(i)) }),
			"", "", false, "date days", []float64{0, 1}, "y", []float64{201507}},
		"regular values and --x": {index, "t", "", false, "t ", []float64{0, 1}, "y", []float64{201507}},
		"months after an index": {strings.Replace(index, "y", "month", 1), "", "", false, "month months", []float64{0, 1},
			"t", []float64{1}},
		"months after an index, and --x": {strings.Replace(index, "y", "month", 1), "t", "", false, "t ", []float64{0, 1},
			"month", []float64{201507}},
		"months after values": {join("v,x", func(i int) string { return fmt.Sprint(i*i%5, ",", months(i)) }),
			"", "", false, "x months", []float64{0, 1}, "v", []float64{1}},
		"the same": {"t,a,b\n1,5,6\n2,6,7\n", "t", "t", false, "", nil, "", nil},
	} {
		var notes bytes.Buffer
		env := &cli.Env{Stderr: &notes}
		list := func(s string) []string { return strings.FieldsFunc(s, func(r rune) bool { return r == ',' }) }
		chosen := datafile.Columns{}
		if c.x != "" {
			chosen.X = list(c.x)
		}
		if c.y != "" {
			chosen.Y = list(c.y)
		}
		s, err := readSeries(t.Context(), env, testkit.Put(t, dir, "t.csv", c.text), chosen, c.holes, nil, &regressors{})
		if c.at == nil {
			if err == nil || cli.ExitCode(err) != cli.ExitMistake {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		equal := len(s.X) >= 2 && len(s.Y) == len(c.first)
		for d, want := range c.first {
			equal = equal && (s.Y[d][1] == want || math.IsNaN(s.Y[d][1]) && math.IsNaN(want))
		}
		if s.xName+" "+s.axis.Unit != c.wantX || !slices.Equal(s.X[:2], c.at) || strings.Join(s.yNames, " ") != c.wantY || !equal ||
			len(s.X) == 2 && s.grid.Last != c.at[1] {
			t.Errorf("%s: %s %s %v, %v %v, %+v", name, s.xName, s.axis.Unit, s.X, s.yNames, s.Y, s.grid)
		}
	}
}

// TestLevelsDoNotDependOnBlocks checks that levels and quantiles do not depend on the block size of predictions, and that they agree.
func TestLevelsDoNotDependOnBlocks(t *testing.T) {
	x := make([]float64, 30)
	y := make([]float64, len(x))
	for i := range x {
		x[i], y[i] = float64(i), math.Sin(float64(i))
	}
	m := testkit.Must(series.Fit(t.Context(), series.Series{X: x, Y: [][]float64{y}}, series.Options{}))(t)
	form := &Form{levels: levels{80, 0}, quantiles: quantiles{0.9, 0.5}}
	whole := testkit.Must(predictParts(t.Context(), m, x, nil, form, nil))(t)
	defer func(before int) { predictedAtOnce = before }(predictedAtOnce)
	predictedAtOnce = 7
	parts := testkit.Must(predictParts(t.Context(), m, x, nil, form, nil))(t)
	for n := range x {
		got, want := parts.row(0, n), whole.row(0, n)
		if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }) || got[4] == got[5] || got[6] != got[7] ||
			got[5] != got[8] || got[6] != got[9] {
			t.Fatalf("row %d: %v, want %v", n, got, want)
		}
	}
}

// TestPrintedParts checks that printed parts and --json have the level shifts in the order of time, and that only the
// printed parts have the names for readers.
func TestPrintedParts(t *testing.T) {
	x := testkit.Numbers(40, func(n int) float64 { return float64(n) })
	y := testkit.Numbers(40, func(n int) float64 { return float64(n*n%7 + n/10) })
	parts := []series.Part{series.Constant{}, series.LevelShift{At: 30}, series.Season{Period: 7},
		series.LevelShift{At: 10}, series.ShortMemory{}, series.Noise{}}
	m := testkit.Must(series.Fit(t.Context(), series.Series{X: x, Y: [][]float64{y}}, series.Options{Parts: parts, Known: true}))(t)
	m.XName, m.YNames = "t", []string{"y"}
	axis := &table.Axis{Unit: "rows"}
	var out bytes.Buffer
	env := &cli.Env{Stdout: &out}
	printModel(env, m, summaryOf(m, axis), axis)
	testkit.Contains(t, out.String(),
		"parts: constant, level shift at 10, season of 7 rows, level shift at 30, autocorrelated residual, noise\n",
		"noise sd: ")
	testkit.Equal(t, strings.Join(summaryOf(m, axis).Parts, ", "),
		"constant, level shift at 10, season 7, level shift at 30, short memory, noise", "parts of --json")
}

// TestCountsHaveNoNoise checks that neither --json nor the printed summary of counts has the noise.
func TestCountsHaveNoNoise(t *testing.T) {
	x := testkit.Numbers(80, func(n int) float64 { return float64(n) })
	random := rand.New(rand.NewPCG(3, 3))
	counts := testkit.Numbers(80, func(int) float64 { return math.Floor(random.ExpFloat64()) })
	halves := testkit.Numbers(80, func(n int) float64 { return counts[n] / 2 })
	axis := &table.Axis{Unit: "rows"}
	for name, c := range map[string]struct {
		y     []float64
		noise bool
	}{"counts": {counts, false}, "numbers": {halves, true}} {
		m := testkit.Must(series.Fit(t.Context(), series.Series{X: x, Y: [][]float64{c.y}}, series.Options{}))(t)
		m.XName, m.YNames = "t", []string{"y"}
		var out bytes.Buffer
		printModel(&cli.Env{Stdout: &out}, m, summaryOf(m, axis), axis)
		testkit.Equal(t, strings.Contains(out.String(), "noise sd"), c.noise, name, ": the summary has the noise")
		text := string(testkit.Must(json.Marshal(summaryOf(m, axis)))(t))
		testkit.Equal(t, strings.Contains(text, "noise_sd"), c.noise, name, ": --json has the noise")
	}
}

// TestPlottedParts checks that charts, but not --json, have the periods of seasons with units, or with the name of an input without a unit.
func TestPlottedParts(t *testing.T) {
	x := testkit.Numbers(40, func(n int) float64 { return float64(n) })
	y := testkit.Numbers(40, func(n int) float64 { return float64(n*n%7 + n/10) })
	week, day := series.Season{Period: 7}, series.Season{Period: 3.5}
	parts := []series.Part{series.Constant{}, day, week, series.Product{Long: week, Short: day}, series.LevelShift{At: 10}, series.Noise{}}
	m := testkit.Must(series.Fit(t.Context(), series.Series{X: x, Y: [][]float64{y}}, series.Options{Parts: parts, Known: true}))(t)
	m.XName, m.YNames = "year", []string{"y"}
	file := testkit.Must(table.At(testkit.Put(t, t.TempDir(), "t.csv", "d\n2024-01-01\n2024-01-02\n")))(t)
	dates := testkit.Must(table.Read(t.Context(), file))(t)
	for text, axis := range map[string]*table.Axis{
		"season of 84 hours, season of 7 days, season of 7 days × season of 84 hours, level shift at 2024-01-11": testkit.Must(dates.Axis(0, nil))(t),
		"season of 3.5 rows, season of 7 rows, season of 7 rows × season of 3.5 rows, level shift at 10":         {Unit: "rows"},
		"season of period 3.5 in year, season of period 7 in year, season of period 7 in year × " +
			"season of period 3.5 in year, level shift at 10": {},
	} {
		view := modelView("", m, &known{axis: axis})
		testkit.Equal(t, strings.Join(view.Parts, ", "), "constant, "+text+", noise", "parts")
	}
}

// TestHorizon checks the number of rows of a time, which follows the calendar for months.
func TestHorizon(t *testing.T) {
	env := &cli.Env{Stderr: &bytes.Buffer{}}
	columns := map[string]string{
		"hours":    "t,y\n2024-01-01 00:00,1\n2024-01-01 01:00,1\n2024-01-01 02:00,2\n",
		"days":     "t,y\n2024-01-29,1\n2024-01-30,1\n2024-01-31,2\n",
		"months":   "t,y\n2024-01,1\n2024-02,1\n2024-03,2\n",
		"quarters": "t,y\n2024-Q1,1\n2024-Q2,1\n2024-Q3,2\n",
		"weeks":    "t,y\n2024-01-01,1\n2024-01-08,1\n2024-01-15,2\n",
		"numbers":  "t,y\n1,1\n2,1\n3,2\n",
	}
	for _, c := range []struct {
		data, horizon string
		want          int // 0 for an error
	}{
		{"hours", "36h", 36}, {"hours", "2d", 48}, {"hours", "30min", 0}, {"hours", "90min", 1}, {"hours", "5", 5},
		{"days", "1mo", 29}, {"days", "1y", 366}, {"days", "2w", 14}, {"days", "36h", 1}, {"days", "1.5y", 547},
		{"months", "2y", 24}, {"months", "6mo", 6}, {"months", "2w", 0}, {"quarters", "1y", 4}, {"quarters", "9mo", 3},
		{"weeks", "8w", 8}, {"weeks", "1y", 52}, {"numbers", "7", 7}, {"numbers", "7d", 0}, {"days", "1e9y", 0},
	} {
		r := testkit.Must(readSeries(t.Context(), env, testkit.Put(t, t.TempDir(), "t.csv", columns[c.data]), datafile.Columns{}, false, nil, &regressors{}))(t)
		var h horizon
		testkit.OK(t, h.flag().Set(c.horizon))
		if n, err := h.of(r); n != c.want || (err == nil) == (c.want == 0) || err != nil && cli.ExitCode(err) != cli.ExitMistake {
			t.Errorf("%s of %s: %d rows, %v; want %d", c.horizon, c.data, n, err, c.want)
		}
	}
	for _, bad := range []string{"", "d", "-1d", "7x", "1.5", "-2", "NaNd", "100000000"} {
		if err := new(horizon).flag().Set(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// TestUntil checks the rows up to the last date. A date without a time includes the whole day, month, quarter or week.
func TestUntil(t *testing.T) {
	const days, hours = "2024-12-28|2024-12-29", "2024-12-29 00:00|2024-12-29 12:00|2024-12-30 00:00"
	for name, c := range map[string]struct {
		column, until, last string // last is the last row, "" for an error
		rows                int
	}{
		"a day of half-days":           {hours, "2024-12-31", "2024-12-31 12:00", 3},
		"a time of half-days":          {hours, "2024-12-31 00:00", "2024-12-31 00:00", 2},
		"a day in another layout":      {"29.12.2024 12:00|29.12.2024 18:00", "2024-12-30", "30.12.2024 18:00", 4},
		"a day and an offset from UTC": {"2024-12-30T23:00+01:00|2024-12-31T00:00+01:00", "2024-12-31", "2024-12-31T23:00+01:00", 23},
		"the rest of a day":            {"2024-12-31 20:00|2024-12-31 21:00", "2024-12-31", "2024-12-31 23:00", 2},
		"no rest of a day":             {"2024-12-31 22:00|2024-12-31 23:00", "2024-12-31", "", 0},
		"a day of nights":              {"2024-12-28 23:30|2024-12-29 23:30", "2024-12-31", "2024-12-31 23:30", 2},
		"a day of days with times":     {"2024-12-28 00:00|2024-12-29 00:00", "2024-12-31", "2024-12-31 00:00", 2},
		"a day of days":                {days, "2024-12-31", "2024-12-31", 2},
		"a month of days":              {days, "2024-12", "2024-12-31", 2},
		"a quarter of days":            {days, "2025-Q1", "2025-03-31", 92},
		"a week of days":               {days, "2025-W01", "2025-01-05", 7},
		"a month of compact days":      {"20240130|20240131|20240201|20240202", "202402", "20240229", 27},
		"a month by its first days":    {"2024-10-01|2024-11-01", "2024-12", "2024-12-01", 1},
		"a month by its last days":     {"2024-09-30|2024-10-31", "2024-12", "2024-12-31", 2},
		"a day of months":              {"2024-10|2024-11", "2024-12-31", "2024-12", 1},
		"a month of months":            {"2024-10|2024-11", "2024-12", "2024-12", 1},
		"a quarter of months":          {"2024-10|2024-11", "2025-Q1", "2025-03", 4},
		"a number":                     {"8|9", "11", "11", 2},
	} {
		text := "t,y\n"
		for _, cell := range strings.Split(c.column, "|") {
			text += cell + ",0.5\n"
		}
		env := &cli.Env{Stderr: &bytes.Buffer{}}
		file := testkit.Put(t, t.TempDir(), "t.csv", text)
		r := testkit.Must(readSeries(t.Context(), env, file, datafile.Columns{}, false, nil, &regressors{}))(t)
		x, err := r.until(c.until)
		if (err != nil) != (c.last == "") || err != nil && cli.ExitCode(err) != cli.ExitMistake {
			t.Errorf("%s: %v", name, err)
		}
		testkit.Equal(t, len(x), c.rows, name, ": rows until ", c.until)
		if len(x) > 0 {
			testkit.Equal(t, r.axis.Format(x[len(x)-1]), c.last, name, ": the last row until ", c.until)
		}
	}
}

// TestSpansHaveUnitsOfDates checks the units of lengths along dates.
func TestSpansHaveUnitsOfDates(t *testing.T) {
	for _, c := range []struct {
		unit   string
		length float64
		want   string
	}{
		{"minutes", 1440, "1 day"}, {"minutes", 10080, "7 days"}, {"hours", 24, "1 day"}, {"hours", 8766, "1 year"}, {"days", 365.25, "1 year"},
		{"days", 7, "7 days"}, {"days", 5.5, "132 hours"}, {"days", 1234.25, "3.3793 years"},
		{"months", 12, "1 year"}, {"months", 3, "3 months"}, {"years", 11.3, "11.3 years"},
		{"seconds", 90, "90 seconds"}, {"days", 30, "30 days"}, {"days", 30.436875, "1 month"}, {"rows", 12, "12 rows"}, {"", 3.569, "3.569"},
	} {
		axis := &table.Axis{Unit: c.unit}
		if c.unit != "" && c.unit != "rows" {
			s := testkit.Must((&datafile.Columns{}).Read(t.Context(), &cli.Env{}, testkit.Put(t, t.TempDir(), "t.csv", "t\n2024-01-01\n2024-01-02\n")))(t)
			dates := testkit.Must(s.Axis(0, nil))(t)
			dates.Unit, axis = c.unit, dates
		}
		if got := spanOf(c.length, axis); got != c.want {
			t.Errorf("%v %s: %q, want %q", c.length, c.unit, got, c.want)
		}
	}
}

// TestRounded checks that a value has three digits of its standard deviation and at least the decimals of its column.
func TestRounded(t *testing.T) {
	for _, c := range []struct {
		v, sd  float64
		column int
		want   float64
	}{
		{372.0596260181679, 0.2942459558154785, 2, 372.06}, {372.0596260181679, 2.94, 2, 372.06}, {372.0596260181679, 2.94, 0, 372.06},
		{372.0596260181679, 29.4, 0, 372.1}, {146376.4, 3124, 0, 146376}, {1e-9, 1, 0, 0}, {1.23456789, 0, 0, 1.23456789},
		{1.4437153332816567e-18, 5.4e-20, 0, 1.4437e-18}, {-1e-300, 5e-25, 0, 0}, {1.25e-300, 0, 0, 1.25e-300},
		{1.23456789e300, 1, 0, 1.23456789e300}, {-0.0004, 1, 0, 0}, {5, math.Inf(1), 0, 5},
	} {
		got := rounded(c.v, decimalsFor(c.sd, c.column, 3))
		if got != c.want || math.Signbit(got) != math.Signbit(c.want) {
			t.Errorf("%v with sd %v and %d decimals: %v, want %v", c.v, c.sd, c.column, got, c.want)
		}
	}
}

// TestNumbersShowDigitsOfTheirSD checks that printed numbers have two digits of their standard deviation, and an exponent if they are very
// small or large.
func TestNumbersShowDigitsOfTheirSD(t *testing.T) {
	for _, c := range []struct {
		v, sd float64
		want  string
	}{
		{23.4567, 0.123, "23.46"}, {0, 0.123, "0.00"}, {146376.4, 3124, "146376"}, {1.5e-5, 2e-7, "0.00001500"},
		{1.82345e-18, 5.4e-20, "1.823e-18"}, {-1.82345e-18, 5.4e-20, "-1.823e-18"}, {5.4321e-20, 5.4321e-20, "5.4e-20"},
		{0, 5.4e-20, "0"}, {2e-23, 5.4e-20, "2e-23"}, {1.25e-18, 0, "1.25e-18"},
		{2.1237140242e30, 8.786e28, "2.124e+30"}, {3, 8.786e28, "3"}, {1e16, 1, "1e+16"}, {0, 0, "0.00000000000000000"},
		{2, math.Inf(1), "2.00000000000000000"},
	} {
		testkit.Equal(t, shown(c.v, c.sd), c.want, c.v, " with sd ", c.sd)
	}
}

// TestHolidaysAreInLocalTime checks that the days of holidays and events are in local time, also at the end of daylight saving time.
func TestHolidaysAreInLocalTime(t *testing.T) {
	dir, env := t.TempDir(), cli.NewEnv(t.Context(), io.Discard, io.Discard)
	g := &regressors{Holidays: []string{"DE"}, Events: []event{{Name: "clocks", Days: []string{"2024-10-27"}}}}
	for _, c := range []struct {
		times []string
		name  string
		want  []float64
	}{
		{[]string{"2024-12-24T23:00+01:00", "2024-12-25T00:00+01:00", "2024-12-25T23:00+01:00", "2024-12-26T00:00+01:00"}, "Weihnachtstag", []float64{0, 1, 1, 0}},
		{[]string{"2024-12-24T23:00+01:00", "2024-12-25T00:00+01:00", "2024-12-25T23:00+01:00", "2024-12-26T00:00+01:00"}, "day before Weihnachtstag", []float64{1, 0, 0, 0}},
		{[]string{"2024-10-26T23:00+02:00", "2024-10-27T00:00+02:00", "2024-10-27T02:30+02:00", "2024-10-27T02:30+01:00", "2024-10-27T23:00+01:00",
			"2024-10-28T00:00+01:00"}, "clocks", []float64{0, 1, 1, 1, 1, 0}},
		{[]string{"2024-12-23", "2024-12-24", "2024-12-25", "2024-12-26"}, "Weihnachtstag", []float64{0, 0, 1, 0}},
	} {
		text := "t,y\n"
		for n, at := range c.times {
			text += fmt.Sprintf("%s,%d\n", at, n)
		}
		s := testkit.Must(readSeries(t.Context(), env, testkit.Put(t, dir, "t.csv", text), datafile.Columns{}, false, nil, g))(t)
		all := g.days(s.axis, s.X)
		i := slices.IndexFunc(all, func(r series.Regressor) bool { return r.Name == c.name })
		if i < 0 || !slices.Equal(all[i].Values, c.want) {
			t.Errorf("%s at %v: %+v, want %v", c.name, c.times, all, c.want)
		}
	}
}

// TestHolidaysInPeriods checks that the rows of weeks, months and quarters count the days of holidays and events, and that columns without
// variation are left out.
func TestHolidaysInPeriods(t *testing.T) {
	dir, env := t.TempDir(), cli.NewEnv(t.Context(), io.Discard, io.Discard)
	fair := event{Name: "fair", Days: []string{"2023-11-29", "2023-11-30", "2023-11-30", "2023-12-01"}} // one day is given twice
	for _, c := range []struct {
		about string
		times []string
		name  string
		want  []float64 // nil: left out
	}{
		{"weeks from Wednesday", []string{"2023-11-15", "2023-11-22", "2023-11-29", "2023-12-06"}, "Thanksgiving Day", []float64{0, 1, 0, 0}},
		{"weeks from Friday", []string{"2023-11-10", "2023-11-17", "2023-11-24", "2023-12-01"}, "Thanksgiving Day", []float64{0, 1, 0, 0}},
		{"ISO weeks", []string{"2023-W46", "2023-W47", "2023-W48", "2023-W49"}, "fair", []float64{0, 0, 3, 0}},
		{"no days around", []string{"2023-W46", "2023-W47", "2023-W48", "2023-W49"}, "day before Thanksgiving Day", nil},
		{"two weeks", []string{"2023-11-01", "2023-11-15", "2023-11-29", "2023-12-13"}, "Thanksgiving Day", []float64{0, 1, 0, 0}},
		{"months", []string{"2023-10", "2023-11", "2023-12", "2024-01"}, "fair", []float64{0, 2, 1, 0}},
		{"ends of months", []string{"2023-10-31", "2023-11-30", "2023-12-31", "2024-01-31"}, "fair", []float64{0, 2, 1, 0}},
		{"in a month", []string{"2023-10-15", "2023-11-15", "2023-12-15", "2024-01-15"}, "fair", []float64{0, 2, 1, 0}},
		{"quarters", []string{"2023-Q2", "2023-Q3", "2023-Q4", "2024-Q1"}, "fair", []float64{0, 0, 3, 0}},
		{"ends of quarters", []string{"2023-06-30", "2023-09-30", "2023-12-31", "2024-03-31"}, "fair", []float64{0, 0, 3, 0}},
		{"last months of quarters", []string{"2023-06", "2023-09", "2023-12", "2024-03"}, "fair", []float64{0, 0, 3, 0}},
		{"years", []string{"2020-12-31", "2021-12-31", "2022-12-31", "2023-12-31"}, "Juneteenth", []float64{0, 1, 1, 1}}, // since 2021
		{"no variation", []string{"2020-01-01", "2021-01-01", "2022-01-01", "2023-01-01"}, "Christmas Day", nil},
		{"not yet a holiday", []string{"2017-W24", "2017-W25", "2017-W26", "2017-W27"}, "Juneteenth", nil},
	} {
		text := "t,y\n"
		for n, at := range c.times {
			text += fmt.Sprintf("%s,%d\n", at, n)
		}
		g := &regressors{Holidays: []string{"US"}, Events: []event{fair}}
		path := testkit.Put(t, dir, "t.csv", text)
		s := testkit.Must(readSeries(t.Context(), env, path, datafile.Columns{X: []string{"t"}}, false, nil, g))(t)
		if err := s.explain(env, nil); err != nil {
			t.Fatal(c.about, err)
		}
		var got []float64
		for _, r := range s.Regressors {
			if r.Name == c.name {
				got = r.Values
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %s is %v, want %v", c.about, c.name, got, c.want)
		}
	}
}
