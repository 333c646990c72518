//go:build cudaemu && cgo && !racekernels

package emu

import "runtime"

// Races reports whether launches detect races between threads.
const Races = false

// watch runs the blocks of a launch in parallel.
func watch(name string, run func(workers int) error) error { return run(runtime.GOMAXPROCS(0)) }
