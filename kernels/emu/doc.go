// Package emu runs the kernels on the processor, for tests without a card. It
// does so with the build tag cudaemu and a C++17 compiler; without the tag it is
// empty.
//
// The sources are compiled as they stand, once for each architecture that there
// is PTX for. A block's threads are fibers that change places only at barriers,
// so an emulated run is deterministic, and so slow that it is for small shapes.
// It finds, and returns as errors: threads that wait for each other for ever or at
// different barriers, writes next to shared memory (which holds NaN before a
// block writes it), stacks that overflow, the wrong number of arguments or of
// threads. It finds neither races between barriers nor accesses outside device
// memory.
//
// After a change of a kernel run
//
//	go generate ./kernels
//
// because the go command does not see that this package compiles files of
// another folder; table.h carries their hash.
package emu
