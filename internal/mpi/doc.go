// Package mpi is a thin binding to Open MPI: the handful of calls that package
// ranks makes, on float64 and int64 blocks of any length. It is there in builds
// with -tags mpi, which need a C compiler and Open MPI's headers (Debian:
// libopenmpi-dev, openmpi-bin); else Start says that it is not.
//
// Every call is made by one goroutine on one locked thread, as MPI wishes. A
// call that fails panics with an *Error: there is nothing left to do then but
// to Abort, since the other ranks wait in the same call.
package mpi

import (
	"errors"
	"fmt"
)

// ErrNotBuilt is wrapped where a build without MPI is asked for it.
var ErrNotBuilt = errors.New("this program was built without MPI; build it with -tags mpi, on a machine with Open MPI")

// Error is what a call ended with.
type Error struct {
	Call string
	Code int
	Text string // the library's own
}

// Error names the call and says what the library does.
func (e *Error) Error() string { return fmt.Sprintf("mpi: %s: %s (code %d)", e.Call, e.Text, e.Code) }
