package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// Context is one card in use. Its methods, and the methods of everything that it makes, may
// be called from any goroutine: each makes the driver's context current on the thread that
// it happens to be on.
//
// All Contexts on a card share the driver's one context of the process, so that
// the second opens quickly, and a card in the mode exclusive-process takes
// several. Each has a budget, memory and streams of its own. A fault is one for all
// of them.
type Context struct {
	device Device
	budget int64
	card   *card

	memory, host ledger // what is held, by *Memory and *HostMemory

	waits sync.RWMutex // read-locked while a stream is waited for, so that none ends meanwhile

	mu      sync.Mutex      // of each other call; guards what follows
	session session         // nil after the context is closed
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
	c := &Context{device: d, budget: budget, streams: map[handle]bool{}}
	if err := c.start(); err != nil {
		return nil, fmt.Errorf("cuda: open device %v: %w", d, err)
	}
	return c, nil
}

// start opens the session and settles the budget. A card that answers with a fault
// is lost already: drivers may keep that state until the process ends.
func (c *Context) start() (err error) {
	if c.card, err = join(c.device.Ordinal); err != nil {
		return asLost(err)
	}
	var free int64
	if c.session, err = c.card.primary.bind(); err == nil {
		err = onThread(c.session, func() error {
			free, err = c.session.free()
			return err
		})
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
	return nil
}

// onThread makes driver calls in a session, all on one thread.
func onThread(s session, calls func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := s.enter(); err != nil {
		return err
	}
	return calls()
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

// do makes driver calls while no other goroutine does, except those that wait. f must
// not use do itself.
func (c *Context) do(f func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		return fmt.Errorf("the context is %w", errClosed)
	}
	return onThread(c.session, f)
}

// call is do, unless the card is lost. An error says what was asked for, in the words of
// format, and on which device. A fault loses the card.
func (c *Context) call(f func() error, format string, args ...any) error {
	return c.explain(c.do(func() error { return c.guard(f) }), format, args...)
}

func (c *Context) explain(err error, format string, args ...any) error {
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

// Close waits for the context's streams, and ends them. Memory that is
// still held is an error that says how much: the caller has a leak. Device memory ends
// all the same; page-locked memory stays, lest a slice of it end the program.
func (c *Context) Close() error {
	c.waits.Lock()
	defer c.waits.Unlock()
	err := c.do(func() error {
		defer func() { c.session = nil }()
		return c.end()
	})
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
		if err := c.session.wait(s); err != nil {
			return err
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
