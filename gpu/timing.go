package gpu

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vssgp/vssgp/cuda"
)

// A Timing is how long a kernel has run on the cards of a backend, by the
// cards' own clocks.
type Timing struct {
	Kernel   string        // its name in the PTX, as package kernels has it
	Launches int           // on all cards
	Time     time.Duration // summed over the launches
}

// Timings are those of all kernels since the backend was opened or they were
// last asked for, by name; none where Options.Timing was not set.
func (b *Backend) Timings() []Timing {
	sum := map[string]Timing{}
	for _, c := range b.cards {
		if c.timings == nil {
			continue
		}
		for _, t := range c.timings.take() {
			s := sum[t.Kernel]
			sum[t.Kernel] = Timing{t.Kernel, s.Launches + t.Launches, s.Time + t.Time}
		}
	}
	all := make([]Timing, 0, len(sum))
	for _, t := range sum {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b Timing) int { return strings.Compare(a.Kernel, b.Kernel) })
	return all
}

// timings gather a card's.
type timings struct {
	mu  sync.Mutex
	sum map[string]Timing
}

func newTimings() *timings { return &timings{sum: map[string]Timing{}} }

func (t *timings) add(kernel string, d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.sum[kernel]
	t.sum[kernel] = Timing{kernel, s.Launches + 1, s.Time + d}
}

func (t *timings) take() (all []Timing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.sum {
		all = append(all, s)
	}
	clear(t.sum)
	return all
}

// marks are the events around a queue's launches since it was last finished;
// the events are used again.
type marks struct {
	kernels []string
	events  [][2]*cuda.Event // more than kernels, as it may be
}

// begin marks the beginning of a launch; done marks its end.
func (m *marks) begin(q *queue, kernel string) (done func() error, err error) {
	if q.card.timings == nil {
		return func() error { return nil }, nil
	}
	n := len(m.kernels)
	if n == len(m.events) {
		var pair [2]*cuda.Event
		for i := range pair {
			if pair[i], err = q.card.context.NewEvent(); err != nil {
				if pair[0] != nil {
					err = errors.Join(err, pair[0].Close())
				}
				return nil, err
			}
		}
		m.events = append(m.events, pair)
	}
	if err := q.stream.Record(m.events[n][0]); err != nil {
		return nil, err
	}
	return func() error {
		if err := q.stream.Record(m.events[n][1]); err != nil {
			return err
		}
		m.kernels = append(m.kernels, kernel)
		return nil
	}, nil
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
