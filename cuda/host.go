package cuda

import (
	"fmt"
	"unsafe"
)

// HostMemory is memory of the host that the operating system leaves in its place
// (page-locked). A card copies from and to it by itself, so that such copies are
// queued like launches and run beside them, at the full speed of the bus.
type HostMemory struct {
	context *Context
	bytes   []byte
}

// AllocHost gets page-locked memory, 1 byte or more, aligned for any number. It is
// not zeroed, and does not count against the budget. Getting it takes about a
// millisecond for some megabytes, so it should be kept. If the host has too little
// left, the error wraps ErrOutOfMemory.
func (c *Context) AllocHost(bytes int64) (*HostMemory, error) {
	h := &HostMemory{context: c}
	err := c.call(func() (err error) {
		if bytes < 1 {
			return fmt.Errorf("want 1 or more: %w", errRange)
		}
		if h.bytes, err = c.session.allocHost(bytes); err == nil {
			c.host.add(h, piece{bytes, h.release})
		}
		return err
	}, "alloc %d bytes of the host", bytes)
	if err != nil {
		return nil, err
	}
	return h, nil
}

// release gives the memory back.
func (h *HostMemory) release() error { return h.context.session.releaseHost(h.bytes) }

// Bytes is the memory itself. Touching it after Free, or after the last Close on a lost
// card, may end the program.
func (h *HostMemory) Bytes() []byte { return h.bytes }

// Float64s is the memory as numbers, as many as it holds whole. It ends as Bytes does.
func (h *HostMemory) Float64s() []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(h.bytes))), len(h.bytes)/8)
}

// Free gives the memory back. The streams that copy from or to it must be
// synchronized. Freeing it twice is an error. On a lost context the memory counts as
// given back, and the error wraps ErrLost.
func (h *HostMemory) Free() error {
	held := h.context.host.drop(h)
	return h.context.call(func() error {
		if !held {
			return errFreed
		}
		return h.release()
	}, "free %d bytes of the host", len(h.bytes))
}

// UploadAsync is Upload of the first bytes of host, and returns at once: the card reads
// them when it has done everything given to the stream before. So host must not be
// changed before the stream is synchronized.
func (m *Memory) UploadAsync(s *Stream, offset int64, host *HostMemory, bytes int64) error {
	return m.context.call(func() error {
		part, err := m.part(s, offset, host, bytes)
		if err != nil || bytes == 0 {
			return err
		}
		return m.context.session.upload(m.address+uint64(offset), part, s.handle)
	}, "upload %d bytes at %d of %d", bytes, offset, m.size)
}

// DownloadAsync is Download to the first bytes of host, and returns at once: the
// bytes are there, and may be touched, when the stream is synchronized.
func (m *Memory) DownloadAsync(s *Stream, host *HostMemory, offset, bytes int64) error {
	return m.context.call(func() error {
		part, err := m.part(s, offset, host, bytes)
		if err != nil || bytes == 0 {
			return err
		}
		return m.context.session.download(part, m.address+uint64(offset), s.handle)
	}, "download %d bytes at %d of %d", bytes, offset, m.size)
}

// part is the first bytes of host, if they and the memory can be copied by the stream.
func (m *Memory) part(s *Stream, offset int64, host *HostMemory, bytes int64) ([]byte, error) {
	if err := m.check(s, offset, bytes); err != nil {
		return nil, err
	}
	switch {
	case host == nil || !m.context.host.has(host):
		return nil, fmt.Errorf("page-locked memory that is none, freed or another context's: %w", errRange)
	case bytes > int64(len(host.bytes)):
		return nil, fmt.Errorf("page-locked memory: want %d bytes at most: %w", len(host.bytes), errRange)
	}
	return host.bytes[:bytes], nil
}
