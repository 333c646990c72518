package autoregression

const (
	// directProducts is the number of products (2 ms) above which Autocorrelation uses transforms, which are then faster.
	directProducts = 1 << 22
	// ridge is added to r_0, relative to r_0, so that the model of a pure tone is stable.
	ridge = 1e-9
	// covarianceRidge is the ridge of modifiedCovariance relative to the mean diagonal. A larger one damps pure tones.
	covarianceRidge = 1e-13
)
