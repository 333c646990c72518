package declip

// docs/repair-clipping.md describes the experiments for these values.
const (
	// Tile is the recommended length in seconds of the samples for one Fill; 0.5 is as accurate but slower.
	Tile = 1

	orderSeconds  = 0.014 // model order; 0.012 is equal on average but worse with little clipping; 0.02 loses 2 to 5 dB
	windowSeconds = 0.12  // window of a model, six times its tile, and margin of a section; 0.08 loses 0.5 dB
	grainSeconds  = 0.001 // errors with one variance; 0.0007 gains 2 dB with little clipping, but may lose 4 dB

	rounds        = 12    // maximum number of rounds of model estimation and sweep
	evenRounds    = 2     // first rounds, with equal variances for all errors of a model; 1 loses up to 4 dB with little clipping
	tolerance     = 0.12  // rms change of the means at convergence, in standard deviations; 0.1 is equal, 0.15 loses 0.1 dB
	widenedSweeps = 2     // sweeps with larger variances, for intervals and draws; 1 lowers the coverage by 0.01
	unsteady      = 2.25  // ratio of predicted to fitted error variance; 2 lowers the coverage by 0.01
	prior         = 5     // strength of the prior of a grain's variance, in errors; 4 loses 0.1 dB, 10 loses 1 dB
	weakLimit     = 6     // sd of the weak prior for a run of one sample, relative to the limit; 4 loses 0.8 dB if most samples are clipped
	minPower      = 1e-30 // for silence

	// A restored run is unreliable if a limit exceeds
	implausible = 6 // this distance from the prediction by the other samples, in standard deviations, or
	louder      = 2 // this multiple of the largest surrounding magnitude
)
