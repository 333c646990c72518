//go:build cuda && linux && (amd64 || arm64)

package cuda

// #include <stdlib.h>
// #include "library_cu.h"
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"unsafe"

	"gorgonia.org/cu"
)

// cards is NVIDIA's driver through gorgonia.org/cu.
type cards struct{}

func newDriver() driver { return cards{} }

// minMajor is the minimum compute capability of the kernels: 8.0, Ampere.
const minMajor = 8

// sharedOptIn is an attribute missing in cu: the maximum shared memory per block with opt-in.
const sharedOptIn cu.DeviceAttribute = 97

// prohibited is the compute mode in which no process may open a context.
const prohibited = 2

// devices queries the driver only once, because after a fault every call may fail.
func (cards) devices() ([]Device, error) {
	devices, err := listed()
	return slices.Clone(devices), err
}

var listed = sync.OnceValues(func() ([]Device, error) {
	if err := start(); err != nil {
		return nil, err
	}
	n, err := cu.NumDevices()
	if err != nil {
		return nil, fmt.Errorf("cuda: counting the GPUs: %w", translated(err))
	}
	devices := make([]Device, n)
	for i := range devices {
		d := &devices[i]
		d.Ordinal = i
		if err := describe(d); err != nil {
			d.Reason = fmt.Sprintf("the driver does not return its attributes: %v", translated(err))
		}
	}
	return devices, nil
})

// describe fills d with the driver's attributes of a GPU.
func describe(d *Device) error {
	card, err := cu.GetDevice(d.Ordinal)
	if err != nil {
		return err
	}
	if d.Name, err = card.Name(); err != nil {
		return err
	}
	if d.Memory, err = card.TotalMem(); err != nil {
		return err
	}
	var mode int
	for _, a := range []struct {
		attribute cu.DeviceAttribute
		to        *int
	}{
		{cu.ComputeCapabilityMajor, &d.Major},
		{cu.ComputeCapabilityMinor, &d.Minor},
		{cu.MultiprocessorCount, &d.SMs},
		{cu.ComputeMode, &mode},
		{sharedOptIn, &d.SharedPerBlock},
	} {
		if *a.to, err = card.Attribute(a.attribute); err != nil {
			return err
		}
	}
	switch {
	case d.Major < minMajor:
		d.Reason = fmt.Sprintf("its compute capability %d.%d is below the minimum of %d.0", d.Major, d.Minor, minMajor)
	case mode == prohibited:
		d.Reason = "its compute mode is prohibited"
	}
	return nil
}

func (cards) retain(ordinal int) (primary, error) {
	device, err := cu.GetDevice(ordinal)
	if err != nil {
		return nil, translated(err)
	}
	context, err := device.RetainPrimaryCtx()
	if err != nil {
		return nil, translated(err)
	}
	return primaryContext{device, context}, nil
}

// primaryContext is the process's primary context on a GPU.
type primaryContext struct {
	device  cu.Device
	context cu.CUContext
}

func (p primaryContext) bind() (session, error) { return cardSession{p.context}, nil }

// discard resets the context before it releases it: another library of the process may use it too,
// and after a fault it is lost for both.
func (p primaryContext) discard() error {
	return errors.Join(translated(p.device.ResetPrimaryCtx()), translated(p.device.ReleasePrimaryCtx()))
}

// cardSession calls the driver, which stores the current context per thread.
type cardSession struct{ context cu.CUContext }

func (s cardSession) enter() error { return translated(cu.SetCurrentContext(s.context)) }

func (s cardSession) free() (int64, error) {
	free, _, err := cu.MemInfo()
	return free, translated(err)
}

func (s cardSession) alloc(bytes int64) (uint64, error) {
	at, err := cu.MemAlloc(bytes)
	return uint64(at), translated(err)
}

func (s cardSession) release(address uint64) error {
	return translated(cu.MemFree(cu.DevicePtr(address)))
}

func (s cardSession) allocHost(bytes int64) ([]byte, error) {
	var at unsafe.Pointer
	if err := coded(int(C.cuMemHostAlloc(&at, C.size_t(bytes), 0))); err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(at), bytes), nil
}

func (s cardSession) releaseHost(host []byte) error {
	return translated(cu.MemFreeHost(unsafe.Pointer(&host[0])))
}

