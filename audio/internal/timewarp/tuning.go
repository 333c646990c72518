package timewarp

// Tuning constants. Times are in seconds and levels in dB unless another unit is given. The comments name the data on which a value
// was chosen: "gaps" is `bench paper -set gaps` with seed 1; "pieces" are ten pieces of game music, piano, guitar and drums; "onsets"
// are the gaps in them at which the level changes by more than 8 dB. No command in this repository reproduces the results on pieces.
const (
	// Models.
	furthest       = 0.560 // longest context; larger is more accurate for steady sounds but slower (pieces)
	widen          = 1.3   // factor of the variances, for coverage (gaps)
	temper         = 0.3   // exponent of the likelihood of a warp; neighboring samples are dependent; 0.2 to 0.5 are equal (gaps)
	noiseDB        = 18.0  // signal-to-noise ratio for the evidence; higher favors no warp (gaps)
	minWarp        = 0.02  // minimum probability of a warp; smaller is slower (gaps)
	shortGap       = 0.001 // shorter gaps are filled by one model; trials are unreliable below 1 ms (gaps and pieces, 1 to 40 samples)
	longGap        = 0.008 // minimum gap length for the candidate for lasting sounds (pieces)
	maxJoint       = 600   // maximum number of missing samples in gaps that are filled jointly; the cost is cubic
	meanResolution = 4     // frequencies of a mean spectrum per coefficient; 8 is equal (pieces)

	// Trials.
	trialPower  = 8     // exponent of the mean squared error in the weights; 4 to 16 are equal (pieces)
	trialStop   = 0.6   // difference of mean log squared errors at which a candidate is dropped: its weight would be 0.8 %
	minBefore   = 0.05  // minimum context before a trial gap
	lowRate     = 5000  // minimum rate of trials and evidence in Hz; at higher rates, weak high frequencies dominate the evidence (gaps)
	minSamples  = 20    // minimum number of samples in a trial gap; 40 is equal but slower (gaps and pieces)
	minPower    = 0.9   // minimum fraction of the power at the rate of trials
	trialFloor  = 1e-10 // fraction of the power below which errors are equal
	exactSafety = 2     // ratio of narrowed variance to the largest squared error in trials
	minNarrow   = 0.003 // minimum factor of narrowed variances
	minMargin   = 8     // minimum number of samples on each side of a gap that are filled to test narrowed variances

	// Onsets.
	onsetLevel    = 0.020 // duration on each side over which levels are compared (onsets)
	minRise       = 6     // minimum rise for an onset; smaller increases errors elsewhere, mostly in speech (onsets, gaps)
	risePerWeight = 16    // further rise for a weight of 1 (onsets)
	maxOnset      = 0.5   // maximum weight of an onset, for coverage (onsets)

	// Numerics.
	newtonSteps   = 12   // maximum number of Newton steps for the inverse of a warp
	tolerance     = 1e-9 // of the inverse of a warp, in samples
	minTimeRate   = 0.2  // minimum rate of warped time; the maximum is its inverse
	janssenRounds = 3    // rounds for initial fills of gaps that are close to each other
	taps          = 10   // samples on each side used by windowed-sinc interpolation
	phases        = 256  // tabulated phases of the interpolation weights, with linear interpolation between them
	kaiserBeta    = 8    // of the interpolation window; errors are −80 dB
	decimateBeta  = 6    // of the window of the decimation filter
	decimateReach = 10   // half length of the decimation filter, in samples of the lower rate
)

// shortEstimate and mediumEstimate minimize the error of Burg's method for speech and for music (gaps). They are also used for
// initial fills: shortEstimate for gaps shorter than shortGap, mediumEstimate for others.
var (
	shortEstimate  = Estimate{Context: 0.020, Order: 0.009}
	mediumEstimate = Estimate{Context: 0.060, Order: 0.022676}
	distances      = []float64{0.050, 0.110, 0.190} // of trial gaps; more distances are equal (pieces)
)

// Mixture returns the candidates for all kinds of audio. The constants were chosen on gaps, and for the third candidate on pieces.
func Mixture() Candidates {
	level := Grid{[]float64{-40, -20, 0, 20, 40}, 20}
	estimates := func(order float64, contexts ...float64) (all []Estimate) {
		for _, c := range contexts {
			all = append(all, Estimate{true, c, order})
		}
		return all
	}
	voice := Candidate{
		Refill:    true,
		Glide:     Grid{[]float64{-4, -2, -1, -.45, 0, .45, 1, 2, 4}, 1.5},
		Bend:      Grid{[]float64{-80, -40, 0, 40, 80}, 40},
		Level:     level,
		Evidence:  Estimate{Context: 0.040, Order: 0.0125},
		Estimates: append([]Estimate{shortEstimate}, estimates(0.016, 0.040, 0.060)...),
		Order:     0.016,
	}
	steady := Candidate{
		Level:     Grid{[]float64{-12, 0, 12}, 10},
		Evidence:  Estimate{Context: 0.100, Order: 0.020},
		Estimates: estimates(0.040, 0.100, 0.180, 0.350),
		Order:     0.040,
	}
	lasting := steady
	lasting.From = longGap
	lasting.Estimates, lasting.Order = estimates(0.080, furthest/4, furthest/2, furthest), 0.080
	short := Candidate{
		Refill:    true,
		Estimates: append(estimates(shortEstimate.Order, shortEstimate.Context), estimates(mediumEstimate.Order, mediumEstimate.Context)...),
		Order:     mediumEstimate.Order,
	}
	return Candidates{[]Candidate{voice, steady, lasting}, &short, true, distances, widen}
}

// AR returns autoregressive candidates without warps, estimated by Burg's method.
func AR() Candidates {
	c := Candidates{Distances: distances, Widen: widen}
	for _, e := range []Estimate{shortEstimate, mediumEstimate, {Context: 0.120, Order: 0.040}} {
		c.All = append(c.All, Candidate{Estimates: []Estimate{e}, Order: e.Order})
	}
	return c
}
