// Package series models a time series as a sum of named parts: a level and a slope that change, seasons, a short memory, regressors, noise.
// It forecasts a series, fills its missing values, and evaluates forecasts by rolling-origin backtesting.
//
//	y             __/\_/\_-/\  ?  \/--\/-/\-|-/\--/\    observations, then Forecast; ? is missing: Fill
//	trend         _____-------------''''''''|''''''''   Constant, Slope, DampedTrend, LevelShift, …
//	season        /\__/\__/\__/\__/\__/\__/\|__/\__/\   Season, Product
//	short memory  ~-__-~~-_-~__~-~_-~_-~-_-~|-------    ShortMemory, which returns to 0
//	regressors    ____^_______^______^______|___^____   Regressors, whose future is known
//	noise         .:'.:'.'.:'.:'.'.:.'.:'.:'|           Noise
//	              |--------- Series --------|-Forecast-
//
//	m, err := series.Fit(ctx, series.Series{X: x, Y: [][]float64{y}}, series.Options{})
//	f, err := m.Forecast(ctx, 12) // the next twelve steps: mean, sd, a central 95 % interval
//
// A Model, a Prediction and a Series may be used by several goroutines at a time, as long as no field is assigned: methods only read
// them.
//
// The smooth trend and the seasons are sums of cosines with fixed frequencies and random weights. The damped trend, the random walk, the
// short memory and the noise form a state-space model. Its Kalman filter whitens the observations exactly, in time linear in their number.
// docs/series.md contains the derivation. All computations run on the CPU.
package series
