//go:build cshared

package main

// The bridge that was not kept: the command as a C shared library, for python/compare/bridges.py.
//
//	go build -tags cshared -buildmode=c-shared -o libvssgp.so ./cmd/vssgp

/*
#include <stdint.h>
#include <stdlib.h>
*/
import "C"

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"sync"
	"unsafe"
)

var (
	cancels   sync.Map // of calls that are executed, by their numbers
	firstCall sync.Once
)

// vssgp_call executes a frame and returns the frame of its answer, which the caller frees.
//
//export vssgp_call
func vssgp_call(number C.int64_t, call unsafe.Pointer, size C.int64_t, answerSize *C.int64_t) unsafe.Pointer {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	cancels.Store(int64(number), stop)
	defer cancels.Delete(int64(number))
	f, err := readFrame(bufio.NewReader(bytes.NewReader(unsafe.Slice((*byte)(call), int(size)))))
	var out bytes.Buffer
	if err == nil {
		err = answer(ctx, f, io.Discard).write(&out)
	}
	if err != nil {
		code := exitFailure
		(&frame{Code: &code, Error: err.Error()}).write(&out)
	}
	*answerSize = C.int64_t(out.Len())
	return C.CBytes(out.Bytes())
}

//export vssgp_cancel
func vssgp_cancel(number C.int64_t) {
	if stop, ok := cancels.Load(int64(number)); ok {
		stop.(context.CancelFunc)()
	}
}

//export vssgp_free
func vssgp_free(p unsafe.Pointer) { C.free(p) }

// vssgp_crash is a bug in a goroutine.
//
//export vssgp_crash
func vssgp_crash() {
	go func() { panic("a bug") }()
	select {}
}
