package forecasts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestOriginsLeaveTheirHorizon checks that the last origin leaves one horizon and that origins are a horizon apart, or closer if there are
// too few rows.
func TestOriginsLeaveTheirHorizon(t *testing.T) {
	for _, c := range []struct {
		n, horizon, origins int
		want                []int
	}{
		{1000, 20, 6, []int{880, 900, 920, 940, 960, 980}},
		{144, 24, 6, []int{75, 84, 93, 102, 111, 120}},
		{365, 14, 3, []int{323, 337, 351}},
		{10, 5, 6, []int{1, 2, 3, 4, 5}}, // one row apart, and fewer origins
	} {
		if got := ends(c.n, c.horizon, c.origins); !slices.Equal(got, c.want) {
			t.Errorf("%d rows, %d ahead, %d origins: %v, want %v", c.n, c.horizon, c.origins, got, c.want)
		}
	}
}

// repositoryProblems returns the problems whose files are in the repository.
func repositoryProblems(t *testing.T) []Problem {
	t.Helper()
	t.Chdir("../../..")
	var left []string
	problems := testkit.Must(Problems(Sets(), t.TempDir(), func(err error) { left = append(left, err.Error()) }))(t)
	all := strings.Join(left, "\n")
	if len(left) != 5 || strings.Count(all, filepath.Join("demand", "bikes.csv")) != 2 || !strings.Contains(all, "solar") ||
		!strings.Contains(all, "m4_hourly") || !strings.Contains(all, "m4_weekly") {
		t.Errorf("skipped: %q, want the five sets with a file in the folder of data", left)
	}
	return problems
}

// TestProblems checks that known and test rows are disjoint and sorted, and that the true values are not written.
func TestProblems(t *testing.T) {
	problems, counts := repositoryProblems(t), map[string]int{}
	for _, p := range problems {
		counts[p.Set]++
		if len(p.At) == 0 || len(p.At) != len(p.truth) || len(p.X) != len(p.Y) || !slices.IsSorted(p.X) || !slices.IsSorted(p.At) {
			t.Fatalf("%v: %d inputs, %d true, %d and %d known", p.Key, len(p.At), len(p.truth), len(p.X), len(p.Y))
		}
		if slices.ContainsFunc(p.At, func(x float64) bool { return slices.Contains(p.X, x) }) {
			t.Errorf("%v: a known row is a test row", p.Key)
		}
		hole := strings.HasPrefix(p.Set, "co2-") && p.Set != "co2-years"
		if hole != (p.At[len(p.At)-1] < p.X[len(p.X)-1]) {
			t.Errorf("%v: last test row %g, last known row %g", p.Key, p.At[len(p.At)-1], p.X[len(p.X)-1])
		}
		text, err := json.Marshal(p)
		var fields map[string]any
		if err == nil {
			err = json.Unmarshal(text, &fields)
		}
		if err != nil || len(fields) != 7 || fields["truth"] != nil {
			t.Errorf("%v: written as %d fields, want set, series, origin, season, x, y, at (%v)", p.Key, len(fields), err)
		}
	}
	if want := map[string]int{"origins": 42, "co2-years": 3, "co2-tenth": 5, "co2-blocks": 5}; len(counts) != len(want) {
		t.Errorf("%v, want %v", counts, want)
	} else {
		for set, n := range want {
			if counts[set] != n {
				t.Errorf("%s: %d problems, want %d", set, counts[set], n)
			}
		}
	}
}

// TestHolesAreSeparateBlocks checks that tenth returns a tenth of the rows, that blocks returns four separate blocks of two years, and
// that draws differ.
func TestHolesAreSeparateBlocks(t *testing.T) {
	const n = 519
	seen := map[string]bool{}
	for draw := range uint64(20) {
		some := tenth(rand.New(rand.NewPCG(1, draw)), n)
		long := blocks(rand.New(rand.NewPCG(1, draw)), n)
		for _, left := range [][]int{some, long} {
			slices.Sort(left)
			if len(slices.Compact(slices.Clone(left))) != len(left) || left[0] < 0 || left[len(left)-1] >= n {
				t.Fatalf("%v: want distinct rows of %d", left, n)
			}
			text, _ := json.Marshal(left)
			if seen[string(text)] {
				t.Error("two draws are equal")
			}
			seen[string(text)] = true
		}
		ends := 0
		for i := range long[1:] {
			if long[i+1] != long[i]+1 {
				ends++
			}
		}
		if len(some) != n/10 || len(long) != 96 || ends > 3 {
			t.Errorf("%d rows; %d rows in %d blocks", len(some), len(long), ends+1)
		}
	}
}

