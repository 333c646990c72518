package ar

const (
	// covarianceRidge is added to the normal equations of modifiedCovariance, as a share of the mean diagonal. A larger one damps pure tones.
	covarianceRidge = 1e-13
	// jitters is how many larger ridges are tried when a factorization fails.
	jitters = 10
)
