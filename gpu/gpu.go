package gpu

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/kernels"
)

// Precision says in which numbers features and their products are computed.
// Sums over rows are float64 sums in either.
type Precision int

const (
	// Float64 computes everything in float64.
	Float64 Precision = iota
	// Mixed rounds features to 24 bits before Moments multiplies them and adds
	// their products without error; Pullback does alike with the adjoint in 40
	// bits, and Factorised adds float32 sums of a few rows in float64 (package
	// kernels says what that costs). Predict computes in float64. It is for cards
	// whose float64 is slow.
	Mixed
)

// String is "float64" or "mixed".
func (p Precision) String() string {
	switch p {
	case Float64:
		return "float64"
	case Mixed:
		return "mixed"
	}
	return fmt.Sprintf("Precision(%d)", int(p))
}

// ErrPrecision is wrapped where a precision is not known.
var ErrPrecision = errors.New("no such precision")

// Options say which cards compute, how, and with how much of their memory.
type Options struct {
	// Ordinals are the cards; none means card 0. Rows are shared out over them
	// in the order given.
	Ordinals []int
	// Precision is Float64 by default.
	Precision Precision
	// Budget is how many bytes of each card's memory may be used; 0 is nine
	// tenths of what is free.
	Budget int64
	// Timing has the times of all kernels taken, for Timings. It costs a few
	// microseconds a launch.
	Timing bool
}

// Backend computes on one or more cards.
type Backend struct {
	cards     []*card
	precision Precision
}

// Open prepares cards. Where there is none, or the build has no driver, the
// error wraps cuda.ErrNoDevice and says why.
func Open(o Options) (*Backend, error) {
	if o.Precision != Float64 && o.Precision != Mixed {
		return nil, fmt.Errorf("gpu: open: %v, want Float64 or Mixed: %w", o.Precision, ErrPrecision)
	}
	ordinals := o.Ordinals
	if len(ordinals) == 0 {
		ordinals = []int{0}
	}
	b := &Backend{precision: o.Precision}
	for i, ordinal := range ordinals {
		for _, before := range ordinals[:i] {
			if before == ordinal {
				b.Close()
				return nil, fmt.Errorf("gpu: open: card %d is named twice, want each once: %w", ordinal, cuda.ErrNoDevice)
			}
		}
		c, err := openCard(ordinal, o.Budget, o.Timing)
		if err != nil {
			b.Close()
			return nil, fmt.Errorf("gpu: open card %d: %w", ordinal, err)
		}
		b.cards = append(b.cards, c)
	}
	return b, nil
}

// Name is "cuda:0 NVIDIA H200"; several cards stand as "cuda:0,1", and " mixed"
// follows in that precision.
func (b *Backend) Name() string {
	var ordinals, names []string
	for _, c := range b.cards {
		d := c.device
		ordinals = append(ordinals, strconv.Itoa(d.Ordinal))
		if n := len(names); n == 0 || names[n-1] != d.Name {
			names = append(names, d.Name)
		}
	}
	name := "cuda:" + strings.Join(ordinals, ",") + " " + strings.Join(names, ", ")
	if b.precision == Mixed {
		name += " mixed"
	}
	return name
}

// Close gives the cards back. Rows that are still open are an error, which says
// how much memory they hold.
func (b *Backend) Close() error {
	var errs []error
	for _, c := range b.cards {
		if err := c.close(); err != nil {
			errs = append(errs, fmt.Errorf("gpu: close card %d: %w", c.device.Ordinal, err))
		}
	}
	b.cards = nil
	return errors.Join(errs...)
}

// Memory is the most that was held of any one card's memory at a time, in bytes.
func (b *Backend) Memory() int64 {
	var most int64
	for _, c := range b.cards {
		most = max(most, c.peakBytes())
	}
	return most
}

// Devices are the cards of this machine. Reason says why one cannot be used.
func Devices() ([]cuda.Device, error) {
	all, err := cuda.Devices()
	if err != nil {
		return nil, fmt.Errorf("gpu: devices: %w", err)
	}
	for i := range all {
		if d := &all[i]; d.Reason == "" {
			if _, err := kernels.Image(d.Major, d.Minor); err != nil {
				d.Reason = err.Error()
			}
		}
	}
	return all, nil
}

// ParseOrdinals reads the numbers of different cards, such as 0 or 0,1.
func ParseOrdinals(list string) ([]int, error) {
	var ordinals []int
	for _, field := range strings.Split(list, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 0 || slices.Contains(ordinals, n) {
			return nil, fmt.Errorf("gpu: cards %q: want different numbers, such as 0 or 0,1", list)
		}
		ordinals = append(ordinals, n)
	}
	return ordinals, nil
}
