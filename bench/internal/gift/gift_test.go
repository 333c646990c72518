package gift

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp/bench/internal/forecasts"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/testkit"
)

// point returns a forecast whose quantiles are all equal.
func point(mean, quantile []float64) Forecast {
	return Forecast{Mean: mean, Quantiles: slices.Repeat([][]float64{quantile}, len(levels))}
}

// TestScores compares scores with scores computed by hand.
func TestScores(t *testing.T) {
	past := []float64{1, 2, math.NaN(), 3, 5, 6} // naive error (1 + 2 + 1)/3
	wide := Forecast{Mean: []float64{1}}
	for _, l := range levels {
		wide.Quantiles = append(wide.Quantiles, []float64{10*l - 5 + 2})
	}
	for name, c := range map[string]struct {
		season int
		past   []float64
		future []float64
		f      Forecast
		want   Scores
	}{
		"points": {1, past, []float64{6, math.NaN(), 0}, point([]float64{4, 4, 4}, []float64{5, 5, 5}), Scores{
			MAE: 3, MASE: 3 / (4.0 / 3), CRPS: 3.0 / 3, MSIS: 40 * 3 / (4.0 / 3), SMAPE: (200.0/11 + 200) / 2,
			MSE: 13, MSEMean: 10, MAPE: 1.0 / 6, Absolute: 3}},
		"quantiles": {2, past, []float64{2}, wide, Scores{
			CRPS: 2 * 2 * (0.1*4 + 0.2*3 + 0.3*2 + 0.4*1) / 9 / 2, MSIS: 9.5 / 2, Coverage: 1, MSEMean: 1, Absolute: 2}},
	} {
		task := &Task{season: c.season}
		if c.season == 2 {
			c.past = []float64{1, 1, 3, 3}
		}
		s, err := scoreOf(task, &Problem{Past: c.past, Future: c.future}, &c.f)
		if err != nil {
			t.Fatal(err)
		}
		got, rows := pool([]score{s, s})
		if rows != 2*s.rows || fmt.Sprintf("%.12f", got) != fmt.Sprintf("%.12f", c.want) {
			t.Errorf("%s: %d rows\n%+v, want\n%+v", name, rows, got, c.want)
		}
	}
}

// TestPool checks that MASE, MSIS and sMAPE are means over problems, and the other scores over rows.
func TestPool(t *testing.T) {
	ones := Scores{MASE: 1, MSIS: 1, SMAPE: 1, CRPS: 1, Coverage: 1, MSE: 1, MSEMean: 1, MAE: 1, MAPE: 1, Absolute: 1}
	a := score{ones, 1, 1}
	b := score{Scores{Absolute: 3}, 3, 4}
	got, rows := pool([]score{a, b})
	want := Scores{MASE: 0.5, MSIS: 0.5, SMAPE: 0.5, CRPS: 0.25 / 2.5, Coverage: 0.25, MSE: 0.25, MSEMean: 0.25, MAE: 0.25,
		MAPE: 0.2, Absolute: 2.5}
	if got != want || rows != 4 {
		t.Errorf("%d rows, %+v, want %+v", rows, got, want)
	}
}

// TestRatios compares a mean logarithm and its standard error with numbers computed by hand.
func TestRatios(t *testing.T) {
	scores := func(mase ...float64) (out []score) {
		for _, v := range mase {
			out = append(out, score{Scores: Scores{MASE: v, CRPS: 1}})
		}
		return out
	}
	r := ratios(scores(math.E, 1, 0, 5), scores(1, math.E*math.E*math.E, 1, 0))
	if math.Abs(r.MASE+1) > 1e-12 || math.Abs(r.MASESE-2) > 1e-12 || r.CRPS != 0 || r.CRPSSE != 0 {
		t.Errorf("%+v, want -1 ± 2 from logarithms 1 and -3", r)
	}
}

