//go:build cudaemu && !cuda

package cuda

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
	"unsafe"
)

// Emulated is a kernel as a function of the host. It runs all blocks before it
// returns. An error stands for a fault of the kernel: as on a card, it shows at
// the next synchronisation and loses the context.
type Emulated func(g Geometry, args []uint64) error

// emulated has the state that all sessions share.
var emulated = struct {
	sync.Mutex
	kernels map[string]Emulated // by kernelKey
	used    map[int]int64       // bytes, by ordinal
	failing map[string]int      // calls until one fails, by FailEmulated's names
}{kernels: map[string]Emulated{}, used: map[int]int64{}, failing: map[string]int{}}

// emulation is a driver whose devices are the host. Its streams are
// synchronous: a call has run when it returns.
type emulation struct{}

func newDriver() driver { return emulation{} }

// RegisterEmulated adds a kernel for the architecture 80 or 90. It panics if
// there is one of this name.
func RegisterEmulated(arch int, name string, f Emulated) {
	emulated.Lock()
	defer emulated.Unlock()
	key := kernelKey(arch, name)
	if _, twice := emulated.kernels[key]; twice {
		panic("cuda: RegisterEmulated twice for " + key)
	}
	emulated.kernels[key] = f
}

// kernelKey is "sm_80 name".
func kernelKey(arch int, name string) string { return fmt.Sprintf("sm_%d %s", arch, name) }

// FailEmulated makes the n-th call from now on fail, once: 1 is the next. Call
// is "alloc", which runs out of memory, or "upload", "download", "zero" or
// "launch", which fault. It is for tests; n = 0 takes it back.
func FailEmulated(call string, n int) {
	emulated.Lock()
	defer emulated.Unlock()
	emulated.failing[call] = n
}

// failsNow counts a call and says whether it is the one to fail.
func failsNow(call string) bool {
	emulated.Lock()
	defer emulated.Unlock()
	n := emulated.failing[call]
	if n > 0 {
		emulated.failing[call] = n - 1
	}
	return n == 1
}

// devices differ as far as the kernels can tell, with the numbers of an A100 and
// an H100. Each has 1 GiB of memory, or VSSGP_EMU_MEMORY bytes.
func (emulation) devices() ([]Device, error) {
	memory := int64(1 << 30)
	if text := os.Getenv("VSSGP_EMU_MEMORY"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("cuda: VSSGP_EMU_MEMORY is %q: want a number of bytes", text)
		}
		memory = n
	}
	return []Device{
		{Ordinal: 0, Name: "emulated sm_80", Memory: memory, Major: 8, SMs: 108, SharedPerBlock: 163 << 10},
		{Ordinal: 1, Name: "emulated sm_90", Memory: memory, Major: 9, SMs: 132, SharedPerBlock: 227 << 10},
	}, nil
}

func (e emulation) open(ordinal int) (session, error) {
	devices, err := e.devices()
	if err != nil {
		return nil, err
	}
	return &emulatedSession{device: devices[ordinal], pieces: map[uint64]*allocation{}}, nil
}

// emulatedSession is a context on an emulated device.
type emulatedSession struct {
	device Device
	pieces map[uint64]*allocation
	made   int
	failed *code // a fault not shown yet, or shown: it stays
}

// fence bytes stand on both sides of every piece of memory. The piece begins on a
// multiple of align, as the driver's pieces do. Fences and fresh memory are
// filled with 0xFF, which is NaN as a float64 or a float32: reads beyond the end,
// and of memory that was never written, show in the results.
const (
	fence  = 4096
	align  = 256
	filler = 0xFF
)

// allocation is a piece of memory with its fences.
type allocation struct {
	number int // 1 is the context's first
	whole  []byte
	inner  []byte
}

func (s *emulatedSession) free() (int64, error) {
	emulated.Lock()
	defer emulated.Unlock()
	return s.device.Memory - emulated.used[s.device.Ordinal], nil
}

func (s *emulatedSession) alloc(bytes int64) (uint64, error) {
	none := &code{name: "CUDA_ERROR_OUT_OF_MEMORY", number: 2, kind: ErrOutOfMemory}
	if failsNow("alloc") {
		return 0, none
	}
	emulated.Lock()
	defer emulated.Unlock()
	if bytes > s.device.Memory-emulated.used[s.device.Ordinal] {
		return 0, none
	}
	emulated.used[s.device.Ordinal] += bytes
	s.made++
	p := &allocation{number: s.made, whole: make([]byte, bytes+2*fence+align)}
	p.whole[0] = filler
	for n := 1; n < len(p.whole); n *= 2 {
		copy(p.whole[n:], p.whole[:n])
	}
	start := uintptr(unsafe.Pointer(&p.whole[0]))
	lead := fence + int64(-(start+fence)%align)
	p.inner = p.whole[lead : lead+bytes]
	address := uint64(start) + uint64(lead)
	s.pieces[address] = p
	return address, nil
}

