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

// emulated is the one driver of a program with emulated devices.
var emulated = &emulation{
	kernels: map[string]Emulated{},
	used:    map[int]int64{},
	failing: map[string]int{},
}

// emulation is a driver whose devices are the host. Its streams are
// synchronous: a call has run when it returns.
type emulation struct {
	mu      sync.Mutex
	kernels map[string]Emulated // by arch and name
	used    map[int]int64       // bytes, by ordinal
	failing map[string]int      // calls until one fails, by FailEmulated's names
}

func newDriver() driver { return emulated }

// RegisterEmulated adds a kernel for the architecture 80 or 90. Twice the
// same is a broken contract.
func RegisterEmulated(arch int, name string, f Emulated) {
	emulated.mu.Lock()
	defer emulated.mu.Unlock()
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
	emulated.mu.Lock()
	defer emulated.mu.Unlock()
	emulated.failing[call] = n
}

// fails counts a call and says whether it is the one to fail.
func (e *emulation) fails(call string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.failing[call]
	if n > 0 {
		e.failing[call] = n - 1
	}
	return n == 1
}

// emulatedMemory is a device's memory where the environment does not set it.
const emulatedMemory = 1 << 30

// emulatedDevices are alike but for what the kernels ask about. The numbers are
// those of an A100 and an H100.
var emulatedDevices = []Device{
	{Ordinal: 0, Name: "emulated sm_80", Major: 8, SMs: 108, SharedPerBlock: 163 << 10},
	{Ordinal: 1, Name: "emulated sm_90", Major: 9, SMs: 132, SharedPerBlock: 227 << 10},
}

// devices has the memory of VSSGP_EMU_MEMORY, in bytes, for each.
func (e *emulation) devices() ([]Device, error) {
	memory := int64(emulatedMemory)
	if text := os.Getenv("VSSGP_EMU_MEMORY"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("cuda: VSSGP_EMU_MEMORY is %q: want a number of bytes", text)
		}
		memory = n
	}
	devices := slices.Clone(emulatedDevices)
	for i := range devices {
		devices[i].Memory = memory
	}
	return devices, nil
}

func (e *emulation) open(ordinal int) (session, error) {
	devices, err := e.devices()
	if err != nil {
		return nil, err
	}
	return &emulatedSession{driver: e, device: devices[ordinal], pieces: map[uint64]*piece{}}, nil
}

// emulatedSession is a context on an emulated device.
type emulatedSession struct {
	driver *emulation
	device Device
	pieces map[uint64]*piece
	made   int
	failed *code // a fault not shown yet, or shown: it stays
}

// fence bytes stand on both sides of every piece of memory, which itself begins
// on a multiple of align, as the driver's does. Fences and fresh memory are
// filled with 0xFF, which is NaN as a float64 or a float32: reads of what was
// never written and reads beyond the end show in the results.
const (
	fence  = 4096
	align  = 256
	filler = 0xFF
)

// piece is one allocation.
type piece struct {
	number int // 1 is the context's first
	whole  []byte
	inner  []byte
}

func (s *emulatedSession) free() (int64, error) {
	s.driver.mu.Lock()
	defer s.driver.mu.Unlock()
	return s.device.Memory - s.driver.used[s.device.Ordinal], nil
}

func (s *emulatedSession) alloc(bytes int64) (uint64, error) {
	none := &code{name: "CUDA_ERROR_OUT_OF_MEMORY", number: 2, kind: ErrOutOfMemory}
	if s.driver.fails("alloc") {
		return 0, none
	}
	s.driver.mu.Lock()
	defer s.driver.mu.Unlock()
	if bytes > s.device.Memory-s.driver.used[s.device.Ordinal] {
		return 0, none
	}
	s.driver.used[s.device.Ordinal] += bytes
	s.made++
	p := &piece{number: s.made, whole: make([]byte, bytes+2*fence+align)}
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
	p, ok := s.pieces[address]
	if !ok {
		return &code{name: "CUDA_ERROR_INVALID_VALUE", number: 1}
	}
	delete(s.pieces, address)
	s.driver.mu.Lock()
	s.driver.used[s.device.Ordinal] -= int64(len(p.inner))
	s.driver.mu.Unlock()
	return p.fences()
}