// TestUnscored checks the reasons for which a method has no scores.
func TestUnscored(t *testing.T) {
	good := point([]float64{1}, []float64{1})
	for want, c := range map[string]struct {
		p Problem
		f Forecast
	}{
		"no forecast":    {Problem{Past: []float64{1, 2}, Future: []float64{1}}, Forecast{Err: fmt.Errorf("no forecast")}},
		"is 0: must be":  {Problem{Past: []float64{1, 1}, Future: []float64{1}}, good},
		"quantile of Na": {Problem{Past: []float64{1, 2}, Future: []float64{1}}, point([]float64{1}, []float64{math.NaN()})},
		"no true values": {Problem{Past: []float64{1, 2}, Future: []float64{math.NaN()}}, good},
	} {
		c.p.Series = "T9"
		m := Method{Forecasts: []Forecast{c.f}}
		l, all := lineOf(&Task{season: 1}, []Problem{c.p}, &m)
		if all != nil || !strings.Contains(l.Status, "1 of 1 forecasts failed; first, T9: ") ||
			!strings.Contains(l.Status, want) {
			t.Errorf("status %q, want %q", l.Status, want)
		}
	}
}

// TestWindows checks the number of windows of the leaderboard's tasks, and that they end with the series.
func TestWindows(t *testing.T) {
	for _, c := range []struct{ rows, horizon, want int }{{7305, 30, 20}, {1043, 8, 14}, {240, 12, 2}, {60, 12, 1}} {
		y := make([]float64, c.rows)
		for i := range y {
			y[i] = float64(i)
		}
		all := windows(Problem{Past: y}, c.horizon)
		if len(all) != c.want {
			t.Errorf("%d rows, %d ahead: %d windows, want %d", c.rows, c.horizon, len(all), c.want)
		}
		end := c.rows
		for _, p := range slices.Backward(all) {
			if len(p.Future) != c.horizon || p.Future[c.horizon-1] != float64(end-1) || p.Future[0] != float64(len(p.Past)) {
				t.Errorf("%d rows: window of %d after %d rows, want its end at %d", c.rows, len(p.Future), len(p.Past), end)
			}
			end -= c.horizon
		}
	}
}

// TestShortened checks that tasks of short series have the last values before the forecast, with their dates, and the
// halves of all series.
func TestShortened(t *testing.T) {
	dir, text := t.TempDir(), ""
	for i, n := range []int{30, 24, 20, 40, 25} {
		train := strings.Repeat("1,", n-1) + "2"
		text += fmt.Sprintf(`{"name":"T%d","start":"1990-01","train":[%s],"test":[3],"published":{"A":[1,2]}}`+"\n", i, train)
	}
	testkit.OK(t, os.MkdirAll(filepath.Join(dir, "benchmarks"), 0o777))
	testkit.OK(t, os.WriteFile(filepath.Join(dir, "benchmarks/m3_monthly.jsonl"), []byte(text), 0o666))
	task := TaskOf("m3/last24")
	for half, want := range map[string]string{
		Development: "T0 1990-07, T4 1990-02", Reporting: "T1 1990-01, T3 1991-05",
	} {
		var got []string
		for _, p := range testkit.Must(task.Problems(dir, half, 0))(t) {
			got = append(got, p.Series+" "+p.start)
			if len(p.Past) != 24 || p.Past[23] != 2 || len(p.Future) != 1 || p.Published != nil {
				t.Errorf("%s: %+v", half, p)
			}
		}
		testkit.Equal(t, strings.Join(got, ", "), want, half)
	}
}

