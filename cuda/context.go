package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

// Context is one card in use. It owns a goroutine locked to an operating-system
// thread, and every driver call runs there: the driver's current context
// belongs to a thread, and goroutines do not stay on one. The methods of a
// Context, and of everything that it makes, may be called from any goroutine.
//
// All Contexts on a card share the driver's one context of the process, so that
// the second opens quickly, and a card in the mode exclusive-process takes
// several. Each has a budget, memory and streams of its own. A fault is one for all
// of them.
type Context struct {
	device Device
	budget int64
	card   *card
	tasks  chan func()
	closed chan struct{} // closed when the thread has ended

	memory, host ledger // what is held, by *Memory and *HostMemory

	// Only the thread touches these.
	session session         // nil before the context is open and after it is closed
	streams map[handle]bool // that are open
	events  []handle        // that no launch uses
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
		tasks: make(chan func()), closed: make(chan struct{}), streams: map[handle]bool{},
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

// start opens the session and settles the budget. A card that answers with a fault
// is lost already: drivers may keep that state until the process ends.
func (c *Context) start() (err error) {
	if c.card, err = join(c.device.Ordinal); err != nil {
		return asLost(err)
	}
	s, err := c.card.primary.bind()
	var free int64
	if err == nil {
		free, err = s.free()
	}
	if err != nil {
		if fault(err) {
			c.card.lose(err)
		}
		return errors.Join(asLost(err), c.card.leave())
	}
	if c.budget == 0 {
		c.budget = free / 10 * 9
	}
	c.session = s
	return nil
}

// asLost says of a fault that Open meets what may help.
func asLost(err error) error {
	if !fault(err) || errors.Is(err, ErrLost) {
		return err
	}
	return fmt.Errorf("%w: %w; a fault before has lost the card for this process: start another one", ErrLost, err)
}

// Device is the card.
func (c *Context) Device() Device { return c.device }

// Budget is the most bytes that may be held at once.
func (c *Context) Budget() int64 { return c.budget }

// Held is how many bytes of device memory are not freed yet, and in how many
// pieces.
func (c *Context) Held() (int64, int) { return c.memory.total() }

// HeldHost is how many bytes of page-locked memory of the host are not freed yet,
// and in how many pieces.
func (c *Context) HeldHost() (int64, int) { return c.host.total() }

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
// the words of format, and on which device. A fault loses the card.
func (c *Context) call(f func() error, format string, args ...any) error {
	err := c.do(func() error { return c.guard(f) })
	if err != nil {
		return fmt.Errorf("cuda: %s on device %v: %w", fmt.Sprintf(format, args...), c.device, err)
	}
	return nil
}

// guard makes driver calls unless the card is lost, and loses it to a fault.
func (c *Context) guard(f func() error) error {
	err := c.card.failure()
	if err == nil {
		if err = f(); fault(err) {
			err = c.card.lose(err)
		}
	}
	return err
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

// Close waits for the context's streams, and ends them and its thread. Memory that is
// still held is an error that says how much: the caller has a leak. Device memory ends
// all the same; page-locked memory stays, lest a slice of it end the program.
func (c *Context) Close() error {
	err := c.do(func() error {
		defer func() { c.session = nil }()
		return c.end()
	})
	<-c.closed
	if err != nil {
		return fmt.Errorf("cuda: close device %v: %w", c.device, err)
	}
	return nil
}

// end gives back what the context has. On a lost card it asks nothing of the driver.
func (c *Context) end() error {
	var errs []error
	lost := c.card.failure() != nil
	if !lost {
		err := c.guard(c.drain)
		errs, lost = append(errs, err), fault(err)
	}
	// Nobody can touch device memory any more, but page-locked memory somebody may.
	errs = append(errs, c.memory.clear("device memory", !lost), c.host.clear("page-locked memory", false))
	for _, l := range c.card.forget(func(l launch) bool { return l.context == c }) {
		if l.to != nil {
			c.events = append(c.events, l.from, l.to)
		}
	}
	if !lost {
		errs = append(errs, c.guard(c.endQueues))
	}
	return errors.Join(append(errs, c.card.leave())...)
}

// drain waits for the streams, so that a fault of the last launches shows here and
// not to the next who opens the card.
func (c *Context) drain() error {
	for s := range c.streams {
		for {
			idle, err := c.session.idle(s)
			if err != nil {
				return err
			}
			if idle {
				break
			}
			time.Sleep(20 * time.Microsecond)
		}
	}
	return nil
}

// endQueues ends streams and events.
func (c *Context) endQueues() (err error) {
	for s := range c.streams {
		err = errors.Join(err, c.session.closeStream(s))
	}
	for _, e := range c.events {
		err = errors.Join(err, c.session.closeEvent(e))
	}
	return err
}
