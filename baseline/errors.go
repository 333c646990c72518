package baseline

import "github.com/vssgp/vssgp"

// ErrOptions is wrapped by every error about options that cannot be met. It is
// package vssgp's.
var ErrOptions = vssgp.ErrOptions

// ErrBound is wrapped where a bound is not a number or its matrix has no
// Cholesky factor even with jitter. It is package vssgp's.
var ErrBound = vssgp.ErrBound
