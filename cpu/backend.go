package cpu

import (
	"fmt"
	"slices"
	"time"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/rowspectrum"
	"github.com/vssgp/vssgp/internal/simd"
)

// Backend computes on the processor's cores.
type Backend struct {
	clock  *clock     // nil: nothing is timed
	shared *workspace // of all rows; nil: each has its own
}

// An Option changes what New opens.
type Option func(*Backend)

// WithTimings times the parts of all passes, for Timings. It reads the clock
// twice for each part of a tile: up to a tenth of a pass if the clock is slow and
// windows are narrow, else a hundredth or less.
func WithTimings() Option { return func(b *Backend) { b.clock = new(clock) } }

// Shared makes all rows of the backend share one workspace. That takes less
// memory, but rows must not be used at the same time.
func Shared() Option { return func(b *Backend) { b.shared = &workspace{} } }

// New returns the backend; it holds only the times that it measures.
func New(options ...Option) *Backend {
	b := &Backend{}
	for _, o := range options {
		o(b)
	}
	return b
}

// Variable is the environment variable that names the instruction set to use
// instead of the processor's best: go, avx2 or avx512.
const Variable = simd.Variable

// Instructions returns the set in use, which decides the last bits of results.
func Instructions() string {
	set, _ := simd.Chosen() // the error is Open's
	return set.String()
}

// Name is "cpu".
func (*Backend) Name() string { return "cpu" }

// Close does nothing.
func (*Backend) Close() error { return nil }

// Timings returns how long the parts of all passes have run since the backend was
// opened or Timings was last called; none without WithTimings. A pass takes longer
// than its parts' time over the number of cores: it waits, and works outside tiles.
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

// Open sorts a copy of the rows into runs under the same windows. It fails if the
// environment asks for an instruction set that the processor does not have.
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

// rows are data that are open.
type rows struct {
	prepared
	backend.NoSolver
	work   *workspace
	picked *rows // a mini-batch, whose memory is used again
	at     []int // its rows
}

// stopped returns an error if the pass was stopped.
func (d *rows) stopped(pass string) error {
	if err := d.data.Stopped(); err != nil {
		return fmt.Errorf("cpu: %s: %w", pass, err)
	}
	return nil
}

// Close forgets the rows.
func (d *rows) Close() error {
	*d = rows{}
	return nil
}
