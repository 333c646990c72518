package series

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/series"
)

// PredictFlags are the flags of predict that also apply to the model of a series.
type PredictFlags struct {
	Columns   datafile.Columns
	Output    string
	Posterior bool // add the bounds of the 95 % intervals
	Form
	Draws int
	Plot  string
}

// Predict predicts with the model of a series. The numbers are identical to the output of forecast.
func Predict(ctx context.Context, env *cli.Env, m *series.Model, modelPath, inputPath string, o *PredictFlags) (*cli.Predicted, error) {
	axis, err := datafile.AxisOf(m)
	if err != nil {
		return nil, err
	}
	o.levels.warn(env)
	k := &known{path: cli.InputName(inputPath), axis: axis, step: m.Step()}
	if k.regressors, err = regressorsOf(m); err != nil {
		return nil, err
	}
	o.Columns.Regressors = k.Columns
	at, err := datafile.ReadTimes(ctx, env, inputPath, o.Columns, m.XName, axis)
	if err != nil {
		return nil, err
	}
	x := at.X
	k.take(x, at.Regressors)
	z, err := k.at(m, x)
	if err != nil {
		return nil, err
	}
	names, err := datafile.WithDraws(o.predictedNames(at.Name, m.YNames, o.Posterior), m.YNames, o.Draws)
	if err != nil {
		return nil, err
	}
	show := func(share float64) { env.ShowProgress(share, "predicting %s", cli.Counted(len(x), "row")) }
	p, err := predictParts(ctx, m, x, z, &o.Form, show)
	var draws [][][]float64
	if err == nil && o.Draws > 0 {
		env.ShowProgress(0, "drawing %s", cli.Counted(o.Draws, "function"))
		draws, err = m.Draw(ctx, x, o.Draws, env.Seed, z...)
	}
	if errors.Is(err, series.ErrReach) {
		return nil, fmt.Errorf("%s: %w", k.path, outOfReach(m, axis, x, err))
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", modelPath, err)
	}
	noteMedians(env, m.YNames, p)
	view := modelView("Prediction by "+filepath.Base(modelPath), m, k)
	view.At, view.Levels = x, o.levels
	files, err := draw(ctx, env, drawing{plot: o.Plot}, view)
	if err != nil {
		return nil, err
	}
	files = append(files, predictedFile(o.Output, names, []*table.Axis{at.Axis}, o.predictedRows(m, p, draws, o.Posterior)))
	return &cli.Predicted{Rows: len(x), Columns: names, Output: o.Output, Device: device}, env.Write(files...)
}

// predictedFile returns a file with the rows of predictedRows.
func predictedFile(path string, names []string, axes []*table.Axis, rows []float64) fileio.File {
	shape := []int{len(rows) / len(names), len(names)}
	return datafile.TableFile(path, shape, names, axes, func(write func([]float64) error) error { return write(rows) })
}

// Evaluate scores the model of a series on the rows of a table.
func Evaluate(ctx context.Context, env *cli.Env, m *series.Model, path string, c datafile.Columns) (*cli.Evaluation, error) {
	g, err := regressorsOf(m)
	if err != nil {
		return nil, err
	}
	r, err := readSeries(ctx, env, path, c, false, m, g)
	if err == nil {
		err = r.explain(env, m)
	}
	if err != nil {
		return nil, datafile.WhileReading(path, err)
	}
	env.ShowProgress(0, "evaluating %s", cli.Counted(len(r.X), "row"))
	bound, err := m.Evaluate(ctx, r.Series)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.path, outOfReach(m, r.axis, r.X, err))
	}
	rmse, density, rows, err := m.Score(ctx, r.Series)
	if err != nil {
		return nil, err
	}
	if rows == 0 {
		return nil, cli.Mistake("%s: no row has a value of %s; at least one is required", r.path, datafile.Listed(r.yNames))
	}
	return &cli.Evaluation{Bound: bound, Rows: rows, RMSE: rmse, Density: density, Device: device}, nil
}

// shownPlaces is the number of points in the charts of a model without data.
const shownPlaces = 1000

// Info prints the model of a series and writes its plot, unless the path is empty.
func Info(ctx context.Context, env *cli.Env, file cli.ModelFile, m *series.Model, plot string) error {
	axis, err := datafile.AxisOf(m)
	if err != nil {
		return err
	}
	first, last, end := extent(m)
	shown := last + (last-first)/2
	k := &known{path: file.Path, axis: axis, step: m.Step()}
	if k.regressors, err = regressorsOf(m); err != nil {
		return err
	}
	view := modelView("Model "+filepath.Base(file.Path), m, k)
	for i := range shownPlaces {
		view.At = append(view.At, first+(shown-first)*float64(i)/(shownPlaces-1))
	}
	files, err := draw(ctx, env, drawing{plot: plot}, view)
	if err != nil {
		return err
	}
	if err := env.Write(files...); err != nil {
		return err
	}
	effects, err := effectsOf(ctx, m, axis)
	if err != nil {
		return fmt.Errorf("%s: %w", file.Path, err)
	}
	var units []string
	if axis.Dates() {
		units = []string{fmt.Sprintf("%s: %s since %s", m.XName, axis.Unit, axis.Since())}
	}
	s := summaryOf(m, axis)
	if env.JSON {
		return env.PrintJSON(description{
			ModelFile: file, Inputs: []string{m.XName}, Units: units, Outputs: m.YNames, Rows: m.Rows(),
			summary: *s, Hyper: m.Hyper(), Effects: effects, First: axis.Format(first), Last: axis.Format(last), Reach: axis.Format(end),
		})
	}
	env.Print("%s: structural time-series model", file.Path)
	env.Print("%s -> %s, %s, %s", m.XName, strings.Join(m.YNames, ", "), cli.Counted(m.Rows(), "row"), cli.Counted(m.Features(), "feature"))
	for _, unit := range units {
		env.Print("%s", unit)
	}
	printParts(env, m, axis)
	printSeasons(env, m, axis)
	printEffects(env, m, k.Columns, effects)
	printNoise(env, m, s)
	env.Print("data from %s to %s; predicts up to %s", axis.Format(first), axis.Format(last), axis.Format(end))
	env.Print("hyper-parameters with central 95 %% intervals:")
	for _, v := range m.Hyper() {
		env.Print("  %-40s %-12s %s to %s", view.Label(v.Name), cli.Short(v.Mode), cli.Short(v.Lower), cli.Short(v.Upper))
	}
	return nil
}
