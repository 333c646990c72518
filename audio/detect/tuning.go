package detect

// Constants of the clipping detector, chosen on the synthetic sounds of the tests and on recordings clipped 3 to 12 dB below their peak.
const (
	clipGrain  = 2048    // the width of a level is the largest value divided by it,
	clipSteps  = 3       // or at least this many quantization steps, because dither and rounding spread a level
	clipParts  = 16      // number of parts of the width, and number of widths below it for comparison
	clipExcess = 8       // minimum ratio of the samples in the width to the mean of the widths below; a tone has 4
	clipPairs  = 4       // minimum number of adjacent samples at the level, half as many at full scale
	clipRange  = 1. / 32 // lowest level below the largest values that is searched, relative to them
	clipLevels = 4       // maximum number of these levels of one side of a channel
	clipAround = 256     // number of widths above and below such a level for a comparison with single values
	clipMost   = 0.9     // maximum share of samples near the levels; a sine clipped 16 dB below its peak has it
	clipNear   = 0.1     // maximum distance in seconds of a single clipped sample at such a level from adjacent ones
)

// Constants of the detector of dropouts and zeros, chosen on the sounds of the tests and on half of the recordings of `bench repair`.
const (
	minDropout     = 1e-3  // minimum in seconds, longer than crests and most clicks; twice this is the minimum length of a fade
	maxDropout     = 0.25  // maximum in seconds; longer runs are pauses or cannot be filled
	maxDither      = 2     // maximum distance of a dropout's samples from its middle, in quantization steps
	dropoutContext = 0.020 // context on each side in seconds, over which the spectrum of speech changes little
	dropoutOrder   = 32    // order of the model of each side
	otherGoesOn    = 2     // added to the log-odds, in nats, if another channel has sound; pauses are usually in all channels
)

// fadePowers contains the exponents k of fades (n₀ − n)^k. With the second alone, pauses after a cut would be found.
var fadePowers = [...]float64{1, 2, 4}

// Constants of the search for clicks.
const (
	clickRate     = 44100 // Hz; recordings of twice this rate or more are searched at a lower rate. Clicks are longer at 96 kHz
	decimateReach = 16    // samples of the lower rate on each side of the filter
	grooveSeconds = 1     // length of a piece in seconds
	groovePieces  = 15    // maximum number of pieces; more must contain more noise without music
)

// Constants of the detector for mono discs.
const (
	monoSeconds = 1.5  // part with the same filter between the channels
	monoParts   = 32   // maximum number of parts by which a recording is classified
	monoOrder   = 32   // order of the models of the residual and of the sound around a click
	monoNear    = 0.02 // sound on each side of a click in seconds that decides its channel
	rumbleHertz = 150  // below, the walls of a mono disc differ by rumble
	minMono     = 10   // minimum of Reduction − Music of a mono disc in dB
	monoOutlier = 4    // largest residual, relative to its scale, that is compared
	maxMono     = 60   // maximum Reduction in dB; no disc has so little noise
)
