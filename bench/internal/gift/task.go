// Package gift measures the command `vssgp forecast` on public forecasting benchmarks by their own protocols: tasks of
// the leaderboard GIFT-Eval, the competitions M3 and M4, and NN5.
package gift

import (
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
)

// The halves of a task. Settings are tuned on the first and reported on the second.
const (
	Development = "development"
	Reporting   = "reporting"
	Both        = "both"
)

// Halves returns the names of the halves and of the whole task.
func Halves() []string { return []string{Development, Reporting, Both} }

// A Task is a set of series with a protocol.
type Task struct {
	Name        string
	file        string
	season      int      // lag of the naive error that scales MASE and MSIS
	period      int      // length of a season in rows, for peers
	step        step     // distance of rows
	start       string   // date of the first row of series without a known start; "": rows are numbered
	args        []string // flags of vssgp forecast
	read        func(*Task, string) ([]Problem, error)
	horizon     int    // of rolling windows
	last        int    // number of values before the forecast; 0: all
	leaderboard string // name in the table of the leaderboard
	forecasts   int    // number of forecasts of which the leaderboard has the scores
}

// tasks lists the tasks in the order of the tables.
var tasks = []Task{
	{Name: "us_births/D", file: "benchmarks/us_births.csv", season: 1, period: 7, step: days, read: births, horizon: 30,
		args: []string{"--holidays", "US"}, leaderboard: "us_births/D/short", forecasts: 20},
	{Name: "us_births/W", file: "benchmarks/us_births.csv", season: 1, period: 52, step: weeks, read: births, horizon: 8,
		args: []string{"--holidays", "US"}, leaderboard: "us_births/W/short", forecasts: 14},
	{Name: "us_births/M", file: "benchmarks/us_births.csv", season: 12, period: 12, step: months, read: births,
		horizon: 12, leaderboard: "us_births/M/short", forecasts: 2},
	{Name: "hospital/M", file: "benchmarks/hospital.jsonl", season: 12, period: 12, step: months, read: contest,
		leaderboard: "hospital/M/short", forecasts: 767},
	{Name: "m3/yearly", file: "benchmarks/m3_yearly.jsonl", season: 1, period: 1, step: years, read: contest},
	{Name: "m3/quarterly", file: "benchmarks/m3_quarterly.jsonl", season: 4, period: 4, step: quarters, read: contest},
	{Name: "m3/monthly", file: "benchmarks/m3_monthly.jsonl", season: 12, period: 12, step: months, read: contest},
	{Name: "m3/last24", file: "benchmarks/m3_monthly.jsonl", season: 12, period: 12, step: months,
		read: contest, last: 24},
	{Name: "m3/last36", file: "benchmarks/m3_monthly.jsonl", season: 12, period: 12, step: months,
		read: contest, last: 36},
	{Name: "m3/last40", file: "benchmarks/m3_monthly.jsonl", season: 12, period: 12, step: months,
		read: contest, last: 40},
	{Name: "m3/last48", file: "benchmarks/m3_monthly.jsonl", season: 12, period: 12, step: months,
		read: contest, last: 48},
	{Name: "m3/last60", file: "benchmarks/m3_monthly.jsonl", season: 12, period: 12, step: months,
		read: contest, last: 60},
	{Name: "m3/other", file: "benchmarks/m3_other.jsonl", season: 1, period: 1, step: numbers, read: contest},
	{Name: "m4/hourly", file: "m4_hourly_dev.jsonl", season: 24, period: 24, step: hours, start: "2000-01-01 00:00",
		read: contest},
	{Name: "m4/weekly", file: "m4_weekly_dev.jsonl", season: 1, period: 1, step: weeks, start: "2000-01-03",
		read: contest},
	{Name: "nn5/D", file: "benchmarks/nn5.jsonl", season: 7, period: 7, step: days, read: contest},
}

// Tasks returns the names of all tasks.
func Tasks() []string { return jsonl.Distinct(tasks, func(t Task) string { return t.Name }) }

// TaskOf returns a task.
func TaskOf(name string) *Task {
	return &tasks[slices.IndexFunc(tasks, func(t Task) bool { return t.Name == name })]
}

// A Problem is a forecast of the values after one origin of a series. Missing values are NaN.
type Problem struct {
	Series    string
	Past      []float64
	Future    []float64 // the true values
	Published map[string][2]float64
	start     string
}

// Problems reads the problems of one half of a task, and at most the given number of them, evenly spread, unless it is
// 0. data is the folder of data.
func (t *Task) Problems(data, half string, most int) ([]Problem, error) {
	all, err := t.read(t, data)
	if err != nil {
		return nil, err
	}
	if all = t.shortened(t.half(all, half)); most <= 0 || most >= len(all) {
		return all, nil
	}
	for i := range most {
		all[i] = all[i*len(all)/most]
	}
	return all[:most], nil
}

// half returns a half of the problems: every second series or, of a single series, the earlier or the later windows.
func (t *Task) half(all []Problem, half string) (out []Problem) {
	for i, p := range all {
		first := i%2 == 0
		if t.horizon > 0 {
			first = i < (len(all)+1)/2
		}
		if half == Both || first == (half == Development) {
			out = append(out, p)
		}
	}
	return out
}

// shortened returns the problems with the last values of the task only, for which nothing is published. Shorter series are
// left out.
func (t *Task) shortened(all []Problem) (out []Problem) {
	if t.last == 0 {
		return all
	}
	for _, p := range all {
		cut := len(p.Past) - t.last
		if cut < 0 {
			continue
		}
		if first, err := t.step.parse(p.start); err == nil && p.start != "" {
			p.start = t.step.format(t.step.add(first, cut))
		}
		p.Past, p.Published = p.Past[cut:], nil
		out = append(out, p)
	}
	return out
}

// windows returns the problems of the last windows of a series by the protocol of GIFT-Eval: windows of one horizon
// without overlap, which cover a tenth of the series but are at most twenty.
func windows(p Problem, horizon int) (all []Problem) {
	n := len(p.Past)
	count := min(20, max(1, int(math.Ceil(0.1*float64(n)/float64(horizon)))))
	for w := range count {
		end := n - (count-w)*horizon
		all = append(all, Problem{Series: fmt.Sprintf("%s, window %d", p.Series, w+1), start: p.start,
			Past: p.Past[:end:end], Future: p.Past[end : end+horizon]})
	}
	return all
}
