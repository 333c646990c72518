// Package mpi is a thin binding to Open MPI with the calls that package ranks uses, for float64 and int64 blocks of any length. It
// requires the build tag mpi, a C compiler and Open MPI's headers (Debian: libopenmpi-dev, openmpi-bin). In other builds Start returns an
// error.
//
// All calls are made on one locked thread, as MPI requires. A call that fails panics with an *Error. The caller can then only Abort,
// because the other ranks wait in the same call.
package mpi

import (
	"errors"
	"fmt"
)

// ErrNotBuilt is returned if MPI is requested in a build without it.
var ErrNotBuilt = errors.New("this program was built without MPI; build it with -tags mpi, on a machine with Open MPI")

// World consists of all ranks of the job.
type World interface {
	Rank() int // this process's number
	Size() int // the number of ranks
	// Broadcast overwrites a on every rank with the values on rank from.
	Broadcast(a []float64, from int)
	// Max overwrites each entry of a on every rank with the maximum over all ranks.
	Max(a []float64)
	// Sum overwrites a on rank 0 with the sum over all ranks.
	Sum(a []int64)
	// Send sends a to another rank.
	Send(to int, a []float64)
	// Recv fills a with numbers sent by another rank.
	Recv(from int, a []float64)
	// Barrier waits until all ranks have called it.
	Barrier()
	// Abort ends the processes of all ranks.
	Abort(code int)
	// Close leaves the job; all ranks must call it.
	Close()
}

// An Error describes a call that failed.
type Error struct {
	Call string
	Code int
	Text string // from the library
}

// Error returns the name of the call and the library's message.
func (e *Error) Error() string { return fmt.Sprintf("mpi: %s: %s (code %d)", e.Call, e.Text, e.Code) }