// TestLinesOfM4BecomeProblems checks that a line becomes a problem and that invalid lines are rejected.
func TestLinesOfM4BecomeProblems(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m4_weekly_dev.jsonl")
	write := func(text string) {
		testkit.OK(t, os.WriteFile(path, []byte(text), 0o666))
	}
	write(`{"name":"W1","train":[3,1,4,1],"test":[5,9]}` + "\n")
	problems, err := Problems([]string{"m4-weekly"}, dir, func(err error) { t.Error(err) })
	if err != nil || len(problems) != 1 {
		t.Fatalf("%v, %v", problems, err)
	}
	p := problems[0]
	if p.Key != (Key{"m4-weekly", "W1", 4}) || p.Season != 1 || !slices.Equal(p.X, []float64{0, 1, 2, 3}) ||
		!slices.Equal(p.Y, []float64{3, 1, 4, 1}) || !slices.Equal(p.At, []float64{4, 5}) || !slices.Equal(p.truth, []float64{5, 9}) {
		t.Errorf("%+v", p)
	}
	for _, bad := range []string{"", `{"name":"W1","train":[1,2],"test":[3]}` + "\n", `{"train":[1,2,3],"test":[4]}` + "\n", "{\n"} {
		write(bad)
		if _, err := Problems([]string{"m4-weekly"}, dir, func(err error) { t.Error(err) }); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: error %v, want the path of the file", bad, err)
		}
	}
}

// TestDemand checks that regressors are split as y, that the same problems exist without regressors, and that package
// series uses the regressors: y is approximately 50 plus 5 times the first.
func TestDemand(t *testing.T) {
	dir := t.TempDir()
	text := &strings.Builder{}
	text.WriteString("day,y,a,b\n")
	rng := rand.New(rand.NewPCG(3, 1))
	var y, a []float64
	for day := range 365 {
		a = append(a, rng.NormFloat64())
		y = append(y, 50+5*a[day]+0.5*rng.NormFloat64())
		fmt.Fprintf(text, "%d,%v,%v,%d\n", day, y[day], a[day], day%3)
	}
	testkit.OK(t, os.Mkdir(filepath.Join(dir, "demand"), 0o777))
	testkit.OK(t, os.WriteFile(filepath.Join(dir, "demand", "victoria.csv"), []byte(text.String()), 0o666))
	var left []error
	problems, err := Problems([]string{"demand", "demand-without"}, dir, func(err error) { left = append(left, err) })
	if err != nil || len(problems) != 20 || len(left) != 2 {
		t.Fatalf("%d problems, skipped %v, %v; want 20 of victoria, and bikes skipped twice", len(problems), left, err)
	}
	with, without := problems[9], problems[19]
	columns := columns(slices.Concat(with.Regressors, with.AtRegressors))
	if with.Origin != 351 || len(with.AtRegressors) != 14 || len(columns) != 2 || !slices.Equal(columns[0], a) ||
		!slices.Equal(slices.Concat(with.Y, with.truth), y) || columns[1][350] != 2 {
		t.Errorf("origin %d, %d and %d rows, %d regressors", with.Origin, len(with.Regressors), len(with.AtRegressors), len(columns))
	}
	if without.Regressors != nil || without.AtRegressors != nil || !slices.Equal(without.Y, with.Y) || !slices.Equal(without.At, with.At) {
		t.Errorf("without: %d rows of regressors", len(without.Regressors))
	}
	all := testkit.Must(Run(t.Context(), []Problem{with, without}, []string{"vssgp"}, &bytes.Buffer{}))(t)
	near, far := testkit.Must(with.score(&all[0]))(t).RMSE, testkit.Must(without.score(&all[1]))(t).RMSE
	if near > 1 || far < 2 {
		t.Errorf("RMSE %g with regressors and %g without, want about 0.5 and 5", near, far)
	}
}

