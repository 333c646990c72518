package clicks

// Constants set by hand. docs/repair-clicks.md describes the experiments.
const (
	order            = 48     // model order; a higher one finds softer clicks in music but is slower
	longest          = 40     // maximum length of a candidate in samples; larger is slower
	hopSeconds       = 0.020  // hop between windows
	reachSeconds     = 0.015  // overlap of a window on each side; larger improves the estimate but follows changes less
	sizeSamples      = 256    // window for the scale of the errors; must be more than twice a click and its errors
	nearSeconds      = 0.008  // neighborhood of a candidate for local levels
	minGain          = 6.5    // minimum gain in nats to evaluate a candidate; lower is slower
	sampleCost       = 0.2    // cost per sample of a candidate in nats; higher makes candidates shorter
	cutShare         = 0.3    // minimum change, relative to the largest, of the part that a candidate may be cut to
	step             = 4      // initial step of the ends of a candidate in samples; smaller misses distant ends
	border           = 4      // samples outside a window in which the center of a candidate may be; smaller misses clicks between windows
	endShare         = 0.03   // minimum change, relative to the largest, at the ends of a result; higher makes results shorter
	firstPassLogOdds = 1.5    // minimum log-odds to remove a candidate before the second pass
	rateWeight       = 0.55   // log-odds per e-fold of the click rate nearby; higher finds more crackle and more false positives there
	cleanRate        = 0.01   // click rate of a clean recording per second
	countedLogOdds   = 4.0    // minimum log-odds of a candidate that counts for the click rate
	unsureLogOdds    = 2.0    // maximum absolute log-odds of a candidate that is unsure
	rateSeconds      = 10     // half width of the window for the click rate, in seconds
	maxRate          = 100    // maximum click rate per second
	baseThreshold    = -0.4   // minimum log-odds at sensitivity 5
	vinylAgain       = -5.033 // of Search.Again: on records fAgain may raise the log-odds, so it must not depend on the sensitivity
	vinylStrict      = 0.7    // increase of the minimum on records, where more candidates are wrong
	thresholdStep    = 0.7    // decrease of the minimum per point of sensitivity
	mergeGap         = 2      // maximum number of samples between clicks that are merged
)

// lengths contains the maximum lengths for which the best candidate at a first sample is stored; more are slower.
var lengths = [...]int{2, 6, 16, longest}

// Constants of the evidence of a record's groove.
const (
	noiseCutoff   = 4000.0 // Hz; the floor is measured above it, where most music is softer than the noise
	highPassReach = 32     // samples on each side of its filter
	frameSeconds  = 0.002  // frame of the noise floor; longer frames contain attacks
	floorReach    = 2      // frames on each side of the median filter of the floor
	silentFloor   = 0.6    // minimum floor in quantization steps; lower frames are digital silence
	quietShare    = 33     // percent of the frames that are quiet
	countSeconds  = 0.1    // duration in which clicks are counted; shorter ones have few clicks
	maxSpread     = 4.4    // dB between the quiet frames; records have up to 4.1, a loop sampled from one 4.5, applause 9
	minQuiet      = 4.0    // clicks per second; undamaged sound has up to 3
	maxDispersion = 2.0    // drums and applause have 3 or more
	loudFloor     = 2.0    // minimum ratio of the floor of loud sound to the largest one of quiet sound
	sizeFreedom   = 10     // degrees of freedom of the sizes of ticks; .5 % of them are beyond 3.5 standard deviations
	minTicks      = 10     // minimum number of ticks in quiet sound
	leastTick     = 1.0    // minimum log-odds of a tick; a voice has a few with 0
	leastPlain    = -6.0   // minimum log-odds of a tick by the weights for other recordings; pulses of a voice have -10
)
