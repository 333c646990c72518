package backendtest

// A tolerance bounds an array's error: its largest |got − want| over its
// largest |want|, or over 1 where that is less: entries are sums of numbers
// near 1, and a sum that cancels keeps their rounding.
type tolerance struct {
	value      float64 // moments, predictions, squared errors
	gradient   float64 // gradients against the oracle's
	difference float64 // gradients against central differences of the backend's own values
	adds       float64 // parts against the whole
}

var (
	// near is for angles of some tens of radians. The figures measured are
	// the cpu backend's worst.
	//   value, adds: 257 rows of numbers near 1 summed in another order,
	//     257·2⁻⁵³ = 3e-14, and angles of 50 radians, 50·2⁻⁵³ = 6e-15.
	//     Measured 4e-14.
	//   gradient: the same times d and d², over the largest of them, and
	//     residuals that cancel. Measured 2e-14.
	//   difference: what six levels of Richardson's extrapolation leave.
	//     Measured 1.4e-9.
	near = tolerance{value: 1e-12, gradient: 1e-12, difference: 1e-8, adds: 1e-12}

	// shifted is for rows near 3·10⁶ under features centerd there: x − z is
	// exact, so nothing is lost. A phase in float32, or ω·x − ω·z, fails.
	//   difference: a step in z of 2⁻⁶ … 2⁻¹¹ is rounded to a multiple of 2⁻³¹,
	//     1e-6 of the smallest. Measured 6e-8.
	shifted = tolerance{value: 1e-12, gradient: 1e-12, difference: 1e-6, adds: 1e-12}

	// far is for rows near 3·10⁶ under features centerd at the origin, which
	// turn 10⁶ times: a turn's last bit is then 2⁻³³ of a turn, 7e-10 radians.
	//   value, gradient: a few such slips. Measured 2e-9.
	//   difference: the same over a first step of a sixteenth. Measured 6e-8.
	far = tolerance{value: 5e-9, gradient: 5e-9, difference: 1e-6, adds: 1e-12}
)
