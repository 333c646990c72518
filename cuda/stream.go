package cuda

import (
	"errors"
	"time"
)

// Stream is a queue of copies and launches that run one after another. Those
// of two streams run at once.
type Stream struct{ part }

// NewStream makes a stream.
func (c *Context) NewStream() (*Stream, error) {
	p, err := c.make("new stream", "stream", c.session.newStream)
	if err != nil {
		return nil, err
	}
	return &Stream{p}, nil
}

// check is part.check, and finds a nil stream.
func (s *Stream) check(c *Context) error {
	if s == nil {
		return errors.New("no stream")
	}
	return s.part.check(c)
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
func (s *Stream) Close() error { return s.end(s.context.session.closeStream) }

// Event is a mark in a stream: the time between two can be read.
type Event struct {
	part
	recorded bool // touched on the thread only
}

// NewEvent makes an event.
func (c *Context) NewEvent() (*Event, error) {
	p, err := c.make("new event", "event", c.session.newEvent)
	if err != nil {
		return nil, err
	}
	return &Event{part: p}, nil
}

// check is part.check, and finds a nil event.
func (e *Event) check(c *Context) error {
	if e == nil {
		return errors.New("no event")
	}
	return e.part.check(c)
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

// Close ends the event.
func (e *Event) Close() error { return e.end(e.context.session.closeEvent) }

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