func (s *emulatedSession) release(address uint64) error {
	p := s.pieces[address]
	delete(s.pieces, address)
	emulated.Lock()
	emulated.used[s.device.Ordinal] -= int64(len(p.inner))
	emulated.Unlock()
	return p.fences()
}

// fences finds writes beyond the ends.
func (p *allocation) fences() error {
	lead := len(p.whole) - cap(p.inner)
	end := lead + len(p.inner)
	for _, side := range [][2]int{{0, lead}, {end, len(p.whole)}} {
		for i := side[0]; i < side[1]; i++ {
			if p.whole[i] != filler {
				return fmt.Errorf("allocation %d of %d bytes: something wrote at byte %d, outside it: %w", p.number, len(p.inner), i-lead, errRange)
			}
		}
	}
	return nil
}

// bytesAt views device memory, which is the host's. The caller has checked that
// it is held.
func bytesAt(address uint64, n int64) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), n)
}

// fault has the session fail with this detail from the next synchronisation on.
func (s *emulatedSession) fault(detail string) {
	if s.failed == nil {
		s.failed = &code{name: "CUDA_ERROR_ILLEGAL_ADDRESS", number: 700, detail: detail, fault: true}
	}
}

// access calls f, unless the session has failed or FailEmulated has this call fail.
func (s *emulatedSession) access(call string, f func()) error {
	if failsNow(call) {
		s.fault("injected into " + call)
	}
	if s.failed != nil {
		return s.failed
	}
	f()
	return nil
}

func (s *emulatedSession) upload(to uint64, host []byte, _ handle) error {
	return s.access("upload", func() { copy(bytesAt(to, int64(len(host))), host) })
}

func (s *emulatedSession) download(host []byte, from uint64, _ handle) error {
	return s.access("download", func() { copy(host, bytesAt(from, int64(len(host)))) })
}

func (s *emulatedSession) zero(at uint64, bytes int64, _ handle) error {
	return s.access("zero", func() { clear(bytesAt(at, bytes)) })
}

// idle is where a fault shows, besides the copies.
func (s *emulatedSession) idle(handle) (bool, error) {
	if s.failed != nil {
		return false, s.failed
	}
	return true, nil
}

func (s *emulatedSession) newStream() (handle, error)  { return nil, nil }
func (s *emulatedSession) closeStream(handle) error    { return nil }
func (s *emulatedSession) load([]byte) (handle, error) { return nil, nil }

// newEvent's event is the time at which it was recorded.
func (s *emulatedSession) newEvent() (handle, error) { return new(time.Time), nil }

func (s *emulatedSession) record(event, _ handle) error {
	*event.(*time.Time) = time.Now()
	return nil
}

func (s *emulatedSession) elapsed(from, to handle) (time.Duration, error) {
	return to.(*time.Time).Sub(*from.(*time.Time)), nil
}

func (s *emulatedSession) function(_ handle, name string) (handle, limits, error) {
	emulated.Lock()
	defer emulated.Unlock()
	f, ok := emulated.kernels[kernelKey(10*s.device.Major+s.device.Minor, name)]
	if !ok {
		detail := "no such emulated kernel is registered for " + s.device.Name
		return nil, limits{}, &code{name: "CUDA_ERROR_NOT_FOUND", number: 500, detail: detail}
	}
	return &emulatedFunction{f, plainShared}, limits{threads: 1024}, nil
}

// emulatedFunction remembers how much shared memory it was opted into: like a
// card, it refuses launches with more.
type emulatedFunction struct {
	run    Emulated
	shared int
}

func (s *emulatedSession) optIn(function handle, bytes int) error {
	function.(*emulatedFunction).shared = bytes
	return nil
}

func (s *emulatedSession) launch(function handle, g Geometry, _ handle, args []uint64) error {
	if s.failed != nil {
		return s.failed
	}
	if failsNow("launch") {
		s.fault("injected into launch")
		return nil
	}
	f := function.(*emulatedFunction)
	if g.Shared > f.shared {
		return &code{name: "CUDA_ERROR_INVALID_VALUE", number: 1, detail: "shared memory was not opted into"}
	}
	if err := f.run(g, slices.Clone(args)); err != nil {
		s.fault(err.Error())
	}
	return nil
}

// close frees what is still held, and checks its fences.
func (s *emulatedSession) close() error {
	var errs []error
	for address := range s.pieces {
		errs = append(errs, s.release(address))
	}
	return errors.Join(errs...)
}
