package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// seriesPredictFlags are the flags of predict that the model of a series takes, too.
type seriesPredictFlags struct {
	columns   columns
	output    string
	posterior bool // add the ends of intervals
	draws     int
	plot      string
}

// predictSeries predicts by the model of a series, with the numbers that forecast gives.
func (a *app) predictSeries(ctx context.Context, m *series.Model, modelPath, inputPath string, o *seriesPredictFlags) error {
	axis, err := axisOfSeries(m)
	if err != nil {
		return err
	}
	at, err := a.placesAlong(ctx, inputPath, o.columns, m.XName, axis)
	if err != nil {
		return err
	}
	var x []float64
	if err := at.each(ctx, func(_ int, part []float64) error {
		x = append(x, part...)
		return nil
	}); err != nil {
		return err
	}
	done := a.busy("predicting %s", counted(len(x), "row"))
	p, err := predictParts(ctx, m, x)
	var draws [][][]float64
	if err == nil && o.draws > 0 {
		draws, err = m.Draw(ctx, x, o.draws, a.seed)
	}
	done()
	if err != nil {
		return fmt.Errorf("%s: %w", modelPath, outOfReach(m, axis, x, err))
	}
	a.noteMedians(m, p)
	names, err := withDraws(predictedNames(at.names, m.YNames, o.posterior), m.YNames, o.draws)
	if err != nil {
		return err
	}
	view := modelView("Prediction by "+filepath.Base(modelPath), m, axis)
	view.At = x
	files, err := a.draw(ctx, drawing{plot: o.plot}, view)
	if err != nil {
		return err
	}
	files = append(files, predictedFile(o.output, names, at.axes, predictedRows(p, draws, o.posterior)))
	if err := a.writeLast(files, func() {}); err != nil || !a.json {
		return err
	}
	b, err := a.computer.get()
	if err != nil {
		return err
	}
	return a.printJSON(object{"rows", len(x), "columns", names, "output", o.output, "device", b.Name()})
}

// predictedFile is a table of rows of predictedRows.
func predictedFile(path string, names []string, axes []*table.Axis, rows []float64) fileio.File {
	return fileio.File{Path: path, Write: func(w io.Writer) error {
		to, err := newTable(w, path, []int{len(rows) / len(names), len(names)}, names, axes)
		if err != nil {
			return err
		}
		if err := to.Write(rows); err != nil {
			return err
		}
		return to.Close()
	}}
}

// predictedRows are the rows of a table: the input, mean and sd of each output, the ends of their intervals, draws.
func predictedRows(p *series.Prediction, draws [][][]float64, ends bool) (rows []float64) {
	for n, x := range p.X {
		rows = append(rows, x)
		for d := range p.Mean {
			if rows = append(rows, p.Mean[d][n], p.SD[d][n]); ends {
				rows = append(rows, p.Lower[d][n], p.Upper[d][n])
			}
		}
		for _, f := range draws {
			for d := range f {
				rows = append(rows, f[d][n])
			}
		}
	}
	return rows
}

// evaluateSeries scores the model of a series on the rows of a table.
func (a *app) evaluateSeries(ctx context.Context, m *series.Model, path string, c columns) error {
	r, err := a.readSeriesFor(ctx, path, c, false, m)
	if err != nil {
		return whileReading(path, err)
	}
	data := r.data()
	bound, err := m.Evaluate(ctx, data)
	if err != nil {
		return fmt.Errorf("%s: %w", r.path, outOfReach(m, r.axis, r.x, err))
	}
	var square, density float64
	values, rows, at := 0, 0, 0
	for x := range slices.Chunk(data.X, predictedAtOnce) {
		p, err := m.Predict(ctx, x)
		if err != nil {
			return err
		}
		for n := range x {
			before := values
			for d := range data.Y {
				if y := data.Y[d][at+n]; !math.IsNaN(y) {
					square += (y - p.Mean[d][n]) * (y - p.Mean[d][n])
					density += p.LogDensity(d, n, y)
					values++
				}
			}
			if values > before {
				rows++
			}
		}
		at += len(x)
	}
	if rows == 0 {
		return mistake("%s: no row has a value of %s; want some", r.path, listed(r.yNames))
	}
	rmse := math.Sqrt(square / float64(values))
	density /= float64(rows)
	if err := checkScores(r.path, rmse, density); err != nil {
		return err
	}
	b, err := a.computer.get()
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(object{"bound", bound, "rows", rows, "rmse", rmse, "mean_log_predictive_density", density, "device", b.Name()})
	}
	a.say("%-28s %.9g   (in the model's units)", "bound", bound)
	a.say("%-28s %d", "rows", rows)
	a.say("%-28s %.6g", "RMSE", rmse)
	a.say("%-28s %.6g", "mean log predictive density", density)
	a.say("%-28s %s", "device", b.Name())
	return nil
}

// shownPlaces is how many places the charts of a model without its data have.
const shownPlaces = 1000

// infoSeries prints the model of a series.
func (a *app) infoSeries(ctx context.Context, path string, m *series.Model, plot string) error {
	axis, err := axisOfSeries(m)
	if err != nil {
		return err
	}
	first, last, end := extent(m)
	shown := last + (last-first)/2
	view := modelView("Model "+filepath.Base(path), m, axis)
	for i := range shownPlaces {
		view.At = append(view.At, first+(shown-first)*float64(i)/(shownPlaces-1))
	}
	files, err := a.draw(ctx, drawing{plot: plot}, view)
	if err != nil {
		return err
	}
	if err := a.write(files...); err != nil {
		return err
	}
	if a.json {
		type value struct {
			Name  string  `json:"name"`
			Mode  float64 `json:"mode"`
			Lower float64 `json:"lower"`
			Upper float64 `json:"upper"`
		}
		var hyper []value
		for _, v := range m.Hyper() {
			hyper = append(hyper, value(v))
		}
		var units []string
		if axis.Dates() {
			units = []string{fmt.Sprintf("%s: %s since %s", m.XName, axis.Unit, axis.Since())}
		}
		periods := m.Periods()
		if periods == nil {
			periods = []float64{}
		}
		return a.printJSON(object{
			"model", path, "inputs", []string{m.XName}, "units,omitempty", units, "outputs", m.YNames, "rows", m.Rows(), "features", m.Features(),
			"parts", m.PartNames(), "periods", periods, "hyper", hyper, "log,omitempty", m.Log(), "noise_sd", noiseOf(m), "bound", m.Bound(),
			"first", axis.Format(first), "last", axis.Format(last), "reach", axis.Format(end),
		})
	}
	a.say("%s: the structural model of a series", path)
	a.say("%s -> %s, %s, %s", m.XName, strings.Join(m.YNames, ", "), counted(m.Rows(), "row"), counted(m.Features(), "feature"))
	if axis.Dates() {
		a.say("%s: %s since %s", m.XName, axis.Unit, axis.Since())
	}
	a.say("parts: %s", strings.Join(m.PartNames(), ", "))
	if periods := m.Periods(); len(periods) > 0 {
		a.say("periods: %s%s", row(periods), unitOf(axis))
	}
	a.say("noise sd: %s%s", row(noiseOf(m)), ofLog(m))
	a.say("data from %s to %s; reaches to %s", axis.Format(first), axis.Format(last), axis.Format(end))
	a.say("hyper-parameters, with their central 95 %% intervals:")
	for _, v := range m.Hyper() {
		a.say("  %-32s %-12s %s to %s", v.Name, short(v.Mode), short(v.Lower), short(v.Upper))
	}
	return nil
}
