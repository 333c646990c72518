package ranks

import (
	"errors"

	"github.com/vssgp/vssgp/internal/mpi"
)

// A Comm lets ranks exchange blocks of numbers. All ranks make the same calls in
// the same order, with blocks of the same length; Send and Recv but for the two
// ranks that they are about. One call is made at a time. A Comm that breaks
// panics, and leaves nothing to be done but Abort: the others wait for ever.
type Comm interface {
	Rank() int // this one's number, from 0
	Size() int // how many there are
	// Broadcast overwrites a on every rank by that of one.
	Broadcast(a []float64, from int)
	// Max overwrites a on every rank by the largest of each entry; none may be NaN.
	Max(a []float64)
	// Sum overwrites a on rank 0 by the sum over all ranks, and leaves it
	// anyhow on the others. Being of integers it has one value in any order.
	Sum(a []int64)
	// Send sends a to another rank, which has to Recv as much.
	Send(to int, a []float64)
	Recv(from int, a []float64)
	// Barrier waits until all ranks are there.
	Barrier()
	// Abort ends all ranks' processes with an exit code.
	Abort(code int)
}

// ErrNotBuilt is wrapped where a build without MPI is asked for it.
var ErrNotBuilt = mpi.ErrNotBuilt

// ErrAborted is what a Comm panics with whose job has been aborted.
var ErrAborted = errors.New("ranks: the job was aborted")

// Alone is the only rank: all calls are free.
type Alone struct{}

// Rank is 0.
func (Alone) Rank() int { return 0 }

// Size is 1.
func (Alone) Size() int { return 1 }

// Broadcast has no one to send to.
func (Alone) Broadcast([]float64, int) {}

// Max leaves a as it is.
func (Alone) Max([]float64) {}

// Sum leaves a as it is.
func (Alone) Sum([]int64) {}

// Send has no one to send to.
func (Alone) Send(int, []float64) { panic("ranks: there is one rank") }

// Recv has no one to receive from.
func (Alone) Recv(int, []float64) { panic("ranks: there is one rank") }

// Barrier waits for no one.
func (Alone) Barrier() {}

// Abort does nothing: the process ends itself.
func (Alone) Abort(int) {}
