package detect

// Constants of the clipping detector. They were chosen on the made sounds of the tests and on recordings clipped 3 to 12 dB below their peak.
const (
	clipGrain      = 2048 // a level is 1/2048 of the largest value wide,
	clipSteps      = 3    // or so many quantization steps: dither and rounding after a change of volume spread it so far
	clipParts      = 16   // parts of the width, to find how much of it the level takes
	clipBelow      = 16   // widths below the level that it is compared with
	clipExcess     = 8    // times as many samples as there; a tone of constant level has 4
	clipPairs      = 4    // adjacent samples at the level; peaks that are merely equal have fewer
	fullScalePairs = 2    // where the level is the largest value of the format
)
