package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/series"
)

// explained returns a table of the daily sales of two shops with an effect of 2 per degree and of 30 at Christmas and a fair. The last rows
// of a shop have no sales.
func explained(days, future int) string {
	random := rand.New(rand.NewPCG(5, 5))
	var b strings.Builder
	b.WriteString("date,shop,sales,degrees\n")
	for _, shop := range []string{"a", "b"} {
		for n := range days {
			at := time.Date(2022, 11, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, n)
			degrees := 15 + 8*random.NormFloat64()
			sales := 100 + 2*degrees + 5*math.Sin(2*math.Pi*float64(n)/7) + 2*random.NormFloat64()
			if at.Month() == time.December && at.Day() == 25 || at.Day() == 3 && at.Month()%4 == 0 {
				sales += 30
			}
			text := fmt.Sprintf("%.2f", sales)
			if n >= days-future {
				text = ""
			}
			fmt.Fprintf(&b, "%s,%s,%s,%.2f\n", at.Format(time.DateOnly), shop, text, degrees)
		}
	}
	return b.String()
}

// TestRegressorFlags checks the estimated effects of regressors, holidays and events, forecasts of rows without a value and with --at, for
// one series and for several, and that a model gives the same numbers.
func TestRegressorFlags(t *testing.T) {
	const days, future = 300, 5
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	lines := strings.SplitAfter(explained(days, future), "\n")
	both := testkit.Put(t, dir, "both.csv", strings.Join(lines, ""))
	one := testkit.Put(t, dir, "one.csv", strings.Join(lines[:1+days], ""))
	at := testkit.Put(t, dir, "at.csv", lines[0]+strings.Join(lines[1+days-future:1+days], ""))
	fairs := testkit.Put(t, dir, "fairs.csv", "what;when\nfair;2022-12-03\nfair;2023-04-03\nfair;2023-08-03\n")
	quick := []string{"--season", "7", "--trend", "line"}
	flags := append([]string{"--y", "sales", "--regressor", "degrees", "--holidays", "us", "--events", fairs, "--digits", "0"}, quick...)
	succeed(t, append([]string{"forecast", one, "-o", in("f.csv"), "-m", in("m.safetensors")}, flags...)...)
	want := string(testkit.Read(t, in("f.csv")))
	if got := strings.Split(want, "\n"); len(got) != future+2 || !strings.HasPrefix(got[1], "2023-08-23,") {
		t.Errorf("a forecast of the rows without a value: %s", want)
	}
	succeed(t, append([]string{"forecast", one, "--at", at, "-o", in("at-f.csv")}, flags...)...)
	succeed(t, append([]string{"forecast", both, "--by", "shop", "-o", in("by.csv")}, flags...)...)
	succeed(t, "predict", in("m.safetensors"), at, "--digits", "0", "-o", in("p.csv"))
	by, predicted := strings.Split(string(testkit.Read(t, in("by.csv"))), "\n"), strings.Split(string(testkit.Read(t, in("p.csv"))), "\n")
	for i, line := range strings.Split(strings.TrimSpace(want), "\n") {
		if i > 0 && (by[i] != "a,"+line || !strings.HasPrefix(line, predicted[i])) {
			t.Errorf("line %d: %q, by shop %q, by the model %q", i, line, by[i], predicted[i])
		}
	}
	if got := string(testkit.Read(t, in("at-f.csv"))); got != want {
		t.Errorf("with --at %s, want %s", got, want)
	}
	theirs := testkit.Put(t, dir, "theirs.csv", lines[0]+strings.Join(lines[1+2*days-future:], "")+
		strings.Join(lines[1+days-future:1+days], "")) // of b, then of a
	succeed(t, append([]string{"forecast", both, "--by", "shop", "--at", theirs, "-o", in("by-at.csv")}, flags...)...)
	if got := string(testkit.Read(t, in("by-at.csv"))); got != strings.Join(by, "\n") {
		t.Errorf("by shop, with separate times, %s, want %s", got, strings.Join(by, "\n"))
	}
	if o := succeed(t, "forecast", one, "--season", "7", "--trend", "line", "--y", "sales", "--events",
		testkit.Put(t, dir, "late.csv", "when,what\n2030-01-01,fair\n2030-01-01,feast\n"), "--horizon",
		"2"); !strings.Contains(
		o.stderr, "left out the events fair, feast, because no row with a value is on their days") {
		t.Errorf("%s", o.stderr)
	}
	type info struct {
		Effects []struct {
			Name     string
			Mean, SD []float64
		}
	}
	made := map[string]float64{"degrees": 2, "Christmas Day": 30, "fair": 30}
	for _, e := range decode[info](t, succeed(t, "info", in("m.safetensors"), "--json").stdout).Effects {
		if w, ok := made[e.Name]; ok && math.Abs(e.Mean[0]-w) > 3*e.SD[0]+0.1*w {
			t.Errorf("%s has the effect %v (sd %v), true value %v", e.Name, e.Mean[0], e.SD[0], w)
		}
		delete(made, e.Name)
	}
	if len(made) > 0 {
		t.Errorf("no effects of %v", made)
	}
	if o := succeed(t, "info", in("m.safetensors")); !strings.Contains(o.stdout, "degrees +") || !strings.Contains(o.stdout, " more\n") {
		t.Errorf("%s", o.stdout)
	}
	type scored struct{ Scores map[string]series.Scores }
	backtest := append([]string{"backtest", one, "--y", "sales", "--horizon", "10", "--origins", "2", "--json"}, quick...)
	with := decode[scored](t, succeed(t, append(backtest, "--regressor", "3")...).stdout).Scores["vssgp"]
	if without := decode[scored](t, succeed(t, backtest...).stdout).Scores["vssgp"]; !(with.CRPS < 0.5*without.CRPS) {
		t.Errorf("CRPS %v, without the regressor %v", with.CRPS, without.CRPS)
	}
	succeed(t, "fill", one, "--y", "sales", "--regressor", "degrees", "--holidays", "US", "-o", in("filled.csv"), "--plot", in("filled.html"),
		"--trend", "line")
	succeed(t, "evaluate", in("m.safetensors"), one)

	hole := testkit.Put(t, dir, "hole.csv", strings.Replace(strings.Join(lines[:1+days], ""), lines[20], lines[20][:strings.LastIndex(lines[20], ",")]+",\n", 1))
	numbers := testkit.Put(t, dir, "numbers.csv", "t,y\n1,2\n2,3\n3,1\n4,2\n5,2\n6,1\n")
	fives := testkit.Put(t, dir, "fives.csv", "t,y\n2022-01,2\n2022-06,3\n2022-11,1\n2023-04,2\n2023-09,2\n")
	first := testkit.Put(t, dir, "first.csv", "t,x,y\n9,1,\n1,1,2\n2,1,3\n3,,1\n4,1,2\n5,1,2\n6,1,1\n") // the row to forecast is first
	far := testkit.Put(t, dir, "far.csv", "t,x,y\n99,1,\n1,1,2\n2,1,3\n3,2,1\n4,1,2\n5,1,2\n6,1,1\n")
	unknown := testkit.Put(t, dir, "unknown.csv", "t,x,y\n1,1,2\n2,1,3\n3,2,1\n4,1,2\n5,2,2\n6,1,1\n7,2,3\n8,1,1\n9,,\n10,2,2\n")
	for message, args := range map[string][]string{
		`first.csv: row 4 (from 1) has a value of y but no value of the regressor "x"`:         {"forecast", first, "--regressor", "x"},
		`the last row without a value, t 99, exceeds the maximum, 56, 10 times the data range`: {"forecast", far, "--regressor", "x"},
		`unknown.csv: the column "x" has no value at 9, which the prediction requires`:         {"backtest", unknown, "--regressor", "x", "--origins", "1", "--horizon", "3"},
		`one.csv: the column "degrees" has no value at 2023-08-28, which the prediction requires`: {"forecast", one, "--x", "date", "--y", "sales", "--regressor", "degrees",
			"--horizon", "7"},
		`hole.csv: row 20 (from 1) has a value of sales but no value of the regressor "degrees"`: {"forecast", hole, "--x", "date", "--y", "sales", "--regressor", "degrees"},
		`--regressor: there is no column "heat"; must be one of date, shop`:                      {"forecast", one, "--regressor", "heat"},
		`--regressor sales: the column is also given by --y`:                                     {"forecast", one, "--y", "sales", "--regressor", "sales"},
		`unknown calendar "XX"; must be one of AR, AT`:                                           {"forecast", one, "--y", "sales", "--holidays", "XX"},
		`require dates, but the input t`:                                                         {"forecast", numbers, "--holidays", "US"},
		`or 1, 2, 3, 4, 6 or 12 months, but the step of ` + fives + ` is 5 months`:               {"forecast", fives, "--holidays", "US"},
		`the columns are t, y; must be dates and their names`:                                    {"forecast", one, "--events", numbers},
		`f.csv: regressors: there is no column "degrees"`:                                        {"predict", in("m.safetensors"), in("f.csv"), "-o", in("q.csv")},
	} {
		refuse(t, message, args...)
	}
}

