//go:build mpi

package mpi

// #cgo pkg-config: ompi-c
// #include "calls.h"
import "C"

import (
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

// Built reports whether this build contains MPI.
const Built = true

// maxText is the maximum length of the library's texts.
const maxText = 512

// Library returns the name and the version of the MPI library.
func Library() string {
	var text [maxText]C.char
	C.vssgp_mpi_library(&text[0], maxText)
	name, _, _ := strings.Cut(C.GoString(&text[0]), ",") // the rest describes the build
	return name
}

type world struct {
	rank, size int
	calls      chan func()
	mu         sync.Mutex // one call at a time
}

// Start joins the job started by mpirun. It may be called once; Close ends it.
func Start() (World, error) {
	w := &world{calls: make(chan func())}
	go func() {
		runtime.LockOSThread() // all MPI calls are made on this thread
		for f := range w.calls {
			f()
		}
	}()
	var rank, size, code C.int
	w.do(func() { code = C.vssgp_mpi_start(&rank, &size) })
	if code != 0 {
		return nil, failure("start", code)
	}
	w.rank, w.size = int(rank), int(size)
	return w, nil
}

// do runs f on MPI's thread.
func (w *world) do(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	done := make(chan struct{})
	w.calls <- func() { f(); close(done) }
	<-done
}

// call runs f, which returns MPI's code, and panics if that is an error.
func (w *world) call(name string, f func() C.int) {
	var err error
	w.do(func() {
		if code := f(); code != 0 {
			err = failure(name, code)
		}
	})
	if err != nil {
		panic(err)
	}
}

func failure(name string, code C.int) *Error {
	var text [maxText]C.char
	C.vssgp_mpi_text(code, &text[0], maxText)
	return &Error{Call: name, Code: int(code), Text: C.GoString(&text[0])}
}

func (w *world) Rank() int { return w.rank }

func (w *world) Size() int { return w.size }

func (w *world) Broadcast(a []float64, from int) {
	w.call("broadcast", func() C.int { return C.vssgp_mpi_broadcast(doubles(a), C.int64_t(len(a)), C.int(from)) })
}

func (w *world) Max(a []float64) {
	w.call("all-reduce", func() C.int { return C.vssgp_mpi_max(doubles(a), C.int64_t(len(a))) })
}

func (w *world) Sum(a []int64) {
	w.call("reduce", func() C.int {
		return C.vssgp_mpi_sum((*C.int64_t)(unsafe.Pointer(unsafe.SliceData(a))), C.int64_t(len(a)), C.int(w.rank))
	})
}

func (w *world) Send(to int, a []float64) {
	w.call("send", func() C.int { return C.vssgp_mpi_send(doubles(a), C.int64_t(len(a)), C.int(to)) })
}

func (w *world) Recv(from int, a []float64) {
	w.call("receive", func() C.int { return C.vssgp_mpi_recv(doubles(a), C.int64_t(len(a)), C.int(from)) })
}

func (w *world) Barrier() { w.call("barrier", func() C.int { return C.vssgp_mpi_barrier() }) }

// Abort does not use MPI's thread, which may be waiting for a rank that has failed.
func (w *world) Abort(code int) { C.vssgp_mpi_abort(C.int(code)) }

func (w *world) Close() { w.call("finalize", func() C.int { return C.vssgp_mpi_close() }) }

func doubles(a []float64) *C.double { return (*C.double)(unsafe.Pointer(unsafe.SliceData(a))) }
