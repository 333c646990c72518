//go:build cudaemu && cgo

package emu

import (
	"github.com/vssgp/vssgp/cuda"
)

// #cgo CXXFLAGS: -std=c++17 -O2
// #include <stdint.h>
// #include <stdlib.h>
// void emu_backwards(int on);
// void emu_leave_out(const char *file, int line);
// long emu_left_out();
// int emu_count(int arch);
// const char *emu_name(int arch, int i);
// int emu_threads(int arch, int i);
// int emu_words(int arch, int i);
// void emu_run(int arch, int i, const unsigned *grid, const unsigned *block, long shared, const uint64_t *words,
//              int64_t at, char *message, long size);
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/vssgp/vssgp/internal/parallel"
)

// architectures are the targets for which the kernels are compiled. The architecture selftest
// contains the emulator's test kernels.
var architectures = []int{80, 90}

const selftest = 0

// A kernel is an entry in the table of an architecture.
type kernel struct {
	arch, index    int
	name           string
	threads, words int
}

// table returns the kernels of an architecture by name.
func table(arch int) map[string]kernel {
	all := map[string]kernel{}
	for i := range int(C.emu_count(C.int(arch))) {
		a, n := C.int(arch), C.int(i)
		k := kernel{arch: arch, index: i, name: C.GoString(C.emu_name(a, n)), threads: int(C.emu_threads(a, n)),
			words: int(C.emu_words(a, n))}
		all[k.name] = k
	}
	return all
}

// Backwards makes subsequent blocks run their threads between barriers from the last to the first
// instead of from the first to the last. If a kernel lacks a barrier, its results change, because
// the order determines which reads precede which writes.
func Backwards(on bool) {
	n := C.int(0)
	if on {
		n = 1
	}
	C.emu_backwards(n)
}

// LeaveOut makes blocks ignore the barrier at the given line of a file, named without its folders.
// Line 0 restores all barriers. Tests use it to check that a missing barrier is detected.
func LeaveOut(file string, line int) {
	name := C.CString(file)
	defer C.free(unsafe.Pointer(name))
	C.emu_leave_out(name, C.int(line))
}

// LeftOut returns how many times a thread has passed the barrier that LeaveOut names.
func LeftOut() int { return int(C.emu_left_out()) }

// launch runs a kernel and returns when all its blocks have ended. Each argument is one word. If
// blocks fail, it returns the error of the first one.
func (k kernel) launch(grid, block [3]int, shared int, args []uint64) error {
	threads, blocks := 1, 1
	var g, b [3]C.uint
	for i := range 3 {
		threads *= block[i]
		blocks *= grid[i]
		g[i], b[i] = C.uint(grid[i]), C.uint(block[i])
	}
	switch {
	case threads != k.threads:
		return fmt.Errorf("emulated %s: %d threads per block, must be %d", k.name, threads, k.threads)
	case len(args) != k.words:
		return fmt.Errorf("emulated %s: %d arguments, must be %d", k.name, len(args), k.words)
	}
	name := fmt.Sprintf("emulated %s for sm_%d", k.name, k.arch)
	return watch(name, func(workers int) error {
		return parallel.Try(blocks, workers, func(at int) error {
			if why := k.run(&g, &b, shared, args, at); why != "" {
				return fmt.Errorf("%s, block %d of %d: %s", name, at, blocks, why)
			}
			return nil
		})
	})
}

// run runs one block and returns an error message, or "".
func (k kernel) run(grid, block *[3]C.uint, shared int, args []uint64, at int) string {
	message := make([]byte, 512)
	words := (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(args)))
	text := (*C.char)(unsafe.Pointer(&message[0]))
	C.emu_run(C.int(k.arch), C.int(k.index), &grid[0], &block[0], C.long(shared), words, C.int64_t(at), text, C.long(len(message)))
	return C.GoString(text)
}

// init registers the kernels of each architecture with the emulated devices of package cuda.
func init() {
	for _, arch := range architectures {
		for name, k := range table(arch) {
			cuda.RegisterEmulated(arch, name, func(g cuda.Geometry, args []uint64) error {
				return k.launch(g.Grid, g.Block, g.Shared, args)
			})
		}
	}
}
