package gpu

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/internal/rowspectrum"
	"github.com/vssgp/vssgp/kernels"
)

// Options selects the GPU and its memory budget.
type Options struct {
	// Ordinal is the GPU's number in the driver's order, from 0.
	Ordinal int
	// Budget is the maximum device memory in bytes; 0 means nine tenths of the free memory.
	Budget int64
	// Timing enables Timings. It costs a few microseconds per launch.
	Timing bool
	// Direct computes all sums by passes over the rows, never from tables.
	Direct bool
	// Image is PTX or a cubin whose kernels replace those of package kernels with the same names,
	// for measurements of variants.
	Image []byte

	anyTables bool // for tests: use tables even if they are slower (spectrum.go)
}

// Backend computes on one GPU. It comes from Open; the methods of a zero Backend panic.
type Backend struct {
	device   cuda.Device
	context  *cuda.Context
	variant  *cuda.Module // of Options.Image; nil: none
	closed   bool
	timings  *timings // nil: disabled
	passCost float64  // rowspectrum.Card, or more in tests

	mu        sync.Mutex // guards the fields below, and planning with allocation
	functions map[string]*cuda.Function
	peak      int64
}

// Open prepares a GPU. If there is no supported GPU, or the build has no driver, the error wraps
// cuda.ErrNoDevice and states the reason.
func Open(o Options) (*Backend, error) {
	b, err := openCard(o)
	if err != nil {
		return nil, fmt.Errorf("gpu: open GPU %d: %w", o.Ordinal, err)
	}
	return b, nil
}

func openCard(o Options) (*Backend, error) {
	context, err := cuda.Open(o.Ordinal, o.Budget)
	if err != nil {
		return nil, err
	}
	b := &Backend{
		device: context.Device(), context: context, passCost: rowspectrum.Card, functions: map[string]*cuda.Function{},
	}
	switch {
	case o.Direct:
		b.passCost = 0
	case o.anyTables:
		b.passCost = math.Inf(1)
	}
	if o.Timing {
		b.timings = &timings{sum: map[string]backend.Timing{}}
	}
	if o.Image != nil {
		b.variant, err = context.Load(o.Image)
	}
	if err == nil {
		_, err = b.function(kernels.FeaturesPrepare{}.Name()) // fails now if the driver is too old for the PTX
	}
	if err != nil {
		return nil, errors.Join(err, context.Close())
	}
	return b, nil
}

// function returns a kernel by its name. The driver compiles it at the first call in the process.
func (b *Backend) function(name string) (f *cuda.Function, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f = b.functions[name]; f == nil {
		if f, err = b.load(name); err == nil {
			b.functions[name] = f
		}
	}
	return f, err
}

// load loads the image of a kernel, unless the variant has the kernel.
func (b *Backend) load(name string) (*cuda.Function, error) {
	if b.variant != nil {
		if f, err := b.variant.Function(name); err == nil {
			return f, nil
		}
	}
	image, err := kernels.Image(b.device.Major, b.device.Minor, name)
	if err != nil {
		return nil, err
	}
	m, err := b.context.Load(image)
	if err != nil {
		return nil, err
	}
	return m.Function(name)
}

// Name returns a name such as "cuda:0 NVIDIA H200".
func (b *Backend) Name() string { return fmt.Sprintf("cuda:%d %s", b.device.Ordinal, b.device.Name) }

// Close releases the GPU. If rows are still open, it returns an error with the size of their
// memory.
func (b *Backend) Close() error {
	if b.closed {
		return nil
	}
	b.closed = true
	if err := b.context.Close(); err != nil {
		return fmt.Errorf("gpu: close GPU %d: %w", b.device.Ordinal, err)
	}
	return nil
}

// Memory returns the peak device memory in bytes.
func (b *Backend) Memory() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.peak
}

// Timings returns the times of all kernels since the backend was opened or since the last call, by
// name. It returns none without Options.Timing.
func (b *Backend) Timings() []backend.Timing {
	if b.timings == nil {
		return nil
	}
	return b.timings.take()
}

// Devices lists the GPUs of this machine. Reason explains why a GPU cannot be used.
func Devices() ([]cuda.Device, error) {
	all, err := cuda.Devices()
	if err != nil {
		return nil, fmt.Errorf("gpu: devices: %w", err)
	}
	return all, nil
}

// ParseOrdinal parses the number of a GPU.
func ParseOrdinal(s string) (int, error) {
	n, err := strconv.Atoi(s)
	switch {
	case strings.Contains(s, ","):
		return 0, fmt.Errorf("gpu: only one GPU per process; for several, run mpirun -n %d with the device cuda without a number",
			1+strings.Count(s, ","))
	case err != nil || n < 0:
		return 0, fmt.Errorf("gpu: expected the number of a GPU, such as 0")
	}
	return n, nil
}
