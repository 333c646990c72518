package restore

import "time"

// Tuning constants. The packages audio/internal/timewarp (models), audio/internal/crosschannel (prediction from other channels) and
// audio/internal/declip (declipping) have their own.
const (
	// DefaultContext is the duration on each side of a gap that VSSGP models if Options.Context is 0. Other methods use it for initial
	// fills and for the surrounding level.
	DefaultContext = 60 * time.Millisecond
	// LongGap is the maximum duration of a gap that is filled as a whole. Longer gaps are filled from both sides separately, so only
	// their ends resemble the original. The cost is linear in the length.
	LongGap = 200 * time.Millisecond

	clickTile    = 1.0    // seconds of clicks with the same prediction from other channels; 0.5 is equal, but the predictions take longer
	briefClick   = 0.0005 // seconds; the mixture fills longer loud clicks that are isolated; with 0.001, bench repair has 0.4 dB more error
	denseClicks  = 20     // minimum number per second of clicks that are not isolated
	loudClick    = 4      // minimum change by a loud click relative to the standard deviation of the samples if they were missing
	denseSeconds = 1      // on each side of a click in which they are counted
	edgeOfGap    = 1.0    // seconds of a long gap that are predicted from each side; the rest is filled with zeros
	jointGain    = 0.05   // minimum decrease of the mean log squared error in trials to use other channels (docs/fills.md)
	unreliable   = 0.65   // maximum ratio of expected error to surrounding level without a warning (docs/fills.md)
	minObserved  = 32     // minimum number of observed samples in an excerpt
	gapArrays    = 45     // measured number of temporary arrays of the samples around a gap
	tileArrays   = 10     // number of temporary arrays of the samples around a tile, in addition to three for each channel
	clickValues  = 80     // memory of the fill of a click in addition to its samples, in float64 values

	// Natural fills. The values were chosen on 210 gaps of 20 to 80 ms in ten pieces of music (docs/fills.md).
	minNatural    = 0.008 // seconds; in shorter gaps the mean lacks little power
	naturalSide   = 0.020 // seconds on each side with the target spectrum; 30 ms has larger errors, 15 ms is equal
	naturalFade   = 0.002 // seconds at each end; without a fade, the ends click; 4 ms is equal
	naturalBand   = 2.0   // bandwidth of spectra in ERB; 1 has larger errors, 3 is equal
	naturalArrays = 25    // number of temporary arrays of the samples of a gap
)
