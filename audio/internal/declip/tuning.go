package declip

// The experiments that chose these values are in docs/repair-clipping.md.
const (
	orderSeconds  = 0.014 // order of a model; at 0.012 1 dB less where little is clipped, at 0.02 2 to 5 dB less
	windowSeconds = 0.12  // that a model is estimated from; shorter: less accurate, longer: not stationary
	hopSeconds    = 0.02  // from model to model; cost is in inverse proportion
	grainSeconds  = 0.001 // of errors of the same variance, about the time that a voice's cords take to close
	coreSeconds   = 0.5   // of a section; cost is proportional to core + 2·side
	sideSeconds   = 0.1   // that a section looks at on either side

	dense         = 0.33 // share of missing samples above which the order falls in inverse proportion
	rounds        = 12   // at most, of model and sweep in turn,
	tolerance     = 0.15 // standard deviations, rms, by which the means of a section still move when its rounds end; less: slower, as good
	evenRounds    = 2    // the first of them, with the same variance for all errors of a tile
	widenedSweeps = 2    // with the final models and wider variances, for intervals and draws
	unsteady      = 2.25 // variance of later prediction errors over that of the errors of the fit; sets the coverage
	prior         = 5    // errors that the prior of a grain's variance counts for
	weakLimit     = 4    // standard deviation of the weak prior for a run of one sample, in limits
	jitters       = 4    // attempts to factorize a precision with more and more on its diagonal

	// A restored run is marked as doubtful if
	unsettled = 0.3 // a mean still moves by more than this, in standard deviations,
	doubtful  = 6   // a limit is further from what the other samples predict, in standard deviations, or
	louder    = 2   // a limit is more times the largest magnitude around: a sound passes every value on its way
)
