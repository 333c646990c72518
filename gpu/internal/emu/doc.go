// Package emu runs the CUDA kernels on the CPU, for tests without a GPU. It needs the build tag
// cudaemu and a C++17 compiler; without the tag it is empty.
//
// The sources are compiled unchanged, once for each architecture with PTX. The threads of a block
// are fibers that switch only at barriers, so an emulated run is deterministic, but slow and only
// suitable for small problems. It returns an error for: deadlocks, threads at different barriers,
// writes next to shared memory, stack overflows, and a wrong number of arguments or threads.
// Shared memory is initialized to NaN. Accesses outside device memory are not detected.
//
// With the additional tag racekernels it detects races: two threads of a warp, of a block or of
// two blocks access the same byte of shared or device memory without a barrier in between, and at
// least one of them writes; or a thread accesses the target of an unfinished asynchronous copy.
// The error names both threads, and both lines if the program was linked with
// -ldflags='-s=0 -w=0'. Launches and their blocks then run one at a time. Races between launches
// on two streams and writes to the source of an unfinished copy are not detected. LeaveOut removes
// a barrier, to test that its absence is detected.
//
// After a change of a kernel run
//
//	go generate ./kernels
//
// because the go command does not detect changes of source files in another folder. table.h
// contains their hash.
package emu
