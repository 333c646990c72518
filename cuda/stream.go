package cuda

import (
	"errors"
	"fmt"
	"time"
)

// Stream is a queue of copies and launches that run one after another. Those
// of two streams run at once, unless an event orders them.
type Stream struct {
	context *Context
	handle  handle
	closed  bool // touched on the thread only
}

// NewStream makes a stream.
func (c *Context) NewStream() (*Stream, error) {
	s := &Stream{context: c}
	err := c.call("new stream", func() (err error) {
		s.handle, err = c.session.newStream()
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// check finds a stream that cannot be used with what belongs to c. It runs on
// the thread.
func (s *Stream) check(c *Context) error {
	switch {
	case s == nil:
		return errors.New("no stream")
	case s.context != c:
		return fmt.Errorf("the stream is of another context, on device %v", s.context.device)
	case s.closed:
		return fmt.Errorf("the stream is %w", errClosed)
	}
	return nil
}

// Synchronize waits until everything that the stream has been given is done. A
// fault of a kernel shows here, or at a Download: the error wraps ErrLost and
// names the launches since the last synchronisation.
func (s *Stream) Synchronize() error { return s.drain("synchronize") }

// drain waits; what is what it waits for.
func (s *Stream) drain(what string) error {
	c := s.context
	return c.until(what, func() (bool, error) {
		if err := s.check(c); err != nil {
			return false, err
		}
		idle, err := c.session.idle(s.handle)
		if err == nil && idle {
			c.pending.done(s)
		}
		return idle, err
	})
}

// Close ends the stream. What it has been given still runs.
func (s *Stream) Close() error {
	c := s.context
	return c.call("close stream", func() error {
		if err := s.check(c); err != nil {
			return err
		}
		s.closed = true
		return c.session.closeStream(s.handle)
	})
}

// Event is a mark in a stream: other streams can wait for it, and the time
// between two can be read.
type Event struct {
	context  *Context
	handle   handle
	recorded bool // these two are touched on the thread only
	closed   bool
}

// NewEvent makes an event.
func (c *Context) NewEvent() (*Event, error) {
	e := &Event{context: c}
	err := c.call("new event", func() (err error) {
		e.handle, err = c.session.newEvent()
		return err
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// check finds an event that cannot be used with what belongs to c.
func (e *Event) check(c *Context) error {
	switch {
	case e == nil:
		return errors.New("no event")
	case e.context != c:
		return fmt.Errorf("the event is of another context, on device %v", e.context.device)
	case e.closed:
		return fmt.Errorf("the event is %w", errClosed)
	}
	return nil
}

// Record marks the end of what the stream has been given so far.
func (s *Stream) Record(e *Event) error {
	c := s.context
	return c.call("record event", func() error {
		if err := errors.Join(s.check(c), e.check(c)); err != nil {
			return err
		}
		e.recorded = true
		return c.session.record(e.handle, s.handle)
	})
}

// Wait keeps what the stream is given from now on waiting for the event. The
// caller does not wait. An event that was never recorded keeps nothing waiting.
func (s *Stream) Wait(e *Event) error {
	c := s.context
	return c.call("wait for event", func() error {
		if err := errors.Join(s.check(c), e.check(c)); err != nil {
			return err
		}
		return c.session.wait(s.handle, e.handle)
	})
}

// Close ends the event.
func (e *Event) Close() error {
	c := e.context
	return c.call("close event", func() error {
		if err := e.check(c); err != nil {
			return err
		}
		e.closed = true
		return c.session.closeEvent(e.handle)
	})
}

// Elapsed is the time from one event to another, both recorded. It waits until
// both are reached.
func Elapsed(from, to *Event) (time.Duration, error) {
	if from == nil || to == nil {
		return 0, errors.New("cuda: elapsed: no event")
	}
	c := from.context
	err := c.until("elapsed", func() (bool, error) {
		if err := errors.Join(from.check(c), to.check(c)); err != nil {
			return false, err
		}
		if !from.recorded || !to.recorded {
			return false, errors.New("an event was never recorded")
		}
		for _, e := range []*Event{from, to} {
			if done, err := c.session.reached(e.handle); !done || err != nil {
				return false, err
			}
		}
		return true, nil
	})
	if err != nil {
		return 0, err
	}
	var d time.Duration
	err = c.call("elapsed", func() (err error) {
		if err := errors.Join(from.check(c), to.check(c)); err != nil {
			return err
		}
		d, err = c.session.elapsed(from.handle, to.handle)
		return err
	})
	return d, err
}
