package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
	"github.com/vssgp/vssgp/series"
)

// river is a table with dates such as 4.8.2024, words, decimal commas and missing values.
const river = "../../testdata/river.csv"

// lines reads a table's records.
func lines(t *testing.T, path string) [][]string {
	t.Helper()
	return testkit.Must(csv.NewReader(bytes.NewReader(testkit.Read(t, path))).ReadAll())(t)
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	return testkit.Must(strconv.ParseFloat(s, 64))(t)
}

// TestForecast checks that an unedited table is forecast with a weekly season and in its date format, that the saved model gives identical
// predictions, and the error beyond its range.
func TestForecast(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	flow := []string{"forecast", river, "--y", "Flow m3/s"}
	o := succeed(t, append(flow, "--horizon", "10", "-o", in("f.csv"), "-m", in("m.st"), "--plot", in("f.svg"), "--report", in("f.html"),
		"--json")...)
	r := decode[printed](t, o.stdout)
	if r.Rows != 154 || r.Horizon != 10 || !slices.Equal(r.Periods, []float64{7}) || !slices.Contains(r.Parts, "season 7") ||
		len(r.NoiseSD) != 1 || !(r.NoiseSD[0] > 0) ||
		math.IsNaN(r.Bound) || !(r.Seconds > 0) || r.Device != "cpu" {
		t.Errorf("%s", o.stdout)
	}
	got := lines(t, in("f.csv"))
	if strings.Join(got[0], ",") != "Day,Flow m3/s_mean,Flow m3/s_sd,Flow m3/s_lower,Flow m3/s_upper" || len(got) != 11 ||
		got[1][0] != "05.08.2024" || got[10][0] != "14.08.2024" {
		t.Fatalf("%q", got)
	}
	for i, l := range got[1:] {
		mean, sd, lower, upper := number(t, l[1]), number(t, l[2]), number(t, l[3]), number(t, l[4])
		if weekend := i%7 >= 5; weekend != (mean < 22.3) || !(sd > 0.2 && lower < mean-1.5*sd && mean+1.5*sd < upper) {
			t.Errorf("row %d: %q", i, l)
		}
	}
	flow = append(flow, "--season", "7", "--trend", "line")
	succeed(t, append(flow, "--horizon", "10", "-o", in("h.csv"))...)
	line := lines(t, in("h.csv"))
	succeed(t, append(flow, "--until", "14.08.2024", "-o", in("u.csv"))...)
	succeed(t, append(flow, "--at", testkit.Put(t, dir, "at.csv", "Day\n06.08.2024\n14.08.2024\n"), "-o", in("a.csv"))...)
	if !bytes.Equal(testkit.Read(t, in("u.csv")), testkit.Read(t, in("h.csv"))) {
		t.Error("--until and --horizon, to the same time with the same seed, differ")
	}
	for i, n := range []int{0, 2, 10} {
		at := lines(t, in("a.csv"))
		if len(at) != 3 || at[i][0] != line[n][0] || i > 0 && math.Abs(number(t, at[i][2])/number(t,
			line[n][2])-1) > 2e-11 { // features of even rows are computed by a recurrence, within the backends' tolerance
			t.Errorf("--at: %q, want %q", at[i], line[n])
		}
	}
	refuse(t, "--until yesterday: must have the format of the input Day, such as 04.08.2024", append(flow, "--until", "yesterday", "--quiet")...)
	// a tenth of the rows
	if o := succeed(t, "forecast", river, "--y", "2", "--season", "none", "--trend", "line", "-o",
		"-"); strings.Count(o.stdout, "\n") != 16 {
		t.Errorf("%s", o.stdout)
	}
	if o := succeed(t, append(flow, "-o", "-")...); strings.Count(o.stdout, "\n") != 15 { // two weeks
		t.Errorf("%s", o.stdout)
	}
	testkit.Contains(t, string(testkit.Read(t, in("f.svg"))), "Flow m3/s: trend", "Flow m3/s: season of 7 days", "remainder",
		"2024-")
	testkit.Contains(t, string(testkit.Read(t, in("f.html"))), "noise.sd", "--horizon",
		"Flow m3/s: autocorrelated residual", "autocorrelated residual.length")
	testKeptModel(t, dir, got, r)
}

