package cuda

import (
	"errors"
	"fmt"
	"time"
)

// Stream is a queue of copies and launches that run one after another. The
// queues of two streams run side by side.
type Stream struct {
	context *Context
	handle  handle
	closed  bool // touched on the thread only
	took    func(kernel string, d time.Duration)
}

// NewStream makes a stream. If took is not nil, it is called with the time of each
// launch, by the card's own clock, before the Synchronize or Download that waited
// for the launch returns. It runs on the context's thread, so it must not use the
// context.
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

// check refuses a stream that cannot be used with what belongs to c. It runs on
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

// Synchronize waits until everything given to the stream is done. A fault of a
// kernel shows here, or at a Download: the error wraps ErrLost and names the
// launches since the last synchronisation.
func (s *Stream) Synchronize() error {
	return s.context.until(func() (bool, error) {
		if err := s.check(s.context); err != nil {
			return false, err
		}
		return s.idle()
	}, "synchronize")
}

// idle says whether everything is done; if so, it hands out the times and
// forgets the launches. It runs on the thread.
func (s *Stream) idle() (bool, error) {
	c := s.context
	idle, err := c.session.idle(s.handle)
	if err != nil || !idle {
		return false, err
	}
	for _, l := range c.card.forget(func(l launch) bool { return l.stream == s }) {
		if l.to == nil {
			continue
		}
		d, e := c.session.elapsed(l.from, l.to)
		err = errors.Join(err, e)
		s.took(l.kernel, d)
		c.events = append(c.events, l.from, l.to)
	}
	return err == nil, err
}

// event records an event, a used one if there is one. It runs on the thread.
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

// Close ends the stream. Everything given to it still runs.
func (s *Stream) Close() error {
	c := s.context
	return c.call(func() error {
		if err := s.check(c); err != nil {
			return err
		}
		s.closed = true
		delete(c.streams, s.handle)
		return c.session.closeStream(s.handle)
	}, "close stream")
}
