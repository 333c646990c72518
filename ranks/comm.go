package ranks

import (
	"errors"

	"github.com/vssgp/vssgp/internal/mpi"
)

// A Comm lets ranks exchange blocks of numbers. All ranks make the same calls in the
// same order, with blocks of the same length; only the two ranks concerned call Send
// and Recv. Calls must not overlap. A call that fails panics; the only remedy then is
// Abort, since the other ranks would wait for ever.
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
	// Send sends a to another rank, which has to Recv the same number of numbers.
	Send(to int, a []float64)
	Recv(from int, a []float64)
	// Barrier waits until all ranks have called it.
	Barrier()
	// Abort ends all ranks' processes with an exit code.
	Abort(code int)
}

// ErrNotBuilt is wrapped when a build without MPI is asked for it.
var ErrNotBuilt = mpi.ErrNotBuilt

// errAborted is what the ranks of a Group panic with after Abort.
var errAborted = errors.New("ranks: the job was aborted")