// TestDates checks the texts of rows after a start in every notation.
func TestDates(t *testing.T) {
	for _, c := range []struct {
		step        step
		start, want string
	}{
		{numbers, "", "1 2 3 4"},
		{years, "1999", "1999 2000 2001 2002"},
		{quarters, "1999Q3", "1999Q3 1999Q4 2000Q1 2000Q2"},
		{months, "1999-11", "1999-11 1999-12 2000-01 2000-02"},
		{weeks, "2000-02-20", "2000-02-20 2000-02-27 2000-03-05 2000-03-12"},
		{days, "2000-02-28", "2000-02-28 2000-02-29 2000-03-01 2000-03-02"},
		{hours, "2000-01-01 22:00", "2000-01-01 22:00 2000-01-01 23:00 2000-01-02 00:00 2000-01-02 01:00"},
	} {
		if got, err := c.step.dates(c.start, 4); err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, %v, want %s", c.start, got, err, c.want)
		}
	}
	for start, s := range map[string]step{"1999": months, "1999Q5": quarters, "x": quarters} {
		if _, err := s.dates(start, 1); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", start)) {
			t.Errorf("error %v, want %q", err, start)
		}
	}
}

// writeBirths writes a file of days from a start with one birth on the first day, two on the second and so on.
func writeBirths(t *testing.T, dir string, start time.Time, n int) {
	t.Helper()
	text := "date,T1\n"
	for i := range n {
		text += fmt.Sprintf("%s,%d.0\n", start.AddDate(0, 0, i).Format(time.DateOnly), i+1)
	}
	testkit.OK(t, os.MkdirAll(filepath.Join(dir, "benchmarks"), 0o777))
	testkit.OK(t, os.WriteFile(filepath.Join(dir, "benchmarks/us_births.csv"), []byte(text), 0o666))
}

// TestBirths checks the sums of weeks and months, without an incomplete last one, the dates and the halves.
func TestBirths(t *testing.T) {
	dir := t.TempDir()
	writeBirths(t, dir, time.Date(1999, 2, 1, 0, 0, 0, 0, time.UTC), 3*365+10)
	for _, c := range []struct {
		task, start          string
		rows, horizon        int
		first                float64
		development, windows int
	}{
		{"us_births/D", "1999-02-01", 1105, 30, 1, 2, 4},
		{"us_births/W", "1999-02-01", 157, 8, 28, 1, 2},
		{"us_births/M", "1999-02", 36, 12, 28 * 29 / 2, 1, 1},
	} {
		task := TaskOf(c.task)
		of := func(half string) []Problem { return testkit.Must(task.Problems(dir, half, 0))(t) }
		all := of(Both)
		last := all[len(all)-1]
		if len(all) != c.windows || all[0].start != c.start || len(last.Past)+len(last.Future) != c.rows ||
			last.Past[0] != c.first {
			t.Errorf("%s: %d windows of %d rows, the first %g from %s; want %+v", c.task, len(all), len(last.Past)+c.horizon,
				last.Past[0], all[0].start, c)
		}
		early, late := of(Development), of(Reporting)
		if len(early) != c.development || len(early)+len(late) != c.windows || early[0].Series != all[0].Series {
			t.Errorf("%s: %d and %d windows for development and reporting", c.task, len(early), len(late))
		}
	}
}

// TestInvalidData checks that the error of an invalid file contains its path and the row.
func TestInvalidData(t *testing.T) {
	dir := t.TempDir()
	testkit.OK(t, os.Mkdir(filepath.Join(dir, "benchmarks"), 0o777))
	for _, c := range []struct{ task, text, want string }{
		{"us_births/D", "date,y\n2000-01-01,1\n2000-01-03,1\n", "row 2: 2000-01-03 must be one day after"},
		{"us_births/D", "date,y\n2000-01-01,x\n", "row 1"},
		{"us_births/D", "date,y\n2000-01-01,1\n", "must be at least 90"},
		{"us_births/D", "", "must be at least 90"},
		{"hospital/M", "", "no series"},
		{"hospital/M", `{"name":"T1","start":"2000","train":[1,2,3],"test":[4]}` + "\n", `line 1: start "2000"`},
		{"hospital/M", `{"name":"T1","train":[1,null],"test":[4]}` + "\n", "line 1: the series must have"},
	} {
		task := TaskOf(c.task)
		path := filepath.Join(dir, task.file)
		testkit.OK(t, os.WriteFile(path, []byte(c.text), 0o666))
		if _, err := task.Problems(dir, Both, 0); err == nil || !strings.Contains(err.Error(), path+": ") ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.task, err, c.want)
		}
	}
}

