package series

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// FitFlags are the flags of fit that the structural model takes.
type FitFlags struct {
	Series         Flags
	Columns        datafile.Columns
	Output, Report string
}

// Fit fits the structural model of a series.
func Fit(ctx context.Context, env *cli.Env, path string, o *FitFlags) error {
	r, err := seriesOf(ctx, env, path, o.Columns, &o.Series, false)
	if err != nil {
		return err
	}
	began := time.Now()
	m, err := fitModel(ctx, env, r, &o.Series)
	if err != nil {
		return err
	}
	files, err := draw(ctx, env, drawing{report: o.Report}, r.view("Fit of "+filepath.Base(r.path), m))
	if err != nil {
		return err
	}
	files = append(files, fileio.File{Path: o.Output, Write: m.Write})
	return finish(ctx, env, r, m, began, files, cli.Object{"rows", len(r.X)}, cli.Object{"model", o.Output}, func() {})
}

// finish writes the files, the main one last, and prints what was found in a series. m is nil if nothing was fitted. head and tail are
// what --json has besides, and more prints it for people. Nothing is printed if stdout has the main file.
func finish(
	ctx context.Context, env *cli.Env, r *timeSeries, m *series.Model, began time.Time, files []fileio.File, head, tail cli.Object,
	more func(),
) error {
	if err := env.Write(files...); err != nil {
		return err
	}
	took := time.Since(began)
	times := env.Device.RankTimes(took)
	switch {
	case env.JSON && m == nil:
		return env.PrintJSON(head)
	case env.JSON:
		return env.PrintJSON(slices.Concat(head, modelFields(env, m, r, took), tail, cli.Object{"ranks,omitempty", times}))
	case len(files) > 0 && files[len(files)-1].Path == cli.ToStdout:
		return nil
	case m != nil && !env.Quiet:
		if err := printFindings(ctx, env, m, r); err != nil {
			return err
		}
	}
	more()
	if m != nil {
		printModel(env, m, r, took)
	}
	if times != nil {
		env.Print("%s", times)
	}
	slices.Reverse(files)
	env.PrintWritten(files)
	return nil
}

// tableOperand is a table alone.
var tableOperand = cli.InputFile("DATA", slices.Concat(cli.TableFiles, []string{"gz"}))

// seriesOf reads a table as a series with the standard deviations of --yerr. A note names columns that are left out.
func seriesOf(ctx context.Context, env *cli.Env, path string, c datafile.Columns, s *Flags, holes bool) (*timeSeries, error) {
	if err := env.Device.HostOnly("the model of a series"); err != nil {
		return nil, err
	}
	c.Errors = s.errors
	if err := s.regressors.readEvents(ctx, env, c.OfOther()); err != nil {
		return nil, err
	}
	r, err := readSeries(ctx, env, path, c, holes, nil, &s.regressors)
	if err == nil && len(r.chosen.X) > 0 && c.X == nil {
		err = r.checkGuess(c.Ordered)
	}
	if err == nil && r.left != "" {
		env.Note("%s: left out %s; choose with --x and --y", r.path, r.left)
		r.noteDates(env)
	}
	if !holes && r != nil {
		r.table = nil // its text takes more memory than its numbers
	}
	return r, datafile.WhileReading(path, err)
}

// fitModel fits the structural model.
func fitModel(ctx context.Context, env *cli.Env, r *timeSeries, s *Flags) (*series.Model, error) {
	o, err := seriesOptions(env, s, r)
	if err != nil {
		return nil, err
	}
	done := r.busy(env, "fitting %s", cli.Counted(len(r.X), "row"))
	m, err := series.Fit(ctx, r.Series, o)
	done()
	if err == nil {
		err = r.sign(m)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.path, err)
	}
	return m, nil
}

// sign gives a model the names of the series.
func (r *timeSeries) sign(m *series.Model) error {
	text, err := json.Marshal(r.axis)
	decimals, failed := json.Marshal(r.decimals)
	m.XName, m.YNames, m.Notes = r.xName, r.yNames, map[string]string{datafile.AxisNote: string(text), decimalsNote: string(decimals)}
	if g := r.known.regressors; !g.none() {
		text, err := json.Marshal(g)
		if err != nil {
			return err
		}
		m.Notes[regressorsNote] = string(text)
	}
	return errors.Join(err, failed)
}

// noteMedians names the outputs whose mean and standard deviation a log-normal tail would decide.
func noteMedians(env *cli.Env, outputs []string, predictions ...*prediction) {
	for d, name := range outputs {
		n, rows := 0, 0
		for _, p := range predictions {
			for _, median := range p.Median[d] {
				if rows++; median {
					n++
				}
			}
		}
		if n > 0 {
			env.Note("%s: in %d of %s the far tail decides the mean of the log-normal forecast; %[1]s_mean is the median and %[1]s_sd half of "+
				"the 68 %% interval there", name, n, cli.Counted(rows, "row"))
		}
	}
}

// outOfReach names the place that the model does not reach, and its range.
func outOfReach(m *series.Model, axis *table.Axis, x []float64, err error) error {
	if !errors.Is(err, series.ErrReach) {
		return err
	}
	first, last, end := extent(m)
	if far := slices.Max(x); far > end {
		return cli.Mistake("%s %s is beyond %s, %d times the range of the model's data after their end: they are from %s to %s",
			m.XName, axis.Format(far), axis.Format(end), series.MaxHorizon, axis.Format(first), axis.Format(last))
	}
	return cli.Mistake("%s %s is too far before this model's data, which are from %s to %s", m.XName, axis.Format(slices.Min(x)),
		axis.Format(first), axis.Format(last))
}
