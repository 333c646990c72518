package series

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/report"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
	"github.com/vssgp/vssgp/internal/fileio"
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
	parts   string // the file of the components
	drawing drawing
	form    Form
}

// NewForecast returns the command forecast.
func NewForecast(env *cli.Env) *cobra.Command {
	o := &forecastFlags{}
	cmd := env.Command(&cobra.Command{
		Use:   "forecast DATA [-o OUT]",
		Short: "Forecast a time series",
		Long: `Forecasts columns of a table beyond their last value, with 95 % prediction intervals.
The model is the sum of a trend, detected seasons, level shifts, a mean-reverting residual
and noise. Predictions average over several such models, weighted by their evidence.

DATA is a table (.csv, .tsv, .txt, also .gz, .npy, or - for stdin). By default the input
is the first column of dates, or of numbers, or the row number, and the output is the last
column of numbers. Values may be missing. --by names a column that identifies the series
if the table has several.

The output has the input, then NAME_mean, NAME_sd, NAME_lower and NAME_upper for each
output NAME. Without -o a table is printed. Numbers are rounded to three digits of their
standard deviation (--digits).

If rows at the end of DATA have no value, these rows are forecast. Otherwise the forecast has
two seasons or, without a season, a tenth of the number of rows. --horizon, --until and --at
choose other rows. Values of a --regressor are read from DATA or from --at.

Details: "vssgp help forecasting", "vssgp help series" and "vssgp help tables".`,
		Example: `  vssgp forecast co2.csv --horizon 24 -o forecast.csv
  vssgp forecast flow.csv --x date --y flow --until 2026-12-31 -o forecast.csv --plot forecast.html
  vssgp forecast load.csv --period 24h --period 7d --robust -o - -m load.safetensors
  vssgp forecast sales.csv --by shop --horizon 6mo --level 80 -o sales-forecast.csv
  vssgp forecast levels.csv --at days.csv --season none --trend walk`,
	}, func(ctx context.Context, args []string) error { return runForecast(ctx, env, args[0], o) }, tableOperand)
	cmd.Annotations = cli.FlagGroups("Most used: horizon output plot level x y by period regressor robust",
		"Input: dayfirst decimal yerr holidays events trading-days days-of-year",
		"Output: until at report model parts quantiles digits overwrite", modelGroup)
	f := cmd.Flags()
	o.columns.AddSeries(f)
	o.model.add(f)
	f.Var(o.horizon.flag(), "horizon", "`rows` after the last value or, on dates, a time such as 2y, 6mo, 36h")
	o.form.Add(f)
	f.StringVar(&o.until, "until", "", "last `input` to forecast, such as 2026-12-31")
	f.Var(cli.FileName(&o.at, cli.FileUse{Extensions: cli.DataOperand.File.Extensions}), "at", "table `file` with the inputs to forecast")
	f.VarP(cli.FileName(&o.output, cli.FileUse{Written: true, Extensions: cli.TableOutputs, Only: true, Stdout: true}),
		"output", "o", "`file` to write: .csv, .tsv, .npy or - for stdout")
	f.VarP(cli.FileName(&o.keep, cli.FileUse{Written: true, Extensions: cli.ModelFiles}), "model", "m",
		"write the model to this `file`, for predict")
	f.Var(cli.FileName(&o.parts, cli.FileUse{Written: true, Extensions: []string{"csv", "tsv"}, Only: true}), "parts",
		"write the components and seasonally adjusted values to this `file`")
	o.drawing.add(f)
	return cmd
}

// maxPlaces is the maximum number of rows of a forecast.
const maxPlaces = 10_000_000

func runForecast(ctx context.Context, env *cli.Env, path string, o *forecastFlags) error {
	r, err := seriesOf(ctx, env, path, o.columns, &o.model, false)
	if err != nil {
		return err
	}
	if err := r.alone(env, "plot", "report", "model", "parts"); err != nil {
		return err
	}
	if r.byName != "" && cli.FormatOf(o.output) == "npy" {
		return cli.Mistake("-o %s cannot be combined with --by, because the names of series are text; must be .csv or .tsv", o.output)
	}
	o.form.levels.warn(env)
	at, err := r.places(ctx, env, o)
	if err != nil {
		return err
	}
	names, err := o.columnNames(r, at) // checked before the fit
	if err != nil {
		return err
	}
	all, err := each(ctx, env, r, func(one *timeSeries) (*forecastOf, *series.Model, *result, error) {
		f, m, err := one.forecast(ctx, env, at, o)
		if err != nil {
			return nil, nil, nil, err
		}
		return f, m, &result{Horizon: len(f.at.X)}, nil
	})
	if err != nil {
		return err
	}
	files, err := o.files(ctx, env, all, names)
	if err != nil {
		return err
	}
	a := &answer{}
	if o.output == "" && env.JSON {
		a.Forecast = &frame{Columns: names}
		for _, one := range all.finished {
			a.Forecast.add(one.value.at.Axis, one.value.rows, one.labeled(one.name)...)
		}
	}
	return all.finish(ctx, env, files, a, func() {
		if first := all.finished[0].value.at; r.byName == "" {
			env.Print("forecast of %s, %s to %s", cli.Counted(len(first.X), "row"), first.Axis.Format(slices.Min(first.X)),
				first.Axis.Format(slices.Max(first.X)))
		}
		if o.output == "" && !env.JSON {
			printForecasts(env, all, &o.form)
		}
	})
}

