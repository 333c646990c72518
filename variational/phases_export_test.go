package variational

// What the tests of phases see in package variational_test.
var (
	Sinc      = sinc
	SincSlope = sincSlope
)
