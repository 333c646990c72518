// Package cuda is a small layer over the CUDA driver: devices, a context,
// memory, streams, modules, launches and their times. It knows nothing of
// Gaussian processes, and no other package imports gorgonia.org/cu.
//
// # Three drivers
//
// Build tags choose the driver. The package, and every package that uses it,
// builds with each.
//
//	-tags cuda     NVIDIA's driver, by way of gorgonia.org/cu; Linux, amd64 or arm64
//	-tags cudaemu  two emulated devices, in Go: for tests
//	none           no device: Devices and Open say to build with -tags cuda
//
// # Building with -tags cuda
//
// The build needs cgo, a C compiler, and the toolkit's header cuda.h of CUDA
// 11, 12 or 13. It needs neither nvcc nor a driver nor a card. In a checkout:
//
//	export CGO_CFLAGS="-I$PWD/cuda/compat -I/usr/local/cuda/include"
//	export CGO_LDFLAGS="-L$PWD/cuda/compat"
//	go build -tags cuda ./cmd/vssgp
//
// The first folder of CGO_CFLAGS must be cuda/compat: gorgonia.org/cu v0.9.6
// knows the names of CUDA 11 and 12, and the header there gives CUDA 13's names
// their old meaning back. cuda/compat also has an empty libcuda.a, because cu
// asks the linker for -lcuda, and a machine without the driver does not have it.
// The second folder has the toolkit's headers:
//
//	Debian 12, CUDA 11:   apt install nvidia-cuda-dev            /usr/include
//	NVIDIA's toolkit:     as its page says                       /usr/local/cuda/include
//	pip, CUDA 11:         pip install nvidia-cuda-runtime-cu11   nvidia/cuda_runtime/include
//	pip, CUDA 12:         pip install nvidia-cuda-runtime-cu12   nvidia/cuda_runtime/include
//	pip, CUDA 13:         pip install nvidia-cuda-runtime        nvidia/cu13/include
//
// pip's folders are below site-packages. check.sh builds, vets and tests
// against one folder; it was run with 11.8, 12.9 and 13.5.
//
// # Starting without a driver
//
// cu links libcuda.so.1, and its init ends the program if the driver does not
// start. Here neither happens. library_cu.S defines every function of the
// driver that cu refers to, as a jump through a slot; library_cu.c opens the
// library and fills the slots when Devices or Open is first called; and the
// cuInit that cu calls at the start succeeds without doing anything. So a
// program built with -tags cuda starts on any machine, takes no time for a
// driver that it does not use, and says why there is no card. symbols.sh writes
// the list of functions, from cu's object files, when cu changes.
//
// # Threads
//
// A context owns a goroutine locked to an operating-system thread, and every
// driver call runs there, in the order asked. Synchronize and Download wait by
// asking again and again, and leave the thread to others in between. So all
// methods may be called from any goroutine, and only these two and Close block
// for longer than the calls before them. A fault of a kernel loses the kernel's
// context, and no other.
//
// # Memory
//
// Alloc counts against the context's budget, and fails with ErrBudget before
// the driver is asked. Sizes and ranges of all copies are checked. Close is an
// error if memory is held, and says how much. Memory that is freed twice, a
// stream of another context and the like are errors.
//
// # Errors
//
// Every error says what was asked for, on which device, and has the driver's code:
//
//	cuda: alloc 3221225472 bytes on device 0 (NVIDIA H200): 1073741824 left of a budget of 8589934592: over the memory budget
//	cuda: launch moments_gram_128 (grid 132×1×1, block 256×1×1, 49152 bytes shared) on device 0 (NVIDIA H200): CUDA_ERROR_OUT_OF_MEMORY (2)
//
// They wrap the package's errors. A fault of a kernel shows at the next
// Synchronize or Download of its stream: the error wraps ErrLost and names the
// launches since the last synchronisation, and every later call repeats it.
// Nothing panics and nothing exits.
//
// # Emulated devices
//
// With -tags cudaemu a kernel is a function of the host, which RegisterEmulated
// adds for an architecture. The devices have the compute
// capabilities 8.0 and 9.0, the shared memory of real cards, and 1 GiB of
// memory each, or VSSGP_EMU_MEMORY bytes. Streams are synchronous, yet a fault
// shows only where a card would show it. Fresh memory is filled with 0xFF, which
// is NaN, and lies between fences that Free checks. FailEmulated makes a call
// fail, so that tests see how callers take it.
package cuda
