package gpu

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/spectral"
)

// A Timing is how long a kernel has run on the card, by the card's own clock.
type Timing = spectral.Timing

// timings gather a card's.
type timings struct {
	mu  sync.Mutex
	sum map[string]Timing
}

func (t *timings) add(kernel string, d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sum == nil {
		t.sum = map[string]Timing{}
	}
	s := t.sum[kernel]
	t.sum[kernel] = Timing{Kernel: kernel, Calls: s.Calls + 1, Time: s.Time + d}
}

func (t *timings) take() (all []Timing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, kernel := range slices.Sorted(maps.Keys(t.sum)) {
		all = append(all, t.sum[kernel])
	}
	t.sum = nil
	return all
}

// marks are the events around a queue's launches since it was last finished;
// the events are used again.
type marks struct {
	kernels []string
	events  [][2]*cuda.Event // more than kernels, as it may be
}

// time puts a launch between two events of the stream.
func (m *marks) time(c *cuda.Context, s *cuda.Stream, kernel string, launch func() error) error {
	n := len(m.kernels)
	if n == len(m.events) {
		from, err := c.NewEvent()
		if err != nil {
			return err
		}
		to, err := c.NewEvent()
		if err != nil {
			return errors.Join(err, from.Close())
		}
		m.events = append(m.events, [2]*cuda.Event{from, to})
	}
	if err := s.Record(m.events[n][0]); err != nil {
		return err
	}
	if err := launch(); err != nil {
		return err
	}
	if err := s.Record(m.events[n][1]); err != nil {
		return err
	}
	m.kernels = append(m.kernels, kernel)
	return nil
}

// collect adds the times of launches that have ended.
func (m *marks) collect(t *timings) error {
	for i, kernel := range m.kernels {
		d, err := cuda.Elapsed(m.events[i][0], m.events[i][1])
		if err != nil {
			return err
		}
		t.add(kernel, d)
	}
	m.kernels = m.kernels[:0]
	return nil
}

func (m *marks) close() error {
	var errs []error
	for _, pair := range m.events {
		errs = append(errs, pair[0].Close(), pair[1].Close())
	}
	*m = marks{}
	return errors.Join(errs...)
}