// fences finds writes beyond the ends.
func (p *piece) fences() error {
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

// at finds the bytes of a device address.
func (s *emulatedSession) at(address uint64, bytes int64) ([]byte, error) {
	for start, p := range s.pieces {
		if address >= start && address-start <= uint64(len(p.inner)) {
			offset := int64(address - start)
			if bytes <= int64(len(p.inner))-offset {
				return p.inner[offset : offset+bytes], nil
			}
		}
	}
	return nil, &code{name: "CUDA_ERROR_INVALID_VALUE", number: 1}
}

// sticky is a fault shown before, or the injected one of this call.
func (s *emulatedSession) sticky(call string) error {
	if s.driver.fails(call) {
		s.fault("injected into " + call)
	}
	if s.failed != nil {
		return s.failed
	}
	return nil
}

func (s *emulatedSession) fault(detail string) {
	if s.failed == nil {
		s.failed = &code{name: "CUDA_ERROR_ILLEGAL_ADDRESS", number: 700, detail: detail, fault: true}
	}
}

func (s *emulatedSession) upload(to uint64, host []byte, _ handle) error {
	if err := s.sticky("upload"); err != nil {
		return err
	}
	v, err := s.at(to, int64(len(host)))
	copy(v, host)
	return err
}

func (s *emulatedSession) download(host []byte, from uint64, _ handle) error {
	if err := s.sticky("download"); err != nil {
		return err
	}
	v, err := s.at(from, int64(len(host)))
	copy(host, v)
	return err
}

func (s *emulatedSession) zero(at uint64, bytes int64, _ handle) error {
	if err := s.sticky("zero"); err != nil {
		return err
	}
	v, err := s.at(at, bytes)
	clear(v)
	return err
}

func (s *emulatedSession) newStream() (handle, error) { return nil, s.sticky("") }
func (s *emulatedSession) closeStream(handle) error   { return s.sticky("") }

func (s *emulatedSession) idle(handle) (bool, error) {
	err := s.sticky("")
	return err == nil, err
}

// An event is the time at which it was recorded.
func (s *emulatedSession) newEvent() (handle, error) { return new(time.Time), s.sticky("") }
func (s *emulatedSession) closeEvent(handle) error   { return s.sticky("") }

func (s *emulatedSession) record(event, _ handle) error {
	*event.(*time.Time) = time.Now()
	return s.sticky("")
}

func (s *emulatedSession) reached(handle) (bool, error) {
	err := s.sticky("")
	return err == nil, err
}

func (s *emulatedSession) elapsed(from, to handle) (time.Duration, error) {
	return to.(*time.Time).Sub(*from.(*time.Time)), nil
}

func (s *emulatedSession) load([]byte) (handle, error) { return nil, s.sticky("") }
func (s *emulatedSession) unload(handle) error         { return s.sticky("") }

func (s *emulatedSession) function(_ handle, name string) (handle, limits, error) {
	s.driver.mu.Lock()
	defer s.driver.mu.Unlock()
	f, ok := s.driver.kernels[kernelKey(10*s.device.Major+s.device.Minor, name)]
	if !ok {
		detail := "no such emulated kernel is registered for " + s.device.Name
		return nil, limits{}, &code{name: "CUDA_ERROR_NOT_FOUND", number: 500, detail: detail}
	}
	return &emulatedFunction{f, plainShared}, limits{threads: 1024}, nil
}

// emulatedFunction remembers what it was opted into, to refuse a launch that
// was not: a card refuses it.
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
	if s.driver.fails("launch") {
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

// close gives everything back, and checks the fences of what was not freed.
func (s *emulatedSession) close() error {
	var errs []error
	for address := range s.pieces {
		errs = append(errs, s.release(address))
	}
	return errors.Join(errs...)
}
