//go:build cudaemu && cgo

package emu

// #cgo CXXFLAGS: -std=c++17 -O2
// #include <stdint.h>
// #include <stdlib.h>
// void emu_backwards(int on);
// int emu_count(int arch);
// const char *emu_name(int arch, int i);
// int emu_threads(int arch, int i);
// int emu_words(int arch, int i);
// void emu_run(int arch, int i, const unsigned *grid, const unsigned *block, long shared, const uint64_t *words,
//              int64_t at, char *message, long size);
import "C"

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// architectures are those the kernels are compiled for; selftest has the
// emulator's own.
var architectures = []int{80, 90}

const selftest = 0

// A kernel is an entry of an architecture's table.
type kernel struct {
	arch, index    int
	name           string
	threads, words int
}

// table lists an architecture's kernels.
func table(arch int) map[string]kernel {
	all := map[string]kernel{}
	for i := range int(C.emu_count(C.int(arch))) {
		a, n := C.int(arch), C.int(i)
		k := kernel{arch: arch, index: i, name: C.GoString(C.emu_name(a, n)), threads: int(C.emu_threads(a, n)), words: int(C.emu_words(a, n))}
		all[k.name] = k
	}
	return all
}

var tables = sync.OnceValue(func() map[int]map[string]kernel {
	all := map[int]map[string]kernel{selftest: table(selftest)}
	for _, arch := range architectures {
		all[arch] = table(arch)
	}
	return all
})

// Backwards has the threads of blocks that begin from now on take their turns
// between barriers from the last to the first, and not from the first to the
// last. A kernel that lacks a barrier gives other numbers then: which thread
// reads before which has written depends on the turns.
func Backwards(on bool) {
	n := C.int(0)
	if on {
		n = 1
	}
	C.emu_backwards(n)
}

// Launch runs a kernel as compiled for an architecture (80 or 90) and
// returns when all its blocks have ended. Each argument is one word.
func Launch(arch int, name string, grid, block [3]int, shared int, args []uint64) error {
	k, ok := tables()[arch][name]
	if !ok {
		return fmt.Errorf("emulated sm_%d: there is no kernel %q: run go generate ./kernels after adding one", arch, name)
	}
	return k.launch(grid, block, shared, args)
}

func (k kernel) launch(grid, block [3]int, shared int, args []uint64) error {
	threads, blocks := 1, int64(1)
	var g, b [3]C.uint
	for i := range 3 {
		if grid[i] < 1 || block[i] < 1 {
			return fmt.Errorf("emulated %s: grid %v, block %v: all have to be 1 at least", k.name, grid, block)
		}
		threads *= block[i]
		blocks *= int64(grid[i])
		g[i], b[i] = C.uint(grid[i]), C.uint(block[i])
	}
	switch {
	case threads != k.threads:
		return fmt.Errorf("emulated %s: %d threads a block: it is written for %d", k.name, threads, k.threads)
	case len(args) != k.words:
		return fmt.Errorf("emulated %s: %d arguments: it takes %d", k.name, len(args), k.words)
	}
	f := fault{block: blocks}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(int64(runtime.GOMAXPROCS(0)), blocks) {
		workers.Go(func() {
			for !f.seen.Load() {
				at := next.Add(1) - 1
				if at >= blocks {
					return
				}
				if why := k.run(&g, &b, shared, args, at); why != "" {
					f.note(at, why)
				}
			}
		})
	}
	workers.Wait()
	if f.why == "" {
		return nil
	}
	return fmt.Errorf("emulated %s for sm_%d, block %d of %d: %s", k.name, k.arch, f.block, blocks, f.why)
}

// run runs one block and says what went wrong, "" if nothing did.
func (k kernel) run(grid, block *[3]C.uint, shared int, args []uint64, at int64) string {
	message := make([]byte, 512)
	words := (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(args)))
	text := (*C.char)(unsafe.Pointer(&message[0]))
	C.emu_run(C.int(k.arch), C.int(k.index), &grid[0], &block[0], C.long(shared), words, C.int64_t(at), text, C.long(len(message)))
	return C.GoString(text)
}

// A fault is the first block, in order, that failed. Blocks are begun in order,
// so it does not depend on how they are spread over threads.
type fault struct {
	seen  atomic.Bool
	lock  sync.Mutex
	block int64
	why   string
}

func (f *fault) note(block int64, why string) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.why == "" || block < f.block {
		f.block, f.why = block, why
	}
	f.seen.Store(true)
}
