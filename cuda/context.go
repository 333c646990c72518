package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// Context is an open GPU. Its methods, and the methods of its objects, may be called from any
// goroutine: each makes the driver's context current on its thread.
//
// All Contexts on a GPU share the driver's single context of the process. Therefore opening a
// second one is fast, and a GPU in exclusive-process mode supports several. Each Context has a
// separate budget, memory and streams. A fault affects all of them.
type Context struct {
	device Device
	budget int64
	card   *card

	memory, host ledger // allocated memory, by *Memory and *HostMemory

	waits sync.RWMutex // read-locked while waiting for a stream, so that it is not closed meanwhile

	mu      sync.Mutex      // for all other calls; guards the fields below
	session session         // nil after the context is closed
	streams map[handle]bool // open streams
	events  []handle        // events not in use
}

// Open creates a context on a GPU. Its allocations are limited to budget bytes; 0 means nine tenths
// of the free memory.
func Open(ordinal int, budget int64) (*Context, error) {
	if budget < 0 {
		return nil, fmt.Errorf("cuda: open device %d: budget %d must not be negative: %w", ordinal, budget, ErrBudget)
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

// start opens the session and sets the budget. If the first call returns a fault, the GPU is
// already lost: drivers may keep that state until the process ends.
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

// onThread makes driver calls in a session, all on the same thread.
func onThread(s session, calls func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := s.enter(); err != nil {
		return err
	}
	return calls()
}

// asLost adds a remedy to a fault returned while opening.
func asLost(err error) error {
	if !fault(err) || errors.Is(err, ErrLost) {
		return err
	}
	return fmt.Errorf("%w: %w; an earlier fault has made the GPU unusable for this process: start another one", ErrLost, err)
}

// Device returns the GPU.
func (c *Context) Device() Device { return c.device }

// Budget returns the maximum number of allocated bytes.
func (c *Context) Budget() int64 { return c.budget }

// Allocated returns the bytes of device memory that are not freed, and the number of allocations.
func (c *Context) Allocated() (int64, int) { return c.memory.total() }

// AllocatedHost returns the bytes of page-locked host memory that are not freed, and the number of
// allocations.
func (c *Context) AllocatedHost() (int64, int) { return c.host.total() }

// do makes driver calls with the context locked. f must not call do.
func (c *Context) do(f func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		return fmt.Errorf("the context is %w", errClosed)
	}
	return onThread(c.session, f)
}

// call makes driver calls like do if the GPU is not lost. The error contains the request,
// formatted from format and args, and the device. A fault loses the GPU.
func (c *Context) call(f func() error, format string, args ...any) error {
	return c.explain(c.do(func() error { return c.guard(f) }), format, args...)
}

func (c *Context) explain(err error, format string, args ...any) error {
	if err != nil {
		return fmt.Errorf("cuda: %s on device %v: %w", fmt.Sprintf(format, args...), c.device, err)
	}
	return nil
}

// guard makes driver calls unless the GPU is lost, and marks it as lost after a fault.
func (c *Context) guard(f func() error) error {
	err := c.card.failure()
	if err == nil {
		if err = f(); fault(err) {
			err = c.card.lose(err)
		}
	}
	return err
}

// Close waits for the context's streams and closes them. If memory is still allocated, a leak of
// the caller, it returns an error with the size. Device memory is freed anyway; page-locked memory
// is not, because an access to a slice of it would crash the program.
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

// end releases the context's resources. On a lost GPU it makes no driver calls.
func (c *Context) end() error {
	var errs []error
	lost := c.card.failure() != nil
	if !lost {
		err := c.guard(c.drain)
		errs, lost = append(errs, err), fault(err)
	}
	// Nobody can access device memory any more, but slices of page-locked memory may still be in
	// use.
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

// drain waits for the streams, so that a fault of the last launches is reported here and not to the
// next user of the GPU.
func (c *Context) drain() error {
	for s := range c.streams {
		if err := c.session.wait(s); err != nil {
			return err
		}
	}
	return nil
}

// endQueues closes streams and destroys events.
func (c *Context) endQueues() (err error) {
	for s := range c.streams {
		err = errors.Join(err, c.session.closeStream(s))
	}
	for _, e := range c.events {
		err = errors.Join(err, c.session.closeEvent(e))
	}
	return err
}
