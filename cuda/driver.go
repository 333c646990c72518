package cuda

import (
	"fmt"
	"time"
)

// Device is one card.
type Device struct {
	Ordinal        int    // its number in the driver's order, from 0
	Name           string // as the driver has it, such as "NVIDIA H200"
	Memory         int64  // bytes, in all
	Major, Minor   int    // compute capability
	SMs            int    // multiprocessors
	SharedPerBlock int    // most bytes of shared memory that a block can opt into
	Reason         string // why it is not usable, "" if it is
}

// String is "0 (NVIDIA H200)".
func (d Device) String() string { return fmt.Sprintf("%d (%s)", d.Ordinal, d.Name) }

// handle is a driver's own name for a stream, an event, a module or a function.
type handle any

// driver is one of three: gorgonia.org/cu (tag cuda), emulated devices (tag
// cudaemu), or none. newDriver returns the one of this build.
type driver interface {
	// devices lists all devices, usable or not.
	devices() ([]Device, error)
	// retain gets the process's one context on a card.
	retain(ordinal int) (primary, error)
}

// primary is the process's one context on a card.
type primary interface {
	// bind begins a session in the context.
	bind() (session, error)
	// discard destroys the context with all that it has. Nobody uses it then.
	discard() error
}

// Geometry says how many blocks of how many threads a launch has, and how many
// bytes of dynamic shared memory each block gets.
type Geometry struct {
	Grid, Block [3]int // blocks, and threads of each, along x, y and z; ≥ 1
	Shared      int    // bytes for each block, besides what the kernel declares
}

// String is "grid 132×1×1, block 256×1×1, 49152 bytes shared".
func (g Geometry) String() string {
	return fmt.Sprintf("grid %d×%d×%d, block %d×%d×%d, %d bytes shared",
		g.Grid[0], g.Grid[1], g.Grid[2], g.Block[0], g.Block[1], g.Block[2], g.Shared)
}

// limits bound the launches of one function.
type limits struct {
	threads int // in a block
	shared  int // bytes of shared memory that the function declares itself
}

// session is what a Context uses of a card's context. Its calls come one after another,
// but for enter and wait. Sizes and states are checked.
type session interface {
	// enter makes the context current on the calling thread: before each other call.
	enter() error

	free() (int64, error)
	alloc(bytes int64) (uint64, error)
	release(address uint64) error

	// allocHost gets page-locked memory of the host, from and to which a card copies
	// by itself.
	allocHost(bytes int64) ([]byte, error)
	releaseHost(host []byte) error

	// upload and download give a copy to the stream, which is done when that is waited for.
	upload(to uint64, host []byte, stream handle) error
	download(host []byte, from uint64, stream handle) error
	zero(at uint64, bytes int64, stream handle) error

	newStream() (handle, error)
	// wait waits until everything given to the stream is done. A fault of a kernel
	// shows here.
	wait(stream handle) error
	closeStream(stream handle) error

	newEvent() (handle, error)
	closeEvent(event handle) error
	record(event, stream handle) error
	// elapsed is called when both events have been reached.
	elapsed(from, to handle) (time.Duration, error)

	load(image []byte) (handle, error)
	function(module handle, name string) (handle, limits, error)
	// optIn allows a function's launches this much dynamic shared memory.
	optIn(function handle, bytes int) error
	launch(function handle, g Geometry, stream handle, args []uint64) error
}

// plainShared is how much shared memory a block can have without opting in.
const plainShared = 48 << 10
