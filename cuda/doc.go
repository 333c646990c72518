// Package cuda is vssgp's layer over the CUDA driver. It is a part of vssgp's implementation: it is
// public because package gpu returns its Device and its errors, but its API may change in any
// release.
//
// The package has devices, contexts, memory, streams, modules, launches and their times. It is
// independent of Gaussian processes, and no other package imports gorgonia.org/cu. Contexts, memory,
// streams, modules and functions come from Open and the methods of their results; methods of nil or
// zero ones panic.
//
// # Three drivers
//
// Build tags select the driver. The package, and every package that uses it, builds with each.
//
//	-tags cuda     NVIDIA's driver through gorgonia.org/cu; Linux, amd64 or arm64
//	-tags cudaemu  two emulated devices in Go, for tests
//	none           no device: the errors of Devices and Open name the tag cuda
//
// docs/cuda.md has the commands of a build with -tags cuda. The first folder of CGO_CFLAGS must be
// cuda/compat: gorgonia.org/cu v0.9.6 uses the names of CUDA 11 and 12, and the header there restores
// their meaning for CUDA 13. cuda/compat also contains an empty libcuda.a, because cu links with
// -lcuda, which a machine without the driver does not have. check.sh builds, vets and tests with the
// headers of a folder.
//
// # Starting without a driver
//
// cu links libcuda.so.1, and its init function exits the program if the driver does not start. This
// package avoids both. library_cu.S defines every driver function that cu references as a jump
// through a slot. library_cu.c opens the library and fills the slots at the first call of Devices
// or Open. The cuInit that cu calls at startup returns success without doing anything. So a program
// built with -tags cuda starts on any machine, does not load a driver that it does not use, and
// reports why there is no GPU. symbols.sh generates the list of functions from cu's object files
// when cu changes.
//
// # One context per GPU
//
// The driver's primary context of a GPU, its modules and their functions are created once per
// process, and all Contexts on the GPU share them. The first Open takes some tenths of a second,
// later ones almost no time. They are kept until the process ends, even after the last Context is
// closed, because programs close one and open another, and tests do so hundreds of times. A GPU in
// exclusive-process mode has one context and therefore supports one process with any number of
// Contexts; Open in another process fails with ErrNoDevice.
//
// # Threads
//
// All methods may be called from any goroutine. Each makes the context current on its thread and
// locks the goroutine to it for the driver calls. The calls of a Context are serialized.
// Synchronize, Upload and Download wait in the driver, and other goroutines may use the context
// meanwhile; Close waits for them. Two Contexts do not wait for each other, except that only one
// can load an image at a time.
//
// # Memory
//
// Alloc counts against the Context's budget, and fails with ErrBudget before calling the driver.
// Sizes and ranges of all copies are checked. Close returns an error with the size if memory is not
// freed. Freeing memory twice, using a stream of another Context and similar misuse return errors.
//
// AllocHost allocates page-locked host memory, which UploadAsync and DownloadAsync copy without
// waiting. Do not access or free such memory until the stream is synchronized. Upload and Download
// accept any memory, and wait for the stream and the copy.
//
// # Errors
//
// Every error contains the request, the device and the driver's code:
//
//	cuda: alloc 3221225472 bytes on device 0 (NVIDIA H200): 1073741824 left of a budget of 8589934592: over the memory budget
//	cuda: launch moments_gram_128 (grid 132×1×1, block 256×1×1, 49152 bytes shared) on device 0 (NVIDIA H200): CUDA_ERROR_OUT_OF_MEMORY (2)
//	cuda: alloc 4096 bytes of host memory on device 0 (NVIDIA H200): the driver lacks cuMemHostAlloc: release 520 or later is required
//
// They wrap the package's errors. A fault of a kernel is reported at the next Synchronize or
// Download of its stream, or at any other call: the error wraps ErrLost and names the launches on
// the GPU since the last synchronization. Every later call of every Context on the GPU repeats it,
// and so does Open. When all of them are closed, the primary context is destroyed, and Open creates
// a new one. Some drivers keep the fault until the process ends; then the error of Open states
// that another process must be started. Faults are the codes that CUDA documents as such, and any
// result of a call that waits for the GPU except success, "not ready" and "out of memory". The
// package never panics or exits.
//
// # Emulated devices
//
// With -tags cudaemu a kernel is a Go function, which RegisterEmulated adds for an architecture.
// The devices have the compute capabilities 8.0 and 9.0, the shared memory of real GPUs, and 1 GiB
// of memory each, or VSSGP_EMU_MEMORY bytes. Operations in a stream run as late as possible, when
// the stream is synchronized, and a fault is reported where a GPU would report it; so changing or
// reading page-locked memory too early gives wrong results. New memory is filled with 0xFF, which
// is NaN, and is surrounded by guard bytes that Free checks. FailEmulated makes a call fail, to
// test error handling.
//
// # Tests
//
// The tests named TestDriver… run with any driver: a GPU, the emulated devices, and
// testdata/driver.c, a fake driver that TestFakeDriver compiles.
package cuda