// testKeptModel tries the model that forecast has kept as m.st.
func testKeptModel(t *testing.T, dir string, forecast [][]string, r printed) {
	model, out := filepath.Join(dir, "m.st"), filepath.Join(dir, "p.csv")
	succeed(t, "predict", model, filepath.Join(dir, "f.csv"), "-o", out, "--plot", filepath.Join(dir, "p.png"), "--draws", "3")
	for i, l := range lines(t, out) {
		if !slices.Equal(l[:3], forecast[i][:3]) || len(l) != 6 || i == 0 && l[5] != "Flow m3/s_draw3" {
			t.Errorf("predict gives %q, forecast %q", l, forecast[i])
		}
	}
	succeed(t, "predict", model, filepath.Join(dir, "f.csv"), "-o", out, "--posterior")
	if got := lines(t, out); !slices.EqualFunc(got, forecast, slices.Equal) {
		t.Errorf("predict --posterior gives %q, forecast %q", got, forecast)
	}
	late := testkit.Put(t, dir, "late.csv", "Day\n01.01.2030\n")
	refuse(t, "Day 01.01.2030 exceeds the maximum, 12.10.2028", "predict", model, late, "-o", out)
	refuse(t, "--full", "predict", model, late, "--full", "-o", out)
	e := decode[printed](t, succeed(t, "evaluate", model, river, "--json").stdout)
	if math.Abs(e.Bound-r.Bound) > 1e-9*math.Abs(r.Bound) || e.Rows != 137 || !(*e.RMSE > 0.05 && *e.RMSE < 0.25) ||
		!(*e.Density > -0.2) || e.Device != "cpu" {
		t.Errorf("%+v, the fit has %+v", e, r)
	}
	type known struct {
		Parts   []string
		Periods []float64
		Hyper   []struct {
			Name               string
			Mode, Lower, Upper float64
		}
		NoiseSD     []float64 `json:"noise_sd"`
		Units       []string
		Last, Reach string
	}
	i := decode[known](t, succeed(t, "info", model, "--json", "--plot", filepath.Join(dir, "i.png")).stdout)
	if !slices.Equal(i.Parts, r.Parts) || !slices.Equal(i.Periods, r.Periods) || !slices.Equal(i.NoiseSD, r.NoiseSD) ||
		i.Last != "04.08.2024" || i.Reach != "12.10.2028" || len(i.Units) != 1 || len(i.Hyper) < 8 {
		t.Errorf("%+v", i)
	}
	for _, h := range i.Hyper {
		if !(h.Lower < h.Mode && h.Mode < h.Upper) {
			t.Errorf("%+v", h)
		}
	}
	testkit.Contains(t, succeed(t, "info", model).stdout, "predicts up to 12.10.2028", "season of 7 days.amplitude[1]",
		"seasons: 7 days", "autocorrelated residual.length", "autocorrelated residual, season of 7 days, noise\n")
	refuse(t, "is a structural model", "fit", river, "--y", "2", "--init", model, "-o", out)
}

// TestFillChangesOnlyEmptyCells checks that only the bytes of empty cells change.
func TestFillChangesOnlyEmptyCells(t *testing.T) {
	dir := t.TempDir()
	out, bands := filepath.Join(dir, "out.csv"), filepath.Join(dir, "bands.tsv")
	r := decode[printed](t, succeed(t, "fill", river, "--season", "7", "--trend", "line", "-o", out, "--bands", bands,
		"--json").stdout)
	before, after := strings.Split(string(testkit.Read(t, river)), "\n"), strings.Split(string(testkit.Read(t, out)), "\n")
	filled := map[string]bool{}
	for i, l := range before {
		was, is := strings.Split(l, ";"), strings.Split(after[i], ";")
		if len(was) != len(is) {
			t.Fatalf("line %d: %q", i+1, after[i])
		}
		for c := range was {
			if empty := i > 1 && (c == 2 || c == 3) && slices.Contains([]string{"", "NA", "-"}, was[c]); empty {
				v := number(t, strings.Replace(is[c], ",", ".", 1))
				if c == 2 && (v < 15 || v > 28) || c == 3 && (v < 2 || v > 5) {
					t.Errorf("line %d: %q", i+1, after[i])
				}
				filled[fmt.Sprintf("%d %s %s", i-1, was[1], []string{"Flow m3/s", "Level m"}[c-2])] = true
			} else if was[c] != is[c] {
				t.Errorf("line %d: %q was %q", i+1, after[i], l)
			}
		}
	}
	if len(before) != len(after) || r.Filled != len(filled) || r.Filled != 21 || r.Rows != 154 {
		t.Errorf("%d lines of %d, %d filled, %+v", len(after), len(before), len(filled), r)
	}
	got := strings.Split(strings.TrimSpace(string(testkit.Read(t, bands))), "\n")
	if got[0] != "row\tDay\tcolumn\tmean\tsd\tlower\tupper" || len(got) != 22 {
		t.Errorf("%q", got)
	}
	for _, l := range got[1:] {
		f := strings.Split(l, "\t")
		mean, sd, lower, upper := number(t, f[3]), number(t, f[4]), number(t, f[5]), number(t, f[6])
		if !filled[strings.Join(f[:3], " ")] || !(sd > 0 && lower < mean && mean < upper) {
			t.Errorf("%q", l)
		}
	}
	whole := string(testkit.Read(t, out))
	if o := fromStdinRun(t, whole, "fill", "-", "-o", "-"); o.code != cli.ExitDone || o.stdout != whole ||
		!strings.Contains(o.stderr, "is a copy") {
		t.Errorf("a table without missing values: exit %d, %s", o.code, o.stderr)
	}
	for _, text := range []string{"y\n1\n2\nNA\n4\n5\n", "row,y\n1,1\n2,2\n3,NA\n4,4\n5,5\n"} {
		fromStdinRun(t, text, "fill", "-", "-o", out, "--bands", bands, "--overwrite")
		testkit.Contains(t, string(testkit.Read(t, bands)), "row\tinput\tcolumn\tmean", "\n3\t3\ty\t")
	}
}

