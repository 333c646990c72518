package gift

import (
	"fmt"

	"github.com/vssgp/vssgp/bench/internal/machine"
)

// A Line contains the scores of a method on a task.
type Line struct {
	machine.Machine
	Time      string  `json:"time"`
	Bench     string  `json:"bench"` // gift
	Task      string  `json:"task"`
	Half      string  `json:"half"`
	Forecasts int     `json:"forecasts"` // number of problems
	Method    string  `json:"method"`
	Published bool    `json:"published,omitempty"` // the scores are not measured here
	Version   string  `json:"version,omitempty"`   // of a peer's library
	Rows      int     `json:"rows,omitempty"`      // number of forecast values
	Seconds   float64 `json:"seconds,omitempty"`   // mean time of a forecast; of a command, its CPU time
	Scores
	Rank    int     `json:"rank,omitempty"`    // by CRPS among the published entries
	Entries int     `json:"entries,omitempty"` // number of these entries and this method
	Base    string  `json:"base,omitempty"`    // the command to compare with
	Ratios  *Ratios `json:"ratios,omitempty"`
	Status  string  `json:"status"`
}

// Ratios contains means over problems of the logarithm of the ratio of a command's score to the base's score, and their
// standard errors.
type Ratios struct {
	MASE   float64 `json:"log_mase"`
	MASESE float64 `json:"log_mase_se"`
	CRPS   float64 `json:"log_crps"`
	CRPSSE float64 `json:"log_crps_se"`
}

// A Key identifies a line.
type Key struct {
	Task, Half string
	Forecasts  int
	Method     string
	Published  bool
}

// Key returns the key of a line.
func (l Line) Key() Key { return Key{l.Task, l.Half, l.Forecasts, l.Method, l.Published} }

// A Method is a method's forecasts of all problems.
type Method struct {
	Name, Version string
	Forecasts     []Forecast
	command       bool // a build of vssgp
}

// lineOf scores the forecasts of a method. With a failed forecast, the line has the first reason as its status and no
// scores.
func lineOf(t *Task, problems []Problem, m *Method) (l Line, all []score) {
	l = Line{Method: m.Name, Version: m.Version, Status: machine.OK}
	failed := 0
	for i := range problems {
		l.Seconds += m.Forecasts[i].Seconds / float64(len(problems))
		s, err := scoreOf(t, &problems[i], &m.Forecasts[i])
		if err != nil {
			if failed++; failed == 1 {
				l.Status = fmt.Sprintf("%s: %v", problems[i].Series, err)
			}
		}
		all = append(all, s)
	}
	if failed > 0 {
		l.Status = fmt.Sprintf("%d of %d forecasts failed; first, %s", failed, len(problems), l.Status)
		return l, nil
	}
	l.Scores, l.Rows = pool(all)
	return l, all
}

// Measure scores all methods on the problems of a task. Every command is compared with the first method. published
// contains the published scores of the task.
func Measure(
	t *Task, half string, problems []Problem, methods []Method, published []Line, here machine.Machine,
) (lines []Line) {
	var base []score
	for i := range methods {
		l, all := lineOf(t, problems, &methods[i])
		switch {
		case i == 0:
			base = all
		case methods[i].command && all != nil && base != nil:
			l.Base, l.Ratios = methods[0].Name, ratios(all, base)
		}
		if t.leaderboard != "" && len(published) > 0 && all != nil {
			l.Rank, l.Entries = rank(l.CRPS, published), len(published)+1
		}
		lines = append(lines, l)
	}
	lines = append(lines, shown(t, published)...)
	for i := range lines {
		l := &lines[i]
		l.Machine, l.Time, l.Bench, l.Task, l.Half, l.Forecasts = here, machine.Now(), "gift", t.Name, half, len(problems)
	}
	return lines
}
