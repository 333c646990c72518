package vssgp

import (
	"errors"
	"fmt"
	"math"
)

// ErrMemory is wrapped where a fit would take more than Options.MemoryLimit.
var ErrMemory = errors.New("more memory than there is")

// checkMemory refuses a model whose fit would take more memory than the limit,
// before anything of that size is made.
func (o *Options) checkMemory(data *Data, m *Model) error {
	if o.MemoryLimit <= 0 {
		return nil
	}
	as := *o
	as.From = m
	p, err := NewPlan(data, as)
	if err != nil || p.PeakBytes <= o.MemoryLimit {
		return err
	}
	perWindow := float64(p.Components) / float64(p.Windows)
	want := "fewer rows"
	if fixed := p.RowBytes; fixed < o.MemoryLimit { // the matrix grows with the square
		n := int(perWindow * math.Sqrt((o.MemoryLimit-fixed)/(p.PeakBytes-fixed)))
		want = fmt.Sprintf("about %d components a window at most, shorter windows, or excerpts", max(1, n))
	}
	return fmt.Errorf("vssgp: %d rows under %d windows of %.3g components need about %s, of which %s are to be had; want %s: %w",
		p.Rows, p.Windows, perWindow, gib(p.PeakBytes), gib(o.MemoryLimit), want, ErrMemory)
}

// gib is a number of bytes to three digits.
func gib(bytes float64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%.3g MiB", bytes/(1<<20))
	}
	return fmt.Sprintf("%.3g GiB", bytes/(1<<30))
}