// forecast fits the model and forecasts at the times at or, if at is nil, at the times that the flags define.
func (r *timeSeries) forecast(ctx context.Context, env *cli.Env, at *datafile.Times, o *forecastFlags) (*forecastOf, *series.Model, error) {
	at, err := timesOf(at, r)
	if err = cmp.Or(err, r.check(o.model.positive)); err == nil {
		at, err = r.targets(env, at, o)
	}
	if err != nil {
		return nil, nil, err
	}
	if len(at.Regressors) > 0 {
		r.known.take(at.X, at.Regressors)
		r.known.path = o.at
	}
	if _, err := r.known.columns(at.X); err != nil { // checked before the fit
		return nil, nil, err
	}
	m, err := fitModel(ctx, env, r, &o.model)
	if err != nil {
		return nil, nil, err
	}
	if len(at.X) == 0 {
		at.X = r.next(r.defaultHorizon(m))
	}
	z, err := r.known.at(m, at.X)
	if err != nil {
		return nil, nil, err
	}
	p, err := predictParts(ctx, m, at.X, z, &o.form, r.showing(env, "forecasting %s", cli.Counted(len(at.X), "row")))
	if err != nil {
		return nil, nil, outOfReach(m, at.Axis, at.X, err)
	}
	p.below = r.belowZero(m, p, o.model.positive)
	return &forecastOf{at, p, o.form.predictedRows(m, p, nil, true)}, m, nil
}

// A forecastOf is the forecast of one series.
type forecastOf struct {
	at   *datafile.Times
	p    *prediction
	rows []float64 // of the output
}

// columnNames returns the names of the output's columns. The error wraps datafile.ErrSameName.
func (o *forecastFlags) columnNames(r *timeSeries, at *datafile.Times) ([]string, error) {
	input := r.xName
	if at != nil {
		input = at.Name
	}
	return datafile.WithDraws(r.labeled(r.byName, o.form.predictedNames(input, r.yNames, true)...), nil, 0)
}

// files returns the files to write, the table last. names are the names of its columns.
func (o *forecastFlags) files(
	ctx context.Context, env *cli.Env, all *run[*forecastOf], names []string,
) ([]fileio.File, error) {
	var predictions []*prediction
	for _, one := range all.finished {
		predictions = append(predictions, one.value.p)
	}
	noteMedians(env, all.table.yNames, predictions...)
	noteBelowZero(env, all.table.yNames, predictions)
	files, err := all.modelFiles(ctx, env, o.drawing, func(one *job[*forecastOf]) *report.Series {
		view := one.view("Forecast of "+filepath.Base(one.path), one.model)
		view.At, view.Forecast, view.Levels = one.value.at.X, true, o.form.levels
		return view
	}, o.keep)
	if one := all.finished[0]; err == nil && o.parts != "" {
		var parts fileio.File
		parts, err = one.partsTable(ctx, o.parts, one.model, one.value.at, &o.form)
		files = append(files, parts)
	}
	switch first := all.finished[0].value; {
	case err != nil || o.output == "":
		return files, err
	case all.table.byName == "":
		return append(files, predictedFile(o.output, names, []*table.Axis{first.at.Axis}, first.rows)), nil
	}
	return append(files, textFile(o.output, names, func(write func([]string)) {
		for _, one := range all.finished {
			for row := range slices.Chunk(one.value.rows, len(names)-1) {
				write(append([]string{one.name}, cells(one.value.at.Axis, row)...))
			}
		}
	})), nil
}

// timesOf returns the times of one series; at may be nil.
func timesOf(at *datafile.Times, r *timeSeries) (*datafile.Times, error) {
	if at == nil || at.By == nil {
		return at, nil
	}
	var rows []int
	for i, name := range at.By {
		if name == r.name {
			rows = append(rows, i)
		}
	}
	if rows == nil {
		return nil, cli.Mistake("%s: the table of --at has no rows for this series", r.path)
	}
	own := &datafile.Times{Name: at.Name, Axis: at.Axis, X: picked(at.X, rows)}
	for _, values := range at.Regressors {
		own.Regressors = append(own.Regressors, picked(values, rows))
	}
	return own, nil
}

