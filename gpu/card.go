package gpu

import (
	"errors"
	"fmt"
	"sync"

	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/kernels"
)

// A card is an open device with the kernels on it.
type card struct {
	device  cuda.Device
	context *cuda.Context
	module  *cuda.Module
	timings *timings // nil: not taken

	mu        sync.Mutex // guards what follows, and planning with allocating
	functions map[string]*cuda.Function
	peak      int64
}

func openCard(ordinal int, budget int64, timing bool) (*card, error) {
	context, err := cuda.Open(ordinal, budget)
	if err != nil {
		return nil, err
	}
	c := &card{device: context.Device(), context: context, functions: map[string]*cuda.Function{}}
	if timing {
		c.timings = newTimings()
	}
	image, err := kernels.Image(c.device.Major, c.device.Minor)
	if err == nil {
		c.module, err = context.Load(image)
	}
	if err != nil {
		return nil, errors.Join(err, context.Close())
	}
	return c, nil
}

func (c *card) close() error {
	var errs []error
	if c.module != nil {
		errs = append(errs, c.module.Close())
	}
	return errors.Join(append(errs, c.context.Close())...)
}

// room is how many bytes may be held by one who holds own of them already.
func (c *card) room(own int64) int64 {
	held, _ := c.context.Held()
	return c.context.Budget() - held + own
}

// note keeps the most that was held. The caller has locked mu.
func (c *card) note() {
	held, _ := c.context.Held()
	c.peak = max(c.peak, held)
}

func (c *card) peakBytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.peak
}

// function is a kernel's, looked up once.
func (c *card) function(name string) (*cuda.Function, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.functions[name]; f != nil {
		return f, nil
	}
	f, err := c.module.Function(name)
	if err != nil {
		return nil, err
	}
	c.functions[name] = f
	return f, nil
}

// A queue is a stream of a card with the events of its timed launches.
type queue struct {
	card   *card
	stream *cuda.Stream
	marks  marks
}

func (c *card) newQueue() (*queue, error) {
	s, err := c.context.NewStream()
	if err != nil {
		return nil, err
	}
	return &queue{card: c, stream: s}, nil
}

// launch puts blocks of a kernel into the queue; none is no launch.
func (q *queue) launch(k kernel, blocks int, words []uint64) error {
	if blocks == 0 {
		return nil
	}
	f, err := q.card.function(k.name)
	if err != nil {
		return err
	}
	done, err := q.marks.begin(q, k.name)
	if err != nil {
		return err
	}
	g := cuda.Geometry{Grid: [3]int{blocks, 1, 1}, Block: [3]int{k.block, 1, 1}, Shared: k.shared}
	if err := f.Launch(g, q.stream, words); err != nil {
		return fmt.Errorf("%d blocks: %w", blocks, err)
	}
	return done()
}

// finish waits for all that is in the queue and takes the times.
func (q *queue) finish() error {
	if err := q.stream.Synchronize(); err != nil {
		return err
	}
	return q.marks.collect(q.card.timings)
}

func (q *queue) close() error {
	return errors.Join(q.marks.close(), q.stream.Close())
}