// TestBacktest checks the scores of three methods for one output and for several outputs.
func TestBacktest(t *testing.T) {
	type scored struct {
		Horizon, Origins int
		Scores           map[string]map[string]float64
		ByOutput         map[string]map[string]map[string]float64 `json:"by_output"`
	}
	one := decode[scored](t, succeed(t, "backtest", river, "--y", "2", "--horizon", "7", "--origins", "2", "--json").stdout)
	if one.Horizon != 7 || one.Origins != 2 || len(one.Scores) != 3 || one.ByOutput != nil {
		t.Errorf("%+v", one)
	}
	if !(one.Scores["vssgp"]["crps"] < 0.5*one.Scores["naive"]["crps"]) {
		t.Errorf("%+v", one.Scores)
	}
	two := decode[scored](t, succeed(t, "backtest", river, "--y", "2,3", "--season", "7", "--trend", "line",
		"--horizon", "7", "--origins", "1", "--json").stdout)
	flow, level, mean := two.ByOutput["Flow m3/s"]["vssgp"]["mae"], two.ByOutput["Level m"]["vssgp"]["mae"], two.Scores["vssgp"]["mae"]
	if !(flow > 0) || !(level > 0) || math.Abs(mean-(flow+level)/2) > 1e-12 {
		t.Errorf("%+v", two)
	}
	if o := succeed(t, "backtest", river, "--y", "2", "--season", "7", "--trend", "line", "--origins",
		"1"); !strings.Contains(o.stdout, "1 forecast of 7 rows each") ||
		strings.Count(o.stdout, "\n") != 5 {
		t.Errorf("%s", o.stdout)
	}
}

// TestBacktestWithoutSeason checks that the seasonal naive forecast of months repeats the last year although the model finds no season,
// and the printed line if there is no season.
func TestBacktestWithoutSeason(t *testing.T) {
	random, table := rand.New(rand.NewPCG(2, 2)), "month,y\n"
	for i := range 60 {
		table += fmt.Sprintf("%d-%02d,%.3f\n", 2019+i/12, 1+i%12, random.NormFloat64())
	}
	months := testkit.Put(t, t.TempDir(), "months.csv", table)
	const equal = "seasonal_naive equals naive"
	for flags, season := range map[string]int{"": 12, "--season none": 1, "--period 5mo": 5, "--x row": 1} {
		args := append([]string{"backtest", months, "--horizon", "6", "--origins", "2", "--trend", "line"},
			strings.Fields(flags)...)
		got := decode[struct {
			Season int
			Scores map[string]map[string]float64
		}](t, succeed(t, append(args, "--json")...).stdout)
		testkit.Equal(t, got.Season, season, flags)
		same := got.Scores["naive"]["mae"] == got.Scores["seasonal_naive"]["mae"]
		testkit.Equal(t, same, season == 1, flags, ": whether the scores agree")
		said := strings.Contains(succeed(t, args...).stdout, equal)
		testkit.Equal(t, said, season == 1, flags, ": whether a line says that the scores agree")
	}
}

// TestBacktestVerdict checks that a line tells if a naive forecast is better than the model, and which.
func TestBacktestVerdict(t *testing.T) {
	dir := t.TempDir()
	rise := func(n int) float64 { return float64(n) + 0.1*float64(n*n%7) }
	both := "t,by,y\n"
	for n := range 40 {
		both += fmt.Sprintf("%d,a,%v\n%[1]d,b,%[3]d\n", n, rise(n), n*n%7)
	}
	rising := testkit.Put(t, dir, "rising.csv", evenSeries(40, rise))
	waves := func(n int) float64 { return 10*float64(n%4) + 0.1*float64(n*n%7) }
	season := testkit.Put(t, dir, "season.csv", evenSeries(40, waves))
	several := testkit.Put(t, dir, "by.csv", both)
	const constant = "--trend none --short-memory=false "
	const counted = "a naive forecast has a lower CRPS than the model for 1 of 2 series"
	for name, c := range map[string]struct{ table, flags, verdict string }{
		"the last value":  {rising, constant + "--season none", "\nnaive is better than the model for y: its CRPS is 2.066, the "},
		"the model":       {rising, "--season none --trend line", ""},
		"the season":      {season, constant + "--season 4 --prior season=0.01,0.01", "\nseasonal_naive is better than the model"},
		"one of several":  {several, constant + "--season none --by by", counted},
		"none of several": {several, "--season none --trend line --by by", ""},
	} {
		args := append([]string{"backtest", c.table, "--horizon", "4", "--origins", "2", "--log", "never"},
			strings.Fields(c.flags)...)
		got := succeed(t, args...).stdout
		better := strings.Contains(got, "than the model")
		if better != (c.verdict != "") || !strings.Contains(got, c.verdict) {
			t.Errorf("%s: %s, want %q", name, got, c.verdict)
		}
	}
	for flags, want := range map[string]string{
		"--horizon 6": "rising.csv: 6 forecasts of 6 rows each and 10 rows before the first need 46 rows, " +
			"but the series has 40; use --origins 5",
		"--horizon 9 --origins 4": "use --origins 3", "--horizon 30 --origins 2": "use --origins 1",
		"--horizon 35": "use --origins 1 and --horizon 30, or a shorter one",
	} {
		refuse(t, want, append([]string{"backtest", rising}, strings.Fields(flags)...)...)
	}
	short := testkit.Put(t, dir, "short.csv", evenSeries(9, rise))
	refuse(t, "at least 11 rows are required", "backtest", short)
}

