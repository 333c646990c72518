package ranks

import (
	"os"
	"runtime"
	"strconv"

	"github.com/vssgp/vssgp/internal/mpi"
	"github.com/vssgp/vssgp/internal/parallel"
)

// MPI reports whether this build has MPI, and which library.
func MPI() (library string, built bool) { return mpi.Library(), mpi.Built }

// launchers are the variables that mpirun, mpiexec and srun set for the processes of a
// job.
var launchers = []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "PMIX_RANK"}

// launched reports whether a launcher has started this process as one of a job.
func launched() bool {
	for _, name := range launchers {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return false
}

// World is the ranks of the job in which a launcher has started this process. It is nil
// without a job: a program run by itself needs no MPI. All ranks have to call leave at
// the end. The error wraps ErrNotBuilt if there is a job and this build has no MPI.
func World() (c Comm, leave func(), err error) {
	if !launched() {
		return nil, func() {}, nil
	}
	w, err := mpi.Start()
	if err != nil {
		return nil, func() {}, err
	}
	return w, w.Close, nil
}

// LocalRank is this process's number among the job's processes on this machine; 0 if
// the launcher does not tell.
func LocalRank() int { return number("OMPI_COMM_WORLD_LOCAL_RANK") }

// number is the whole number in an environment variable; 0 if there is none.
func number(name string) int {
	n, _ := strconv.Atoi(os.Getenv(name))
	return max(0, n)
}

// ShareCores lets the Go scheduler use this process's share of the machine's cores:
// all of them divided by the job's processes on the machine, unless the launcher has
// bound it to fewer or GOMAXPROCS is set. It returns their number.
func ShareCores() int {
	size := number("OMPI_COMM_WORLD_LOCAL_SIZE")
	if os.Getenv("GOMAXPROCS") == "" && size > 1 {
		runtime.GOMAXPROCS(coresOf(runtime.GOMAXPROCS(0), runtime.NumCPU(), parallel.MachineCores(), size))
	}
	return runtime.GOMAXPROCS(0)
}

// coresOf is how many of all cores of a machine each of its processes may use.
// allowed is the scheduler's default, which respects a container's limit, and bound is
// how many cores the process is bound to.
func coresOf(allowed, bound, all, processes int) int {
	if bound < all { // by the launcher, to this process's own cores
		return max(1, min(allowed, max(1, all/processes)))
	}
	return max(1, allowed/processes)
}
