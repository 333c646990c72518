package cuda

import (
	"errors"
	"fmt"
	"unsafe"
)

// Memory is a piece of a card's memory.
type Memory struct {
	context *Context
	address uint64
	size    int64
	freed   bool // touched on the thread only
}

// Alloc gets device memory, 1 byte or more. It is not zeroed. It counts
// against the budget, and fails with ErrBudget before the driver is asked;
// ErrOutOfMemory is the driver's own.
func (c *Context) Alloc(bytes int64) (*Memory, error) {
	what := fmt.Sprintf("alloc %d bytes", bytes)
	m := &Memory{context: c, size: bytes}
	err := c.call(what, func() error {
		if bytes < 1 {
			return fmt.Errorf("want 1 or more: %w", errRange)
		}
		c.mu.Lock()
		left := c.budget - c.sum
		c.mu.Unlock()
		if bytes > left {
			return fmt.Errorf("%d left of a budget of %d: %w", left, c.budget, ErrBudget)
		}
		address, err := c.session.alloc(bytes)
		if err != nil {
			return err
		}
		m.address = address
		c.mu.Lock()
		defer c.mu.Unlock()
		c.held[address] = bytes
		c.sum += bytes
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Address is the device's address of the first byte, for a kernel's argument.
func (m *Memory) Address() uint64 { return m.address }

// Free gives the memory back. Twice is an error. On a lost context the memory
// counts as given back, and the error wraps ErrLost.
func (m *Memory) Free() error {
	c := m.context
	err := c.do(func() error {
		if m.freed {
			return errors.New("it is freed already")
		}
		m.freed = true
		c.mu.Lock()
		delete(c.held, m.address)
		c.sum -= m.size
		c.mu.Unlock()
		if c.lost != nil {
			return c.lost
		}
		return c.session.release(m.address)
	})
	if err != nil {
		return fmt.Errorf("cuda: free %d bytes on device %v: %w", m.size, c.device, err)
	}
	return nil
}

// Upload copies host to the memory from offset on, after what the stream has
// been given before. host may be changed when it returns.
func (m *Memory) Upload(s *Stream, offset int64, host []byte) error {
	n := int64(len(host))
	what := fmt.Sprintf("upload %d bytes at %d of %d", n, offset, m.size)
	return m.context.call(what, func() error {
		if err := m.check(s, offset, n); err != nil || n == 0 {
			return err
		}
		return m.context.session.upload(m.address+uint64(offset), host, s.handle)
	})
}

// Download copies the memory from offset on to host. It waits for what the
// stream has been given before, and for the copy.
func (m *Memory) Download(s *Stream, host []byte, offset int64) error {
	n := int64(len(host))
	what := fmt.Sprintf("download %d bytes at %d of %d", n, offset, m.size)
	check := func() error { return m.check(s, offset, n) }
	if err := m.context.call(what, check); err != nil || n == 0 {
		return err
	}
	if err := s.drain(what); err != nil {
		return err
	}
	return m.context.call(what, func() error {
		if err := check(); err != nil {
			return err
		}
		return m.context.session.download(host, m.address+uint64(offset), s.handle)
	})
}

// Zero clears bytes from offset on, after what the stream has been given before.
func (m *Memory) Zero(s *Stream, offset, bytes int64) error {
	what := fmt.Sprintf("zero %d bytes at %d of %d", bytes, offset, m.size)
	return m.context.call(what, func() error {
		if err := m.check(s, offset, bytes); err != nil || bytes == 0 {
			return err
		}
		return m.context.session.zero(m.address+uint64(offset), bytes, s.handle)
	})
}

// check finds a freed memory, a stream that is not of its context, and a range
// that the memory does not have.
func (m *Memory) check(s *Stream, offset, bytes int64) error {
	switch {
	case m.freed:
		return errors.New("the memory is freed")
	case offset < 0 || bytes < 0 || offset > m.size-bytes:
		return fmt.Errorf("want 0 to %d: %w", m.size, errRange)
	}
	return s.check(m.context)
}

// Bytes views numbers as bytes, without a copy.
func Bytes[T float64 | float32 | int32 | int64 | uint64 | int8](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}
