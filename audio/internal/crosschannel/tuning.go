package crosschannel

const (
	lag     = 0.001 // maximum lag L between channels in seconds; the cost grows with its square
	context = 0.500 // seconds on each side of a gap from which the taps are estimated
	block   = 0.025 // seconds of samples with the same weight
	most    = 3     // maximum number of predictors; the cost grows with its square
)
