//go:build !mpi

package mpi

// Built reports whether this build contains MPI.
const Built = false

// Library returns "", because there is no MPI library.
func Library() string { return "" }

// Start always returns ErrNotBuilt.
func Start() (World, error) { return nil, ErrNotBuilt }
