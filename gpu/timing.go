package gpu

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/vssgp/vssgp/backend"
)

// timings sums the times of the launches.
type timings struct {
	mu  sync.Mutex // separate from the backend's, because add runs within a call of the context, for which allocations wait
	sum map[string]backend.Timing
}

func (t *timings) add(kernel string, d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.sum[kernel]
	t.sum[kernel] = backend.Timing{Kernel: kernel, Calls: s.Calls + 1, Time: s.Time + d}
}

func (t *timings) take() (all []backend.Timing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, kernel := range slices.Sorted(maps.Keys(t.sum)) {
		all = append(all, t.sum[kernel])
	}
	clear(t.sum)
	return all
}