// TestModelFlags checks the parts of the model for values of the flags.
func TestModelFlags(t *testing.T) {
	dir := t.TempDir()
	lines := strings.SplitAfter(string(testkit.Read(t, river)), "\n")
	river := testkit.Put(t, dir, "river.csv", strings.Join(lines[:slow.Pick(len(lines), 80)], ""))
	const usual = "constant, slope, damped trend, random walk, short memory, "
	for flags, want := range map[string]string{
		"":                           usual + "season 7, noise",
		"--season none":              usual + "noise",
		"--season 7":                 usual + "season 7, noise",
		"--period 168h":              usual + "season 7, noise",
		"--period 1w --season 7":     usual + "season 7, noise",
		"--period 14":                usual + "season 14, noise",
		"--season none --trend none": "constant, short memory, noise",
		"--season none --trend walk": "constant, random walk, short memory, noise",
		"--season none --trend line,smooth --short-memory=false": "constant, slope, smooth trend, noise",
		"--season none --trend damped --short-memory=false":      "constant, damped trend, noise",
		"--season none --prior smooth=1,1":                       "constant, slope, damped trend, smooth trend, random walk, short memory, noise",
	} {
		if !slow.Tests && (flags == "" || strings.HasPrefix(flags, "--period")) {
			continue
		}
		args := append([]string{"fit", river, "--y", "2", "-o", filepath.Join(dir, "m.st"), "--json"}, strings.Fields(flags)...)
		if got := decode[printed](t, succeed(t, args...).stdout); strings.Join(got.Parts, ", ") != want {
			t.Errorf("%s: %q, want %q", flags, got.Parts, want)
		}
	}
	forecast := func(flags ...string) string {
		return succeed(t, append([]string{"forecast", river, "--y", "2", "--season", "7", "--horizon", "30", "-o", "-"}, flags...)...).stdout
	}
	if forecast() != forecast("--trend", "auto") || forecast() == forecast("--trend", "line,damped,walk") {
		t.Error("by default the trend must be averaged, and with --trend it must be fixed")
	}
	sd := func(flags ...string) float64 {
		args := append([]string{"fit", river, "--y", "2", "--season", "none", "--trend", "none", "--short-memory=false", "-o",
			filepath.Join(dir, "m.st"), "--json"}, flags...)
		return decode[printed](t, succeed(t, args...).stdout).NoiseSD[0]
	}
	if free, narrow := sd(), sd("--prior", "noise=0.01,0.001"); !(free > 1 && narrow < 0.1) {
		t.Errorf("noise sd %v, with a strong prior %v", free, narrow)
	}
	model := filepath.Join(dir, "m.st")
	succeed(t, "fit", river, "--y", "2", "--season", "none", "--trend", "damped", "-o", model, "--prior", "damped=3,0.001", "--prior",
		"damped-length=40,0.001", "--prior", "memory-length=5,0.001")
	type known struct{ Hyper []series.Value }
	want := map[string]float64{"damped_trend.sd": 3, "damped_trend.length": 40, "short_memory.length": 5} // in m3/s and days
	for _, h := range decode[known](t, succeed(t, "info", model, "--json").stdout).Hyper {
		if w, ok := want[h.Name]; ok {
			testkit.Near(t, h.Mode, w, 0.01*w, h.Name)
			delete(want, h.Name)
		}
	}
	testkit.Equal(t, len(want), 0, "priors without a hyper-parameter")
}

// TestErrors checks that known standard deviations are used and outliers are excluded.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	var plain strings.Builder
	plain.WriteString("t,y,e\n")
	for i := range 60 {
		y, e, bad := math.Sin(float64(i)/6), 0.05, 0.0
		if i%9 == 4 {
			bad, e = 6, 4
		}
		y += 0.03 * math.Sin(float64(i*i))
		fmt.Fprintf(&plain, "%d,%v,%v\n", i, y+bad, e)
	}
	data := testkit.Put(t, dir, "d.csv", plain.String())
	noise := func(flags ...string) float64 {
		args := append([]string{"forecast", data, "--x", "t", "--y", "y", "--season", "none", "--trend", "line",
			"--horizon", "1", "-o", filepath.Join(dir, "o.csv"), "--json"}, flags...)
		return decode[printed](t, succeed(t, args...).stdout).NoiseSD[0]
	}
	usual, robust, known := noise("--robust", "never"), noise("--robust"), noise("--yerr", "e")
	if !(usual > 1 && robust < 0.2 && known < 0.2) {
		t.Errorf("noise sd %v, robust %v, with known errors %v", usual, robust, known)
	}
	out := succeed(t, strings.Fields("forecast "+data+" --x t --y y --season none --trend line --horizon 1 "+
		"--robust -o "+filepath.Join(dir, "o.csv"))...)
	testkit.Contains(t, out.stderr+out.stdout, "outliers: 7 values of y, at 4, 13, 22, 31, 40, 49, 58\n")
}

