package series

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// tradingDays is the group of the regressors of trading days.
const tradingDays = "trading days"

// leapYear is the name of the regressor of the length of February.
const leapYear = "leap-year February"

// minTradingRows is the minimum number of rows of a series to which trading days are added by default, and tradingGain the minimum gain in
// the Bayesian information criterion.
const minTradingRows, tradingGain = 60, 4

// setTradingDays decides whether the series has regressors of trading days. X-13ARIMA-SEATS has the same ones.
func (r *timeSeries) setTradingDays(when string) error {
	g := r.known.regressors
	months := g.Months == 1 || g.Months == 3
	switch {
	case when == always && !r.axis.Dates():
		return cli.Mistake("--trading-days always requires dates, but the input %s of %s has numbers", r.xName, r.path)
	case when == always && !months:
		return cli.Mistake("--trading-days always requires months or quarters, but the step of %s is %s", r.path,
			spanOf(r.grid.Step, r.axis))
	}
	room := maxRegressors - len(r.Regressors) - len(g.days(r.axis, r.X))
	g.TradingDays = when == always || when == auto && months && room >= 7 && r.tradingDaysGain() > tradingGain
	return nil
}

// tradingDays returns the regressors of trading days at x: the number of each weekday minus the number of Sundays in the period of the
// row, and the length of February minus its mean.
func (g *regressors) tradingDays(axis *table.Axis, x []float64) (all []series.Regressor) {
	add := func(name string) []float64 {
		all = append(all, series.Regressor{Name: name, Group: tradingDays, Values: make([]float64, len(x))})
		return all[len(all)-1].Values
	}
	for day := time.Monday; day <= time.Saturday; day++ {
		add("trading day " + day.String())
	}
	leap := add(leapYear)
	for n, v := range x {
		first, end := g.period(axis, v)
		for d := first; d < end; d++ {
			at := time.Unix(d*secondsPerDay, 0).UTC()
			if day := at.Weekday(); day != time.Sunday {
				all[day-time.Monday].Values[n]++
			} else {
				for _, other := range all[:6] {
					other.Values[n]--
				}
			}
			if at.Month() == time.February && at.Day() >= 28 {
				leap[n] += map[int]float64{28: -0.25, 29: 1}[at.Day()]
			}
		}
	}
	return all
}

// tradingDaysGain returns the gain in the Bayesian information criterion by trading days, -Inf if the series is too short. It compares linear
// regressions of the values, or of their logarithms if all are positive, on a line, the months or quarters and the trading days.
func (r *timeSeries) tradingDaysGain() (gain float64) {
	grid, year := r.grid, 12/r.known.Months
	index := func(x float64) int { return int(math.Round((x - grid.First) / grid.Step)) }
	count := index(grid.Last) + 1
	if !grid.Even || len(r.X) < minTradingRows {
		return math.Inf(-1)
	}
	x, columns := make([]float64, count), make([][]float64, 1+year)
	for j := range columns {
		columns[j] = make([]float64, count)
	}
	for i := range x {
		x[i] = grid.First + float64(i)*grid.Step
		columns[0][i], columns[1+i%year][i] = float64(i), 1
	}
	usual := len(columns)
	for _, c := range r.known.tradingDays(r.axis, x) {
		columns = append(columns, c.Values)
	}
	for _, values := range r.untested() {
		y := slices.Repeat([]float64{math.NaN()}, count)
		positive := !slices.ContainsFunc(values, func(v float64) bool { return v <= 0 })
		for n, v := range values {
			if y[index(r.X[n])] = v; positive {
				y[index(r.X[n])] = math.Log(v)
			}
		}
		n, before := autoregression(y, columns[:usual])
		_, after := autoregression(y, columns)
		if free := n - float64(usual); after > 0 && free > float64(len(columns)) {
			gain += free*math.Log(before/after) - float64(len(columns)-usual)*math.Log(n)
		}
	}
	return gain
}

// untested returns the outputs without the values that a backtest forecasts, because its models must not depend on them.
func (r *timeSeries) untested() (all [][]float64) {
	for _, y := range r.Y {
		y = slices.Clone(y)
		for n, x := range r.X {
			if r.tested != nil && x >= *r.tested {
				y[n] = math.NaN()
			}
		}
		all = append(all, y)
	}
	return all
}

// autoregression returns the least sum of squares of a linear regression of y on columns with errors of an AR(1) process, and the number of
// its rows. Missing values of y are NaN.
func autoregression(y []float64, columns [][]float64) (n, least float64) {
	least = math.Inf(1)
	for _, coefficient := range []float64{-0.6, -0.3, 0, 0.3, 0.6, 0.8, 0.9, 1} {
		filtered := func(c []float64) (f []float64) {
			for i, v := range y[1:] {
				if !math.IsNaN(v) && !math.IsNaN(y[i]) {
					f = append(f, c[i+1]-coefficient*c[i])
				}
			}
			return f
		}
		residual := filtered(y)
		var basis [][]float64
		for _, c := range columns {
			basis = append(basis, filtered(c))
		}
		n, least = float64(len(residual)), min(least, regression(residual, basis))
	}
	return n, least
}

// regression returns the sum of squared residuals of a linear regression of y on columns. It overwrites both.
func regression(y []float64, columns [][]float64) float64 {
	for j, c := range columns {
		before := floats.Dot(c, c)
		for _, other := range columns[:j] {
			floats.AddScaled(c, -floats.Dot(c, other), other)
		}
		const dependent = 1e-9 // remaining share of a column's squares
		if after := floats.Dot(c, c); after > dependent*before {
			floats.Scale(1/math.Sqrt(after), c)
			floats.AddScaled(y, -floats.Dot(y, c), c)
		} else {
			clear(c)
		}
	}
	return floats.Dot(y, y)
}
