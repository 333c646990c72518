//go:build cuda && linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"gorgonia.org/cu"
)

// cards is NVIDIA's driver, by way of gorgonia.org/cu.
type cards struct{}

func newDriver() driver { return cards{} }

// leastMajor is the compute capability that the kernels start from: 8.0, Ampere.
const leastMajor = 8

// sharedOptIn is an attribute that cu has no name for: the most shared memory
// that a block can opt into.
const sharedOptIn cu.DeviceAttribute = 97

// prohibited is the compute mode in which no process may open a context.
const prohibited = 2

func (cards) devices() ([]Device, error) {
	if err := start(); err != nil {
		return nil, err
	}
	n, err := cu.NumDevices()
	if err != nil {
		return nil, fmt.Errorf("cuda: counting the cards: %w", translated(err))
	}
	devices := make([]Device, n)
	for i := range devices {
		d := &devices[i]
		d.Ordinal = i
		if err := describe(d); err != nil {
			d.Reason = fmt.Sprintf("the driver does not describe it: %v", translated(err))
		}
	}
	return devices, nil
}

// describe asks the driver about a card.
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
	case d.Major < leastMajor:
		d.Reason = fmt.Sprintf("its compute capability is %d.%d, want %d.0 or more", d.Major, d.Minor, leastMajor)
	case mode == prohibited:
		d.Reason = "its compute mode is prohibited"
	}
	return nil
}

func (cards) open(ordinal int) (session, error) {
	card, err := cu.GetDevice(ordinal)
	if err != nil {
		return nil, translated(err)
	}
	context, err := card.MakeContext(cu.SchedAuto)
	if err != nil {
		return nil, translated(err)
	}
	return &cardSession{context}, nil
}

// cardSession is a context, current on the thread that made it.
type cardSession struct{ context cu.CUContext }

func (s *cardSession) close() error { return translated(s.context.Destroy()) }

func (s *cardSession) free() (int64, error) {
	free, _, err := cu.MemInfo()
	return free, translated(err)
}

func (s *cardSession) alloc(bytes int64) (uint64, error) {
	at, err := cu.MemAlloc(bytes)
	return uint64(at), translated(err)
}

func (s *cardSession) release(address uint64) error {
	return translated(cu.MemFree(cu.DevicePtr(address)))
}

// upload: the driver has copied host, which is not page-locked, when it returns.
func (s *cardSession) upload(to uint64, host []byte, stream handle) error {
	err := cu.MemcpyHtoDAsync(cu.DevicePtr(to), unsafe.Pointer(&host[0]), int64(len(host)), stream.(cu.Stream))
	runtime.KeepAlive(host)
	return translated(err)
}

func (s *cardSession) download(host []byte, from uint64, stream handle) error {
	q := stream.(cu.Stream)
	err := cu.MemcpyDtoHAsync(unsafe.Pointer(&host[0]), cu.DevicePtr(from), int64(len(host)), q)
	if err == nil {
		err = q.Synchronize()
	}
	runtime.KeepAlive(host)
	return translated(err)
}

func (s *cardSession) zero(at uint64, bytes int64, stream handle) error {
	return translated(cu.MemsetD8Async(cu.DevicePtr(at), 0, bytes, stream.(cu.Stream)))
}

func (s *cardSession) newStream() (handle, error) {
	q, err := cu.MakeStream(cu.NonBlocking)
	return q, translated(err)
}

func (s *cardSession) idle(stream handle) (bool, error) {
	err := stream.(cu.Stream).Query()
	if number(err) == codeNotReady {
		return false, nil
	}
	return err == nil, translated(err)
}

func (s *cardSession) closeStream(stream handle) error {
	q := stream.(cu.Stream)
	return translated(q.Destroy())
}

func (s *cardSession) newEvent() (handle, error) {
	e, err := cu.MakeEvent(cu.DefaultEvent)
	return e, translated(err)
}

func (s *cardSession) record(event, stream handle) error {
	return translated(event.(cu.Event).Record(stream.(cu.Stream)))
}

func (s *cardSession) elapsed(from, to handle) (time.Duration, error) {
	ms, err := from.(cu.Event).Elapsed(to.(cu.Event))
	return time.Duration(ms * float64(time.Millisecond)), translated(err)
}

// load's error has the first line of the compiler's log, if there is one.
func (s *cardSession) load(image []byte) (handle, error) {
	log := make([]byte, 16<<10)
	m, err := cu.LoadDataEx(string(image), &cu.JITErrorLogBuffer{Buffer: log})
	if err == nil {
		return m, nil
	}
	err = translated(err)
	if end := bytes.IndexAny(log, "\n\x00"); end > 0 {
		err = fmt.Errorf("%w: %s", err, log[:end])
	}
	return nil, err
}

func (s *cardSession) function(module handle, name string) (handle, limits, error) {
	f, err := module.(cu.Module).Function(name)
	if err != nil {
		return nil, limits{}, translated(err)
	}
	threads, err1 := f.Attribute(cu.FnMaxThreadsPerBlock)
	shared, err2 := f.Attribute(cu.SharedSizeBytes)
	return f, limits{threads, shared}, errors.Join(translated(err1), translated(err2))
}

// optIn needs the driver's own name of the function. cu does not export it, but
// a cu.Function holds nothing else.
func (s *cardSession) optIn(function handle, bytes int) error {
	f := function.(cu.Function)
	return optIn(*(*unsafe.Pointer)(unsafe.Pointer(&f)), bytes)
}

func (s *cardSession) launch(function handle, g Geometry, stream handle, args []uint64) error {
	words := make([]unsafe.Pointer, len(args))
	for i := range args {
		words[i] = unsafe.Pointer(&args[i])
	}
	return translated(function.(cu.Function).Launch(
		g.Grid[0], g.Grid[1], g.Grid[2], g.Block[0], g.Block[1], g.Block[2],
		g.Shared, stream.(cu.Stream), words))
}

// A compile error here means that a cu.Function holds more, and that optIn is wrong.
var _ [unsafe.Sizeof(uintptr(0))]byte = [unsafe.Sizeof(cu.Function{})]byte{}
