package series

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/internal/report"
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
	all, err := each(ctx, env, r, func(one *timeSeries) (struct{}, *series.Model, *result, error) {
		m, err := fitModel(ctx, env, one, &o.Series)
		return struct{}{}, m, &result{}, err
	})
	if err != nil {
		return err
	}
	files, err := all.modelFiles(ctx, env, drawing{report: o.Report}, func(one *job[struct{}]) *report.Series {
		return one.view("Fit of "+filepath.Base(r.path), one.model)
	}, o.Output)
	if err != nil {
		return err
	}
	return all.finish(ctx, env, files, &answer{Model: o.Output}, func() {})
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
		err = r.checkGuess(env, c.Ordered)
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
	o.Progress = r.showing(env, "fitting %s", cli.Counted(len(r.X), "row"))
	o.Progress(0)
	m, err := series.Fit(ctx, r.Series, o)
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
			n, rows = n+p.medians[d], rows+len(p.x)
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
