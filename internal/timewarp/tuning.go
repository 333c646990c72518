package timewarp

// The constants that were chosen by experiment; "equal" and figures of "pieces" are from runs that no command of this repository repeats.
// Times are in seconds and levels in decibels unless another unit is given. "gaps" is `bench paper -set gaps` at the places of seed 1,
// "pieces" are ten pieces of game music, piano, guitar and drums filled in the same way, and "onsets" are the places among them where the
// level changes by more than 8 dB. Others are numerical.
const (
	// Models.
	furthest       = 0.560 // the longest context: accuracy of steady sounds against time; pieces
	widen          = 1.3   // factor of variances: coverage; gaps
	temper         = 0.3   // power of the likelihood of a warp: neighboring samples are dependent; gaps, 0.2 to 0.5 are equal
	noiseDB        = 18.0  // level of the signal above the noise added for the evidence: higher favors straight time; gaps
	minWarp        = 0.02  // least probability of a warp: accuracy against time; gaps
	shortGap       = 0.001 // shorter gaps are filled by one model: time, and below 1 ms trials choose badly; gaps and pieces of 1 to 40 samples
	longGap        = 0.008 // shorter gaps are filled without the candidate for lasting sounds: time; pieces
	maxJoint       = 600   // missing samples of nearby gaps that are solved for jointly: the cost is their number cubed
	meanResolution = 4     // frequencies of a mean spectrum per coefficient: 8 is equal; pieces

	// Trials.
	trialPower  = 8     // of the mean squared error in the weights: 4 to 16 are equal; pieces
	trialStop   = 0.6   // difference of mean log squared errors at which a candidate drops out: its weight would be 0.8 %
	minBefore   = 0.05  // space before a trial gap
	lowRate     = 5000  // least rate of trials and evidence in hertz: quiet treble would rule the evidence otherwise; gaps
	minSamples  = 20    // least samples in a trial gap: 40 is equal and slower; gaps and pieces
	minPower    = 0.9   // least share of the power that is left at the rate of trials
	trialFloor  = 1e-10 // share of the power below which errors are equal
	exactSafety = 2     // narrowed variances by the largest squared error in trials: room for a fill that is harder
	minNarrow   = 0.003 // least factor of narrowed variances
	minMargin   = 8     // samples on either side of a gap that are filled to test its narrowed variances

	// Onsets.
	onsetLevel    = 0.020 // length on either side whose levels are compared; onsets
	minRise       = 6     // rise from which on an onset is likely: errors at onsets against errors elsewhere, mostly in speech; onsets, gaps
	risePerWeight = 16    // rise above that for a weight of 1; onsets
	maxOnset      = 0.5   // the most weight of an onset: coverage; onsets

	// Numerics.
	newtonSteps   = 12   // of the inverse of a warp, to tolerance samples
	tolerance     = 1e-9 // samples
	minTimeRate   = 0.2  // least rate of warped time, and the inverse of the greatest
	janssenRounds = 3    // of a first fill of gaps that are close to each other
	taps          = 10   // samples on either side that an interpolation looks at: a sinc under Kaiser's window
	phases        = 256  // of the interpolation's weights per sample, linear between them
	kaiserBeta    = 8    // of the interpolation's window: errors of −80 dB
	decimateBeta  = 6    // of the window of the filter before decimation
	decimateReach = 10   // samples of the lower rate on either side that the filter looks at
)

// shortEstimate and mediumEstimate are the contexts and orders at which Burg's fills of speech and of music have the least error (gaps).
// They also give the initial fills of gaps shorter than shortGap, and of others.
var (
	shortEstimate  = Estimate{Context: 0.020, Order: 0.009}
	mediumEstimate = Estimate{Context: 0.060, Order: 0.022676}
	distances      = []float64{0.050, 0.110, 0.190} // of trial gaps; more are equal (pieces)
)

// Mixture returns the candidates for sounds of all kinds. Contexts, orders and grids were chosen on gaps; those of the third on pieces.
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

// AR returns the candidates of autoregressive fills: one spectrum, estimated by Burg, without warps.
func AR() Candidates {
	c := Candidates{Distances: distances, Widen: widen}
	for _, e := range []Estimate{shortEstimate, mediumEstimate, {Context: 0.120, Order: 0.040}} {
		c.All = append(c.All, Candidate{Estimates: []Estimate{e}, Order: e.Order})
	}
	return c
}
