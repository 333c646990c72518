package variational

// What the tests of phases see in package variational_test.
var (
	Sincs      = sincs
	SincSlopes = sincSlopes
)
