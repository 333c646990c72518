package crosschannel

const (
	lag     = 0.001 // maximum lag L between channels in seconds; the cost grows with its square
	context = 0.500 // seconds on each side of a gap from which the taps are estimated
	block   = 0.025 // seconds of samples with the same weight
	most    = 3     // maximum number of predictors; the cost grows with its square
)

// Constants of Residual.
const (
	tileOrder   = 32   // order of the whitening model
	tileRounds  = 2    // estimates without outliers; more are more robust but slower
	outlier     = 4    // smallest outlier relative to the scale of the errors; lower is more robust but uses less of the sound
	clipSamples = 2048 // part of the errors with one scale; must be much longer than a click
)
