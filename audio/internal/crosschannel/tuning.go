package crosschannel

const (
	lag     = 0.001 // seconds between channels at most: L; the cost grows with its square
	context = 0.500 // seconds on either side of a gap that the taps are estimated from
	block   = 0.025 // seconds whose samples have the same weight in it
	most    = 3     // channels to predict from; the cost grows with their square
)
