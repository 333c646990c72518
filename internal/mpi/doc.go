// Package mpi is a thin binding to Open MPI: the calls that package ranks makes, on float64 and int64 blocks of any length. It is in
// builds with -tags mpi, which need a C compiler and Open MPI's headers (Debian: libopenmpi-dev, openmpi-bin). In other builds Start
// fails.
//
// All calls are made on one locked thread, as MPI requires. A call that fails panics with an *Error. The caller can then only Abort,
// because the other ranks wait in the same call.
package mpi

import (
	"errors"
	"fmt"
)

// ErrNotBuilt is wrapped if MPI is requested in a build without it.
var ErrNotBuilt = errors.New("this program was built without MPI; build it with -tags mpi, on a machine with Open MPI")

// World is all ranks of the job.
type World interface {
	Rank() int // this process's number
	Size() int // the number of ranks
	// Broadcast overwrites a on every rank by the a of rank from.
	Broadcast(a []float64, from int)
	// Max overwrites a on every rank by the largest of each entry.
	Max(a []float64)
	// Sum overwrites a on rank 0 by the sum over all ranks.
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

// An Error is a call that failed.
type Error struct {
	Call string
	Code int
	Text string // from the library
}

// Error names the call and gives the library's explanation.
func (e *Error) Error() string { return fmt.Sprintf("mpi: %s: %s (code %d)", e.Call, e.Text, e.Code) }
