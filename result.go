package vssgp

import "time"

// Progress says where a fit stands.
type Progress struct {
	Start, Starts         int           // which of how many starts, from 1
	Stage                 string        // what is free: "frequencies", "all", …
	Iteration, Iterations int           // of this start, over all stages
	Bound                 float64       // so far, of this start, in nats
	NoiseSD               float64       // τ^−½ in units of y (of the first output)
	Elapsed, Left         time.Duration // since the fit began; expected until it ends
}

// Result says how a fit went.
type Result struct {
	Bound      float64       // of the start that was kept, in nats, of y in the model's units
	Terms      []Term        // they add up to Bound
	Iterations int           // of the start that was kept
	Starts     []StartResult // in the order they were made
	Kept       int           // index in Starts
	Jitter     float64       // in A at the end, 0 as a rule
	// NoiseFloor is the least noise that float64 can tell from none, as a standard
	// deviation in units of y (of the first output), if the fit ended within twice
	// that variance: the model then explains the data to their last digits. Otherwise
	// it is 0.
	NoiseFloor float64
	Device     string        // what computed: the backend's name
	Elapsed    time.Duration // of all runs of a fit that was resumed
	// HeldOut compares a fit of one input with straight lines between neighbours,
	// if the posterior is small enough to be computed once more. Otherwise it has no
	// rows.
	HeldOut HeldOut
	// Resumed is the number of iterations that the running start had taken in the
	// checkpoint from which the fit was resumed; −1 if it was not resumed.
	Resumed int
	// Unsaved is why the last checkpoint could not be written; nil if it was.
	Unsaved error
}

// StartResult is one start's end.
type StartResult struct {
	Seed  uint64  `json:"seed"`  // that the start's random numbers came from
	Bound float64 `json:"bound"` // at its end, in nats
	// Ended is why the optimisation ended, or "collapsed: …" if the result was
	// recognised as one of the bad optima.
	Ended string `json:"ended"`
}

// A HeldOut says how well a fit of one input predicts rows from the others around
// them. A tenth of the rows is held out, in intervals as long as the data's own
// gaps. The fitted covariance and noise, which have seen all rows, are conditioned
// on the rest and predict them. See DESIGN.md, "Is the fit better than a line?".
type HeldOut struct {
	Rows int // held out
	// RMSE is the error there, raised because the point estimates had seen these rows
	// (Akaike's final prediction error, 1970). Line is the error of straight lines
	// between the neighbours that are left. Both are in the model's units of y:
	// standard deviations, unless the fit was Raw.
	RMSE, Line float64
}

const (
	// heldTry times the line's error is enough for another start, and heldWorse
	// for Worse; so is neither up to heldSmall standard deviations: where data
	// have next to no noise a line's error is next to nothing, and so is ours.
	heldTry, heldWorse = 1.0, 1.1
	heldSmall          = 1e-3
)

// Worse reports whether the fit is clearly worse than straight lines between
// neighbours: by a tenth, and more than a thousandth of a standard deviation.
func (h HeldOut) Worse() bool { return h.above(heldWorse) }

func (h HeldOut) above(margin float64) bool {
	return h.RMSE > margin*h.Line && h.RMSE > heldSmall
}
