//go:build !mpi

package mpi

// Built reports whether MPI is in this build.
const Built = false

// Library returns "", because there is no MPI library.
func Library() string { return "" }

// Start always returns ErrNotBuilt.
func Start() (World, error) { return nil, ErrNotBuilt }
