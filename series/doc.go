// Package series models a time series by parts that have names: a level and a slope that wander, seasons, a short memory, noise. It
// forecasts beyond the end of the series, fills its gaps, and measures itself on ends that are known.
//
//	m, err := series.Fit(ctx, series.Series{X: x, Y: [][]float64{y}}, series.Options{})
//	f, err := m.Forecast(ctx, 12) // the next twelve steps: mean, sd, a central 95 % interval
//
// A Model, a Prediction and a Series may be used by several goroutines at a time, as long as none changes them: everything reads them but
// SetBackend, and assignments to their fields.
//
// Every part is a sum of cosines with fixed frequencies and random weights, so the series is a Bayesian linear model in at most about a
// thousand features. One pass over the rows sums their moments, on any backend; all else, the amplitudes' posterior included, needs no
// row again. docs/series.md derives it.
package series
