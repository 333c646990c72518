package series

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/report"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// FitFlags are the flags of fit that apply to the structural model.
type FitFlags struct {
	Series         Flags
	Columns        datafile.Columns
	Output, Report string
}

// Fit fits the structural model to the series of a table and writes the outputs of the command fit.
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

// tableOperand is the operand DATA of commands that read only tables.
var tableOperand = cli.InputFile("DATA", slices.Concat(cli.TableFiles, []string{"gz"}))

// seriesOf reads a table as a series with the standard deviations of --yerr. It prints the columns that the default choice leaves out.
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
	if err == nil {
		c.NoteReading(env, r.table, r.chosen)
	}
	if err == nil && r.left != "" {
		env.Note("%s: left out %s; the input of the series is %s; choose with --x and --y", r.path, r.left, r.xName)
		r.noteDates(env)
	}
	if !holes && r != nil {
		r.table = nil // its text needs more memory than its numbers
	}
	return r, datafile.WhileReading(path, err)
}

// fitModel fits the structural model and sets its names and notes.
func fitModel(ctx context.Context, env *cli.Env, r *timeSeries, s *Flags) (*series.Model, error) {
	o, err := seriesOptions(env, s, r)
	if err != nil {
		return nil, err
	}
	o.Progress = r.showing(env, "fitting %s", cli.Counted(len(r.X), "row"))
	o.Progress(0)
	m, err := series.Fit(ctx, r.Series, o)
	for d := 0; err == nil && d < len(r.Y) && !s.none; d++ {
		var n *series.Naive
		if n, err = m.Better(ctx, d); n != nil {
			r.better = append(r.better, r.describe(n, d, m.Periods()))
		}
	}
	if err == nil {
		err = r.sign(m)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.path, err)
	}
	return m, nil
}

// sign sets the names and notes of a model from the series.
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

// describe describes a seasonal naive forecast of output d that is better than the model with the given periods.
func (r *timeSeries) describe(n *series.Naive, d int, periods []float64) string {
	change, hint, step := "", "; a season with sharp peaks is not represented exactly", r.grid.Step
	if n.Drift != 0 {
		change = fmt.Sprintf(" with the mean change of %s", cli.Short(n.Drift))
	}
	if !slices.ContainsFunc(periods, func(p float64) bool { return math.Abs(p-n.Period) < step }) {
		hint = fmt.Sprintf("; if it is a season, try --season %s", cli.Short(math.Round(n.Period/step)))
	}
	return fmt.Sprintf("%s: repeating the last period of %s%s predicts %s better than the model (mean absolute error %s, "+
		"model %s)%s", r.path, spanOf(n.Period, r.axis), change, r.yNames[d], cli.Short(n.MAE), cli.Short(n.ModelMAE), hint)
}

// warnNaive warns about series whose last period a seasonal naive forecast predicts better than the model. It prints
// the first description.
func warnNaive[T any](env *cli.Env, jobs []*job[T]) {
	var all []string
	for _, j := range jobs {
		all = append(all, j.better...)
	}
	switch len(all) {
	case 0:
	case 1:
		env.Warn("naive", "%s", all[0])
	default:
		env.Warn("naive", "%s; also %d more", all[0], len(all)-1)
	}
}

// noteMedians prints the outputs for which log-normal predictions have the median in place of the mean, because the tail dominates the
// mean.
func noteMedians(env *cli.Env, outputs []string, predictions ...*prediction) {
	for d, name := range outputs {
		n, rows := 0, 0
		for _, p := range predictions {
			n, rows = n+p.medians[d], rows+len(p.x)
		}
		if n > 0 {
			env.Note("%s: in %d of %s the tail dominates the mean of the log-normal forecast; there %[1]s_mean is the median and %[1]s_sd is "+
				"half the width of the 68 %% interval", name, n, cli.Counted(rows, "row"))
		}
	}
}

// belowZero reports for which outputs a 95 % interval of p begins below 0 although no value of the data is negative. It
// is nil if --positive is given, and for counts.
func (r *timeSeries) belowZero(m *series.Model, p *prediction, positive bool) []bool {
	if positive || m.Counts() {
		return nil
	}
	below := make([]bool, len(r.Y))
	for d, y := range r.Y {
		negative := slices.ContainsFunc(y, func(v float64) bool { return v < 0 })
		for n := range p.x {
			const lower = 2 // in a row
			below[d] = below[d] || !negative && p.row(d, n)[lower] < 0
		}
	}
	return below
}

// noteBelowZero prints the outputs for which an interval begins below 0 although no value is negative.
func noteBelowZero(env *cli.Env, outputs []string, predictions []*prediction) {
	var names []string
	for d, name := range outputs {
		if slices.ContainsFunc(predictions, func(p *prediction) bool { return p.below != nil && p.below[d] }) {
			names = append(names, name)
		}
	}
	if names != nil {
		env.Note("%s: no value is negative, but the 95 %% interval begins below 0; if values cannot be negative, "+
			"use --positive", datafile.Listed(names))
	}
}

// outOfReach converts ErrReach into an error with the time in x and the range of the model. It returns other errors unchanged.
func outOfReach(m *series.Model, axis *table.Axis, x []float64, err error) error {
	if !errors.Is(err, series.ErrReach) {
		return err
	}
	first, last, end := extent(m)
	if far := slices.Max(x); far > end {
		return cli.Mistake("%s %s exceeds the maximum, %s, which is %d times the range of the model's data (%s to %s) after their end",
			m.XName, axis.Format(far), axis.Format(end), series.MaxHorizon, axis.Format(first), axis.Format(last))
	}
	return cli.Mistake("%s %s is too far before the model's data (%s to %s)", m.XName, axis.Format(slices.Min(x)),
		axis.Format(first), axis.Format(last))
}
