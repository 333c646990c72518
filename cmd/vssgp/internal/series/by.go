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

// fittedFields are what --json has of the model of one of several series.
func fittedFields(m *series.Model, began time.Time) cli.Object {
	return cli.Object{
		"periods", append([]float64{}, m.Periods()...), "noise_sd", noiseOf(m), "bound", m.Bound(), "seconds", time.Since(began),
	}
}

// A work is a series of a table with its result, and the fields of --json besides its name and rows.
type work[T any] struct {
	*timeSeries
	result  T
	summary cli.Object
	err     error
}

// A many is the series of a table that --by tells apart.
type many[T any] struct {
	table     *timeSeries
	good      []*work[T]   // in the order of their first rows
	summaries []cli.Object // of all
	some      error        // to end with if some have failed
	began     time.Time
}

// sideBySide computes something of each series of a table, on all cores, and prints what fails. The error is an interruption, or that all
// have failed.
func sideBySide[T any](
	ctx context.Context, env *cli.Env, r *timeSeries, compute func(*timeSeries) (T, cli.Object, error),
) (*many[T], error) {
	var all []*work[T]
	for _, one := range r.split() {
		all = append(all, &work[T]{timeSeries: one})
	}
	meter, m, count := env.NewMeter(), &many[T]{table: r, began: time.Now()}, 0
	var counting sync.Mutex
	parallel.For(len(all), runtime.GOMAXPROCS(0), func(i int) {
		w := all[i]
		if w.err = ctx.Err(); w.err == nil {
			w.result, w.summary, w.err = compute(w.timeSeries)
		}
		counting.Lock()
		defer counting.Unlock()
		count++
		meter.ShowRows("series", count, len(all), m.began)
	})
	meter.Clear()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var failed []string
	var last error
	for _, w := range all {
		if w.err == nil {
			m.good = append(m.good, w)
		} else {
			if last = w.err; !strings.Contains(last.Error(), w.path) {
				last = fmt.Errorf("%s: %w", w.path, last)
			}
			failed = append(failed, cli.OneLine(last))
			w.summary = cli.Object{"error", failed[len(failed)-1][len(cli.Prefix):]}
		}
		m.summaries = append(m.summaries, append(cli.Object{"name", w.name, "rows", len(w.X)}, w.summary...))
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

// finish writes the files, the main one last, and prints the summaries for --json, or else more for people. Nothing is printed if stdout
// has the main file.
func (m *many[T]) finish(env *cli.Env, files []fileio.File, more func()) error {
	if err := env.Write(files...); err != nil {
		return err
	}
	switch took := time.Since(m.began); {
	case env.JSON:
		all := cli.Object{"rows", len(m.table.X), "series", m.summaries, "seconds", took, "device", device}
		if err := env.PrintJSON(all); err != nil {
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
	at    *datafile.Times
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
	all, err := sideBySide(ctx, env, r, func(one *timeSeries) (*forecastOf, cli.Object, error) {
		began := time.Now()
		f, err := one.forecast(ctx, env, at, o)
		if err != nil {
			return nil, nil, err
		}
		f.rows = o.form.predictedRows(f.model, f.p, nil, true)
		summary := append(cli.Object{"horizon", len(f.at.X)}, fittedFields(f.model, began)...)
		f.model = nil // of which there may be thousands
		return f, summary, nil
	})
	if err != nil {
		return err
	}
	input := all.good[0].result.at.Name
	names, err := datafile.WithDraws(append([]string{r.byName}, predictedNames(input, r.yNames, true, o.form.levels)...), nil, 0)
	if err != nil {
		return err
	}
	var predictions []*prediction
	for _, w := range all.good {
		predictions = append(predictions, w.result.p)
	}
	noteMedians(env, r.yNames, predictions...)
	var files []fileio.File
	if o.output != "" {
		files = append(files, textFile(o.output, names, func(write func([]string)) {
			for _, w := range all.good {
				for row := range slices.Chunk(w.result.rows, len(names)-1) {
					text := []string{w.name, w.result.at.Axis.Format(row[0])}
					for _, v := range row[1:] {
						text = append(text, (*table.Axis)(nil).Format(v))
					}
					write(text)
				}
			}
		}))
	}
	return all.finish(env, files, func() {
		if o.output != "" {
			return
		}
		var lines [][]string
		for _, w := range all.good {
			for _, line := range screenRows(w.result.at.Axis, w.result.p) {
				lines = append(lines, append([]string{w.name}, line...))
			}
		}
		printTable(env, append([]string{r.byName}, screenHead(input, r.yNames, o.form.levels)...), lines)
	})
}
