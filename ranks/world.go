package ranks

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"github.com/vssgp/vssgp/internal/mpi"
	"github.com/vssgp/vssgp/internal/parallel"
)

// MPI reports whether this build has MPI, and which library.
func MPI() (library string, built bool) { return mpi.Library(), mpi.Built }

// launchers are the variables in which mpirun, mpiexec, srun and jsrun give the number of processes of a job.
// Slurm's variables without STEP are also set for a batch script, which is one process.
var launchers = []string{
	"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "MV2_COMM_WORLD_SIZE", "JSM_NAMESPACE_SIZE", "SLURM_STEP_NUM_TASKS",
}

// launched reports whether a launcher has started this process as part of a job, and the number of processes with the
// variable that gives it. Without such a variable, the name is PMIX_RANK or "" and the number is a lower bound.
func launched() (name string, processes int, ok bool) {
	if os.Getenv("PMIX_RANK") != "" {
		name, processes, ok = "PMIX_RANK", number("PMIX_RANK")+1, true
	}
	for _, v := range launchers {
		if n := number(v); n > 0 && (!ok || n > processes) {
			name, processes, ok = v, n, true
		}
	}
	return name, processes, ok
}

// World returns the ranks of the job to which this process belongs, or nil without a job: a program
// run directly needs no MPI. All ranks must call leave at the end. The error wraps ErrNotBuilt if
// the job has several processes and this build has no MPI, and ErrLauncher if the launcher belongs to
// another MPI library, so that each process would run the whole job.
func World() (c Comm, leave func(), err error) { return join(mpi.Start) }

// join is World with the function that starts MPI.
func join(start func() (mpi.World, error)) (c Comm, leave func(), err error) {
	name, processes, ok := launched()
	if !ok {
		return nil, func() {}, nil
	}
	w, err := start()
	switch {
	case errors.Is(err, mpi.ErrNotBuilt) && processes == 1:
		return nil, func() {}, nil // one process needs no MPI
	case err != nil:
		return nil, func() {}, err
	case w.Size() == 1 && processes > 1:
		w.Close()
		return nil, func() {}, fmt.Errorf("%s is %s, but this process is alone in %s: %w", name, os.Getenv(name),
			mpi.Library(), ErrLauncher)
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
