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

// Options say which card computes, and with how much of its memory.
type Options struct {
	// Ordinal is the card's number in the driver's order, from 0.
	Ordinal int
	// Budget is how many bytes of the card's memory may be used; 0 is nine
	// tenths of what is free.
	Budget int64
	// Timing takes the times of all kernels, for Timings. It costs a few
	// microseconds a launch.
	Timing bool
	// Digits has G and its pullback's products made from so many int8 digits a
	// feature, LeastDigits or MostDigits, in whole numbers and the same on every card;
	// 0 is float64. 7 are as exact, and faster where float64 is slow (FastFloat64);
	// with s an entry of G, of N rows, is off by N·A1²·s·2^(2−8s) at most. Sums from
	// tables are computed in float64 in any case.
	Digits int
	// Direct computes all sums over the rows by passes over them, never from tables.
	Direct bool

	anyTables bool // for tests: use tables even if they cost more (spectrum.go)
}

// Backend computes on one card.
type Backend struct {
	device   cuda.Device
	context  *cuda.Context
	module   *cuda.Module
	timings  *timings // nil: not taken
	digits   int      // Options.Digits
	passCost float64  // rowspectrum.Card, or for tests more

	mu        sync.Mutex // guards what follows, and planning with allocating
	functions map[string]*cuda.Function
	peak      int64
}

// Open prepares a card. If there is none that the kernels run on, or the build has no
// driver, the error wraps cuda.ErrNoDevice and says why.
func Open(o Options) (*Backend, error) {
	b, err := openCard(o)
	if err != nil {
		return nil, fmt.Errorf("gpu: open card %d: %w", o.Ordinal, err)
	}
	return b, nil
}

func openCard(o Options) (*Backend, error) {
	if o.Digits != 0 && o.Digits != LeastDigits && o.Digits != MostDigits {
		return nil, fmt.Errorf("%d digits: want %d or %d, or 0 for float64", o.Digits, LeastDigits, MostDigits)
	}
	context, err := cuda.Open(o.Ordinal, o.Budget)
	if err != nil {
		return nil, err
	}
	b := &Backend{
		device: context.Device(), context: context, digits: o.Digits, passCost: rowspectrum.Card, functions: map[string]*cuda.Function{},
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
	image, err := kernels.Image(b.device.Major, b.device.Minor)
	if err == nil {
		b.module, err = context.Load(image)
	}
	if err != nil {
		return nil, errors.Join(err, context.Close())
	}
	return b, nil
}

// Name is "cuda:0 NVIDIA H200", and with digits "cuda:0 NVIDIA L40, 7 digits".
func (b *Backend) Name() string {
	name := fmt.Sprintf("cuda:%d %s", b.device.Ordinal, b.device.Name)
	if b.digits > 0 {
		name += fmt.Sprintf(", %d digits", b.digits)
	}
	return name
}

// Close gives the card back. It is an error if rows are still open; the error says
// how much memory they hold.
func (b *Backend) Close() error {
	if b.module == nil {
		return nil
	}
	b.module = nil
	if err := b.context.Close(); err != nil {
		return fmt.Errorf("gpu: close card %d: %w", b.device.Ordinal, err)
	}
	return nil
}

// Memory is the most of the card's memory, in bytes, that was held at any time.
func (b *Backend) Memory() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.peak
}

// Timings returns the times of all kernels since the backend was opened, or since the
// last call, by name. Without Options.Timing there are none.
func (b *Backend) Timings() []backend.Timing {
	if b.timings == nil {
		return nil
	}
	return b.timings.take()
}

// Devices lists the cards of this machine. Reason says why a card cannot be used.
func Devices() ([]cuda.Device, error) {
	all, err := cuda.Devices()
	if err != nil {
		return nil, fmt.Errorf("gpu: devices: %w", err)
	}
	return all, nil
}

// ParseOrdinal reads the number of a card.
func ParseOrdinal(s string) (int, error) {
	n, err := strconv.Atoi(s)
	switch {
	case strings.Contains(s, ","):
		return 0, fmt.Errorf("gpu: want one GPU; several take a rank each: mpirun -n %d, and the device cuda without a number",
			1+strings.Count(s, ","))
	case err != nil || n < 0:
		return 0, fmt.Errorf("gpu: want the number of a GPU, such as 0")
	}
	return n, nil
}
