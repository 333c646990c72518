package ar

const (
	// directProducts is the most products that Autocorrelation sums one by one, 2 ms of work. Beyond it transforms are faster.
	directProducts = 1 << 22
	// ridge is added to r_0, as a share of it, so that the model of a pure tone is stable.
	ridge = 1e-9
	// covarianceRidge is added to the normal equations of modifiedCovariance, as a share of the mean diagonal. A larger one damps pure tones.
	covarianceRidge = 1e-13
)
