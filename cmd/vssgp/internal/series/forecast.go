package series

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// forecastFlags are the flags of forecast.
type forecastFlags struct {
	model   Flags
	columns datafile.Columns
	horizon horizon
	until   string
	at      string
	output  string
	keep    string // the model's file
	drawing drawing
	form    Form
}

// NewForecast returns the command forecast.
func NewForecast(env *cli.Env) *cobra.Command {
	o := &forecastFlags{}
	cmd := env.Command(&cobra.Command{
		Use:   "forecast DATA [-o OUT]",
		Short: "Forecast a series beyond its end, with bands",
		Long: `Forecasts one or several columns of a table along one input. Without --x the input is the
first column of dates, else the first of several columns of numbers, else the rows' number.
Without --y the output is the last column of numbers. Rows may lack values. For a table of
several series, one below the other, --by names the column that tells them apart: each gets
its own model, and OUT has that column first. One that fails is named; the others are written.

OUT has the input in the table's own layout, then for each output NAME its NAME_mean,
NAME_sd, NAME_lower and NAME_upper: the interval that contains 95 % of observations, noise
included. --level 80 adds NAME_lower_80 and NAME_upper_80. Numbers are rounded to --digits
of their sd (3), but to no fewer decimals than the data have. Without -o a table is printed.

--horizon counts rows or is a time, --until is the last place, and --at a table of places. By
default the forecast is two of the shortest season, or a tenth of the rows. It ends at most 10
times the range of the data after their end. predict gives the same numbers from the model of -m.
The future values of a --regressor are in rows without an output after the last value, or in --at.
` + modelHelp,
		Example: `  vssgp forecast co2.csv --horizon 24 -o forecast.csv
  vssgp forecast flow.csv --x date --y flow --until 2026-12-31 -o forecast.csv --plot forecast.html
  vssgp forecast load.csv --period 24h --period 7d --robust -o - -m load.safetensors
  vssgp forecast sales.csv --by shop --horizon 6mo --level 80 -o sales-forecast.csv
  vssgp forecast levels.csv --at days.csv --season none --trend walk`,
	}, func(ctx context.Context, args []string) error { return runForecast(ctx, env, args[0], o) }, tableOperand)
	f := cmd.Flags()
	o.columns.AddSeries(f)
	o.model.add(f)
	f.Var(o.horizon.flag(), "horizon", "`rows` to forecast or, on dates, a time: 2y, 6mo, 8w, 14d, 36h, 30min")
	o.form.Add(f)
	f.StringVar(&o.until, "until", "", "last `place` to forecast, as the input column has it, such as 2026-12-31")
	f.Var(cli.FileName(&o.at, cli.FileUse{Extensions: cli.DataOperand.File.Extensions}), "at", "table `file` of the places to forecast")
	f.VarP(cli.FileName(&o.output, cli.FileUse{Written: true, Extensions: cli.TableOutputs, Only: true, Stdout: true}),
		"output", "o", "`file` to write: .csv, .tsv, .npy or - for stdout (default: a printed table)")
	f.VarP(cli.FileName(&o.keep, cli.FileUse{Written: true, Extensions: cli.ModelFiles}), "model", "m",
		"keep the model in this `file`, for predict")
	o.drawing.add(f)
	return cmd
}

// mostPlaces bounds how many rows one command forecasts.
const mostPlaces = 10_000_000

func runForecast(ctx context.Context, env *cli.Env, path string, o *forecastFlags) error {
	r, err := seriesOf(ctx, env, path, o.columns, &o.model, false)
	if err != nil {
		return err
	}
	if r.byName != "" {
		return forecastBy(ctx, env, r, o)
	}
	at, err := r.places(ctx, env, o)
	if err != nil {
		return err
	}
	began := time.Now()
	f, err := r.forecast(ctx, env, at, o)
	if err != nil {
		return err
	}
	noteMedians(env, r.yNames, f.p)
	files, err := forecastFiles(ctx, env, r, f, o)
	if err != nil {
		return err
	}
	return finish(ctx, env, r, f.model, began, files, cli.Object{"rows", len(r.X), "horizon", len(f.at.X)}, nil, func() {
		from, to := f.at.Axis.Format(slices.Min(f.at.X)), f.at.Axis.Format(slices.Max(f.at.X))
		env.Print("forecast of %s, %s to %s", cli.Counted(len(f.at.X), "row"), from, to)
		if o.output == "" {
			printTable(env, screenHead(f.at.Name, r.yNames, o.form.levels), screenRows(f.at.Axis, f.p))
		}
	})
}

// forecast fits the model and forecasts at the given times, or for the horizon of the flags.
func (r *timeSeries) forecast(ctx context.Context, env *cli.Env, at *datafile.Times, o *forecastFlags) (*forecastOf, error) {
	at, err := timesOf(at, r)
	if err == nil {
		at, err = r.targets(env, at, o)
	}
	if err != nil {
		return nil, err
	}
	if len(at.Regressors) > 0 {
		r.known.take(at.X, at.Regressors)
		r.known.path = o.at
	}
	if _, err := r.known.columns(at.X); err != nil { // before the work of a fit
		return nil, err
	}
	m, err := fitModel(ctx, env, r, &o.model)
	if err != nil {
		return nil, err
	}
	if len(at.X) == 0 {
		at.X = r.next(r.defaultHorizon(m))
	}
	z, err := r.known.at(m, at.X)
	if err != nil {
		return nil, err
	}
	done := r.busy(env, "forecasting %s", cli.Counted(len(at.X), "row"))
	p, err := predictParts(ctx, m, at.X, z, o.form.levels)
	done()
	return &forecastOf{at: at, p: p, model: m}, outOfReach(m, at.Axis, at.X, err)
}

