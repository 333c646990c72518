package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
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
	succeed(t, append(flow, "--until", "14.08.2024", "-o", in("u.csv"))...)
	succeed(t, append(flow, "--at", testkit.Put(t, dir, "at.csv", "Day\n06.08.2024\n14.08.2024\n"), "-o", in("a.csv"))...)
	if !bytes.Equal(testkit.Read(t, in("u.csv")), testkit.Read(t, in("f.csv"))) {
		t.Error("--until and --horizon, to the same time with the same seed, differ")
	}
	for i, n := range []int{0, 2, 10} {
		at := lines(t, in("a.csv"))
		if len(at) != 3 || at[i][0] != got[n][0] || i > 0 && math.Abs(number(t, at[i][2])/number(t,
			got[n][2])-1) > 2e-11 { // features of even rows are computed by a recurrence, within the backends' tolerance
			t.Errorf("--at: %q, want %q", at[i], got[n])
		}
	}
	refuse(t, "--until yesterday: must have the format of the input Day, such as 04.08.2024", append(flow, "--until", "yesterday", "--quiet")...)
	if o := succeed(t, append(flow, "--season", "none", "-o", "-")...); strings.Count(o.stdout, "\n") != 16 { // a tenth of the rows
		t.Errorf("%s", o.stdout)
	}
	if o := succeed(t, append(flow, "-o", "-")...); strings.Count(o.stdout, "\n") != 15 { // two weeks
		t.Errorf("%s", o.stdout)
	}
	testkit.Contains(t, string(testkit.Read(t, in("f.svg"))), "Flow m3/s: trend", "season 7", "remainder", "2024-")
	testkit.Contains(t, string(testkit.Read(t, in("f.html"))), "noise.sd", "--horizon", "Flow m3/s: short memory")
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
	testkit.Contains(t, succeed(t, "info", model).stdout, "predicts up to 12.10.2028", "season 7.amplitude[1]", "seasons: 7 days")
	refuse(t, series.FileFormat, "fit", river, "--y", "2", "--init", model, "-o", out)
}

// TestFill checks that only the bytes of empty cells change.
func TestFill(t *testing.T) {
	dir := t.TempDir()
	out, bands := filepath.Join(dir, "out.csv"), filepath.Join(dir, "bands.tsv")
	r := decode[printed](t, succeed(t, "fill", river, "-o", out, "--bands", bands, "--json").stdout)
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
	two := decode[scored](t, succeed(t, "backtest", river, "--y", "2,3", "--season", "7", "--horizon", "7", "--origins", "1", "--json").stdout)
	flow, level, mean := two.ByOutput["Flow m3/s"]["vssgp"]["mae"], two.ByOutput["Level m"]["vssgp"]["mae"], two.Scores["vssgp"]["mae"]
	if !(flow > 0) || !(level > 0) || math.Abs(mean-(flow+level)/2) > 1e-12 {
		t.Errorf("%+v", two)
	}
	if o := succeed(t, "backtest", river, "--y", "2", "--origins", "1"); !strings.Contains(o.stdout, "1 forecast of 7 rows each") ||
		strings.Count(o.stdout, "\n") != 5 {
		t.Errorf("%s", o.stdout)
	}
}

