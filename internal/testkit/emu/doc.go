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
// threads. It does not find accesses outside device memory.
//
// With the tag racekernels as well it finds races: two threads of a warp, of a block
// or of two blocks touch the same byte of shared or device memory, one of them
// writes, and no barrier stands in between; or anyone touches what an asynchronous
// copy has not filled yet. The error names both threads, and both lines if the
// program was linked with -ldflags='-s=0 -w=0'. Launches then run one at a time,
// their blocks one after another. Races between launches on two streams are not
// looked for, nor writes to where a copy still reads. LeaveOut takes a barrier
// away, to see that it would be missed.
//
// After a change of a kernel run
//
//	go generate ./kernels
//
// because the go command does not see that this package compiles files of
// another folder; table.h carries their hash.
package emu
