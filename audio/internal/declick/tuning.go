package declick

// docs/fills.md describes the experiments for these values.
const (
	longestSeconds = 0.002 // longest click; from 0.001 on, the mixture of package timewarp is as good but takes far longer
	groupSeconds   = 0.020 // clicks with one model
	reachSeconds   = 0.030 // samples on each side for the model; 0.04 and 0.06 lose up to 1 dB
	orderSeconds   = 0.006 // model order; half of it loses 1 dB from 12 samples on
	firstOrder     = 32    // order of the model for first fills
	minKnown       = 96    // samples for a model

	nearSeconds = 0.004 // samples on each side for the variance of the prediction errors; 0.003 and 0.006 are equal
	priorErrors = 2     // errors of the model's variance that are added to them; 20 loses faint clicks in decays
	widen       = 1.3   // factor of the variances, for coverage

	extents   = 12   // largest number of steps of a click's ends
	temper    = 0.3  // exponent of the evidence, because the models are not exact; 1 has less coverage by 0.05 for clicks of 12 samples on
	loud      = 4    // ratio of disturbance to expected error from which observed samples are ignored; 1 is equal, ∞ keeps parts of loud clicks
	minWeight = 1e-3 // minimum relative probability of a component
)
