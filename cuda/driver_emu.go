//go:build cudaemu && !cuda

package cuda

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Emulated is a kernel as a Go function. It runs all blocks before it returns. An error represents
// a fault of the kernel: as on a GPU, it is reported at the next synchronization and loses the
// context.
type Emulated func(g Geometry, args []uint64) error

// emulated is the state that all sessions share.
var emulated = struct {
	sync.Mutex
	kernels map[string]Emulated // by kernelKey
	used    map[int]int64       // bytes, by ordinal
	failing map[string]int      // calls until one fails, by FailEmulated's names
}{kernels: map[string]Emulated{}, used: map[int]int64{}, failing: map[string]int{}}

// emulation is a driver whose devices are emulated on the host. Operations in a stream run as late
// as possible: when the stream is synchronized. So changing or reading page-locked memory too early
// gives wrong results.
type emulation struct{}

func newDriver() driver { return emulation{} }

// RegisterEmulated adds a kernel for the architecture 80 or 90. It panics if one of this name
// exists.
func RegisterEmulated(arch int, name string, f Emulated) {
	emulated.Lock()
	defer emulated.Unlock()
	key := kernelKey(arch, name)
	if _, twice := emulated.kernels[key]; twice {
		panic("cuda: RegisterEmulated twice for " + key)
	}
	emulated.kernels[key] = f
}

// kernelKey returns a key such as "sm_80 name".
func kernelKey(arch int, name string) string { return fmt.Sprintf("sm_%d %s", arch, name) }

// FailEmulated makes the n-th call from now fail once; 1 is the next call, and n = 0 cancels it.
// call is "alloc", for device or host memory, which returns out of memory, or "upload", "download",
// "zero" or "launch", which fault. It is for tests.
func FailEmulated(call string, n int) {
	emulated.Lock()
	defer emulated.Unlock()
	emulated.failing[call] = n
}

// failsNow counts a call and reports whether it must fail.
func failsNow(call string) bool {
	emulated.Lock()
	defer emulated.Unlock()
	n := emulated.failing[call]
	if n > 0 {
		emulated.failing[call] = n - 1
	}
	return n == 1
}

// devices returns two devices with the properties of an A100 and an H100 that kernels can observe.
// Each has 1 GiB of memory, or VSSGP_EMU_MEMORY bytes.
func (emulation) devices() ([]Device, error) {
	memory := int64(1 << 30)
	if text := os.Getenv("VSSGP_EMU_MEMORY"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("cuda: VSSGP_EMU_MEMORY is %q but must be a number of bytes", text)
		}
		memory = n
	}
	return []Device{
		{Ordinal: 0, Name: "emulated sm_80", Memory: memory, Major: 8, SMs: 108, SharedPerBlock: 163 << 10},
		{Ordinal: 1, Name: "emulated sm_90", Memory: memory, Major: 9, SMs: 132, SharedPerBlock: 227 << 10},
	}, nil
}

func (emulation) retain(ordinal int) (primary, error) { return &emulatedCard{ordinal: ordinal}, nil }

// emulatedCard is a process's context on an emulated device.
type emulatedCard struct {
	ordinal int
	mu      sync.Mutex // guards failed
	failed  *code      // a fault, reported or not
}

func (c *emulatedCard) bind() (session, error) {
	devices, err := emulation{}.devices()
	if err != nil {
		return nil, err
	}
	return &emulatedSession{card: c, device: devices[c.ordinal], pieces: map[uint64]*allocation{}, streams: map[*emulatedStream]bool{}}, nil
}

// discard frees all memory, which belongs to the context.
func (c *emulatedCard) discard() error {
	emulated.Lock()
	defer emulated.Unlock()
	delete(emulated.used, c.ordinal)
	return nil
}

// fault makes the GPU fail with this detail from the next synchronization on.
func (c *emulatedCard) fault(detail string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil {
		c.failed = &code{name: "CUDA_ERROR_ILLEGAL_ADDRESS", number: 700, detail: detail, fault: true}
	}
}

// failure returns the GPU's fault, or nil.
func (c *emulatedCard) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil {
		return nil
	}
	return c.failed
}

// emulatedSession is a session on an emulated GPU.
type emulatedSession struct {
	card   *emulatedCard
	device Device

	mu      sync.Mutex // guards the fields below and the streams' tasks; locked while a kernel runs
	pieces  map[uint64]*allocation
	streams map[*emulatedStream]bool
	made    int
}

// emulatedStream contains the tasks that have not run yet.
type emulatedStream struct{ waiting []emulatedTask }

// emulatedTask is a copy, a launch or similar; locked is the page-locked memory that it uses, if
// any.
type emulatedTask struct {
	run    func()
	locked []byte
}

