//go:build cuda && linux && (amd64 || arm64)

package cuda

/*
#cgo LDFLAGS: -Wl,--as-needed -ldl
#include "library_cu.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"reflect"
)

// start opens the driver's library. It must be called only once. Its error wraps ErrNoDevice.
func start() error {
	var why *C.char
	switch n := C.vssgp_cuda_start(&why); {
	case n < 0:
		return fmt.Errorf("cuda: no driver on this machine (%s): %w", C.GoString(why), ErrNoDevice)
	case n > 0:
		return fmt.Errorf("cuda: the driver does not start: %w: %w", coded(int(n)), ErrNoDevice)
	}
	return nil
}

// Driver codes with separate handling.
const (
	codeOutOfMemory = 2
	codeUnavailable = 46
	codeNoDevice    = 100
	codeNotReady    = 600
)

// faults are the codes after which the driver rejects every call of a context, whichever call
// returns them.
var faults = map[int]bool{
	4:   true, // deinitialized
	214: true, // uncorrectable memory error
	220: true, // NVLink error
	226: true, // contained error
	700: true, // illegal address
	702: true, // launch timeout
	709: true, // the context is destroyed
	710: true, // assertion
	714: true, // hardware stack error
	715: true, // illegal instruction
	716: true, // misaligned address
	717: true, // invalid address space
	718: true, // invalid program counter
	719: true, // launch failed
	721: true, // tensor memory was not freed
	810: true, // the MPS client was terminated
	911: true, // error of a device outside CUDA
	999: true, // unknown
}

// coded converts a driver's code to an error, or nil for 0.
func coded(n int) error {
	if n == 0 {
		return nil
	}
	if name := C.vssgp_cuda_lacking(C.int(n)); name != nil {
		return fmt.Errorf("the driver lacks %s: release 520 or later is required", C.GoString(name))
	}
	c := &code{name: "CUDA_ERROR", number: n, fault: faults[n]}
	if name := C.vssgp_cuda_name(C.int(n)); name != nil {
		c.name = C.GoString(name)
	}
	switch n {
	case codeOutOfMemory:
		c.kind = ErrOutOfMemory
	case codeNoDevice:
		c.kind = ErrNoDevice
	case codeUnavailable:
		c.kind, c.detail = ErrNoDevice, "another process may use the GPU exclusively (compute mode exclusive-process)"
	}
	return c
}

// waited translates the error of a call that waits for the GPU or queries its progress. Such a
// call returns the error of earlier work. So any code except "not ready" and "out of memory" is a
// fault, including codes of future drivers.
func waited(err error) error {
	err = translated(err)
	var c *code
	if errors.As(err, &c) && c.number != codeNotReady && c.number != codeOutOfMemory {
		c.fault = true
	}
	return err
}

// number returns the driver's code of an error of gorgonia.org/cu, which does not export the code's
// type, or 0 if there is none.
func number(err error) int {
	for ; err != nil; err = errors.Unwrap(err) {
		if v := reflect.ValueOf(err); v.Kind() == reflect.Int {
			return int(v.Int())
		}
	}
	return 0
}

// translated converts an error of gorgonia.org/cu to an error of this package.
func translated(err error) error {
	if err == nil {
		return nil
	}
	if n := number(err); n != 0 {
		return coded(n)
	}
	return err
}
