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
// # One context a card
//
// The driver's context of a card (its primary context), the modules in it and their
// functions are made once a process, and all Contexts on the card share them. The first
// Open takes some tenths of a second, the next ones next to nothing. They stay
// when the last Context has closed, until the process ends: programs close one and open
// another, and tests do so hundreds of times. A card in the mode exclusive-process has
// one context, and so takes one process with any number of Contexts; another
// process's Open fails with ErrNoDevice.
//
// # Threads
//
// All methods may be called from any goroutine. Each makes the card's context current on
// the thread that it is on, and keeps the goroutine there for its driver calls. The
// calls of a Context come one after another. Synchronize, Upload and Download wait in
// the driver, and others may use the context meanwhile; Close waits for them. Two
// Contexts do not wait for each other, but while one compiles an image the other cannot
// load one.
//
// # Memory
//
// Alloc counts against the budget, which each Context has of its own, and fails with
// ErrBudget before the driver is asked. Sizes and ranges of all copies are
// checked. Close is an error if memory is held, and says how much. Memory that is
// freed twice, a stream of another Context and the like are errors.
//
// AllocHost gets page-locked memory of the host, which UploadAsync and DownloadAsync
// copy without waiting: the card does so when the stream comes to it. Such memory must be
// left alone, and not freed, until the stream is synchronized. Upload and Download take
// any memory, and wait for the stream and the copy.
//
// # Errors
//
// Every error says what was asked for, on which device, and has the driver's code:
//
//	cuda: alloc 3221225472 bytes on device 0 (NVIDIA H200): 1073741824 left of a budget of 8589934592: over the memory budget
//	cuda: launch moments_gram_128 (grid 132×1×1, block 256×1×1, 49152 bytes shared) on device 0 (NVIDIA H200): CUDA_ERROR_OUT_OF_MEMORY (2)
//	cuda: alloc 4096 bytes of the host on device 0 (NVIDIA H200): the driver lacks cuMemHostAlloc: want release 520 or later
//
// They wrap the package's errors. A fault of a kernel shows at the next
// Synchronize or Download of its stream, or at any other call: the error wraps ErrLost
// and names the launches on the card since the last synchronization. Every later call of
// every Context on the card repeats it, and so does Open. When all of them are
// closed, the card's context is destroyed, and Open makes a new one. Drivers may
// keep the fault nevertheless, until the process ends; then Open says to start another.
// What counts as a fault are the codes that CUDA documents so, and any
// answer of a call that waits for the card, but for success, "not ready" and "out of
// memory". Nothing panics and nothing exits.
//
// # Emulated devices
//
// With -tags cudaemu a kernel is a function of the host, which RegisterEmulated
// adds for an architecture. The devices have the compute
// capabilities 8.0 and 9.0, the shared memory of real cards, and 1 GiB of
// memory each, or VSSGP_EMU_MEMORY bytes. What a stream is given runs as late as it may,
// when the stream is waited for, and a fault shows only where a card would show it:
// page-locked memory that is changed or read too early shows in the results. Fresh memory is filled with 0xFF, which
// is NaN, and lies between fences that Free checks. FailEmulated makes a call
// fail, so that tests see how callers take it.
//
// # Tests
//
// The tests named TestDriver… run on whatever driver there is: a card, the emulated
// devices, and testdata/driver.c, a driver of cards that are not there, which
// TestFakeDriver compiles.
package cuda
