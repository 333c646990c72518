// Package mpi is a thin binding to Open MPI: the calls that package ranks makes, on
// float64 and int64 blocks of any length. Builds with -tags mpi have it; they need a C
// compiler and Open MPI's headers (Debian: libopenmpi-dev, openmpi-bin). In other
// builds Start fails.
//
// All calls are made on one locked thread, as MPI requires. A call that fails panics
// with an *Error. All that can be done then is Abort, because the other ranks wait in
// the same call.
package mpi

import (
	"errors"
	"fmt"
)

// ErrNotBuilt is wrapped when a build without MPI is asked for it.
var ErrNotBuilt = errors.New("this program was built without MPI; build it with -tags mpi, on a machine with Open MPI")

// An Error is a call that failed.
type Error struct {
	Call string
	Code int
	Text string // the library's own
}

// Error names the call and gives the library's explanation.
func (e *Error) Error() string { return fmt.Sprintf("mpi: %s: %s (code %d)", e.Call, e.Text, e.Code) }
