package ranks

import (
	"os"
	"runtime"
	"strconv"

	"github.com/vssgp/vssgp/internal/mpi"
)

// MPI reports whether this build has MPI, and by which library.
func MPI() (library string, built bool) { return mpi.Library(), mpi.Built }

// launchers are the variables by which mpirun, mpiexec and srun tell a process
// that it is one of several, and how many.
var launchers = []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE"}

// Launched reports whether a launcher has started this process as one of a job.
func Launched() bool {
	for _, name := range launchers {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return os.Getenv("PMIX_RANK") != ""
}

// World is the ranks of the job that a launcher has started this process in,
// nil where none has, so that a program run by itself need not ask for MPI at
// all. leave is to be called at the end, by all ranks. The error wraps
// ErrNotBuilt where there is a job and this build has no MPI.
func World() (c Comm, leave func(), err error) {
	if !Launched() {
		return nil, func() {}, nil
	}
	w, err := mpi.Start()
	if err != nil {
		return nil, func() {}, err
	}
	return w, w.Close, nil
}

// Local is this process's number among the job's processes on this machine, and
// how many those are: 0 and 1 where the launcher does not say.
func Local() (rank, size int) {
	return number("OMPI_COMM_WORLD_LOCAL_RANK", 0), max(1, number("OMPI_COMM_WORLD_LOCAL_SIZE", 1))
}

func number(name string, byDefault int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil || n < 0 {
		return byDefault
	}
	return n
}

// ShareCores lets the Go scheduler use this process's part of the machine's
// cores: all divided by the processes on it, unless the launcher has bound it
// to fewer or GOMAXPROCS is set. It says how many those are.
func ShareCores() int {
	_, size := Local()
	if os.Getenv("GOMAXPROCS") == "" && size > 1 {
		runtime.GOMAXPROCS(coresOf(runtime.GOMAXPROCS(0), runtime.NumCPU(), MachineCores(), size))
	}
	return runtime.GOMAXPROCS(0)
}

// coresOf is how many of a machine's cores a process may use that is one of so
// many there: allowed by the scheduler's default (a container's limit
// included), bound to some of them.
func coresOf(allowed, bound, all, processes int) int {
	if bound < all { // by the launcher, to its own part
		return max(1, min(allowed, max(1, all/processes)))
	}
	return max(1, allowed/processes)
}
