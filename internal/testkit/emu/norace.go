//go:build cudaemu && cgo && !racekernels

package emu

import "runtime"

// Races says whether launches look for races between threads.
const Races = false

// watch runs the blocks of a launch of that name beside each other.
func watch(name string, run func(workers int) error) error { return run(runtime.GOMAXPROCS(0)) }