// TestNaiveMatchesValuesByHand compares naive forecasts in a gap and after the end with values computed by hand. The grid's step is 0.5; x
// = 12 is missing.
func TestNaiveMatchesValuesByHand(t *testing.T) {
	var s Series
	for i := range 24 {
		if i != 4 {
			s.X, s.Y = append(s.X, 10+0.5*float64(i)), append(s.Y, float64(i%4)+float64(i)/10)
		}
	}
	at := []float64{12, 22, 24} // indices 4, 24 and 28
	for _, c := range []struct {
		method forecaster
		mean   []float64
	}{
		{naive, []float64{3.3, 5.3, 5.3}},
		{seasonal, []float64{0, 2, 2}}, // indices 0, 20 and 20
		{drift, []float64{3.3 + 5.3/23, 5.3 + 5.3/23, 5.3 + 5*5.3/23}},
	} {
		f := testkit.Must(c.method(t.Context(), &Problem{Season: 4, Series: s, At: at}))(t)
		testkit.Within(t, "mean", f.Mean, c.mean, 1e-12)
		if !(slices.Min(f.SD) > 0) {
			t.Errorf("standard deviations %v", f.SD)
		}
	}
	f, err := seasonal(t.Context(), &Problem{Season: 4, Series: s, At: at})
	if err != nil || math.Abs(f.SD[0]-0.4) > 1e-12 || math.Abs(f.SD[2]-0.8) > 1e-12 { // y increases by 0.4 per season
		t.Errorf("seasonal naive ± %v, %v; want 0.4 and 0.8", f.SD, err)
	}
	// The missing third row of the first season is forecast backwards, from index 6 of the original series.
	early, _ := s.split(func(i int) bool { return i != 2 && i != 6 })
	if f, err := seasonal(t.Context(), &Problem{Season: 4, Series: early, At: []float64{11}}); err != nil || f.Mean[0] != 2.6 {
		t.Errorf("seasonal naive in the first season: %v, %v", f.Mean, err)
	}
	if _, err := seasonal(t.Context(), &Problem{Season: 100, Series: s, At: at}); err == nil {
		t.Error("no error for a season longer than the series")
	}
}

// TestSpread checks the root mean square of the changes minus the drift. If fewer than eight pairs are h apart, spread
// uses pairs that are closer by whole seasons and scales the result by the square root of the ratio of distances.
func TestSpread(t *testing.T) {
	g := &grid{}
	for i := range 12 {
		g.y = append(g.y, 3*float64(i)+float64(i%2)) // a line plus alternating 0 and 1
	}
	for _, c := range []struct {
		h, unit int
		drift   float64
		want    float64
	}{
		{1, 1, 3, 1}, {2, 1, 3, 0}, {2, 1, 0, 6}, {4, 2, 1, 8}, {3, 1, 3, 1},
		{5, 1, 0, 12 * math.Sqrt(5./4)},  // only seven pairs are 5 apart
		{40, 4, 0, 12 * math.Sqrt(40/4)}, // no pairs are 40 apart
	} {
		if got := g.spread(c.h, c.unit, c.drift); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%d ahead in units of %d, drift %g: %v, want %v", c.h, c.unit, c.drift, got, c.want)
		}
	}
}

// two returns two problems of a series with one forecast each. The errors are 1 and −2 with standard deviation 1, and 3
// with standard deviation 2. The in-sample error of the seasonal naive forecast is 2.
func two() ([]Problem, []Forecast) {
	known := Series{X: []float64{0, 1, 2, 3}, Y: []float64{0, 2, 0, 2}}
	problems := []Problem{
		newProblem(Key{"s", "a", 4}, 1, known, Series{X: []float64{4, 5}, Y: []float64{1, 1}}),
		newProblem(Key{"s", "a", 5}, 1, known, Series{X: []float64{6}, Y: []float64{1}}),
	}
	return problems, []Forecast{
		{Key: problems[0].Key, Method: "m", Mean: []float64{0, 3}, SD: []float64{1, 1}, Seconds: 1, Status: machine.OK},
		{Key: problems[1].Key, Method: "m", Mean: []float64{-2}, SD: []float64{2}, Seconds: 3, Status: machine.OK},
	}
}