// TestHalves checks that a half has every second series, and that fewer series are evenly spread.
func TestHalves(t *testing.T) {
	var all []Problem
	for i := range 7 {
		all = append(all, Problem{Series: fmt.Sprint(i)})
	}
	task := &Task{read: func(*Task, string) ([]Problem, error) { return slices.Clone(all), nil }}
	for _, c := range []struct {
		half string
		most int
		want string
	}{
		{Development, 0, "0 2 4 6"}, {Reporting, 0, "1 3 5"}, {Both, 7, "0 1 2 3 4 5 6"}, {Both, 3, "0 2 4"},
		{Reporting, 1, "1"},
	} {
		got := jsonl.Distinct(testkit.Must(task.Problems("", c.half, c.most))(t), func(p Problem) string { return p.Series })
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s, at most %d: series %v, want %s", c.half, c.most, got, c.want)
		}
	}
}

// TestSeasonalNaive checks that a missing value is replaced by the value a season before.
func TestSeasonalNaive(t *testing.T) {
	p := Problem{Past: []float64{1, 2, 3, math.NaN(), 5}, Future: make([]float64, 3)}
	for season, want := range map[int][]float64{1: {5, 5, 5}, 2: {2, 5, 2}} {
		m := SeasonalNaive(&Task{season: season}, []Problem{p})
		if got := m.Forecasts[0]; !slices.Equal(got.Mean, want) || !slices.Equal(got.Quantiles[high], want) {
			t.Errorf("season %d: %v, want %v", season, got.Mean, want)
		}
	}
}

// TestPeer checks that a peer gets the known rows and that its Gaussians become quantiles.
func TestPeer(t *testing.T) {
	task := &Task{Name: "x", period: 7}
	problems := []Problem{
		{Series: "a", Past: []float64{3, math.NaN(), 4}, Future: []float64{5, 6}}, {Series: "b"}, {Series: "c"},
	}
	q := PeerProblems(task, problems)[0]
	if q.Key != (forecasts.Key{Set: "x", Name: "a", Origin: 3}) || q.Season != 7 || !slices.Equal(q.X, []float64{0, 2}) ||
		!slices.Equal(q.Y, []float64{3, 4}) || !slices.Equal(q.At, []float64{3, 4}) {
		t.Errorf("%+v", q)
	}
	m := Peer(task, problems, []forecasts.Forecast{
		{Key: q.Key, Method: "ets", Version: "9", Mean: []float64{1, 2}, SD: []float64{1, 2}, Seconds: 3, Status: machine.OK},
		{Key: forecasts.Key{Set: "x", Name: "b"}, Method: "ets", Status: "failed: no"},
		{Key: forecasts.Key{Set: "x", Name: "c"}, Method: "theta", Status: machine.OK},
	}, "ets")
	f := m.Forecasts[0]
	if m.Version != "9" || f.Err != nil || f.Seconds != 3 || math.Abs(f.Quantiles[high][1]-(2+2*1.959964)) > 1e-5 ||
		math.Abs(f.Quantiles[median][0]-1) > 1e-9 {
		t.Errorf("%+v", f)
	}
	if m.Forecasts[1].Err.Error() != "failed: no" || m.Forecasts[2].Err.Error() != "there is no forecast" {
		t.Errorf("%v, %v", m.Forecasts[1].Err, m.Forecasts[2].Err)
	}
}

