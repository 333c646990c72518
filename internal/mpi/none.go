//go:build !mpi

package mpi

// Built reports whether MPI is in this build.
const Built = false

// Library is the name and the version of the MPI library; "" where there is none.
func Library() string { return "" }

// World is all ranks of the job; there is none in this build.
type World struct{}

// Start joins the job that mpirun has started.
func Start() (*World, error) { return nil, ErrNotBuilt }

// Rank is this process's number.
func (*World) Rank() int { return 0 }

// Size is the number of ranks.
func (*World) Size() int { return 1 }

// Broadcast has no one to send to.
func (*World) Broadcast([]float64, int) {}

// Max has no one to compare with.
func (*World) Max([]float64) {}

// Sum has no one to add to.
func (*World) Sum([]int64) {}

// Send has no one to send to.
func (*World) Send(int, []float64) {}

// Recv has no one to receive from.
func (*World) Recv(int, []float64) {}

// Barrier has no one to wait for.
func (*World) Barrier() {}

// Abort has no one to end.
func (*World) Abort(int) {}

// Close has nothing to leave.
func (*World) Close() {}