// TestScoresArePooled checks the pooled scores, a mixture of two equal draws, and that missing or failed forecasts give a status
// without scores.
func TestScoresArePooled(t *testing.T) {
	problems, forecasts := two()
	lines := Score(problems, forecasts, machine.Machine{})
	if len(lines) != 1 || lines[0].Status != machine.OK || lines[0].Rows != 3 || lines[0].Forecasts != 2 || lines[0].Seconds != 2 {
		t.Fatalf("%+v", lines)
	}
	s := lines[0].Scores
	// The intervals end q standard deviations from the means. One y is outside by 2 - q. Another is inside, since 3 -
	// 2q < 0.
	q := math.Sqrt2 * math.Erfinv(0.95)
	for name, c := range map[string][2]float64{
		"RMSE": {s.RMSE, math.Sqrt((1 + 4 + 9) / 3.)}, "MAE": {s.MAE, 2}, "MASE": {s.MASE, 1}, "MSIS": {s.MSIS, (8*q + 40*(2-q)) / 3 / 2},
		"coverage": {s.Coverage, 2. / 3},
		"NLPD":     {s.NLPD, (0.5+2+1.125+math.Log(2))/3 + 0.5*math.Log(2*math.Pi)},
		"sMAPE":    {s.SMAPE, (200 + 100 + 200) / 3.},
	} {
		if math.Abs(c[0]-c[1]) > 1e-12 {
			t.Errorf("%s %v, want %v", name, c[0], c[1])
		}
	}
	for i := range forecasts {
		f := &forecasts[i]
		f.Means, f.SDs = [][]float64{f.Mean, f.Mean}, [][]float64{f.SD, f.SD}
	}
	again := Score(problems, forecasts, machine.Machine{})[0].Scores
	if math.Abs(again.CRPS-s.CRPS) > 1e-12 || math.Abs(again.NLPD-s.NLPD) > 1e-12 || math.Abs(again.MSIS-s.MSIS) > 1e-8 {
		t.Errorf("two equal draws: %+v, want %+v", again, s)
	}
	for want, change := range map[string]func(f *Forecast){
		"1 forecasts of 2":    func(f *Forecast) { f.Origin = 99 },
		"out of time":         func(f *Forecast) { f.Status = "failed: out of time" },
		"2 means":             func(f *Forecast) { f.Mean = []float64{1, 2} },
		"deviation -1":        func(f *Forecast) { f.SD = []float64{-1} },
		"mean NaN":            func(f *Forecast) { f.Mean = []float64{math.NaN()} },
		"means of 1 draws":    func(f *Forecast) { f.Means, f.SDs = f.Means[:1], nil },
		"1 means and 0 stand": func(f *Forecast) { f.SDs = [][]float64{{1}, {}} },
	} {
		all := slices.Clone(forecasts)
		change(&all[1])
		lines := Score(problems, all, machine.Machine{})
		if len(lines) != 1 || !strings.Contains(lines[0].Status, want) || lines[0].Scores != (Scores{}) {
			t.Errorf("%s: %+v", want, lines)
		}
	}
}

// TestIntervalScore checks that the score is the width plus 40 times the distance of y on either side.
func TestIntervalScore(t *testing.T) {
	for _, c := range []struct{ low, high, y, want float64 }{
		{-1, 2, 0, 3}, {-1, 2, 2, 3}, {-1, 2, 2.5, 23}, {-1, 2, -1.25, 13},
	} {
		if got := IntervalScore(c.low, c.high, c.y); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%g in [%g, %g]: %v, want %v", c.y, c.low, c.high, got, c.want)
		}
	}
}

