package cuda

import (
	"fmt"
	"time"
)

// Device is a GPU.
type Device struct {
	Ordinal        int    // number in the driver's order, from 0
	Name           string // as reported by the driver, such as "NVIDIA H200"
	Memory         int64  // total bytes
	Major, Minor   int    // compute capability
	SMs            int    // multiprocessors
	SharedPerBlock int    // maximum bytes of shared memory per block, with opt-in
	Reason         string // why it is not usable, or ""
}

// String returns text such as "0 (NVIDIA H200)".
func (d Device) String() string { return fmt.Sprintf("%d (%s)", d.Ordinal, d.Name) }

// handle is the driver's handle of a stream, an event, a module or a function.
type handle any

// driver is gorgonia.org/cu (tag cuda), emulated devices (tag cudaemu), or none. newDriver returns
// the driver of this build.
type driver interface {
	// devices lists all devices, usable or not.
	devices() ([]Device, error)
	// retain returns the process's primary context on a GPU.
	retain(ordinal int) (primary, error)
}

// primary is the process's primary context on a GPU.
type primary interface {
	// bind begins a session in the context.
	bind() (session, error)
	// discard destroys the context, which must not be in use, with its resources.
	discard() error
}

// Geometry is the number of blocks of a launch, the threads of each and the bytes of dynamic shared
// memory of each.
type Geometry struct {
	Grid, Block [3]int // blocks, and threads of each, along x, y and z; ≥ 1
	Shared      int    // bytes per block, in addition to the kernel's static shared memory
}

// String returns text such as "grid 132×1×1, block 256×1×1, 49152 bytes shared".
func (g Geometry) String() string {
	return fmt.Sprintf("grid %d×%d×%d, block %d×%d×%d, %d bytes shared",
		g.Grid[0], g.Grid[1], g.Grid[2], g.Block[0], g.Block[1], g.Block[2], g.Shared)
}

// limits are the limits for launches of one function.
type limits struct {
	threads int // in a block
	shared  int // bytes of static shared memory
}

// session contains the calls of a Context in a primary context. They are serialized, except for
// enter and wait. The caller has checked sizes and states.
type session interface {
	// enter makes the context current on the calling thread. It precedes each other call.
	enter() error

	free() (int64, error)
	alloc(bytes int64) (uint64, error)
	release(address uint64) error

	// allocHost allocates page-locked host memory, which a GPU copies by DMA.
	allocHost(bytes int64) ([]byte, error)
	releaseHost(host []byte) error

	// upload and download queue a copy in the stream. It is complete when the stream is
	// synchronized.
	upload(to uint64, host []byte, stream handle) error
	download(host []byte, from uint64, stream handle) error
	zero(at uint64, bytes int64, stream handle) error

	newStream() (handle, error)
	// wait waits until all operations of the stream are complete. It reports faults of kernels.
	wait(stream handle) error
	closeStream(stream handle) error

	newEvent() (handle, error)
	closeEvent(event handle) error
	record(event, stream handle) error
	// elapsed requires that both events are complete.
	elapsed(from, to handle) (time.Duration, error)

	load(image []byte) (handle, error)
	function(module handle, name string) (handle, limits, error)
	// optIn allows this much dynamic shared memory for a function's launches.
	optIn(function handle, bytes int) error
	launch(function handle, g Geometry, stream handle, args []uint64) error
}

// plainShared is the shared memory per block that needs no opt-in.
const plainShared = 48 << 10
