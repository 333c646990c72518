//go:build cudaemu && cgo && !racekernels

package emu

import "runtime"

// Races says whether launches look for races between threads.
const Races = false

// watch runs a launch's blocks beside each other.
func (k kernel) watch(run func(workers int) error) error { return run(runtime.GOMAXPROCS(0)) }
