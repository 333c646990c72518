package series

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// A work is a series of a table with what is computed of it, and what --json prints.
type work[T any] struct {
	*timeSeries
	computed T
	result   *result
	err      error
}

// A many is the series of a table that --by tells apart.
type many[T any] struct {
	table *timeSeries
	good  []*work[T] // in the order of their first rows
	all   []named
	some  error // to end with if some have failed
	began time.Time
}

// sideBySide computes something of each series of a table, on all cores, and prints what fails. The error is an interruption, or that all
// have failed.
func sideBySide[T any](
	ctx context.Context, env *cli.Env, r *timeSeries, compute func(*timeSeries) (T, *result, error),
) (*many[T], error) {
	var all []*work[T]
	for _, one := range r.split() {
		all = append(all, &work[T]{timeSeries: one})
	}
	m, count := &many[T]{table: r, began: time.Now()}, 0
	var counting sync.Mutex
	parallel.For(len(all), runtime.GOMAXPROCS(0), func(i int) {
		w := all[i]
		if w.err = ctx.Err(); w.err == nil {
			began := time.Now()
			if w.computed, w.result, w.err = compute(w.timeSeries); w.err == nil {
				w.result.Rows, w.result.Seconds = len(w.X), time.Since(began)
			}
		}
		counting.Lock()
		defer counting.Unlock()
		count++
		env.ShowProgress(float64(count)/float64(len(all)), "series %d of %d", count, len(all))
	})
	env.ClearProgress()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var failed []string
	var last error
	for _, w := range all {
		one := named{w.name, w.result, ""}
		if w.err == nil {
			m.good = append(m.good, w)
		} else {
			if last = w.err; !strings.Contains(last.Error(), w.path) {
				last = fmt.Errorf("%s: %w", w.path, last)
			}
			failed = append(failed, cli.OneLine(last))
			one.result, one.Error = &result{Rows: len(w.X)}, failed[len(failed)-1][len(cli.Prefix):]
		}
		m.all = append(m.all, one)
	}
	if m.good == nil { // the caller prints the last one
		failed, last = failed[:len(failed)-1], cli.Mistake("%w; so all %d series failed", last, len(all))
	} else if last != nil {
		m.some, last = cli.Mistake("%s: %d of %d series failed; the others are in the result", r.path, len(failed), len(all)), nil
	}
	for _, line := range failed {
		fmt.Fprintln(env.Stderr, line)
	}
	return m, last
}

// finish writes the files, the main one last, and prints the results for --json, or else more for people. Nothing is printed if stdout
// has the main file.
func (m *many[T]) finish(env *cli.Env, files []fileio.File, forecast *frame, more func()) error {
	if err := env.Write(files...); err != nil {
		return err
	}
	switch took := time.Since(m.began); {
	case env.JSON:
		if err := env.PrintJSON(several{len(m.table.X), m.all, took, device, forecast}); err != nil {
			return err
		}
	case len(files) == 0 || files[len(files)-1].Path != cli.ToStdout:
		more()
		env.Print("%d series, %s, %.1f s on %s", len(m.good), cli.Counted(len(m.table.X), "row"), took.Seconds(), device)
		slices.Reverse(files)
		env.PrintWritten(files)
	}
	return m.some
}

// alone refuses flags that are of one series.
func alone(env *cli.Env, flags ...string) error {
	for _, name := range flags {
		if env.Flags.Changed(name) {
			return cli.Mistake("--%s and --by: a file for one series; must be one of them", name)
		}
	}
	return nil
}

// textFile returns a table of text.
func textFile(path string, names []string, records func(write func([]string))) fileio.File {
	return fileio.File{Path: path, Write: func(w io.Writer) error {
		to := csv.NewWriter(w)
		if cli.FormatOf(path) == "tsv" {
			to.Comma = '\t'
		}
		to.Write(names) // Flush keeps an error
		records(func(record []string) { to.Write(record) })
		to.Flush()
		return to.Error()
	}}
}

// A forecastOf is the forecast of one series.
type forecastOf struct {
	at    *targets
	p     *prediction
	rows  []float64 // of predictedRows
	model *series.Model
}

// forecastBy forecasts each series of a table.
func forecastBy(ctx context.Context, env *cli.Env, r *timeSeries, o *forecastFlags) error {
	if err := alone(env, "plot", "report", "model"); err != nil {
		return err
	}
	if cli.FormatOf(o.output) == "npy" {
		return cli.Mistake("-o %s and --by: the names of series are text; must be .csv or .tsv", o.output)
	}
	at, err := r.places(ctx, env, o)
	if err != nil {
		return err
	}
	all, err := sideBySide(ctx, env, r, func(one *timeSeries) (*forecastOf, *result, error) {
		f, err := one.forecast(ctx, env, at, o)
		if err != nil {
			return nil, nil, err
		}
		f.rows = o.form.predictedRows(f.model, f.p, nil, true)
		found := &result{Horizon: len(f.at.x), Summary: summaryOf(f.model, one)}
		f.model = nil // of which there may be thousands
		return f, found, nil
	})
	if err != nil {
		return err
	}
	input := all.good[0].computed.at.name
	names, err := datafile.WithDraws(append([]string{r.byName}, predictedNames(input, r.yNames, true, o.form.levels)...), nil, 0)
	if err != nil {
		return err
	}
	var predictions []*prediction
	for _, w := range all.good {
		predictions = append(predictions, w.computed.p)
	}
	noteMedians(env, r.yNames, predictions...)
	if o.output == "" {
		table := &frame{Columns: names}
		for _, w := range all.good {
			table.add(w.computed.at.axis, w.computed.rows, w.name)
		}
		return all.finish(env, nil, table, func() {
			var lines [][]string
			for _, w := range all.good {
				for _, line := range screenRows(w.computed.at.axis, w.computed.p) {
					lines = append(lines, append([]string{w.name}, line...))
				}
			}
			printTable(env, append([]string{r.byName}, screenHead(input, r.yNames, o.form.levels)...), lines)
		})
	}
	file := textFile(o.output, names, func(write func([]string)) {
		for _, w := range all.good {
			for row := range slices.Chunk(w.computed.rows, len(names)-1) {
				text := []string{w.name, w.computed.at.axis.Format(row[0])}
				for _, v := range row[1:] {
					text = append(text, (*table.Axis)(nil).Format(v))
				}
				write(text)
			}
		}
	})
	return all.finish(env, []fileio.File{file}, nil, func() {})
}
