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

// launchers are the variables that mpirun, mpiexec and srun set for the processes of a job.
var launchers = []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "PMIX_RANK"}

// launched reports whether a launcher has started this process as part of a job.
func launched() bool {
	for _, name := range launchers {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return false
}

// World returns the ranks of the job to which this process belongs, or nil without a job: a program
// run directly needs no MPI. All ranks must call leave at the end. The error wraps ErrNotBuilt if
// there is a job and this build has no MPI.
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

// LocalRank returns this process's number among the job's processes on this machine, or 0 if the
// launcher does not set it.
func LocalRank() int { return number("OMPI_COMM_WORLD_LOCAL_RANK") }

// number returns the integer in an environment variable, or 0 if there is none.
func number(name string) int {
	n, _ := strconv.Atoi(os.Getenv(name))
	return max(0, n)
}

// ShareCores limits the Go scheduler to this process's share of the machine's cores: all of them
// divided by the job's processes on the machine, unless the launcher has bound it to fewer or
// GOMAXPROCS is set. It returns their number.
func ShareCores() int {
	size := number("OMPI_COMM_WORLD_LOCAL_SIZE")
	if os.Getenv("GOMAXPROCS") == "" && size > 1 {
		runtime.GOMAXPROCS(coresOf(runtime.GOMAXPROCS(0), runtime.NumCPU(), parallel.MachineCores(), size))
	}
	return runtime.GOMAXPROCS(0)
}

// coresOf returns the number of cores for each of a machine's processes. allowed is the scheduler's
// default, which respects a container's limit, and bound is the number of cores to which the
// process is bound.
func coresOf(allowed, bound, all, processes int) int {
	if bound < all { // bound by the launcher to separate cores
		return max(1, min(allowed, max(1, all/processes)))
	}
	return max(1, allowed/processes)
}