// TestNegativeBand checks that a line suggests --positive if an interval begins below 0 although no value is negative.
func TestNegativeBand(t *testing.T) {
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(5, 5))
	rain := testkit.Numbers(60, func(int) float64 { return max(0, 0.5+random.NormFloat64()) })
	put := func(name string, y func(n int) float64) string {
		return testkit.Put(t, dir, name, evenSeries(len(rain), y))
	}
	several := "t,by,y,z\n"
	for n, v := range rain {
		several += fmt.Sprintf("%d,a,%g,%g\n%[1]d,b,%[3]g,%[2]g\n", n, v, 5+v)
	}
	for name, c := range map[string]struct{ table, flags, names string }{
		"rain":     {put("rain.csv", func(n int) float64 { return rain[n] }), "", "y"},
		"positive": {put("rain.csv", func(n int) float64 { return rain[n] }), "--positive", ""},
		"negative": {put("negative.csv", func(n int) float64 { return rain[n] - 0.1 }), "", ""},
		"high":     {put("high.csv", func(n int) float64 { return 5 + rain[n] }), "", ""},
		"counts":   {put("counts.csv", func(n int) float64 { return math.Floor(random.ExpFloat64()) }), "", ""},
		"by":       {testkit.Put(t, dir, "by.csv", several), "--by by --y y,z", "y, z"},
		"outputs":  {testkit.Put(t, dir, "by.csv", several), "--by by --y z", "z"},
	} {
		args := append([]string{"forecast", c.table, "--season", "none", "--trend", "none", "--horizon", "2", "-o",
			filepath.Join(dir, "out.csv"), "--overwrite"}, strings.Fields(c.flags)...)
		got := succeed(t, args...).stderr
		want := ""
		if c.names != "" {
			want = "vssgp: " + c.names + ": no value is negative, but the 95 % interval begins below 0; " +
				"if values cannot be negative, use --positive\n"
		}
		if !strings.HasSuffix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestPositiveForecast checks that a forecast with --positive has no negative numbers, and that the model gives the same numbers.
func TestPositiveForecast(t *testing.T) {
	dir := t.TempDir()
	halves := testkit.Put(t, dir, "halves.csv", evenSeries(70, func(n int) float64 { return float64(n*n%7%3) / 2 })) // not counts
	forecast := func(flags ...string) (least float64) {
		args := append([]string{"forecast", halves, "--season", "none", "--trend", "line", "--horizon", "9", "-o",
			filepath.Join(dir, "f.csv"), "--overwrite"}, flags...)
		succeed(t, args...)
		for _, record := range lines(t, filepath.Join(dir, "f.csv"))[1:] {
			for _, text := range record[1:] {
				least = min(least, number(t, text))
			}
		}
		return least
	}
	if least := forecast(); least >= 0 {
		t.Errorf("without --positive the smallest number is %v", least)
	}
	model := filepath.Join(dir, "m.safetensors")
	if least := forecast("--positive", "-m", model); least < 0 {
		t.Errorf("the smallest number is %v", least)
	}
	succeed(t, "predict", model, filepath.Join(dir, "f.csv"), "-o", filepath.Join(dir, "p.csv"))
	for i, p := range lines(t, filepath.Join(dir, "p.csv")) {
		if f := lines(t, filepath.Join(dir, "f.csv"))[i]; !slices.Equal(p, f[:3]) {
			t.Errorf("line %d is %v, by the model %v", i+1, f, p)
		}
	}
	low := testkit.Put(t, dir, "low.csv", evenSeries(20, func(n int) float64 { return float64(n%5 - 1) }))
	refuse(t, "low.csv: row 1 (from 1): y is -1; must be 0 or more with --positive", "forecast", low, "--positive")
}

// TestTooLarge checks that every command refuses the same large numbers in the inputs and the outputs, and names
// the file.
func TestTooLarge(t *testing.T) {
	dir := t.TempDir()
	structural, sparse, out := filepath.Join(dir, "s.st"), filepath.Join(dir, "v.st"), filepath.Join(dir, "o.csv")
	rows := evenSeries(12, func(n int) float64 { return float64(n * n % 7) })
	good, bad := testkit.Put(t, dir, "good.csv", rows), filepath.Join(dir, "bad.csv")
	fast, features := []string{"--season", "none", "--trend", "none"}, []string{"--features", "2", "--components", "1",
		"--iterations", "1"}
	succeed(t, append([]string{"fit", good, "-o", structural}, fast...)...)
	succeed(t, append([]string{"fit", good, "-o", sparse}, features...)...)
	for _, number := range []string{"1e151", "-1.7e308", "1e999", "1e150"} {
		for col := range 2 {
			cells := []string{"12", ""}
			cells[col] = number
			testkit.Put(t, dir, "bad.csv", rows+strings.Join(cells, ",")+"\n")
			want := fmt.Sprintf("bad.csv:14: column %q (%d from 0): %q is too large; the magnitude must be at most 1e150",
				[]string{"t", "y"}[col], col, number)
			for _, args := range [][]string{
				append([]string{"fit", bad, "-o", structural}, fast...), append([]string{"fit", bad, "-o", sparse}, features...),
				append([]string{"forecast", bad, "-o", out}, fast...), append([]string{"fill", bad, "-o", out}, fast...),
				append([]string{"backtest", bad, "--horizon", "1", "--origins", "1"}, fast...),
				{"predict", structural, bad, "-o", out},
				{"predict", sparse, bad, "--x", "t", "-o", out}, {"evaluate", structural, bad}, {"evaluate", sparse, bad},
			} {
				o := vssgpRun(t, args...)
				if refused := strings.Contains(o.stderr, want) && o.code == cli.ExitMistake; refused != (number != "1e150" &&
					(col == 0 || args[0] != "predict")) {
					t.Errorf("%s with %s %s: exit %d, %s", args, []string{"t", "y"}[col], number, o.code, o.stderr)
				}
			}
		}
	}
	testkit.Put(t, dir, "bad.csv", "t\n1e100\n")
	refuse(t, "bad.csv: t 1e+100 exceeds the maximum", "predict", structural, bad, "-o", out)
}

// TestLogarithms checks that sales with exponential growth are modeled on the log scale, which the output reports, unless --log is never.
func TestLogarithms(t *testing.T) {
	dir := t.TempDir()
	data := testkit.Put(t, dir, "d.csv", evenSeries(72, func(n int) float64 {
		return math.Exp(3 + 0.03*float64(n) + 0.5*math.Sin(2*math.Pi*float64(n)/12) + 0.1*math.Sin(float64(n*n)))
	}))
	model := filepath.Join(dir, "m.st")
	out := filepath.Join(dir, "o.csv")
	run := func(args ...string) string {
		r := succeed(t, args...)
		return r.stdout + r.stderr
	}
	for _, c := range []struct {
		text string
		log  bool
		args []string // and --trend line, except of info
	}{
		{"log scale", true, []string{"forecast", data, "--horizon", "2", "-o", out, "-m", model, "--plot", filepath.Join(dir, "p.svg")}},
		{"log scale", true, []string{"info", model}}, {`"log":true`, true, []string{"info", model, "--json"}},
		{`"log":true`, true, []string{"fit", data, "-o", model, "--json"}},
		{"log scale", false, []string{"forecast", data, "--horizon", "2", "-o", out, "--log", "never"}},
		{`"log"`, false, []string{"fit", data, "-o", model, "--log", "never", "--json"}},
	} {
		if c.args[0] != "info" {
			c.args = append(c.args, "--trend", "line")
		}
		if got := run(c.args...); strings.Contains(got, c.text) != c.log {
			t.Errorf("%v: %s", c.args, got)
		}
	}
	testkit.Contains(t, string(testkit.Read(t, filepath.Join(dir, "p.svg"))), "log of y: trend")
}

// TestForecastInterrupted checks that a signal ends a fit without delay and that no files are left.
func TestForecastInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, stop)
	o := vssgpRunContext(t, ctx, "forecast", co2, "-o", filepath.Join(dir, "f.csv"), "-m", filepath.Join(dir, "m.st"))
	o.fails(t, "forecast", cli.ExitInterrupted, "interrupted")
	if left := listing(t, dir); len(left) != 1 {
		t.Errorf("left %v", left)
	}
}

