package cuda

import "time"

// handle is a driver's own name for a stream, an event, a module or a function.
type handle any

// driver is one of three: gorgonia.org/cu (tag cuda), emulated devices (tag
// cudaemu), or none. newDriver makes the one of this build.
type driver interface {
	// devices lists them all, usable or not.
	devices() ([]Device, error)
	// open is called on the thread that will make all the session's calls.
	open(ordinal int) (session, error)
}

// limits are what one function can be launched with.
type limits struct {
	threads int // in a block
	shared  int // bytes of shared memory that it has without any asked for
}

// session is a context of the driver. All calls come from one thread. Sizes
// and states have been checked.
type session interface {
	free() (int64, error)
	alloc(bytes int64) (uint64, error)
	release(address uint64) error

	upload(to uint64, host []byte, stream handle) error
	// download is called with the stream idle, and is done when it returns.
	download(host []byte, from uint64, stream handle) error
	zero(at uint64, bytes int64, stream handle) error

	newStream() (handle, error)
	// idle says whether everything given to the stream is done. A fault of a
	// kernel shows here.
	idle(stream handle) (bool, error)
	wait(stream, event handle) error
	closeStream(stream handle) error

	newEvent() (handle, error)
	record(event, stream handle) error
	reached(event handle) (bool, error)
	elapsed(from, to handle) (time.Duration, error)
	closeEvent(event handle) error

	load(image []byte) (handle, error)
	function(module handle, name string) (handle, limits, error)
	// optIn allows a function's launches this much dynamic shared memory.
	optIn(function handle, bytes int) error
	launch(function handle, g Geometry, stream handle, args []uint64) error
	unload(module handle) error

	close() error
}
