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

// named begins what --json has of one of several series.
type named struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
}

// fitted is what --json has of its model.
type fitted struct {
	Periods []float64 `json:"periods"`
	NoiseSD []float64 `json:"noise_sd"`
	Bound   float64   `json:"bound"`
	Seconds float64   `json:"seconds"`
}

func fittedOf(m *series.Model, began time.Time) fitted {
	return fitted{append([]float64{}, m.Periods()...), noiseOf(m), m.Bound(), time.Since(began).Seconds()}
}

// A work is a series of a table with what was computed of it, and what --json has of that.
type work[T any] struct {
	*timeSeries
	result  T
	summary any
	err     error
}

// sideBySide computes something of each series that --by tells apart, on all cores. It prints the errors and returns the series without
// one in their order, and what --json has of all. some is the error to end with because some have failed; err says that there is nothing to
// write.
func sideBySide[T any](
	ctx context.Context, env *cli.Env, r *timeSeries, compute func(*timeSeries) (T, any, error),
) (good []*work[T], summaries []any, some, err error) {
	if _, err := env.Device.Backend(); err != nil { // all use one
		return nil, nil, nil, err
	}
	var all []*work[T]
	for _, one := range r.split() {
		all = append(all, &work[T]{timeSeries: one})
	}
	meter, began, count := env.NewMeter(), time.Now(), 0
	var counting sync.Mutex
	parallel.For(len(all), runtime.GOMAXPROCS(0), func(i int) {
		w := all[i]
		if w.err = ctx.Err(); w.err == nil {
			w.result, w.summary, w.err = compute(w.timeSeries)
		}
		counting.Lock()
		defer counting.Unlock()
		count++
		meter.ShowRows("series", count, len(all), began)
	})
	meter.Clear()
	if ctx.Err() != nil {
		return nil, nil, nil, ctx.Err()
	}
	var failed []string
	for _, w := range all {
		if w.err == nil {
			good, summaries = append(good, w), append(summaries, w.summary)
			continue
		}
		if !strings.Contains(w.err.Error(), w.path) {
			w.err = fmt.Errorf("%s: %w", w.path, w.err)
		}
		failed, err = append(failed, cli.OneLine(w.err)), w.err
		summaries = append(summaries, struct {
			named
			Error string `json:"error"`
		}{named{w.name, len(w.X)}, failed[len(failed)-1][len(cli.Prefix):]})
	}
	if len(good) == 0 { // the caller prints the last error
		failed = failed[:len(failed)-1]
		err = cli.Mistake("%w; so all %d series failed", err, len(all))
	} else if err != nil {
		some, err = cli.Mistake("%s: %d of %d series failed; the others are in the result", r.path, len(failed), len(all)), nil
	}
	for _, line := range failed {
		fmt.Fprintln(env.Stderr, line)
	}
	return good, summaries, some, err
}

// printSummaries prints what --json has of several series.
func printSummaries(env *cli.Env, r *timeSeries, summaries []any, began time.Time) error {
	return env.PrintJSON(struct {
		Rows    int     `json:"rows"`
		Series  []any   `json:"series"`
		Seconds float64 `json:"seconds"`
		Device  string  `json:"device"`
	}{len(r.X), summaries, time.Since(began).Seconds(), env.Device.Name()})
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

// record writes a row of predictedRows as text, its first number as the axis does.
func record(axis *table.Axis, row []float64) []string {
	text := []string{axis.Format(row[0])}
	for _, v := range row[1:] {
		text = append(text, (*table.Axis)(nil).Format(v))
	}
	return text
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
	began := time.Now()
	at, err := r.places(ctx, env, o)
	if err != nil {
		return err
	}
	good, summaries, some, err := sideBySide(ctx, env, r, func(one *timeSeries) (*forecastOf, any, error) {
		began := time.Now()
		f, err := one.forecast(ctx, env, at, o)
		if err != nil {
			return nil, nil, err
		}
		f.rows = o.form.predictedRows(f.model, f.p, nil, true)
		summary := struct {
			named
			Horizon int `json:"horizon"`
			fitted
		}{named{one.name, len(one.X)}, len(f.at.x), fittedOf(f.model, began)}
		f.model = nil
		return f, summary, nil
	})
	if err != nil {
		return err
	}
	input := good[0].result.at.name
	names, err := datafile.WithDraws(append([]string{r.byName}, predictedNames(input, r.yNames, true, o.form.Levels)...), nil, 0)
	if err != nil {
		return err
	}
	var files []fileio.File
	if o.output != "" {
		files = append(files, textFile(o.output, names, func(write func([]string)) {
			for _, w := range good {
				for row := range slices.Chunk(w.result.rows, len(names)-1) {
					write(slices.Concat([]string{w.name}, record(w.result.at.axis, row)))
				}
			}
		}))
	}
	if err := env.Write(files...); err != nil {
		return err
	}
	switch {
	case env.JSON:
		err = printSummaries(env, r, summaries, began)
	case o.output != cli.ToStdout:
		if o.output == "" {
			head, lines := screenHead(input, r.yNames, o.form.Levels), [][]string(nil)
			for _, w := range good {
				for _, line := range screenRows(w.result.at.axis, w.result.p) {
					lines = append(lines, append([]string{w.name}, line...))
				}
			}
			printTable(env, append([]string{r.byName}, head...), lines)
		}
		env.Print("forecasts of %d series, %.1f s on %s", len(good), time.Since(began).Seconds(), env.Device.Name())
		env.PrintWritten(files)
	}
	if err == nil {
		err = some
	}
	return err
}