// TestNearPeriods checks that almost equal periods are an error, except within the rounding of the rows.
func TestNearPeriods(t *testing.T) {
	dir := t.TempDir()
	rows := "t,year,y\n"
	for i := range 48 {
		rows += fmt.Sprintf("%d,%.4f,%d\n", i, 2000+float64(i)/12, i%12)
	}
	data := testkit.Put(t, dir, "d.csv", rows)
	for args, want := range map[string]string{
		"--x t --period 12.0000001 --season 12": "--period 12.0000001 and --season 12 are almost equal (12.0000001 and 12 ",
		"--x t --period 12 --season 12":         "",
		"--x year --period 1 --season 12":       "",
	} {
		o := vssgpRun(t, append([]string{"forecast", data, "--horizon", "1", "--trend", "none", "-o", filepath.Join(dir, "o.csv")},
			strings.Fields(args)...)...)
		if code := map[bool]int{true: cli.ExitDone, false: cli.ExitMistake}[want == ""]; o.code != code || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: exit %d, %s; want %q", args, o.code, o.stderr, want)
		}
	}
}

// TestLevels checks that further intervals are nested, are identical in predict, and are part of the bands of a fill.
func TestLevels(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	flags := []string{"forecast", river, "--y", "Level m", "--season", "7", "--trend", "line", "--horizon", "3", "--level", "95,80", "--level",
		"50"}
	succeed(t, append(flags, "-o", in("f.csv"), "-m", in("m.st"), "--plot", in("f.svg"))...)
	testkit.Contains(t, string(testkit.Read(t, in("f.svg"))), "80 % band", "50 % band")
	got := lines(t, in("f.csv"))
	if strings.Join(got[0][3:], ",") != "Level m_lower,Level m_upper,Level m_lower_95,Level m_upper_95,Level m_lower_80,Level m_upper_80,"+
		"Level m_lower_50,Level m_upper_50" || len(got) != 4 {
		t.Fatalf("%q", got)
	}
	for _, l := range got[1:] {
		if l[3] != l[5] || l[4] != l[6] {
			t.Errorf("the 95 %% interval is %q and %q", l[3:5], l[5:7])
		}
		order := []string{l[5], l[7], l[9], l[1], l[10], l[8], l[6]}
		if !slices.IsSortedFunc(order, func(a, b string) int { return cmp.Compare(number(t, a), number(t, b)) }) {
			t.Errorf("bounds are not sorted: %q", order)
		}
		if sd := strings.TrimLeft(strings.Replace(l[2], ".", "", 1), "0"); len(sd) > 3 {
			t.Errorf("standard deviation %s; want three digits", l[2])
		}
	}
	succeed(t, "predict", in("m.st"), in("f.csv"), "--posterior", "--level", "95,80,50", "-o", in("p.csv"))
	if p := lines(t, in("p.csv")); !slices.EqualFunc(p, got, slices.Equal) {
		t.Errorf("predict gives %q, forecast %q", p, got)
	}
	succeed(t, append(flags, "-o", in("all.csv"), "--digits", "0")...)
	for i, l := range lines(t, in("all.csv"))[1:] {
		for c, v := range l[1:] {
			if rounded := got[i+1][c+1]; len(v) < len(rounded)+5 || math.Abs(number(t, v)-number(t, rounded)) > 0.006*number(t, l[2]) {
				t.Errorf("row %d has %s, rounded %s", i, v, rounded)
			}
		}
	}
	succeed(t, "fill", river, "--season", "7", "--trend", "line", "-o", in("o.csv"), "--bands", in("b.csv"), "--level", "80")
	bands := lines(t, in("b.csv"))
	if strings.Join(bands[0][5:], ",") != "lower,upper,lower_80,upper_80" || len(bands) != 22 {
		t.Errorf("%q", bands[0])
	}
	for _, l := range bands[1:] {
		if !(number(t, l[5]) < number(t, l[7]) && number(t, l[7]) < number(t, l[3]) && number(t, l[8]) < number(t, l[6])) {
			t.Errorf("%q", l)
		}
	}
}