// TestPublished checks which published entries are shown, the rank among all of them, and the order of the table.
func TestPublished(t *testing.T) {
	dir := t.TempDir()
	testkit.OK(t, os.Mkdir(filepath.Join(dir, "benchmarks"), 0o777))
	path := filepath.Join(dir, "benchmarks/gift_published.csv")
	task := TaskOf("hospital/M")
	if lines, err := task.Published(dir, nil); err != nil || lines != nil {
		t.Errorf("missing file: %v, %v", lines, err)
	}
	testkit.OK(t, os.WriteFile(path, []byte("task,entry,mase,crps,msis\nhospital/M/short,TiRex,2,0.3,4\n"+
		"hospital/M/short,best,3,0.1,4\nhospital/M/short,other,1,0.2,4\nus_births/D/short,another,1,0.01,4\n"), 0o666))
	published := testkit.Must(task.Published(dir, nil))(t)
	p := Problem{Series: "T1", Past: slices.Repeat([]float64{1, 2}, 12), Future: []float64{4}}
	p.Past[0] = 3
	methods := []Method{{Name: "vssgp", Forecasts: []Forecast{point([]float64{3}, []float64{3})}, command: true}}
	lines := Measure(task, Both, []Problem{p}, methods, published, machine.Machine{})
	var drawn bytes.Buffer
	Print(&drawn, lines)
	order := []string{"of all 767", "| best (published) | 3.0000 | 0.10000 | 4.000 | – | – | – |",
		"| vssgp, rank 3 of 4 | 6.0000 | 0.25000 |", "| TiRex (published) |"}
	text := drawn.String()
	for _, part := range order {
		_, rest, ok := strings.Cut(text, part)
		if !ok {
			t.Errorf("no %q, or not in this order:\n%s", part, drawn.String())
		}
		text = rest
	}
	if strings.Contains(drawn.String(), "other (published)") {
		t.Errorf("an entry is shown that is not in the list:\n%s", drawn.String())
	}
	testkit.OK(t, os.WriteFile(path, []byte("hospital/M/short,TiRex,2,x,4\n"), 0o666))
	_, err := task.Published(dir, nil)
	if err == nil || !strings.Contains(err.Error(), path+": TiRex of hospital/M/short") {
		t.Errorf("error %v, want the path and the entry", err)
	}
}

// TestCompetitors checks that published scores are means over exactly the chosen series, of methods with all of them.
func TestCompetitors(t *testing.T) {
	got := competitors([]Problem{
		{Published: map[string][2]float64{"THETA": {1, 10}, "RBF": {1, 1}}},
		{Published: map[string][2]float64{"THETA": {3, 20}, "AAM1": {1, 1}}},
		{Published: map[string][2]float64{"THETA": {2, 15}, "RBF": {1, 1}}},
	})
	if len(got) != 1 || got[0].Method != "THETA" || math.Abs(got[0].MASE-2) > 1e-12 ||
		math.Abs(got[0].SMAPE-15) > 1e-12 || !got[0].Published {
		t.Errorf("%+v", got)
	}
}

// TestLeaderboard compares a file with numbers computed by hand. It has only whole tasks of the method.
func TestLeaderboard(t *testing.T) {
	whole := Line{Task: "us_births/M", Half: Both, Method: "vssgp", Status: machine.OK, Scores: Scores{
		MASE: 1, CRPS: 2, MSIS: 3, SMAPE: 50, MSEMean: 16, MSE: 9, MAE: 2, MAPE: 0.25, Absolute: 8}}
	lines := slices.Repeat([]Line{whole}, 6)
	lines[1].Half, lines[2].Published, lines[3].Method = Reporting, true, "seasonal_naive"
	lines[4].Status, lines[5].Task = "failed", "m3/other"
	path := filepath.Join(t.TempDir(), "all_results.csv")
	testkit.OK(t, WriteLeaderboard(path, lines, "vssgp"))
	_, got, _ := strings.Cut(string(testkit.Must(os.ReadFile(path))(t)), "\n")
	if want := "us_births/M/short,vssgp,16,9,2,1,0.25,0.5,3,4,0.5,0.25,2,Healthcare,1\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