// give adds a task to a stream, unless the GPU has failed. If FailEmulated makes this call fail,
// the GPU fails and the error is returned at once. An empty call never fails that way.
func (s *emulatedSession) give(call string, stream handle, locked []byte, run func()) error {
	if failsNow(call) {
		s.card.fault("injected into " + call)
	}
	if err := s.card.failure(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := stream.(*emulatedStream)
	q.waiting = append(q.waiting, emulatedTask{run, locked})
	return nil
}

// run runs the tasks of a stream, up to a fault.
func (s *emulatedSession) run(q *emulatedStream) {
	for len(q.waiting) > 0 && s.card.failure() == nil {
		task := q.waiting[0]
		q.waiting = q.waiting[1:]
		task.run()
	}
}

// Guard bytes surround every allocation. It begins at a multiple of align, as with the driver.
// Guards and new memory are filled with 0xFF, which is NaN as a float64 or a float32, so that reads
// beyond the end and of uninitialized memory show in the results.
const (
	fence  = 4096
	align  = 256
	filler = 0xFF
)

// allocation is an allocation with its guard bytes.
type allocation struct {
	number int // from 1 in each context
	whole  []byte
	inner  []byte
}

func (s *emulatedSession) free() (int64, error) {
	if err := s.card.failure(); err != nil {
		return 0, err
	}
	emulated.Lock()
	defer emulated.Unlock()
	return s.device.Memory - emulated.used[s.device.Ordinal], nil
}

var errNoMemory = &code{name: "CUDA_ERROR_OUT_OF_MEMORY", number: 2, kind: ErrOutOfMemory}

func (s *emulatedSession) alloc(bytes int64) (uint64, error) {
	if failsNow("alloc") {
		return 0, errNoMemory
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	emulated.Lock()
	defer emulated.Unlock()
	if bytes > s.device.Memory-emulated.used[s.device.Ordinal] {
		return 0, errNoMemory
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

// release waits for all streams, as on a GPU.
func (s *emulatedSession) release(address uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for q := range s.streams {
		s.run(q)
	}
	p := s.pieces[address]
	delete(s.pieces, address)
	emulated.Lock()
	emulated.used[s.device.Ordinal] -= int64(len(p.inner))
	emulated.Unlock()
	return p.fences()
}

// allocHost allocates page-locked memory. FailEmulated can make it fail like alloc.
func (s *emulatedSession) allocHost(bytes int64) ([]byte, error) {
	if failsNow("alloc") {
		return nil, errNoMemory
	}
	b := Bytes(make([]uint64, (bytes+7)/8))[:bytes]
	for i := range b {
		b[i] = filler
	}
	return b, nil
}

// releaseHost fills the memory with NaN, and returns an error while a copy needs it.
func (s *emulatedSession) releaseHost(host []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range host {
		host[i] = filler
	}
	for q := range s.streams {
		for _, task := range q.waiting {
			if len(task.locked) > 0 && &task.locked[0] == &host[0] {
				return fmt.Errorf("a copy of page-locked memory is in progress: %w", errRange)
			}
		}
	}
	return nil
}

// fences returns an error if guard bytes were overwritten.
func (p *allocation) fences() error {
	lead := len(p.whole) - cap(p.inner)
	end := lead + len(p.inner)
	for _, side := range [][2]int{{0, lead}, {end, len(p.whole)}} {
		for i := side[0]; i < side[1]; i++ {
			if p.whole[i] != filler {
				return fmt.Errorf("allocation %d of %d bytes: a write at byte %d, outside it: %w", p.number, len(p.inner), i-lead,
					errRange)
			}
		}
	}
	return nil
}

// bytesAt views device memory, which is host memory. The caller has checked that it is allocated.
func bytesAt(address uint64, n int64) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), n)
}

func (s *emulatedSession) enter() error { return nil }

func (s *emulatedSession) upload(to uint64, host []byte, stream handle) error {
	return s.give("upload", stream, host, func() { copy(bytesAt(to, int64(len(host))), host) })
}

func (s *emulatedSession) download(host []byte, from uint64, stream handle) error {
	return s.give("download", stream, host, func() { copy(host, bytesAt(from, int64(len(host)))) })
}

func (s *emulatedSession) zero(at uint64, bytes int64, stream handle) error {
	return s.give("zero", stream, nil, func() { clear(bytesAt(at, bytes)) })
}

// wait reports faults, as the copies do.
func (s *emulatedSession) wait(stream handle) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run(stream.(*emulatedStream))
	return s.card.failure()
}

func (s *emulatedSession) newStream() (handle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &emulatedStream{}
	s.streams[q] = true
	return q, nil
}

// closeStream runs the remaining tasks of the stream.
func (s *emulatedSession) closeStream(stream handle) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := stream.(*emulatedStream)
	s.run(q)
	delete(s.streams, q)
	return nil
}

func (s *emulatedSession) load([]byte) (handle, error) { return nil, nil }

// newEvent returns an event, which is the time at which the stream reaches it.
func (s *emulatedSession) newEvent() (handle, error) { return new(time.Time), nil }

func (s *emulatedSession) closeEvent(handle) error { return nil }

func (s *emulatedSession) record(event, stream handle) error {
	return s.give("", stream, nil, func() { *event.(*time.Time) = time.Now() })
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
	k := &emulatedFunction{run: f}
	k.shared.Store(plainShared)
	return k, limits{threads: 1024}, nil
}

// emulatedFunction stores the opted-in shared memory: like a GPU, it rejects launches with more.
type emulatedFunction struct {
	run    Emulated
	shared atomic.Int64
}

func (s *emulatedSession) optIn(function handle, bytes int) error {
	function.(*emulatedFunction).shared.Store(int64(bytes))
	return nil
}

func (s *emulatedSession) launch(function handle, g Geometry, stream handle, args []uint64) error {
	f := function.(*emulatedFunction)
	if int64(g.Shared) > f.shared.Load() {
		return &code{name: "CUDA_ERROR_INVALID_VALUE", number: 1, detail: "shared memory was not opted into"}
	}
	fails, taken := failsNow("launch"), slices.Clone(args)
	return s.give("", stream, nil, func() {
		if fails {
			s.card.fault("injected into launch")
		} else if err := f.run(g, taken); err != nil {
			s.card.fault(err.Error())
		}
	})
}
