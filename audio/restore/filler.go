package restore

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/vssgp/vssgp"
)

// filler fills the excerpts of a recording, several at a time.
type filler struct {
	ctx   context.Context
	o     Options
	src   Source // with zeros in the gaps
	began time.Time
	res   *Result
	units int // excerpts or gaps that are filled one by one

	mu       sync.Mutex // guards the rest, and calls of o.Progress
	done     int
	progress []vssgp.Progress // of each excerpt
	noise    float64          // reported last
}

// unknown returns NaN in a's shape.
func unknown(a [][]float64) [][]float64 {
	out := make([][]float64, len(a))
	for i := range a {
		out[i] = slices.Repeat([]float64{math.NaN()}, len(a[i]))
	}
	return out
}

// tell makes a change of the progress and reports the sum over the excerpts.
func (f *filler) tell(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	if f.o.Progress == nil {
		return
	}
	n := f.units
	p := Progress{Excerpt: f.done, Excerpts: n, NoiseSD: f.noise, Elapsed: time.Since(f.began)}
	share := 0.0
	for _, q := range f.progress {
		p.Iteration += q.Iteration
		p.Iterations += q.Iterations
		p.Bound += q.Bound
		if q.Iterations > 0 {
			share += float64(q.Iteration) / float64(q.Iterations)
		}
	}
	if share = max(share, float64(f.done)); share > 0 {
		p.Left = time.Duration(float64(p.Elapsed) * (float64(n) - share) / share)
	}
	f.o.Progress(p)
}