// TestHolidaysOfWeeks checks forecasts of a weekly series in which Thanksgiving and a strike reduce the sum of a week, and that a model file
// gives the same numbers.
func TestHolidaysOfWeeks(t *testing.T) {
	dir, random := t.TempDir(), rand.New(rand.NewPCG(6, 6))
	in := func(name string) string { return filepath.Join(dir, name) }
	strikes := map[string]float64{"2022-05-10": 1, "2022-05-11": 1, "2023-02-06": 1, "2023-11-14": 1}
	var strikeRows strings.Builder
	for day := range strikes {
		strikeRows.WriteString(day + ",strike\n")
	}
	events := testkit.Put(t, dir, "events.csv", "day,what\n"+strikeRows.String())
	text, future, truth := "week,sales\n", "week\n", []float64{}
	for n := range 208 {
		begin := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, 7*n)
		sales := 1000.0
		for d := range 7 {
			day := begin.AddDate(0, 0, d)
			if day.Month() == time.November && day.Weekday() == time.Thursday && (day.Day()-1)/7 == 3 {
				sales -= 100
			}
			sales -= 40 * strikes[day.Format(time.DateOnly)]
		}
		if n < 200 {
			text += fmt.Sprintf("%s,%.2f\n", begin.Format(time.DateOnly), sales+2*random.NormFloat64())
		} else {
			future, truth = future+begin.Format(time.DateOnly)+"\n", append(truth, sales)
		}
	}
	data, at := testkit.Put(t, dir, "weeks.csv", text), testkit.Put(t, dir, "at.csv", future)
	flags := []string{data, "--season", "none", "--trend", "line", "--holidays", "US", "--events", events, "--digits", "0"}
	succeed(t, append([]string{"forecast", "--horizon", "8", "-m", in("m.safetensors"), "-o", in("f.csv")}, flags...)...)
	succeed(t, "predict", in("m.safetensors"), at, "--digits", "0", "-o", in("p.csv"))
	lines := strings.Split(string(testkit.Read(t, in("f.csv"))), "\n")
	predicted := strings.Split(string(testkit.Read(t, in("p.csv"))), "\n")
	for i, want := range truth { // the weeks of a strike and of Thanksgiving are the fourth and the fifth one
		var mean, sd float64
		fmt.Sscanf(strings.SplitN(lines[i+1], ",", 2)[1], "%g,%g", &mean, &sd)
		if math.Abs(mean-want) > 3*sd || sd > 10 || !strings.HasPrefix(lines[i+1], predicted[i+1]) {
			t.Errorf("forecast %s, by the model file %s, true value %v", lines[i+1], predicted[i+1], want)
		}
	}
}