func (s cardSession) upload(to uint64, host []byte, stream handle) error {
	return translated(cu.MemcpyHtoDAsync(cu.DevicePtr(to), unsafe.Pointer(&host[0]), int64(len(host)), stream.(cu.Stream)))
}

func (s cardSession) download(host []byte, from uint64, stream handle) error {
	return translated(cu.MemcpyDtoHAsync(unsafe.Pointer(&host[0]), cu.DevicePtr(from), int64(len(host)), stream.(cu.Stream)))
}

func (s cardSession) zero(at uint64, bytes int64, stream handle) error {
	return translated(cu.MemsetD8Async(cu.DevicePtr(at), 0, bytes, stream.(cu.Stream)))
}

func (s cardSession) newStream() (handle, error) {
	q, err := cu.MakeStream(cu.NonBlocking)
	return q, translated(err)
}

func (s cardSession) wait(stream handle) error { return waited(stream.(cu.Stream).Synchronize()) }

func (s cardSession) closeStream(stream handle) error {
	q := stream.(cu.Stream)
	return translated(q.Destroy())
}

func (s cardSession) newEvent() (handle, error) {
	e, err := cu.MakeEvent(cu.DefaultEvent)
	return e, translated(err)
}

func (s cardSession) closeEvent(event handle) error {
	e := event.(cu.Event)
	return translated(cu.DestroyEvent(&e))
}

func (s cardSession) record(event, stream handle) error {
	return translated(event.(cu.Event).Record(stream.(cu.Stream)))
}

func (s cardSession) elapsed(from, to handle) (time.Duration, error) {
	ms, err := from.(cu.Event).Elapsed(to.(cu.Event))
	return time.Duration(ms * float64(time.Millisecond)), translated(err)
}

// load returns an error with the first line of the compiler's log, if any.
func (s cardSession) load(image []byte) (handle, error) {
	text, log := append(slices.Clip(image), 0), make([]byte, 16<<10)
	var module unsafe.Pointer
	err := coded(int(C.vssgp_cuda_load(&module, unsafe.Pointer(&text[0]), (*C.char)(unsafe.Pointer(&log[0])), C.size_t(len(log)))))
	if err == nil {
		return module, nil
	}
	if end := bytes.IndexAny(log, "\n\x00"); end > 0 {
		err = fmt.Errorf("%w: %s", err, log[:end])
	}
	return nil, err
}

// The driver's numbers of a function's attributes.
const (
	maxThreadsPerBlock   = 0
	sharedSizeBytes      = 1
	maxDynamicSharedSize = 8
	sharedCarveout       = 9 // percent
)

func (s cardSession) function(module handle, name string) (handle, limits, error) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	var f unsafe.Pointer
	if err := coded(int(C.cuModuleGetFunction(&f, module.(unsafe.Pointer), text))); err != nil {
		return nil, limits{}, err
	}
	var threads, shared C.int
	err := errors.Join(coded(int(C.cuFuncGetAttribute(&threads, maxThreadsPerBlock, f))),
		coded(int(C.cuFuncGetAttribute(&shared, sharedSizeBytes, f))))
	return f, limits{int(threads), int(shared)}, err
}

// optIn allows this much dynamic shared memory. It also sets the largest share of shared memory
// relative to the L1 cache, so that several such blocks run on a multiprocessor.
func (s cardSession) optIn(function handle, bytes int) error {
	f := function.(unsafe.Pointer)
	return errors.Join(coded(int(C.cuFuncSetAttribute(f, maxDynamicSharedSize, C.int(bytes)))),
		coded(int(C.cuFuncSetAttribute(f, sharedCarveout, 100))))
}

func (s cardSession) launch(function handle, g Geometry, stream handle, args []uint64) error {
	var grid, block [3]C.uint
	for i := range grid {
		grid[i], block[i] = C.uint(g.Grid[i]), C.uint(g.Block[i])
	}
	return coded(int(C.vssgp_cuda_launch(function.(unsafe.Pointer), &grid[0], &block[0], C.uint(g.Shared),
		unsafe.Pointer(stream.(cu.Stream).C()), (*C.uint64_t)(unsafe.SliceData(args)), C.int(len(args)))))
}
