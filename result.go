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
	// NoiseFloor is the least noise, as a standard deviation in units of y (of the
	// first output), that float64 tells from none, where the fit ended within
	// twice that: the model explains the data to their last digits. Else it is 0.
	NoiseFloor float64
	Device     string        // what computed: the backend's name
	Elapsed    time.Duration // of all runs of a fit that was gone on with
	// HeldOut holds the fit against straight lines between neighbours: of one
	// input, where the posterior is not too large to be taken once more. Else it
	// has no rows.
	HeldOut HeldOut
	// Resumed is how many iterations the start had taken in which the checkpoint
	// stood that the fit has gone on from, and −1 where it has not.
	Resumed int
	// Unsaved is why the last checkpoint could not be written, nil where it
	// could.
	Unsaved error
}

// StartResult is one start's end.
type StartResult struct {
	Seed  uint64  `json:"seed"`  // that the start's random numbers came from
	Bound float64 `json:"bound"` // at its end, in nats
	// Ended is why the optimisation ended, or "collapsed: …" where it was
	// recognised as one of the bad optima and given up.
	Ended string `json:"ended"`
}

// A HeldOut says how well a fit of one input tells rows from the others around
// them: its covariance and noise, which were fitted to all rows, are conditioned
// on the data without some stretches, a tenth in all and as long as the data's
// own gaps, and predict those. See DESIGN.md, "Is the fit better than a line?".
type HeldOut struct {
	Rows int // held out
	// RMSE is the error there, raised for the point estimates that had seen these
	// rows (Akaike's final prediction error, 1970), Line that of straight lines between the
	// neighbours that are left, in the model's units of y: its standard
	// deviations, unless the fit was Raw.
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
