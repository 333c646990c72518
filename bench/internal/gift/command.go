package gift

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// levels lists the levels of the quantiles: nine for the CRPS and the two of the 95 % interval.
var levels = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.025, 0.975}

const (
	median      = 4 // index of the level 0.5
	crpsLevels  = 9 // the first levels
	lower, high = 9, 10
)

// A Forecast is a method's prediction for a problem.
type Forecast struct {
	Mean      []float64
	Quantiles [][]float64 // [levels][rows]
	Seconds   float64     // CPU time of the process
	Err       error
}

// A Command is a build of vssgp.
type Command struct {
	Name, Path string
	Args       []string // additional flags
}

// Method returns the name in the tables: the build's name and the additional flags.
func (c *Command) Method() string { return strings.Join(append([]string{c.Name}, c.Args...), " ") }

// Run forecasts every problem with every command. It runs several processes at a time, with one thread each.
func Run(
	ctx context.Context, t *Task, problems []Problem, commands []Command, parallel int,
) (methods []Method, err error) {
	dir, err := os.MkdirTemp("", "vssgp-gift-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, c := range commands {
		methods = append(methods, Method{Name: c.Method(), Forecasts: make([]Forecast, len(problems)), command: true})
	}
	var group sync.WaitGroup
	jobs := make(chan [2]int)
	for range parallel {
		group.Go(func() {
			for job := range jobs {
				i, c := job[0], job[1]
				name := filepath.Join(dir, fmt.Sprintf("%d-%d", i, c))
				methods[c].Forecasts[i] = commands[c].forecast(ctx, t, &problems[i], name)
			}
		})
	}
	for i := range problems {
		for c := range commands { // alternately, so that a change of the machine's speed affects all commands
			jobs <- [2]int{i, c}
		}
	}
	close(jobs)
	group.Wait()
	return methods, ctx.Err()
}

// forecast runs the command on a problem. name is the path of its files without their extension.
func (c *Command) forecast(ctx context.Context, t *Task, p *Problem, name string) (f Forecast) {
	if f.Err = ctx.Err(); f.Err != nil {
		return f
	}
	in, out := name+".csv", name+"-out.csv"
	known, err := writePast(in, t, p)
	if err != nil {
		return Forecast{Err: err}
	}
	horizon := len(p.Past) - known + len(p.Future) // the command starts after the last known value
	flags, columns := quantiles()
	args := []string{"forecast", in, "--horizon", strconv.Itoa(horizon), "-o", out, "--seed", "1", "--quiet"}
	args = slices.Concat(args, flags, t.args, c.Args)
	cmd := exec.CommandContext(ctx, c.Path, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err = cmd.Run()
	if cmd.ProcessState != nil {
		f.Seconds = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	}
	if err != nil {
		f.Err = fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
		return f
	}
	f.Mean, f.Quantiles, f.Err = readForecast(out, columns, len(p.Future))
	return f
}

// quantiles returns the flags for the quantiles of all levels, and their columns.
func quantiles() (flags, columns []string) {
	var texts []string
	for _, l := range levels {
		text := strconv.FormatFloat(l, 'g', -1, 64)
		texts, columns = append(texts, text), append(columns, "y_q"+text)
	}
	return []string{"--quantiles", strings.Join(texts, ",")}, columns
}

// writePast writes the past of a problem as a CSV file. It returns the number of rows up to the last known value.
func writePast(path string, t *Task, p *Problem) (known int, err error) {
	dates, err := t.step.dates(p.start, len(p.Past))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", p.Series, err)
	}
	column := t.step.column
	if p.start == "" {
		column = numbers.column
	}
	text := []byte(column + ",y\n")
	for i, y := range p.Past {
		text = append(append(text, dates[i]...), ',')
		if !math.IsNaN(y) {
			text, known = strconv.AppendFloat(text, y, 'g', -1, 64), i+1
		}
		text = append(text, '\n')
	}
	return known, os.WriteFile(path, text, 0o666)
}

// readForecast reads the mean and the quantiles in the last rows of an output of vssgp forecast.
func readForecast(path string, columns []string, rows int) (mean []float64, quantiles [][]float64, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	table, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(table) < rows+1 {
		return nil, nil, fmt.Errorf("%d lines of forecasts: must be at least %d (%v)", len(table), rows+1, err)
	}
	for _, name := range append([]string{"y_mean"}, columns...) {
		at := slices.Index(table[0], name)
		if at < 0 {
			return nil, nil, fmt.Errorf("there is no column %s", name)
		}
		var values []float64
		for _, row := range table[len(table)-rows:] {
			v, err := strconv.ParseFloat(row[at], 64)
			if err != nil {
				return nil, nil, fmt.Errorf("column %s: %w", name, err)
			}
			values = append(values, v)
		}
		quantiles = append(quantiles, values)
	}
	return quantiles[0], quantiles[1:], nil
}

// SeasonalNaive repeats the last known value at the same phase of the season. All quantiles are equal.
func SeasonalNaive(t *Task, problems []Problem) Method {
	m := Method{Name: "seasonal_naive"}
	for _, p := range problems {
		var f Forecast
		for i := range p.Future {
			from := len(p.Past) - t.season + i%t.season
			for from >= t.season && math.IsNaN(p.Past[from]) {
				from -= t.season
			}
			f.Mean = append(f.Mean, p.Past[from])
		}
		f.Quantiles = slices.Repeat([][]float64{f.Mean}, len(levels))
		m.Forecasts = append(m.Forecasts, f)
	}
	return m
}
