//go:build !mpi

package mpi

// Built reports whether MPI is in this build.
const Built = false

// Library is the name and the version of the MPI library, "" if there is none.
func Library() string { return "" }

// World is all ranks of the job; this build has none.
type World struct{}

// Start joins the job that mpirun has started.
func Start() (*World, error) { return nil, ErrNotBuilt }

// Rank is this process's number.
func (*World) Rank() int { return 0 }

// Size is the number of ranks.
func (*World) Size() int { return 1 }

// Broadcast does nothing.
func (*World) Broadcast([]float64, int) {}

// Max does nothing.
func (*World) Max([]float64) {}

// Sum does nothing.
func (*World) Sum([]int64) {}

// Send does nothing.
func (*World) Send(int, []float64) {}

// Recv does nothing.
func (*World) Recv(int, []float64) {}

// Barrier does nothing.
func (*World) Barrier() {}

// Abort does nothing.
func (*World) Abort(int) {}

// Close does nothing.
func (*World) Close() {}
