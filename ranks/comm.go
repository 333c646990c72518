package ranks

import (
	"errors"

	"github.com/vssgp/vssgp/internal/mpi"
)

// A Comm exchanges blocks of numbers between ranks. All ranks make the same calls in the same
// order, with blocks of the same length; only the two ranks concerned call Send and Recv. Calls
// must not overlap. A failed call panics; the caller can then only call Abort, since the other
// ranks would wait forever.
type Comm interface {
	Rank() int // this rank's number, from 0
	Size() int // the number of ranks
	// Broadcast overwrites a on every rank by the a of rank from.
	Broadcast(a []float64, from int)
	// Max overwrites each entry of a, on every rank, by the largest on any rank. No
	// entry may be NaN.
	Max(a []float64)
	// Sum overwrites a on rank 0 by the sum over all ranks; for integers it is the same
	// in any order. On the others a is undefined afterwards.
	Sum(a []int64)
	// Send sends a to another rank, which must call Recv with the same length.
	Send(to int, a []float64)
	Recv(from int, a []float64)
	// Barrier waits until all ranks have called it.
	Barrier()
	// Abort ends the processes of all ranks with an exit code.
	Abort(code int)
}

// ErrNotBuilt is wrapped if MPI is requested in a build without it.
var ErrNotBuilt = mpi.ErrNotBuilt

// ErrLauncher is wrapped if the processes were started by the launcher of another MPI library.
var ErrLauncher = errors.New("use the launcher of the MPI library of this build, or unset the variable if " +
	"this is one process")

// errAborted is the panic value of the ranks of a Group after Abort.
var errAborted = errors.New("ranks: the job was aborted")
