package cuda

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Context is one card in use. It owns a goroutine locked to an operating-system
// thread, and every driver call runs there: the driver's current context
// belongs to a thread, and goroutines do not stay on one. Its methods, and
// those of what it makes, may be called from any goroutine.
type Context struct {
	device  Device
	budget  int64
	session session
	tasks   chan task
	closed  chan struct{} // closed when the thread has ended

	// pending and lost are touched on the thread only.
	pending launches
	lost    error

	mu   sync.Mutex       // guards held
	held map[uint64]int64 // bytes at each address
	sum  int64
}

// task is one function to run on the thread, and where its error goes.
type task struct {
	run  func() error
	done chan error
}

// Open makes a context on a card. Budget is the most bytes to hold at once; 0
// is nine tenths of what is free.
func Open(ordinal int, budget int64) (*Context, error) {
	if budget < 0 {
		return nil, fmt.Errorf("cuda: open device %d: budget %d, want 0 or more: %w", ordinal, budget, ErrBudget)
	}
	d, err := usable(ordinal)
	if err != nil {
		return nil, err
	}
	c := &Context{
		device: d, budget: budget,
		tasks: make(chan task), closed: make(chan struct{}),
		held: map[uint64]int64{},
	}
	opened := make(chan error)
	go c.thread(opened)
	if err := <-opened; err != nil {
		return nil, fmt.Errorf("cuda: open device %v: %w", d, err)
	}
	return c, nil
}

// thread opens the session and runs tasks until Close. The goroutine ends
// locked, which ends its thread too: no other goroutine ever sees a thread
// with our context on it.
func (c *Context) thread(opened chan<- error) {
	runtime.LockOSThread()
	defer close(c.closed)
	if err := c.start(); err != nil {
		opened <- err
		return
	}
	opened <- nil
	for t := range c.tasks {
		err := guarded(t.run)
		t.done <- err
		if err == errQuit {
			return
		}
	}
}

// start opens the session and settles the budget.
func (c *Context) start() error {
	s, err := newDriver().open(c.device.Ordinal)
	if err != nil {
		return err
	}
	if c.budget == 0 {
		free, err := s.free()
		if err != nil {
			return errors.Join(err, s.close())
		}
		c.budget = free / 10 * 9
	}
	c.session = s
	return nil
}

// guarded runs f and makes an error of a panic: on this thread it would end
// the program with nobody to recover it.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("cuda: panic on the context's thread: %v", p)
		}
	}()
	return f()
}

// Device is the card.
func (c *Context) Device() Device { return c.device }

// Budget is the most bytes that may be held at once.
func (c *Context) Budget() int64 { return c.budget }

// Held is how many bytes of device memory are not freed yet, and in how many
// pieces.
func (c *Context) Held() (int64, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sum, len(c.held)
}

// do runs f on the context's thread, after what was asked for before, and
// waits. f must not use the context, nor what it made: they would wait for f.
func (c *Context) do(f func() error) error {
	t := task{f, make(chan error, 1)}
	select {
	case c.tasks <- t:
		return <-t.done
	case <-c.closed:
		return fmt.Errorf("cuda: device %v: the context is %w", c.device, errClosed)
	}
}

// call runs a driver call on the thread. An error says what was asked for and
// on which device; a fault loses the context.
func (c *Context) call(what string, f func() error) error {
	return c.do(func() error {
		if c.lost != nil {
			return fmt.Errorf("cuda: %s on device %v: %w", what, c.device, c.lost)
		}
		err := f()
		if err == nil {
			return nil
		}
		if fault(err) {
			c.lost = fmt.Errorf("%w at %s: %w%s", ErrLost, what, err, c.pending.text())
			return fmt.Errorf("cuda: device %v: %w", c.device, c.lost)
		}
		return fmt.Errorf("cuda: %s on device %v: %w", what, c.device, err)
	})
}

// until asks on the thread again and again until done, and leaves the thread
// to others in between: a synchronisation of one stream must not keep the
// launches of another waiting.
func (c *Context) until(what string, ask func() (bool, error)) error {
	const spin, most = 200 * time.Microsecond, time.Millisecond
	start, pause := time.Now(), 20*time.Microsecond
	for {
		var done bool
		err := c.call(what, func() (err error) {
			done, err = ask()
			return err
		})
		if err != nil || done {
			return err
		}
		if time.Since(start) < spin {
			runtime.Gosched()
			continue
		}
		time.Sleep(pause)
		pause = min(2*pause, most)
	}
}

var errQuit = errors.New("quit")

// Close ends the context and its thread. Streams, events and modules end with
// it. Memory ends too, but memory still held is an error that says how much: a
// leak is a mistake of the caller's.
func (c *Context) Close() error {
	var err error
	quit := c.do(func() error {
		err = errors.Join(c.leak(), c.session.close())
		return errQuit
	})
	if quit != errQuit {
		return quit
	}
	<-c.closed
	if err != nil {
		return fmt.Errorf("cuda: close device %v: %w", c.device, err)
	}
	return nil
}

// leak names what is still held, and gives it back.
func (c *Context) leak() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.held) == 0 {
		return nil
	}
	sizes := slices.Sorted(maps.Values(c.held))
	err := fmt.Errorf("%d bytes in %d pieces were not freed (the largest of %d bytes)", c.sum, len(sizes), sizes[len(sizes)-1])
	for address := range c.held {
		if c.lost == nil {
			err = errors.Join(err, c.session.release(address))
		}
	}
	c.held, c.sum = nil, 0
	return err
}
