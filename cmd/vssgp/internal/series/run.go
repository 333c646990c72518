package series

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/report"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/series"
)

// A run contains the results of a command for the series of a table: one series, or several with --by.
type run[T any] struct {
	table    *timeSeries
	finished []*job[T] // in the order of their first rows
	all      []named
	failed   error // the error of the command if some series have failed
	began    time.Time
}

// A job is the work on one series.
type job[T any] struct {
	*timeSeries
	value  T
	model  *series.Model // nil if nothing was fitted or there are several series
	result *result
	err    error
}

// each calls compute for each series of a table on all cores and prints the errors of series that fail. compute may return a nil model.
// each returns an error if it is interrupted or if all series fail.
func each[T any](
	ctx context.Context, env *cli.Env, r *timeSeries, compute func(*timeSeries) (T, *series.Model, *result, error),
) (*run[T], error) {
	m, jobs, count := &run[T]{table: r, began: time.Now()}, []*job[T]{{timeSeries: r}}, 0
	if r.byName != "" {
		jobs = nil
		for _, one := range r.split() {
			jobs = append(jobs, &job[T]{timeSeries: one})
		}
	}
	var counting sync.Mutex
	parallel.For(len(jobs), runtime.GOMAXPROCS(0), func(i int) {
		j, began := jobs[i], time.Now()
		if j.err = ctx.Err(); j.err == nil && r.byName != "" {
			j.err = j.checkOrder()
		}
		if j.err == nil {
			j.value, j.model, j.result, j.err = compute(j.timeSeries)
		}
		if j.err == nil {
			j.result.Rows = len(j.X)
			if j.model != nil {
				j.result.Summary = summaryOf(j.model, j.axis)
				j.result.Summary.Outliers = outliersOf(j.model, j.timeSeries)
			}
			if j.model != nil || j.result.Scores != nil {
				j.result.Took = time.Since(began)
			}
		}
		if r.byName == "" {
			return
		}
		j.model = nil // saves memory: there may be thousands of series
		counting.Lock()
		defer counting.Unlock()
		count++
		env.ShowProgress(float64(count)/float64(len(jobs)), "series %d of %d", count, len(jobs))
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	warnNaive(env, jobs)
	if r.byName == "" {
		m.finished = jobs
		return m, jobs[0].err
	}
	return m, m.sort(env, jobs)
}

// sort separates the failed series from the others and prints their errors. It returns an error if all series have failed.
func (m *run[T]) sort(env *cli.Env, jobs []*job[T]) error {
	var failed []string
	var last error
	for _, j := range jobs {
		one := named{j.name, j.result, ""}
		if j.err == nil {
			m.finished = append(m.finished, j)
		} else {
			if last = j.err; !strings.Contains(last.Error(), j.path) {
				last = fmt.Errorf("%s: %w", j.path, last)
			}
			failed = append(failed, cli.OneLine(last))
			one.result, one.Error = &result{Rows: len(j.X)}, failed[len(failed)-1][len(cli.Prefix):]
		}
		m.all = append(m.all, one)
	}
	if m.finished == nil { // the caller prints the last error
		failed, last = failed[:len(failed)-1], cli.Mistake("%w; all %d series failed", last, len(jobs))
	} else if last != nil {
		m.failed, last = cli.Mistake("%s: %d of %d series failed; the result contains the others", m.table.path, len(failed), len(jobs)), nil
	}
	env.ClearProgress()
	for _, line := range failed {
		fmt.Fprintln(env.Stderr, line)
	}
	return last
}

// finish writes the files, the main file last, and prints the result. With --json, it prints the answer with the device and the ranks
// added. Otherwise it prints the findings of a single series and calls more. It prints nothing if the main file goes to stdout.
func (m *run[T]) finish(ctx context.Context, env *cli.Env, files []fileio.File, a *answer, more func()) error {
	if err := env.Write(files...); err != nil {
		return err
	}
	took, first, several := time.Since(m.began), m.finished[0], m.table.byName != ""
	if a.Ranks = env.Device.RankTimes(took); several || first.result.Took > 0 {
		a.Device = device
	}
	switch {
	case env.JSON && several:
		return cmp.Or(env.PrintJSON(manyResults{len(m.table.X), m.all, took, a}), m.failed)
	case env.JSON:
		return env.PrintJSON(oneResult{first.result, a})
	case len(files) > 0 && files[len(files)-1].Path == cli.ToStdout:
		return m.failed
	case first.model != nil && !env.Quiet:
		if err := printFindings(ctx, env, first.model, first.timeSeries); err != nil {
			return err
		}
	}
	more()
	if first.model != nil {
		printModel(env, first.model, first.result.Summary, first.axis)
		rows, features := cli.Counted(first.model.Rows(), "row"), cli.Counted(first.model.Features(), "feature")
		env.Print("bound %.9g, %s, %s, %.1f s on %s", first.model.Bound(), rows, features, took.Seconds(), device)
	}
	if several {
		env.Print("%d series, %s, %.1f s on %s", len(m.finished), cli.Counted(len(m.table.X), "row"), took.Seconds(), device)
	}
	if a.Ranks != nil {
		env.Print("%s", a.Ranks)
	}
	slices.Reverse(files)
	env.PrintWritten(files)
	return m.failed
}

// modelFiles returns the plot, the report and, unless its path is empty, the model of a run's first series, if there is a model.
func (m *run[T]) modelFiles(ctx context.Context, env *cli.Env, o drawing, view func(one *job[T]) *report.Series, model string) (
	files []fileio.File, err error,
) {
	one := m.finished[0]
	if one.model == nil {
		return nil, nil
	}
	if files, err = draw(ctx, env, o, view(one)); err == nil && model != "" {
		files = append(files, fileio.File{Path: model, Write: one.model.Write})
	}
	return files, err
}

// alone returns an error if one of the flags, which write a file for one series, is combined with --by.
func (r *timeSeries) alone(env *cli.Env, flags ...string) error {
	for _, name := range flags {
		if r.byName != "" && env.Flags.Changed(name) {
			return cli.Mistake("--%s cannot be combined with --by, because it writes a file for one series", name)
		}
	}
	return nil
}

// cells returns the texts of a row of numbers whose first is an input. A missing value is empty.
func cells(axis *table.Axis, row []float64) []string {
	text := []string{axis.Format(row[0])}
	for _, v := range row[1:] {
		cell := ""
		if !math.IsNaN(v) {
			cell = (*table.Axis)(nil).Format(v)
		}
		text = append(text, cell)
	}
	return text
}

// textFile returns a CSV or TSV file of text.
func textFile(path string, names []string, records func(write func([]string))) fileio.File {
	return fileio.File{Path: path, Write: func(w io.Writer) error {
		to := csv.NewWriter(w)
		if cli.FormatOf(path) == "tsv" {
			to.Comma = '\t'
		}
		to.Write(names) // to.Error reports its error
		records(func(record []string) { to.Write(record) })
		to.Flush()
		return to.Error()
	}}
}
