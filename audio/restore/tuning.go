package restore

import "time"

// Constants of this package. Those of the models are in internal/timewarp, of the prediction from other channels in
// audio/internal/crosschannel, and of declipping in audio/internal/declip.
const (
	// DefaultContext is how much of the recording on either side of a gap is modeled by VSSGP if Options.Context is 0. Other methods use it
	// for initial fills and for the level of the sound around a gap.
	DefaultContext = 60 * time.Millisecond
	// LongGap is the longest gap that is filled across. A longer one is filled from both sides separately, so only its ends resemble what was
	// there, at a cost that is linear in its length.
	LongGap = 200 * time.Millisecond

	edgeOfGap     = 1.0  // seconds of a long gap, from either side, that are predicted; the rest is silence as uncertain as the sound is loud
	jointGain     = 0.05 // least decrease of the mean log squared error in trials to use other channels (docs/fills.md)
	doubtful      = 0.65 // expected error of a fill, by the level around, above which it should not be trusted (docs/fills.md)
	leastObserved = 32   // observed samples that an excerpt must have
	gapArrays     = 45   // arrays of the samples around a gap while it is filled, by measurement
)
