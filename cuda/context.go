package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Context is one card in use. It owns a goroutine locked to an operating-system
// thread, and every driver call runs there: the driver's current context
// belongs to a thread, and goroutines do not stay on one. The methods of a
// Context, and of everything that it makes, may be called from any goroutine.
type Context struct {
	device Device
	budget int64
	tasks  chan func()
	closed chan struct{} // closed when the thread has ended

	// Only the thread touches these.
	session  session  // nil before the context is open and after it is closed
	launches []launch // that may still be running
	events   []handle // that no launch uses
	lost     error

	mu   sync.Mutex // guards held and sum
	held map[*piece]bool
	sum  int64 // bytes held
}

// piece is a piece of the card's memory.
type piece struct {
	address uint64
	size    int64
}

// launch is one that may still be running. If its stream asks for times, it has an
// event before it and one behind it.
type launch struct {
	stream   any // the *Stream, as a key
	kernel   string
	geometry Geometry
	from, to handle
}

// Open makes a context on a card. It holds at most budget bytes at once; 0
// means nine tenths of what is free.
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
		tasks: make(chan func()), closed: make(chan struct{}),
		held: map[*piece]bool{},
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
	opened <- c.start()
	for c.session != nil {
		task := <-c.tasks
		task()
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

// do runs f on the context's thread, after everything asked for before, and
// waits. f must not use do itself: it would wait for its own end. A panic
// becomes an error, because on this thread nobody could recover it.
func (c *Context) do(f func() error) error {
	done := make(chan error, 1)
	task := func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("panic on the context's thread: %v", p)
			}
		}()
		done <- f()
	}
	select {
	case c.tasks <- task:
		return <-done
	case <-c.closed:
		return fmt.Errorf("the context is %w", errClosed)
	}
}

// call makes driver calls on the thread. An error says what was asked for, in
// the words of format, and on which device. A fault loses the context.
func (c *Context) call(f func() error, format string, args ...any) error {
	err := c.do(func() error {
		if c.lost != nil {
			return c.lost
		}
		err := f()
		if fault(err) {
			c.lost = fmt.Errorf("%w: %w%s", ErrLost, err, c.launched())
			return c.lost
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("cuda: %s on device %v: %w", fmt.Sprintf(format, args...), c.device, err)
	}
	return nil
}

// until asks on the thread again and again until done, and leaves the thread
// to others in between: waiting for one stream must not hold up the launches of
// another.
func (c *Context) until(ask func() (done bool, err error), format string, args ...any) error {
	const spin, most = 200 * time.Microsecond, time.Millisecond
	start, pause := time.Now(), 20*time.Microsecond
	for {
		var done bool
		err := c.call(func() (err error) {
			done, err = ask()
			return err
		}, format, args...)
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

// mostNamed is how many launches a fault's message names.
const mostNamed = 16

// launched is the end of a fault's message. A fault shows only at the next
// synchronisation, so any launch since the last one may have caused it.
func (c *Context) launched() string {
	if len(c.launches) == 0 {
		return ""
	}
	var names []string
	for _, l := range c.launches[max(0, len(c.launches)-mostNamed):] {
		names = append(names, fmt.Sprintf("%s (%v)", l.kernel, l.geometry))
	}
	var before string
	if n := len(c.launches) - mostNamed; n > 0 {
		before = fmt.Sprintf("%d and then ", n)
	}
	return "; launched since the last synchronisation: " + before + strings.Join(names, ", ")
}

// Close ends the context and its thread, and with them streams and modules.
// Memory ends too, but memory that is still held is an error that says how
// much: the caller has a leak.
func (c *Context) Close() error {
	err := c.do(func() error {
		defer func() { c.session = nil }()
		return errors.Join(c.leak(), c.session.close())
	})
	<-c.closed
	if err != nil {
		return fmt.Errorf("cuda: close device %v: %w", c.device, err)
	}
	return nil
}

// leak says how much is still held, and gives it back.
func (c *Context) leak() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.held) == 0 {
		return nil
	}
	var largest int64
	var errs []error
	for p := range c.held {
		largest = max(largest, p.size)
		if c.lost == nil {
			errs = append(errs, c.session.release(p.address))
		}
	}
	err := fmt.Errorf("%d bytes in %d pieces were not freed (the largest of %d bytes)", c.sum, len(c.held), largest)
	c.held, c.sum = nil, 0
	return errors.Join(err, errors.Join(errs...))
}
