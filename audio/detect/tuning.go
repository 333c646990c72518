package detect

// Constants of the clipping detector. They were chosen on the made sounds of the tests and on recordings clipped 3 to 12 dB below their peak.
const (
	clipGrain  = 2048 // a level is 1/2048 of the largest value wide,
	clipSteps  = 3    // or so many quantization steps: dither and rounding after a change of volume spread it so far
	clipParts  = 16   // parts of the width, to find how much of it the level takes, and widths below that it is compared with
	clipExcess = 8    // times as many samples as there; a tone of constant level has 4
	clipPairs  = 4    // adjacent samples at the level, half as many at full scale; peaks that are merely equal have fewer
)

// Constants of the detector of dropouts and zeros, chosen on the made sounds of the tests and on half of the recordings of `bench repair`.
const (
	leastDropout   = 1e-3  // seconds: a waveform passes a crest, or a click lasts, for less; and half of the shortest fade
	mostDropout    = 0.25  // seconds: longer ones are pauses, or cannot be filled
	mostDither     = 2     // largest distance of a dropout's samples from its middle, in quantization steps
	dropoutContext = 0.020 // seconds on either side: for so long speech keeps its spectrum
	dropoutOrder   = 32    // of the model of either side
	otherGoesOn    = 2     // nats that sound in another channel adds to the log-odds: pauses are usually in all channels
)

// fadePowers are the shapes (n₀ − n)^k of fades that a dropout's edge is compared with. With the second alone, pauses after a cut are found.
var fadePowers = [...]float64{1, 2, 4}