// TestTradingDays checks that forecasts of a monthly series of sums over weekdays use the number of weekdays, also of a model file and in a
// backtest, and that --trading-days never omits them.
func TestTradingDays(t *testing.T) {
	dir, random := t.TempDir(), rand.New(rand.NewPCG(8, 8))
	in := func(name string) string { return filepath.Join(dir, name) }
	text, future := "month,sales\n", "month\n"
	for n := range 84 {
		begin := time.Date(2010, time.Month(1+n), 1, 0, 0, 0, 0, time.UTC)
		sales := 0.0
		for day := begin; day.Month() == begin.Month(); day = day.AddDate(0, 0, 1) {
			sales += map[time.Weekday]float64{time.Saturday: 20, time.Sunday: 0, time.Friday: 15}[day.Weekday()] + 10
		}
		if text += fmt.Sprintf("%s,%.2f\n", begin.Format("2006-01"), sales+random.NormFloat64()); n >= 72 {
			future += begin.Format("2006-01") + "\n"
		}
	}
	rows := strings.SplitAfter(text, "\n")
	data, at := testkit.Put(t, dir, "months.csv", strings.Join(rows[:73], "")), testkit.Put(t, dir, "at.csv", future)
	whole := testkit.Put(t, dir, "whole.csv", text)
	o := succeed(t, "forecast", data, "--log", "never", "--horizon", "1y", "--digits", "0", "-m", in("m.safetensors"),
		"-o", in("f.csv"))
	if !strings.Contains(o.stderr+o.stdout, "trading day") {
		t.Errorf("no trading days: %s%s", o.stderr, o.stdout)
	}
	succeed(t, "predict", in("m.safetensors"), at, "--digits", "0", "-o", in("p.csv"))
	lines := strings.Split(string(testkit.Read(t, in("f.csv"))), "\n")
	predicted := strings.Split(string(testkit.Read(t, in("p.csv"))), "\n")
	for i, row := range rows[73:85] {
		var mean, sd, want float64
		fmt.Sscanf(strings.SplitN(lines[i+1], ",", 2)[1], "%g,%g", &mean, &sd)
		fmt.Sscanf(strings.SplitN(row, ",", 2)[1], "%g", &want)
		if math.Abs(mean-want) > 4*sd || sd > 5 || !strings.HasPrefix(lines[i+1], predicted[i+1]) {
			t.Errorf("forecast %s, by the model file %s, true value %v", lines[i+1], predicted[i+1], want)
		}
	}
	type scored struct{ Scores map[string]series.Scores }
	crps := func(when string) float64 {
		o := succeed(t, "backtest", whole, "--horizon", "12", "--origins", "1", "--json", "--trading-days", when)
		return decode[scored](t, o.stdout).Scores["vssgp"].CRPS
	}
	if auto, never := crps("auto"), crps("never"); !(auto < 0.5*never) {
		t.Errorf("CRPS %v, with --trading-days never %v", auto, never)
	}
	days := testkit.Put(t, dir, "days.csv", "t,y\n2024-01-01,2\n2024-01-02,3\n2024-01-03,1\n2024-01-04,2\n2024-01-05,2\n")
	numbers := testkit.Put(t, dir, "numbers.csv", "t,y\n1,2\n2,3\n3,1\n4,2\n5,2\n6,1\n")
	for message, path := range map[string]string{
		"--trading-days always requires months or quarters, but the step of " + days + " is 1 day": days,
		"--trading-days always requires dates, but the input t of " + numbers + " has numbers":     numbers,
	} {
		refuse(t, message, "forecast", path, "--trading-days", "always")
	}
	refuse(t, "--trading-days \"maybe\": must be one of auto, always, never", "forecast", data, "--trading-days", "maybe")
}

