// Package cuda will be a small layer over the CUDA driver: devices, a context,
// memory, streams, events, modules, launches. It knows nothing of Gaussian
// processes, and it is the one package that may import gorgonia.org/cu.
//
// Nothing is here yet: this page is its contract. Everything but this file
// and the errors will stand behind the build tag cuda, because the binding
// links the driver's library and ends the process at start where there is no
// driver. Without the tag the package builds everywhere and has the errors
// alone.
//
// # Surface
//
//	ErrNoDevice, ErrOutOfMemory, ErrBudget   for errors.Is
//
//	Devices() ([]Device, error)
//	    Device{Ordinal, Name, Memory, Major, Minor, SMs}; ErrNoDevice, with the
//	    reason, where there is no driver or no card.
//
//	Open(ordinal int, budget int64) (*Context, error)
//	    One context for a card and process. It owns a goroutine locked to an
//	    operating-system thread, and every driver call runs there: the driver's
//	    current context belongs to a thread, goroutines do not stay on one.
//	(*Context) Do(func() error) error      run on that thread, in order
//	(*Context) Held() (bytes int64, n int) device memory not freed yet
//	(*Context) Close() error               an error if anything is still held
//
//	(*Context) Alloc(bytes int64) (*Memory, error)
//	    Counts against the budget and fails with ErrBudget before the driver
//	    is asked; ErrOutOfMemory is the driver's own. Never zeroed.
//	(*Context) AllocHost(bytes int64) (*Pinned, error)   page-locked, for copies
//	(*Memory) Free() error                 twice is an error, not a crash
//	(*Memory) Upload, Download             with a stream; sizes are checked
//
//	(*Context) NewStream() (*Stream, error)
//	(*Stream)  Record(*Event), Wait(*Event), Synchronize, Close
//	(*Context) NewEvent() (*Event, error)
//	Elapsed(from, to *Event) (time.Duration, error)
//
//	(*Context) Load(image []byte) (*Module, error)
//	    PTX or a cubin; the compiler's log is in the error, one line of it in
//	    Error(), all of it in %+v.
//	(*Module)  Function(name string) (*Function, error)
//	(*Function) Launch(grid, block [3]int, shared int, s *Stream, args unsafe.Pointer, size uintptr) error
//	    One argument: a pointer to a struct, copied to the device, because the
//	    binding copies exactly eight bytes an argument. The geometry is checked
//	    against the device's limits first.
//
// # Errors
//
// Every call returns one, and it names the call, what it was about and the
// driver's code:
//
//	cuda: launch moments_partial (grid 132×1×1, block 256×1×1, 49152 bytes shared): CUDA_ERROR_OUT_OF_MEMORY (2)
//	cuda: alloc 3221225472 bytes on device 0 (NVIDIA H200): 1073741824 left of a budget of 8589934592
//
// They wrap the package's errors above and the driver's code. A kernel's fault
// shows at the next synchronisation; the error there names the launches since
// the last one. After it the context is lost: later calls say so.
//
// Nothing panics and nothing exits. No call blocks but Synchronize, Download,
// Close and Do.
package cuda