// forecastFiles are what forecast writes, the table last.
func forecastFiles(ctx context.Context, env *cli.Env, r *timeSeries, f *forecastOf, o *forecastFlags) ([]fileio.File, error) {
	names, err := datafile.WithDraws(predictedNames(f.at.Name, r.yNames, true, o.form.levels), nil, 0)
	if err != nil {
		return nil, err
	}
	view := r.view("Forecast of "+filepath.Base(r.path), f.model)
	view.At, view.Forecast = f.at.X, true
	files, err := draw(ctx, env, o.drawing, view)
	if err != nil {
		return nil, err
	}
	if o.keep != "" {
		files = append(files, fileio.File{Path: o.keep, Write: f.model.Write})
	}
	if o.output != "" {
		files = append(files, predictedFile(o.output, names, []*table.Axis{f.at.Axis}, o.form.predictedRows(f.model, f.p, nil, true)))
	}
	return files, nil
}

// timesOf returns the times of one series; at may be nil.
func timesOf(at *datafile.Times, r *timeSeries) (*datafile.Times, error) {
	if at == nil || at.By == nil {
		return at, nil
	}
	own := &datafile.Times{Name: at.Name, Axis: at.Axis, Regressors: make([][]float64, len(at.Regressors))}
	for i, name := range at.By {
		if name == r.name {
			own.X = append(own.X, at.X[i])
			for j, values := range at.Regressors {
				own.Regressors[j] = append(own.Regressors[j], values[i])
			}
		}
	}
	if own.X == nil {
		return nil, cli.Mistake("%s: --at has no rows of it", r.path)
	}
	return own, nil
}

// places returns the times of --at; nil without it.
func (r *timeSeries) places(ctx context.Context, env *cli.Env, o *forecastFlags) (*datafile.Times, error) {
	given := 0
	for _, name := range []string{"horizon", "until", "at"} {
		if env.Flags.Changed(name) {
			given++
		}
	}
	if given > 1 {
		return nil, cli.Mistake("--horizon, --until and --at each say where to forecast; want one of them")
	}
	if o.at == "" {
		return nil, nil
	}
	columns := o.columns.OfOther()
	columns.Regressors, columns.By = r.known.Columns, r.byName
	return datafile.ReadTimes(ctx, env, o.at, *columns, r.xName, r.axis)
}

// targets returns at or, if it is nil, the times of the flags; none if the horizon depends on the model.
func (r *timeSeries) targets(env *cli.Env, at *datafile.Times, o *forecastFlags) (*datafile.Times, error) {
	d := &datafile.Times{Name: r.xName, Axis: r.axis}
	switch {
	case at != nil:
		d = at
	case o.until != "":
		x, err := r.axis.Parse(o.until)
		if err != nil {
			return nil, cli.Mistake("--until: %w", err)
		}
		n := r.grid.Steps(x)
		if n == 0 {
			return nil, cli.Mistake("--until %s: the rows of %s end at %s; want a place at least a step of the data later", o.until, r.path,
				r.axis.Format(r.grid.Last))
		}
		if n > mostPlaces {
			return nil, cli.Mistake("--until %s: %d rows; want at most %d", o.until, n, mostPlaces)
		}
		d.X = r.next(n)
	case env.Flags.Changed("horizon"):
		n, err := o.horizon.of(r)
		if err == nil && n == 0 {
			err = cli.Mistake("--horizon 0; want at least one row")
		}
		if err != nil {
			return nil, err
		}
		d.X = r.next(n)
	default:
		d.X = r.future
	}
	return d, r.checkHorizon(d.X, o)
}

// next returns x of the next n rows, as the input's layout writes them.
func (r *timeSeries) next(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.grid.Next(i + 1)
		if written, err := r.axis.Parse(r.axis.Format(x[i])); err == nil {
			x[i] = written
		}
	}
	return x
}

// checkHorizon refuses times x that are too far beyond the data.
func (r *timeSeries) checkHorizon(x []float64, o *forecastFlags) error {
	limit := r.grid.Last + series.MaxHorizon*(r.grid.Last-r.grid.First)
	if len(x) == 0 || slices.Max(x) <= limit {
		return nil
	}
	asked := "--until " + o.until
	switch {
	case o.at != "":
		asked = fmt.Sprintf("--at %s: %s %s", o.at, r.xName, r.axis.Format(slices.Max(x)))
	case o.until == "" && o.horizon.text == "":
		asked = fmt.Sprintf("%s %s, the last row without a value,", r.xName, r.axis.Format(slices.Max(x)))
	case o.until == "":
		most := slices.IndexFunc(x, func(v float64) bool { return v > limit })
		return cli.Mistake("--horizon %s exceeds the maximum of %d rows, %d times the range of the data", o.horizon.text, most,
			series.MaxHorizon)
	}
	return cli.Mistake("%s is beyond %s, %d times the range of the data after their end", asked, r.axis.Format(limit), series.MaxHorizon)
}

// defaultHorizon returns two of the model's shortest season, but no more rows than the data have, or a tenth of the number of rows. The
// forecast ends within MaxHorizon.
func (r *timeSeries) defaultHorizon(m *series.Model) int {
	rows := len(r.X) / 10
	if periods := m.Periods(); len(periods) > 0 {
		rows = int(math.Round(min(2*slices.Min(periods)/m.Step(), float64(len(r.X)))))
	}
	return max(1, min(rows, int(series.MaxHorizon*(r.grid.Last-r.grid.First)/r.grid.Step)))
}