// TestDaysOfYear checks that a forecast uses the days of the year of the data, also by a model file, unless --days-of-year is never.
func TestDaysOfYear(t *testing.T) {
	dir, random := t.TempDir(), rand.New(rand.NewPCG(11, 11))
	in := func(name string) string { return filepath.Join(dir, name) }
	text := "date,sales\n"
	for n := range 3*365 + 20 {
		day, sales := time.Date(2020, 12, 5+n, 0, 0, 0, 0, time.UTC), 100+random.NormFloat64()
		if day.Day() == 25 && day.Month() == time.December {
			sales -= 30
		}
		text += fmt.Sprintf("%s,%.2f\n", day.Format(time.DateOnly), sales)
	}
	data := testkit.Put(t, dir, "days.csv", strings.TrimSuffix(text, text[strings.Index(text, "2023-12-24"):]))
	at := testkit.Put(t, dir, "at.csv", "date\n2023-12-24\n2023-12-25\n")
	flags := []string{"forecast", data, "--at", at, "--season", "none", "--trend", "line", "--log", "never", "--digits", "0"}
	o := succeed(t, append(flags, "-m", in("m.safetensors"), "-o", in("f.csv"))...)
	if !strings.Contains(o.stderr+o.stdout, "12-25 -") {
		t.Errorf("no effect of 12-25: %s%s", o.stderr, o.stdout)
	}
	succeed(t, "predict", in("m.safetensors"), at, "--digits", "0", "-o", in("p.csv"))
	succeed(t, append(flags, "--days-of-year", "never", "-o", in("never.csv"))...)
	last := func(name string) string { return strings.Split(string(testkit.Read(t, in(name))), "\n")[2] }
	mean := func(line string) (v float64) {
		fmt.Sscanf(strings.TrimPrefix(line, "2023-12-25,"), "%g", &v)
		return v
	}
	if got, without := mean(last("f.csv")), mean(last("never.csv")); math.Abs(got-70) > 3 || math.Abs(without-100) > 3 {
		t.Errorf("25 December: %v, without days of the year %v", got, without)
	}
	if !strings.HasPrefix(last("f.csv"), last("p.csv")) {
		t.Errorf("forecast %s, by the model file %s", last("f.csv"), last("p.csv"))
	}
}

// TestManyRegressors checks the maximum number of regressors.
func TestManyRegressors(t *testing.T) {
	head, row := "t", ""
	for i := range 257 {
		head, row = head+fmt.Sprintf(",r%d", i), row+",1"
	}
	text := head + ",y\n"
	for i := range 6 {
		text += fmt.Sprint(i) + row + fmt.Sprintf(",%d\n", i*i%5)
	}
	refuse(t, "257 regressors (columns, holidays and the days around them, events); the maximum is 256", "forecast",
		testkit.Put(t, t.TempDir(), "r.csv", text), "--regressor", strings.TrimPrefix(head, "t,"))
}
