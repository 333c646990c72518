package cpu

import (
	"fmt"
	"slices"
	"time"

	"github.com/vssgp/vssgp/cpu/simd"
	"github.com/vssgp/vssgp/spectral"
)

// Backend computes on the processor's cores.
type Backend struct {
	clock  *clock     // nil: nothing is timed
	shared *workspace // of all rows; nil: each has its own
}

// An Option changes what New opens.
type Option func(*Backend)

// WithTimings has the parts of all passes timed, for Timings. It costs two
// looks at the clock for each part of a tile: where the clock is slow and
// windows are narrow up to a tenth of a pass, else a hundredth or less.
func WithTimings() Option { return func(b *Backend) { b.clock = new(clock) } }

// Shared has all rows of the backend share one workspace, which takes less
// memory: they are then not to be used at the same time.
func Shared() Option { return func(b *Backend) { b.shared = &workspace{} } }

// New returns the backend; it holds nothing but the times that it takes.
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

// Instructions is the set in use, which decides the last bits of what is
// computed.
func Instructions() string {
	set, _ := simd.Chosen() // the error is Open's
	return set.String()
}

// Name is "cpu".
func (*Backend) Name() string { return "cpu" }

// Close does nothing.
func (*Backend) Close() error { return nil }

// Timings are those of all parts that have run since the backend was opened or
// they were last asked for, pass by pass; none without WithTimings. What a
// pass takes beyond its parts' time over the number of cores is waiting, and
// work that is not the tiles'.
func (b *Backend) Timings() []Timing {
	if b.clock == nil {
		return nil
	}
	var all []Timing
	for k, name := range kernelNames {
		t := &b.clock[k]
		calls, busy := t.calls.Swap(0), t.busy.Swap(0)
		if calls > 0 {
			all = append(all, Timing{Kernel: name, Calls: int(calls), Time: time.Duration(busy)})
		}
	}
	return all
}

// Open sorts a copy of the rows into runs under the same windows. It fails
// where the environment asks for an instruction set that is not there.
func (b *Backend) Open(d spectral.Data) (spectral.Rows, error) {
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
	return r, nil
}

// rows are data that are open.
type rows struct {
	prepared
	spectral.NoSolver
	work   *workspace
	picked *rows // a mini-batch, whose memory is used again
	at     []int // its rows
}

// stopped is the error of a pass that was stopped.
func (r *rows) stopped(pass string) error {
	if err := r.data.Stopped(); err != nil {
		return fmt.Errorf("cpu: %s: %w", pass, err)
	}
	return nil
}

// Close forgets the rows.
func (r *rows) Close() error {
	*r = rows{}
	return nil
}