// places returns the times of --at, nil without it.
func (r *timeSeries) places(ctx context.Context, env *cli.Env, o *forecastFlags) (*datafile.Times, error) {
	given := 0
	for _, name := range []string{"horizon", "until", "at"} {
		if env.Flags.Changed(name) {
			given++
		}
	}
	if given > 1 {
		return nil, cli.Mistake("--horizon, --until and --at cannot be combined; give one of them")
	}
	if o.at == "" {
		return nil, nil
	}
	columns := o.columns.OfOther()
	columns.Regressors, columns.By = r.known.Columns, r.byName
	return datafile.ReadTimes(ctx, env, o.at, *columns, r.xName, r.axis)
}

// targets returns at or, if it is nil, the times that the flags define. Their X is empty if the horizon depends on the model.
func (r *timeSeries) targets(env *cli.Env, at *datafile.Times, o *forecastFlags) (*datafile.Times, error) {
	d := &datafile.Times{Name: r.xName, Axis: r.axis}
	switch {
	case at != nil:
		d = at
	case o.until != "":
		var err error
		if d.X, err = r.until(o.until); err != nil {
			return nil, err
		}
	case env.Flags.Changed("horizon"):
		n, err := o.horizon.of(r)
		if err != nil {
			return nil, err
		}
		d.X = r.next(n)
	default:
		d.X = r.future
	}
	if at == nil {
		r.noteEmpty(env, d.X)
	}
	return d, r.checkHorizon(d.X, o)
}

// until returns x of the rows after the last row up to the date of --until.
func (r *timeSeries) until(text string) ([]float64, error) {
	last := r.axis.Format(r.grid.Last)
	x, excluded, err := r.axis.ParseLast(text)
	if err != nil && r.axis.Dates() && table.Nonexistent(text) {
		return nil, cli.Mistake("--until %s: the date does not exist; must be a date such as %s", text, last)
	} else if err != nil {
		return nil, cli.Mistake("--until %s: must have the format of the input %s, such as %s", text, r.xName, last)
	}
	n := r.grid.Steps(x)
	if n > maxPlaces {
		return nil, cli.Mistake("--until %s: %d rows; the maximum is %d", text, n, maxPlaces)
	}
	all := r.next(n)
	if excluded && n > 0 && all[n-1] >= x {
		all = all[:n-1]
	}
	if len(all) == 0 {
		return nil, cli.Mistake("--until %s: must be at least one step after the last row of %s, %s", text, r.path, last)
	}
	return all, nil
}

// noteEmpty prints which empty cells at the end of the table a forecast at x leaves empty. x may be empty if it
// depends on the model.
func (r *timeSeries) noteEmpty(env *cli.Env, x []float64) {
	if r.name != "" { // there may be thousands of series
		return
	}
	forecast := map[int64]bool{}
	for _, v := range x {
		forecast[r.known.place(v)] = true
	}
	left := slices.DeleteFunc(slices.Clone(r.future), func(v float64) bool { return forecast[r.known.place(v)] })
	if len(left) > 0 {
		env.Note("%s: not forecast: %d of %s after the last value of %s, such as %s; omit --horizon, --until and "+
			"--at to forecast all",
			r.path, len(left), cli.Counted(len(r.future), "empty row"), datafile.Listed(r.yNames), r.axis.Format(left[0]))
	}
	for d, y := range r.Y {
		last := math.Inf(-1)
		for n, v := range y {
			if !math.IsNaN(v) {
				last = max(last, r.X[n])
			}
		}
		if last < r.grid.Last {
			env.Note("%s: the values of %s end at %s, but the forecast begins after %s; "+
				"vssgp fill predicts the rows between", r.path,
				r.yNames[d], r.axis.Format(last), r.axis.Format(r.grid.Last))
		}
	}
}

// next returns x of the next n rows, rounded to the format of the input.
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

// checkHorizon returns an error if a time of x exceeds the maximum horizon.
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
		asked = fmt.Sprintf("the last row without a value, %s %s,", r.xName, r.axis.Format(slices.Max(x)))
	case o.until == "":
		most := slices.IndexFunc(x, func(v float64) bool { return v > limit })
		return cli.Mistake("--horizon %s exceeds the maximum of %d rows, %d times the range of the data", o.horizon.text, most,
			series.MaxHorizon)
	}
	return cli.Mistake("%s exceeds the maximum, %s, %d times the data range after the last row", asked, r.axis.Format(limit), series.MaxHorizon)
}

// defaultHorizon returns the number of rows in two periods of the model's shortest season, at most the number of rows of the data. Without
// a season, it is a tenth of the number of rows. The forecast ends within MaxHorizon.
func (r *timeSeries) defaultHorizon(m *series.Model) int {
	rows := len(r.X) / 10
	if periods := m.Periods(); len(periods) > 0 {
		rows = int(math.Round(min(2*slices.Min(periods)/r.grid.Step*r.grid.Share(), float64(len(r.X)))))
	}
	return max(1, min(rows, int(series.MaxHorizon*(r.grid.Last-r.grid.First)/r.grid.Step)))
}
