package cuda

import (
	"errors"
	"fmt"
)

// Memory is an allocation of device memory.
type Memory struct {
	context *Context
	address uint64
	size    int64
}

// Alloc allocates at least 1 byte of device memory. It is not zeroed. It counts against the budget,
// and fails with ErrBudget without calling the driver. ErrOutOfMemory is the driver's error.
func (c *Context) Alloc(bytes int64) (*Memory, error) {
	m := &Memory{context: c, size: bytes}
	err := c.call(func() (err error) {
		if bytes < 1 {
			return fmt.Errorf("the minimum is 1 byte: %w", errRange)
		}
		allocated, _ := c.Allocated()
		if left := c.budget - allocated; bytes > left {
			return fmt.Errorf("%d left of a budget of %d: %w", left, c.budget, ErrBudget)
		}
		if m.address, err = c.session.alloc(bytes); err == nil {
			c.memory.add(m, piece{bytes, m.release})
		}
		return err
	}, "alloc %d bytes", bytes)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// release frees the memory.
func (m *Memory) release() error { return m.context.session.release(m.address) }

// Address returns the device address of the first byte, for a kernel's argument.
func (m *Memory) Address() uint64 { return m.address }

// Free frees the memory. Freeing it twice is an error. On a lost context the memory counts as
// freed, and the error wraps ErrLost.
func (m *Memory) Free() error {
	allocated := m.context.memory.drop(m)
	return m.context.call(func() error {
		if !allocated {
			return errFreed
		}
		return m.release()
	}, "free %d bytes", m.size)
}

// Upload copies host to the memory at offset, after all earlier operations of the stream, and waits
// for the copy.
func (m *Memory) Upload(s *Stream, offset int64, host []byte) error {
	n := int64(len(host))
	return m.copied(s, offset, n, func() error { return m.context.session.upload(m.address+uint64(offset), host, s.handle) }, "upload")
}

// Download copies the memory at offset to host, after all earlier operations of the stream, and
// waits for the copy.
func (m *Memory) Download(s *Stream, host []byte, offset int64) error {
	n := int64(len(host))
	return m.copied(s, offset, n, func() error { return m.context.session.download(host, m.address+uint64(offset), s.handle) }, "download")
}

// copied waits for the stream, queues a copy of n bytes, and waits for it: a driver that copies
// pageable memory may block others until the stream reaches the copy.
func (m *Memory) copied(s *Stream, offset, n int64, give func() error, what string) error {
	c := m.context
	err := c.do(func() error { return c.guard(func() error { return m.check(s, offset, n) }) })
	if err == nil && n > 0 {
		if err = s.after(func() error { return nil }); err == nil {
			err = s.after(give)
		}
	}
	return c.explain(err, "%s %d bytes at %d of %d", what, n, offset, m.size)
}

// Zero clears bytes from offset on, after all earlier operations of the stream.
func (m *Memory) Zero(s *Stream, offset, bytes int64) error {
	return m.context.call(func() error {
		if err := m.check(s, offset, bytes); err != nil || bytes == 0 {
			return err
		}
		return m.context.session.zero(m.address+uint64(offset), bytes, s.handle)
	}, "zero %d bytes at %d of %d", bytes, offset, m.size)
}

// check returns an error for freed memory, a range outside it, and a stream that cannot be used
// with it.
func (m *Memory) check(s *Stream, offset, bytes int64) error {
	switch {
	case !m.context.memory.has(m):
		return errors.New("the memory is freed")
	case offset < 0 || bytes < 0 || offset > m.size-bytes:
		return fmt.Errorf("must be within 0 to %d: %w", m.size, errRange)
	}
	return s.check(m.context)
}
