package declip

// The experiments that chose these values are in docs/repair-clipping.md.
const (
	// Tile is how many seconds of a series Fill should restore at a time; 0.5 is as accurate and takes longer.
	Tile = 1

	orderSeconds  = 0.014 // order of a model; 0.012 is level on average, worse if little is clipped; 0.02 loses 2 to 5 dB
	windowSeconds = 0.12  // that a model is estimated from, six times its own part, and that a section sees on either side; 0.08 loses 0.5 dB
	grainSeconds  = 0.001 // of errors with one variance; 0.0007 gains 2 dB if little is clipped, and may lose 4

	rounds        = 12    // at most, of model and sweep in turn,
	evenRounds    = 2     // the first ones with the same variance for all errors of a model; with 1, up to 4 dB less if little is clipped
	tolerance     = 0.12  // and in standard deviations, rms, the change of a section's means that ends them; 0.1 is level, 0.15 loses 0.1 dB
	widenedSweeps = 2     // with the final models and wider variances, for intervals and draws; 1 lowers the coverage by 0.01
	unsteady      = 2.25  // variance of later prediction errors over the variance that was fitted; 2 lowers the coverage by 0.01
	prior         = 5     // errors that the prior of a grain's variance counts for; 4 loses 0.1 dB, 10 loses 1 dB
	weakLimit     = 4     // standard deviation of the weak prior for a run of one sample, in limits; without it heavy clipping diverges
	leastPower    = 1e-30 // for silence

	// A restored run is marked as doubtful if
	doubtful = 6 // a limit is further from what the other samples predict, in standard deviations, or
	louder   = 2 // a limit is more times the largest magnitude around: a sound passes every value on its way
)
