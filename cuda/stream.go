package cuda

import (
	"errors"
	"fmt"
	"time"
)

// Stream is a queue of copies and launches that run one after another. Two streams run
// concurrently.
type Stream struct {
	context *Context
	handle  handle
	closed  bool // guarded by the context's mu
	took    func(kernel string, d time.Duration)
}

// NewStream returns a stream. If took is not nil, it is called with the time of each launch,
// measured by the GPU, before the Synchronize or Download that waits for the launch returns. It
// must not use the context.
func (c *Context) NewStream(took func(kernel string, d time.Duration)) (*Stream, error) {
	s := &Stream{context: c, took: took}
	err := c.call(func() (err error) {
		if s.handle, err = c.session.newStream(); err == nil {
			c.streams[s.handle] = true
		}
		return err
	}, "new stream")
	if err != nil {
		return nil, err
	}
	return s, nil
}

// check returns an error for a stream that cannot be used with objects of c.
func (s *Stream) check(c *Context) error {
	switch {
	case s == nil:
		return errors.New("no stream")
	case s.context != c:
		return fmt.Errorf("the stream belongs to another context, on device %v", s.context.device)
	case s.closed:
		return fmt.Errorf("the stream is %w", errClosed)
	}
	return nil
}

// Synchronize waits until all operations of the stream are complete. A fault of a kernel is
// reported here or at a Download: the error wraps ErrLost and names the launches since the last
// synchronization.
func (s *Stream) Synchronize() error {
	return s.context.explain(s.after(func() error { return nil }), "synchronize")
}

// after queues more operations, waits for the stream, reports the times and removes the completed
// launches. Other goroutines may use the context while it waits.
func (s *Stream) after(more func() error) error {
	c := s.context
	c.waits.RLock()
	defer c.waits.RUnlock()
	last := 0
	err := c.do(func() error {
		return c.guard(func() error {
			if err := s.check(c); err != nil {
				return err
			}
			last = c.card.last()
			return more()
		})
	})
	if err != nil {
		return err
	}
	err = onThread(c.session, func() error { return c.session.wait(s.handle) })
	return c.do(func() error {
		return c.guard(func() error {
			if err != nil {
				return err
			}
			return s.done(last)
		})
	})
}

// done removes the launches up to last and reports their times, if measured.
func (s *Stream) done(last int) (err error) {
	c := s.context
	for _, l := range c.card.forget(func(l launch) bool { return l.stream == s && l.number <= last }) {
		if l.to == nil {
			continue
		}
		d, e := c.session.elapsed(l.from, l.to)
		err = errors.Join(err, e)
		s.took(l.kernel, d)
		c.events = append(c.events, l.from, l.to)
	}
	return err
}

// event records an event, reusing one if possible.
func (s *Stream) event() (e handle, err error) {
	c := s.context
	if n := len(c.events); n > 0 {
		e, c.events = c.events[n-1], c.events[:n-1]
	} else if e, err = c.session.newEvent(); err != nil {
		return nil, err
	}
	if err := c.session.record(e, s.handle); err != nil {
		c.events = append(c.events, e)
		return nil, err
	}
	return e, nil
}

// Close closes the stream. Its queued operations still run.
func (s *Stream) Close() error {
	c := s.context
	c.waits.Lock()
	defer c.waits.Unlock()
	return c.call(func() error {
		if err := s.check(c); err != nil {
			return err
		}
		s.closed = true
		delete(c.streams, s.handle)
		return c.session.closeStream(s.handle)
	}, "close stream")
}
