package cpu

import (
	"fmt"
	"slices"
	"time"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/rowspectrum"
	"github.com/vssgp/vssgp/internal/simd"
)

// Backend computes on the CPU cores.
type Backend struct {
	clock  *clock     // nil without timings
	shared *workspace // shared by all rows; nil if each has its own
}

// An Option changes the backend that New returns.
type Option func(*Backend)

// WithTimings measures the parts of all passes for Timings. It reads the clock twice for each part
// of a tile, which takes up to a tenth of a pass if the clock is slow and windows are short, and
// usually less than a hundredth.
func WithTimings() Option { return func(b *Backend) { b.clock = new(clock) } }

// Shared makes all rows of the backend share one workspace. This takes less memory, but rows must
// not be used concurrently.
func Shared() Option { return func(b *Backend) { b.shared = &workspace{} } }

// New returns the backend. Its only state is its timings and a shared workspace. It panics if an option
// is nil.
func New(options ...Option) *Backend {
	b := &Backend{}
	for _, o := range options {
		o(b)
	}
	return b
}

// Variable is the environment variable that selects the instruction set, go, avx2 or avx512. The
// default is the best set of the CPU.
const Variable = simd.Variable

// Instructions returns the instruction set in use. The last bits of results depend on it.
func Instructions() string {
	set, _ := simd.Chosen() // Open returns the error
	return set.String()
}

// Name returns "cpu".
func (*Backend) Name() string { return "cpu" }

// Close does nothing.
func (*Backend) Close() error { return nil }

// Timings returns the run times of the parts of all passes since New or the last call of Timings. It
// returns nil without WithTimings. A pass takes longer than the time of its parts divided by the
// number of cores, because cores also wait and work outside of tiles.
func (b *Backend) Timings() []backend.Timing {
	if b.clock == nil {
		return nil
	}
	var all []backend.Timing
	for k, name := range kernelNames {
		t := &b.clock[k]
		calls, busy := t.calls.Swap(0), t.busy.Swap(0)
		if calls > 0 {
			all = append(all, backend.Timing{Kernel: name, Calls: int(calls), Time: time.Duration(busy)})
		}
	}
	return all
}

// Open copies the rows and sorts them into runs with the same windows. It returns an error if Variable
// names an instruction set that the CPU does not have.
func (b *Backend) Open(d backend.Data) (backend.Rows, error) {
	_, err := simd.Chosen()
	if err == nil {
		err = d.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("cpu: open: %w", err)
	}
	r := &rows{prepared: prepared{data: d, Prepared: d.Prepare()}, work: b.shared}
	if r.work == nil {
		r.work = &workspace{}
	}
	r.work.clock = b.clock
	if r.Delta != 0 && slices.Max(r.Even) < simd.EvenLeast {
		r.Even, r.Delta = nil, 0
	}
	r.cut(d.N)
	return rowspectrum.Over(r, &d), nil
}

// rows are the data of an open Rows.
type rows struct {
	prepared
	backend.NoSolver
	work   *workspace
	picked *rows // mini-batch, whose memory is reused
	at     []int // rows of the mini-batch
}

// stopped returns an error if the pass was stopped.
func (d *rows) stopped(pass string) error {
	if err := d.data.Stopped(); err != nil {
		return fmt.Errorf("cpu: %s: %w", pass, err)
	}
	return nil
}

// Close drops the rows.
func (d *rows) Close() error {
	*d = rows{}
	return nil
}