// TestModelFlags checks the parts of the model for values of the flags.
func TestModelFlags(t *testing.T) {
	dir := t.TempDir()
	lines := strings.SplitAfter(string(testkit.Read(t, river)), "\n")
	river := testkit.Put(t, dir, "river.csv", strings.Join(lines[:slow.Pick(len(lines), 80)], ""))
	const usual = "constant, slope, smooth trend, random walk, short memory, "
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
	} {
		if !slow.Tests && strings.HasPrefix(flags, "--period") {
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
	if forecast() != forecast("--trend", "auto") || forecast() == forecast("--trend", "line,smooth,walk") {
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
		args := append([]string{"forecast", data, "--x", "t", "--y", "y", "--season", "none", "--horizon", "1", "-o",
			filepath.Join(dir, "o.csv"), "--json"}, flags...)
		return decode[printed](t, succeed(t, args...).stdout).NoiseSD[0]
	}
	usual, robust, known := noise("--robust", "never"), noise("--robust"), noise("--yerr", "e")
	if !(usual > 1 && robust < 0.2 && known < 0.2) {
		t.Errorf("noise sd %v, robust %v, with known errors %v", usual, robust, known)
	}
	out := succeed(t, strings.Fields("forecast "+data+" --x t --y y --season none --horizon 1 --robust -o "+filepath.Join(dir, "o.csv"))...)
	testkit.Contains(t, out.stderr+out.stdout, "outliers: 7 values of y, at 4, 13, 22, 31, 40, 49, 58\n")
}

// TestPositiveForecast checks that a forecast with --positive has no negative numbers, and that the model gives the same numbers.
func TestPositiveForecast(t *testing.T) {
	dir := t.TempDir()
	counts := testkit.Put(t, dir, "counts.csv", evenSeries(70, func(n int) float64 { return float64(n * n % 7 % 3) }))
	forecast := func(flags ...string) (least float64) {
		args := append([]string{"forecast", counts, "--horizon", "9", "-o", filepath.Join(dir, "f.csv"), "--overwrite"}, flags...)
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
	large := testkit.Put(t, dir, "large.csv", "t,y\n1,2\n2,1e305\n3,1\n4,2\n5,3\n")
	refuse(t, "large.csv: row 2 (from 1): y is 1e+305; must have a magnitude below 1e+150", "forecast", large)
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
		args []string
	}{
		{"log scale", true, []string{"forecast", data, "--horizon", "2", "-o", out, "-m", model, "--plot", filepath.Join(dir, "p.svg")}},
		{"log scale", true, []string{"info", model}}, {`"log":true`, true, []string{"info", model, "--json"}},
		{`"log":true`, true, []string{"fit", data, "-o", model, "--json"}},
		{"log scale", false, []string{"forecast", data, "--horizon", "2", "-o", out, "--log", "never"}},
		{`"log"`, false, []string{"fit", data, "-o", model, "--log", "never", "--json"}},
	} {
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

// export returns a table as exported by other programs, with local times across a change to summer time, words and missing values.
func export(sep, point string) string {
	var b strings.Builder
	b.WriteString("\ufeff# exported\r\ndate,station,flow,\"level, m\",note\r\n")
	for i := range 60 {
		zone := "+01:00"
		if i >= 31 {
			zone = "+02:00"
		}
		flow := fmt.Sprintf("%.2f", 5+math.Sin(float64(i)/5))
		if i%10 == 3 {
			flow = []string{"", "NA", "-"}[i/10%3]
		}
		fmt.Fprintf(&b, "2024-%02d-%02dT12:00%s,\"A \"\"1\"\"\",%s,%d,\r\n", 3+i/31, 1+i%31, zone, flow, i*i%7)
	}
	text := strings.ReplaceAll(b.String(), ",", sep)
	return strings.ReplaceAll(text, ".", point)
}

// fromStdinRun runs a command with a text as stdin.
func fromStdinRun(t *testing.T, text string, args ...string) outcome {
	t.Helper()
	f := testkit.Must(os.Open(testkit.Put(t, t.TempDir(), "stdin", text)))(t)
	defer f.Close()
	before := os.Stdin
	defer func() { os.Stdin = before }()
	os.Stdin = f
	return vssgpRun(t, args...)
}

// TestExport checks that unedited tables can be fitted, predicted and evaluated in every dialect, with every extension and from stdin, and
// that the output has their local times.
func TestExport(t *testing.T) {
	dir := t.TempDir()
	plain := export(",", ".")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(plain))
	z.Close()
	want := ""
	for i, c := range []struct{ name, text string }{
		{"a.csv", plain}, {"a.csv.gz", packed.String()}, {"b.csv", packed.String()}, {"-", plain}, {"-", packed.String()},
		{"a.txt", export(";", ",")}, {"a.tsv", export("\t", ".")}, {"c.csv", export(";", ".")}, {"A.TSV.GZ", packed.String()},
	} {
		in, model, out := c.name, filepath.Join(dir, fmt.Sprint(i, ".st")), filepath.Join(dir, fmt.Sprint(i, ".csv"))
		if in != "-" {
			in = testkit.Put(t, dir, c.name, c.text)
		}
		o := fromStdinRun(t, c.text, "fit", in, "--y", "flow", "-o", model, "--iterations", "3")
		notes := "left out station (text), note (nothing), level"
		if !strings.Contains(o.stderr, "station (text), note (nothing)") ||
			!strings.Contains(o.stderr, "left out 6 rows of 60 without a value of flow") || o.code != cli.ExitDone {
			t.Fatalf("%s: exit %d, %s; want %s", c.name, o.code, o.stderr, notes)
		}
		if o := fromStdinRun(t, c.text, "predict", model, in, "-o", out); o.code != cli.ExitDone {
			t.Fatalf("%s: %s", c.name, o.stderr)
		}
		got := string(testkit.Read(t, out))
		lines := strings.Split(got, "\n")
		if want == "" {
			want = got
		}
		if got != want || len(lines) != 62 || lines[0] != "date,flow_mean,flow_sd" || !strings.HasPrefix(lines[31], "2024-03-31T12:00+01:00,") ||
			!strings.HasPrefix(lines[32], "2024-04-01T12:00+02:00,") {
			t.Fatalf("%s: %d lines, %q; want the output for a.csv", c.name, len(lines), lines[31:33])
		}
		if o := fromStdinRun(t, c.text, "evaluate", model, in, "--json"); decode[struct{ Rows int }](t, o.stdout).Rows != 54 {
			t.Errorf("%s: %s", c.name, o.stdout)
		}
	}
	model, out := filepath.Join(dir, "0.st"), filepath.Join(dir, "out.tsv.gz")
	at := testkit.Put(t, dir, "at.csv", "date\n2024-05-01\n2024-05-02 06:00\n")
	succeed(t, "predict", model, at, "-o", out)
	f := testkit.Must(gzip.NewReader(bytes.NewReader(testkit.Read(t, out))))(t)
	var b bytes.Buffer
	if _, err := b.ReadFrom(f); err != nil || !strings.HasPrefix(b.String(), "date\tflow_mean\tflow_sd\n2024-05-01 00:00\t") {
		t.Errorf("%v, %q", err, b.String())
	}
	testkit.Contains(t, succeed(t, "info", model).stdout, "date: days since 2024-03-01")
	testkit.Put(t, dir, "b.csv", strings.Replace(plain, "date", "day", 1)) // by --x, where the name is another
	succeed(t, "predict", model, filepath.Join(dir, "b.csv"), "--x", "day", "-o", out)
}

// TestNames checks that --names sets the names of a table without names, and that a model contains them.
func TestNames(t *testing.T) {
	t.Chdir(t.TempDir())
	testkit.Put(t, ".", "d.csv", "1,2,3\n2,3,5\n3,5,1\n4,1,2\n5,5,5\n")
	succeed(t, "fit", "d.csv", "--names", "age,water,strength", "--x", "water,age", "--y", "strength", "--iterations", "2", "-o",
		"m.safetensors")
	testkit.Contains(t, succeed(t, "info", "m.safetensors", "--json").stdout, `"inputs":["water","age"],"outputs":["strength"]`)
	for names, want := range map[string]string{"a,b": "2 names for 3 columns", "a,a,b": "a", "a,7,b": "7", "a,,b": "name"} {
		refuse(t, want, "fit", "d.csv", "--names", names, "-o", "m.safetensors")
	}
}

// TestGuessedInput checks that a default input column is an error if it is not sorted or if the table has several series.
func TestGuessedInput(t *testing.T) {
	dir := t.TempDir()
	table := func(head string, row func(i int) string) string {
		for i := range 24 {
			head += "\n" + row(i)
		}
		return head + "\n"
	}
	y := func(i int) string { return fmt.Sprint(10 + i*i%7) }
	month := func(i int) string { return fmt.Sprintf("2001-%02d-01", i%12+1) }
	long := table("unique_id,ds,y", func(i int) string { return []string{"a,", "b,"}[i/12] + month(i) + "," + y(i) })
	mixed := table("ds,shop,y", func(i int) string { return month(i/2) + []string{",a,", ",b,"}[i%2] + y(i) })
	mixedFuture := table("ds,shop,temp,y", func(i int) string {
		return month(i/2) + []string{",a,", ",b,"}[i%2] + fmt.Sprint(i%5) + "," + []string{y(i), ""}[i/20]
	})
	byYear := table("year,month,y", func(i int) string { return fmt.Sprintf("%d,%d,%s", 2000+i/12, i%12+1, y(i)) })
	values := table("total,part", func(i int) string { return fmt.Sprintf("%d,%s", 90+i*5%11, y(i)) })
	falling := table("day,y", func(i int) string { return fmt.Sprintf("2001-03-%02d,%s", 30-i, y(i)) })
	twice := table("t,y", func(i int) string { return fmt.Sprintf("%d,%s", i/2, y(i)) })
	either := table("day,y", func(i int) string { return fmt.Sprintf("%02d/%02d/2001,%s", i%12+1, i/12+1, y(i)) })
	clock := table("at,y", func(i int) string { // goes back by an hour after 2:45
		return fmt.Sprintf("2001-10-28 %02d:%02d,%s", (i-i/12*4)/4, i%4*15, y(i))
	})
	flags := "t,flag,y\n0,u,3\n"
	for i := range 120 {
		flags += fmt.Sprintf("%d,%s,%s\n", i, []string{"v", "w"}[i%2], y(i))
	}
	named := strings.Replace(values, "total", "row", 1)
	for name, c := range map[string]struct {
		text, args string
		want       []string // of the error; none: it succeeds
		first      string   // beginning of the output
	}{
		"one series below the other": {long, "", []string{"the default input column ds", "2001-01-01 in rows 1 and 13", "differ in column unique_id",
			"--x COLUMN", "--x row"}, ""},
		"series in alternating rows":         {mixed, "", []string{"the default input column ds", "2001-01-01 in rows 1 and 2", "differ in column shop"}, ""},
		"several series with a known future": {mixedFuture, "--regressor temp", []string{"2001-01-01 in rows 1 and 2", "differ in column shop"}, ""},
		"a year and a month":                 {byYear, "", []string{"input column year", "differ in column month", "--x row"}, ""},
		"values alone": {values, "", []string{"the default input column total", "is not increasing", "row 4 (from 1) has 94 after 100",
			"--x COLUMN", "--x row"}, ""},
		"several series, but --x":            {long, "--x ds", nil, "ds,"},
		"values, but --x":                    {values, "--x total", nil, "total,"},
		"the numbers of the rows":            {values, "--x row", nil, "row,part_mean,part_sd,part_lower,part_upper\n25,"},
		"a column that is really called row": {named, "--x row", nil, "row,part_mean,part_sd,part_lower,part_upper\n101,"},
		"the latest first":                   {falling, "", nil, "day,"},
		"a day or a month first":             {either, "", []string{`"02/01/2001" is 2 January 2001 or 1 February 2001`, "--dayfirst"}, ""},
		"the day first":                      {either, "--dayfirst", nil, "day,"},
		"the month first":                    {either, "--dayfirst=false", []string{"is not increasing: row 13 (from 1) has 01/02/2001"}, ""},
		"two values at a time":               {twice, "", nil, "t,"},
		"a clock that is set back":           {clock, "", nil, "at,"},
		"a repeat among many rows":           {flags, "", nil, "t,"},
	} {
		path := testkit.Put(t, dir, "d.csv", c.text)
		o := vssgpRun(t, append([]string{"forecast", path, "--horizon", "1", "--season", "none", "-o", "-"}, strings.Fields(c.args)...)...)
		if c.want == nil && (o.code != cli.ExitDone || !strings.HasPrefix(o.stdout, c.first)) || c.want != nil &&
			(o.code != cli.ExitMistake || strings.Count(o.stderr, "\n") != 1) {
			t.Errorf("%s: exit %d, %s%s", name, o.code, o.stdout, o.stderr)
		}
		testkit.Contains(t, o.stderr, c.want...)
	}
	model := filepath.Join(dir, "m.st")
	unsorted, several := testkit.Put(t, dir, "x.csv", values), testkit.Put(t, dir, "long.csv", long)
	succeed(t, "fit", unsorted, "-o", model, "--season", "none") // a fit accepts an unsorted input
	refuse(t, "differ in column unique_id", "fit", several, "-o", model)
	succeed(t, "fit", unsorted, "--x", "row", "-o", model, "--season", "none")
	succeed(t, "evaluate", model, unsorted)
	for _, args := range [][]string{{"fill", several, "-o", filepath.Join(dir, "o.csv")}, {"backtest", several}} {
		refuse(t, "differ in column unique_id", args...)
	}
	refuse(t, "--x row: ", "fit", unsorted, "--x", "row", "--method", "vssgp", "-o", model)
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

// TestBy checks that each series of a table has the same results as alone, in the order of first rows and on any number of cores, and that
// a series that fails is reported and the others are written.
func TestBy(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	series := map[string]string{"shop 7": "day,y\n", "a": "day,y\n"}
	long := "day,shop,y\n"
	for i := range 48 {
		for k, shop := range []string{"shop 7", "a", "c"} {
			y := fmt.Sprintf("%.2f", float64(20*k+10)+math.Sin(float64(i*(k+1)))+0.1*float64(i*i%7))
			if day := fmt.Sprintf("2024-%02d-%02d", 1+i/28, 1+i%28); i < 2 || k < 2 {
				if i == 9 {
					y = ""
				}
				long += day + "," + shop + "," + y + "\n"
				series[shop] += day + "," + y + "\n"
			}
		}
	}
	data := testkit.Put(t, dir, "long.csv", long)
	by := []string{"--by", "shop", "--season", "none", "--trend", "none"}
	args := append([]string{"forecast", data, "--horizon", "3d", "-o", in("f.csv")}, by...)
	failing := func(args ...string) outcome {
		t.Helper()
		o := vssgpRun(t, args...)
		if o.code != cli.ExitMistake || !strings.Contains(o.stderr, `shop c: column "y" has 2 values`) || strings.Contains(o.stderr, "shop a") ||
			!strings.Contains(o.stderr, "1 of 3 series failed") || strings.Count(o.stderr, "\n") != 2 {
			t.Errorf("%q: exit %d, %s", args, o.code, o.stderr)
		}
		return o
	}
	failing(args...)
	got := string(testkit.Read(t, in("f.csv")))
	want := "shop,day,y_mean,y_sd,y_lower,y_upper\n"
	for _, shop := range []string{"shop 7", "a"} {
		one := testkit.Put(t, dir, "one.csv", series[shop])
		succeed(t, "forecast", one, "--horizon", "3", "-o", in("o.csv"), "--season", "none", "--trend", "none")
		for _, l := range lines(t, in("o.csv"))[1:] {
			want += shop + "," + strings.Join(l, ",") + "\n"
		}
	}
	if got != want {
		t.Errorf("%s, one by one\n%s", got, want)
	}
	cores := runtime.GOMAXPROCS(1)
	failing(args...)
	runtime.GOMAXPROCS(cores)
	if again := string(testkit.Read(t, in("f.csv"))); again != got {
		t.Errorf("on one core\n%s, on %d\n%s", again, cores, got)
	}
	type summaries struct {
		Rows   int
		Series []struct {
			Name, Error   string
			Rows, Horizon int
			Filled        int
			NoiseSD       []float64 `json:"noise_sd"`
			Scores        map[string]map[string]float64
		}
	}
	s := decode[summaries](t, failing(append(args, "--json")...).stdout)
	if len(s.Series) != 3 || s.Series[0].Name != "shop 7" || s.Series[0].Horizon != 3 || s.Series[1].Rows != 48 ||
		!(s.Series[1].NoiseSD[0] > 0) || !strings.Contains(s.Series[2].Error, "shop c") || s.Rows != 98 {
		t.Errorf("%+v", s)
	}
	screen := failing(append([]string{"forecast", data, "--horizon", "3"}, by...)...).stdout
	if testkit.Contains(t, screen, "shop", "2024-02-21", "2 series, 98 rows"); strings.Count(screen, "2024-") != 6 {
		t.Errorf("%s", screen)
	}

	fill := succeed(t, append([]string{"fill", data, "-o", in("w.csv"), "--bands", in("b.csv"), "--json"}, by...)...)
	if s := decode[summaries](t, fill.stdout); s.Series[0].Filled != 1 || s.Series[1].Filled != 1 {
		t.Errorf("%+v", s)
	}
	bands := lines(t, in("b.csv"))
	if strings.Join(bands[0], ",") != "shop,row,day,column,mean,sd,lower,upper" || len(bands) != 3 || bands[1][0] != "shop 7" ||
		bands[1][1] != "21" || bands[2][1] != "22" {
		t.Errorf("%q", bands)
	}
	before, after := strings.Split(long, "\n"), strings.Split(string(testkit.Read(t, in("w.csv"))), "\n")
	for i, l := range after {
		if changed := l != before[i]; changed != (i == 21 || i == 22) || changed && !strings.HasPrefix(l, before[i]) {
			t.Errorf("line %d: %q was %q", i+1, l, before[i])
		}
	}

	b := append([]string{"backtest", data, "--horizon", "2", "--origins", "2"}, by...)
	scores := decode[summaries](t, vssgpRun(t, append(b, "--json")...).stdout)
	if len(scores.Series) != 3 || !(scores.Series[1].Scores["vssgp"]["crps"] > 0) || scores.Series[2].Error == "" {
		t.Errorf("%+v", scores)
	}
	if o := vssgpRun(t, b...); !strings.Contains(o.stdout, "\nmean of all") || !strings.Contains(o.stdout, "\nshop 7 ") {
		t.Errorf("%s", o.stdout)
	}
	refuse(t, "row 2 (from 1) has no value of shop", "forecast", testkit.Put(t, dir, "void.csv", "shop,y\na,1\n,2\n"), "--by", "shop")
	refuse(t, "2024-01-01 in rows 1 and 3", "forecast", testkit.Put(t, dir, "two.csv", "day,shop,item,y\n2024-01-01,a,u,1\n2024-01-02,a,u,2\n"+
		"2024-01-01,a,v,3\n2024-01-02,a,v,4\n"), "--by", "shop")
}

// TestScreen checks that a forecast without -o prints the findings, in readable units, and then a table.
func TestScreen(t *testing.T) {
	o := succeed(t, "forecast", river, "--y", "Flow m3/s", "--horizon", "2", "--level", "80")
	got := strings.Split(o.stdout, "\n")
	if len(got) < 7 || !regexp.MustCompile(`^Flow m3/s: level 22\.\d+ .* trend: 0\.\d+ .* per month, sd of the next value 0\.\d\d$`).MatchString(got[0]) ||
		got[1] != "seasons: 7 days" || strings.Join(strings.Fields(got[3]), " ") != "Day Flow m3/s lower upper lower 80 upper 80" ||
		!strings.HasPrefix(strings.Join(strings.Fields(got[4]), " "), "05.08.2024 23.") || len(strings.Fields(got[4])) != 6 ||
		!strings.HasPrefix(got[len(got)-2], "bound ") {
		t.Fatalf("%s", o.stdout)
	}
	row, sd := strings.Fields(got[4]), number(t, got[0][strings.LastIndex(got[0], " ")+1:])
	if width := number(t, row[3]) - number(t, row[2]); math.Abs(width/(2*1.96)-sd) > 0.02*sd+0.005 {
		t.Errorf("the sd of the next value is %v, its interval %v to %v", sd, row[2], row[3])
	}
	testkit.Contains(t, o.stdout, "season 7 days, noise\n")
	quiet := succeed(t, "forecast", river, "--y", "Flow m3/s", "--horizon", "2", "--level", "80", "--quiet")
	testkit.Equal(t, quiet.stdout, strings.Join(got[3:6], "\n")+"\n", "with --quiet")
}

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
	if o := succeed(t, "forecast", one, "--y", "sales", "--events", testkit.Put(t, dir, "late.csv", "when,what\n2030-01-01,fair\n2030-01-01,feast\n"), "--horizon", "2"); !strings.Contains(
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
	weeks := testkit.Put(t, dir, "weeks.csv", "t,y\n2024-01-01,2\n2024-01-08,3\n2024-01-15,1\n2024-01-22,2\n2024-01-29,2\n")
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
		`weeks.csv is 7 days`:                                                                    {"forecast", weeks, "--holidays", "US"},
		`the columns are t, y; must be dates and their names`:                                    {"forecast", one, "--events", numbers},
		`f.csv: regressors: there is no column "degrees"`:                                        {"predict", in("m.safetensors"), in("f.csv"), "-o", in("q.csv")},
	} {
		refuse(t, message, args...)
	}
}
