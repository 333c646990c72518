package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// tableOperand is a table alone.
var tableOperand = input("DATA", slices.Concat(tableFiles, []string{"gz"}))

// addSeries defines --x and --y of one series.
func (c *columns) addSeries(f *pflag.FlagSet) {
	c.ordered = true
	f.StringSliceVar(&c.x, "x", nil, "input `column`, by name or by number from 0, or row: the rows' number (default: the first of dates, else the first of several of numbers, else row)")
	f.StringSliceVar(&c.y, "y", nil, "output `columns`, by name or by number from 0 (default: the last of numbers)")
}

// seriesOf reads a table as a series with the standard deviations of --yerr. A note names columns that are left out.
func (a *app) seriesOf(ctx context.Context, path string, c columns, s *seriesFlags, holes bool) (*timeSeries, error) {
	c.errors = s.errors
	r, err := a.readSeries(ctx, path, c, holes)
	if err == nil && len(r.chosen.x) > 0 && c.x == nil {
		err = r.checkGuess(ctx, c.ordered)
	}
	if err == nil && r.left != "" {
		a.note("%s: left out %s; choose with --x and --y", r.path, r.left)
	}
	return r, whileReading(path, err)
}

// fitSeries fits the structural model.
func (a *app) fitSeries(ctx context.Context, r *timeSeries, s *seriesFlags) (*series.Model, error) {
	o, err := a.seriesOptions(s, r)
	if err != nil {
		return nil, err
	}
	done := a.busy("fitting %s", counted(len(r.x), "row"))
	m, err := series.Fit(ctx, r.data(), o)
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
	m.XName, m.YNames, m.Notes = r.xName, r.yNames, map[string]string{axisNote: string(text)}
	return err
}

// predictedAtOnce is how many rows are predicted together: a row has a Gaussian for each draw.
const predictedAtOnce = 1 << 16

// predictParts predicts rows, a part at a time.
func predictParts(ctx context.Context, m *series.Model, x []float64) (*series.Prediction, error) {
	d := m.Outputs()
	all := &series.Prediction{X: x, Mean: make([][]float64, d), SD: make([][]float64, d), Lower: make([][]float64, d), Upper: make([][]float64, d), Median: make([][]bool, d)}
	for part := range slices.Chunk(x, predictedAtOnce) {
		p, err := m.Predict(ctx, part)
		if err != nil {
			return nil, err
		}
		for i := range d {
			all.Mean[i], all.SD[i] = append(all.Mean[i], p.Mean[i]...), append(all.SD[i], p.SD[i]...)
			all.Median[i] = append(all.Median[i], p.Median[i]...)
			all.Lower[i], all.Upper[i] = append(all.Lower[i], p.Lower[i]...), append(all.Upper[i], p.Upper[i]...)
		}
	}
	return all, nil
}

// noteMedians names the outputs whose mean and standard deviation a log-normal tail would decide.
func (a *app) noteMedians(m *series.Model, p *series.Prediction) {
	for d, median := range p.Median {
		n := 0
		for _, yes := range median {
			if yes {
				n++
			}
		}
		if n > 0 {
			a.note("%s: in %d of %s the far tail decides the mean of the log-normal forecast; %[1]s_mean is the median and %[1]s_sd half of the 68 %% interval there",
				m.YNames[d], n, counted(len(median), "row"))
		}
	}
}

// outOfReach says which place the model does not reach, and what would.
func outOfReach(m *series.Model, axis *table.Axis, x []float64, err error) error {
	if !errors.Is(err, series.ErrReach) {
		return err
	}
	first, last, end := extent(m)
	if far := slices.Max(x); far > end {
		return mistake("%s %s is beyond %s, %d times the range of the model's data after their end: they are from %s to %s",
			m.XName, axis.Format(far), axis.Format(end), series.MaxHorizon, axis.Format(first), axis.Format(last))
	}
	return mistake("%s %s is too far before this model's data, which are from %s to %s", m.XName, axis.Format(slices.Min(x)), axis.Format(first), axis.Format(last))
}