// TestOpeningHours checks that a forecast of hourly rows from 10:00 to 19:00, Monday to Friday, continues with such rows. A horizon in
// rows counts rows, and a time ends at that time.
func TestOpeningHours(t *testing.T) {
	table := "time,y\n"
	for at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC); at.Day() < 13; at = at.Add(time.Hour) {
		if day := at.Weekday(); at.Hour() >= 10 && at.Hour() < 20 && day >= time.Monday && day <= time.Friday {
			table += at.Format("2006-01-02 15:04") + fmt.Sprintf(",%d\n", at.Hour()*7%10+at.Day()%3)
		}
	}
	dir := t.TempDir()
	open := testkit.Put(t, dir, "open.csv", table)
	fast := []string{"--season", "none", "--trend", "none"}
	out := filepath.Join(dir, "o.csv")
	for horizon, want := range map[string][]string{ // number of rows, first, last
		"11": {"11", "2024-01-15 10:00", "2024-01-16 10:00"}, "3d": {"10", "2024-01-15 10:00", "2024-01-15 19:00"},
	} {
		succeed(t, append([]string{"forecast", open, "--horizon", horizon, "-o", out}, fast...)...)
		got := lines(t, out)[1:]
		testkit.Equal(t, fmt.Sprint(len(got), ", ", got[0][0], ", ", got[len(got)-1][0]), strings.Join(want, ", "), horizon)
	}
	succeed(t, "forecast", open, "--season", "24", "--trend", "none", "-o", out)
	testkit.Equal(t, len(lines(t, out))-1, 14, "rows in two days of 24 hours on the open share of a week")
	refused := vssgpRun(t, append([]string{"forecast", open, "--horizon", "2d"}, fast...)...)
	refused.fails(t, "a horizon of 2d", cli.ExitMistake, "ends before the next row of", "open.csv, 2024-01-15 10:00")
}

// TestWeekdays checks that a series on Monday, Wednesday and Friday continues with them, and that its season is a week.
func TestWeekdays(t *testing.T) {
	table, rng := "time,y\n", rand.New(rand.NewPCG(1, 2))
	for i := range 36 {
		at := time.Date(2024, 1, 1+7*(i/3)+2*(i%3), 0, 0, 0, 0, time.UTC)
		table += at.Format("2006-01-02 15:04") + fmt.Sprintf(",%.2f\n", []float64{110, 100, 93}[i%3]+2*rng.NormFloat64())
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "o.csv")
	r := succeed(t, "forecast", testkit.Put(t, dir, "mwf.csv", table), "--horizon", "4", "-o", out)
	testkit.Contains(t, r.stdout, "seasons: 7 days\n")
	want := []string{"2024-03-25 00:00", "2024-03-27 00:00", "2024-03-29 00:00", "2024-04-01 00:00"}
	for i, row := range lines(t, out)[1:] {
		testkit.Equal(t, row[0], want[i], "row ", i)
	}
}

