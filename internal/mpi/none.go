//go:build !mpi

package mpi

// Built reports whether MPI is in this build.
const Built = false

// Library returns "": there is no MPI library.
func Library() string { return "" }

// Start joins the job that mpirun has started; in this build it fails.
func Start() (World, error) { return nil, ErrNotBuilt }