// TestRelativeScoresAreGeometricMeans checks that relative scores are geometric means over series, that coverage is weighted by rows, and that a
// method with failed series has a row. The worst series has the largest relative CRPS.
func TestRelativeScoresAreGeometricMeans(t *testing.T) {
	line := func(series, method string, crps, coverage float64, rows int) Line {
		s := Scores{RMSE: crps, MASE: crps, MSIS: 3 * crps, CRPS: crps, Coverage: coverage}
		return Line{Set: "s", Series: series, Method: method, Rows: rows, Forecasts: 1, Scores: s, Status: machine.OK}
	}
	lines := []Line{
		line("a", "base", 1, 1, 10), line("b", "base", 100, 1, 30), line("a", "m", 2, 0.8, 10), line("b", "m", 50, 1, 30),
		line("a", "late", 4, 1, 10), {Set: "s", Series: "b", Method: "late", Forecasts: 1, Status: "failed: late"},
		line("a", "old", 2, 1, 10),
	}
	lines[len(lines)-1].MSIS = 0
	var out bytes.Buffer
	Print(&out, lines, "base", 1)
	testkit.Contains(t, out.String(),
		"| m | 2, 2, 0.80 | 50, 50, 1.00 |\n",
		"| m | 1.000 | 1.000 | +0.00 | 0.950 | 0.80 | 26.000 | 0.515 | 78.000 | 0.515 |", // √(2·½); 38 of 40 rows; 52/101
		"| late | 4.000 | 4.000 | +0.00 | 1.000 | 1.00 | 4.000 | 4.000 | 12.000 | 4.000 | 0.00 | 0 | 1 of 2 |\n",
		"| old | 2.000 | 2.000 | +0.00 | 1.000 | 1.00 | 2.000 | 2.000 | – | – |",
		"| m | a: 2.00, 2.00, 0.80 |\n",
		"| late | a: 4.00, 4.00, 1.00 |\n",
		"\nlate, b: failed: late\n",
	)
}

// TestMixtureOfModelIsScored checks that the structural model's mixture is scored. Its scores are close to the scores of a Gaussian with
// its moments.
func TestMixtureOfModelIsScored(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	var s Series
	for i := range 140 {
		s.X, s.Y = append(s.X, float64(i)), append(s.Y, 3*math.Sin(float64(i)*math.Pi/6)+0.1*float64(i)+0.3*rng.NormFloat64())
	}
	known, asked := s.split(func(i int) bool { return i < 120 })
	p := newProblem(Key{"s", "a", 120}, 12, known, asked)
	all, err := Run(t.Context(), []Problem{p}, []string{"vssgp"}, &bytes.Buffer{})
	if err != nil || len(all) != 1 || all[0].Status != machine.OK {
		t.Fatalf("%+v, %v", all, err)
	}
	own := testkit.Must(p.score(&all[0]))(t)
	all[0].own = nil
	gaussian, err := p.score(&all[0])
	if err != nil || own.RMSE != gaussian.RMSE || own.RMSE > 0.5 || own.Coverage < 0.8 {
		t.Errorf("%+v, %+v, %v", own, gaussian, err)
	}
	if r := own.CRPS / gaussian.CRPS; r == 1 || r < 0.9 || r > 1.1 || math.Abs(own.NLPD-gaussian.NLPD) > 0.1 {
		t.Errorf("scores of the mixture %+v, of the Gaussian %+v", own, gaussian)
	}
}

// TestAllMethodsForecastAllProblems checks that all methods forecast all problems in order, and that a failed forecast has its error as status.
func TestAllMethodsForecastAllProblems(t *testing.T) {
	problems, _ := two()
	problems = append(problems, problems[0])
	problems[2].Season = 50
	all, err := Run(t.Context(), problems, Methods(), &bytes.Buffer{})
	if err != nil || len(all) != 3*len(methods) {
		t.Fatalf("%d forecasts, %v", len(all), err)
	}
	for _, f := range all {
		if f.Method != "seasonal_naive" && f.Status != machine.OK {
			t.Errorf("%s: %s", f.Method, f.Status)
		}
	}
	if f := all[8]; f.Method != "seasonal_naive" || !strings.HasPrefix(f.Status, "failed: ") {
		t.Errorf("a season longer than the series: %s: %s", f.Method, f.Status)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, problems, Methods(), &bytes.Buffer{}); err == nil {
		t.Error("no error for a canceled context")
	}
}