// TestQuantiles checks that --quantiles adds the quantiles of an observation in the given order: the median of a log-normal forecast is
// below its mean, and the bounds of the 95 % interval are quantiles. predict, fill and --json have the same numbers.
func TestQuantiles(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	model := []string{"--log", "always", "--season", "7", "--trend", "line", "--digits", "0"}
	flags := append([]string{"forecast", river, "--y", "Flow m3/s", "--horizon", "3", "--level", "80", "--quantiles", "0.9,.5",
		"--quantiles", "0.025"}, model...)
	succeed(t, append(flags, "-o", in("f.csv"), "-m", in("m.st"))...)
	got := lines(t, in("f.csv"))
	names := strings.ReplaceAll(strings.Join(got[0][5:], ","), "Flow m3/s_", "")
	testkit.Equal(t, names, "lower_80,upper_80,q0.9,q0.5,q0.025", "columns")
	for _, l := range got[1:] {
		if !(number(t, l[8]) < number(t, l[1])) || l[7] != l[6] || l[9] != l[3] {
			t.Errorf("%q: want a median below the mean, and quantiles at the bounds of the intervals", l)
		}
	}
	succeed(t, "predict", in("m.st"), in("f.csv"), "--posterior", "--level", "80", "--quantiles", "0.9,0.5,0.025",
		"--digits", "0", "-o", in("p.csv"))
	testkit.Equal(t, string(testkit.Read(t, in("p.csv"))), string(testkit.Read(t, in("f.csv"))), "by predict")
	testkit.Contains(t, succeed(t, append(flags, "--json")...).stdout, `"Flow m3/s_q0.9","Flow m3/s_q0.5"`, got[1][8])
	testkit.Contains(t, succeed(t, flags...).stdout, "q0.5  ")
	fill := []string{"fill", river, "-o", in("o.csv"), "--bands", in("b.csv"), "--quantiles", "0.975"}
	succeed(t, append(fill, model...)...)
	for _, l := range lines(t, in("b.csv"))[1:] {
		testkit.Equal(t, l[7], l[6], "the 0.975-quantile of a filled cell")
	}
}

// TestParts checks the table of --parts: the adjusted value is the value without the season, as a difference or, of
// logarithms, as a quotient, and the components of a forecast add up to it.
func TestParts(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for log, without := range map[string]func(y, season float64) float64{
		"never":  func(y, season float64) float64 { return y - season },
		"always": func(y, season float64) float64 { return y / season },
	} {
		succeed(t, "forecast", river, "--y", "Flow m3/s", "--horizon", "3", "--log", log, "--season", "7", "--trend", "line",
			"--digits", "0", "--parts", in("parts.csv"), "-o", in("f.csv"), "--overwrite")
		got := lines(t, in("parts.csv"))
		names := strings.ReplaceAll(strings.Join(got[0][1:], ","), "Flow m3/s", "y")
		testkit.Equal(t, names, "y,y_adjusted,y_trend,y_season_7_days,y_short_memory", "columns")
		data := len(got) - 3
		for i, l := range got[1:] {
			if i+1 >= data {
				testkit.Equal(t, l[1]+l[2], "", "values of the forecast")
			} else if l[1] != "" {
				y := number(t, l[1])
				testkit.Near(t, number(t, l[2]), without(y, number(t, l[4])), 1e-9*y, log, ": adjusted value ", l[0])
			}
		}
		last := got[len(got)-1]
		sum := number(t, last[3]) + number(t, last[4]) + number(t, last[5])
		if log == "never" {
			testkit.Near(t, sum, number(t, lines(t, in("f.csv"))[3][1]), 0.002*sum, "the sum of the components")
		}
	}
	refuse(t, "must be .csv or .tsv", "forecast", river, "--parts", in("parts.npy"))
}

// TestScreen checks that a forecast without -o prints the findings, in readable units, and then a table.
func TestScreen(t *testing.T) {
	o := succeed(t, "forecast", river, "--y", "Flow m3/s", "--horizon", "2", "--level", "80", "--log", "never")
	got := strings.Split(o.stdout, "\n")
	if len(got) < 7 || !regexp.MustCompile(`^Flow m3/s: level 22\.\d+ .* trend: \d\.\d+ .* per month, sd of the next value 0\.\d\d$`).MatchString(got[0]) ||
		got[1] != "seasons: 7 days" || strings.Join(strings.Fields(got[3]), " ") != "Day Flow m3/s lower upper lower 80 upper 80" ||
		!strings.HasPrefix(strings.Join(strings.Fields(got[4]), " "), "05.08.2024 23.") || len(strings.Fields(got[4])) != 6 ||
		!strings.HasPrefix(got[len(got)-2], "bound ") {
		t.Fatalf("%s", o.stdout)
	}
	row, sd := strings.Fields(got[4]), number(t, got[0][strings.LastIndex(got[0], " ")+1:])
	if width := number(t, row[3]) - number(t, row[2]); math.Abs(width/(2*1.96)-sd) > 0.02*sd+0.005 {
		t.Errorf("the sd of the next value is %v, its interval %v to %v", sd, row[2], row[3])
	}
	testkit.Contains(t, o.stdout, "season of 7 days, noise\n")
	quiet := succeed(t, "forecast", river, "--y", "Flow m3/s", "--horizon", "2", "--level", "80", "--log", "never", "--quiet")
	testkit.Equal(t, quiet.stdout, strings.Join(got[3:6], "\n")+"\n", "with --quiet")
	years := testkit.Put(t, t.TempDir(), "years.csv", "year,y\n2020,1\n2020.25,2\n2020.5,3\n2020.75,4\n2021,5\n2021.25,6.1\n")
	testkit.Contains(t, succeed(t, "forecast", years, "--horizon", "1").stdout, "rising by 4", "per unit of year")
}
