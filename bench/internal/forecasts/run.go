package forecasts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
)

// ReadForecasts reads a file of forecasts, such as the output of bench/peers/series.py.
func ReadForecasts(path string) ([]Forecast, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	return jsonl.Read(path, func(f *Forecast) error {
		if f.Set == "" || f.Name == "" || f.Method == "" || f.Status == "" {
			return fmt.Errorf("the line must have the fields set, series, method and status")
		}
		return nil
	})
}

// Run forecasts every problem with the named methods of this program. A failed forecast has its error as status.
func Run(ctx context.Context, problems []Problem, names []string, progress io.Writer) (all []Forecast, err error) {
	for _, m := range methods {
		if !slices.Contains(names, m.name) {
			continue
		}
		for i := range problems {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			p := &problems[i]
			began := time.Now()
			f, err := m.forecast(ctx, p)
			f.Key, f.Method, f.Seconds, f.Status = p.Key, m.name, time.Since(began).Seconds(), machine.OK
			if err != nil {
				f.Status = "failed: " + err.Error()
			}
			all = append(all, f)
		}
		fmt.Fprintf(progress, "%s: %d forecasts\n", m.name, len(problems))
	}
	return all, nil
}

// Score returns a line for each method and series with forecasts. If one is missing or invalid, the status is the
// reason, without scores.
func Score(problems []Problem, all []Forecast, here machine.Machine) (lines []Line) {
	byMethod := jsonl.Groups(all, func(f Forecast) string { return f.Method })
	for _, of := range jsonl.Groups(problems, func(p Problem) [2]string { return [2]string{p.Set, p.Name} }) {
		for _, forecasts := range byMethod {
			l := Line{Machine: here, Time: machine.Now(), Bench: "series", Set: of[0].Set, Series: of[0].Name, Method: forecasts[0].Method}
			if l.take(of, forecasts) {
				lines = append(lines, l)
			}
		}
	}
	return lines
}

// take scores a method's forecasts of the problems of a series, and reports whether there are any.
func (l *Line) take(problems []Problem, all []Forecast) (any bool) {
	var scores []Scores
	var rows []int
	l.Status = machine.OK
	for i := range problems {
		p := &problems[i]
		at := slices.IndexFunc(all, func(f Forecast) bool { return f.Key == p.Key })
		if at < 0 {
			continue
		}
		f := &all[at]
		any, l.Version, l.Forecasts = true, cmp.Or(l.Version, f.Version), l.Forecasts+1
		l.Seconds += f.Seconds
		s, err := Scores{}, errors.New(f.Status)
		if f.Status == machine.OK {
			s, err = p.score(f)
		}
		if err != nil {
			l.Status = fmt.Sprintf("origin %d: %v", p.Origin, err)
		}
		scores, rows = append(scores, s), append(rows, len(p.At))
	}
	l.Seconds /= float64(l.Forecasts)
	if l.Status == machine.OK && l.Forecasts < len(problems) {
		l.Status = fmt.Sprintf("%d forecasts of %d", l.Forecasts, len(problems))
	}
	if l.Status == machine.OK {
		l.Scores, l.Rows = pool(scores, rows)
	}
	return any
}
