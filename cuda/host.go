package cuda

import (
	"fmt"
	"unsafe"
)

// HostMemory is page-locked host memory, which the operating system does not move. A GPU copies
// from and to it by DMA, so that such copies are queued like launches and run concurrently with
// them at the full speed of the bus.
type HostMemory struct {
	context *Context
	bytes   []byte
}

// AllocHost allocates page-locked memory of at least 1 byte, aligned for any number. It is not
// zeroed, and does not count against the budget. Allocating some megabytes takes about a
// millisecond, so the memory should be reused. If the host has too little memory, the error wraps
// ErrOutOfMemory.
func (c *Context) AllocHost(bytes int64) (*HostMemory, error) {
	h := &HostMemory{context: c}
	err := c.call(func() (err error) {
		if bytes < 1 {
			return fmt.Errorf("the minimum is 1 byte: %w", errRange)
		}
		if h.bytes, err = c.session.allocHost(bytes); err == nil {
			c.host.add(h, piece{bytes, h.release})
		}
		return err
	}, "alloc %d bytes of host memory", bytes)
	if err != nil {
		return nil, err
	}
	return h, nil
}

// release frees the memory.
func (h *HostMemory) release() error { return h.context.session.releaseHost(h.bytes) }

// Bytes returns the memory. Accessing it after Free, or after the last Close on a lost GPU, may
// crash the program.
func (h *HostMemory) Bytes() []byte { return h.bytes }

// Float64s returns the memory as numbers. It is valid as long as Bytes.
func (h *HostMemory) Float64s() []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(h.bytes))), len(h.bytes)/8)
}

// Free frees the memory. The streams that copy from or to it must be synchronized. Freeing it twice
// is an error. On a lost context the memory counts as freed, and the error wraps ErrLost.
func (h *HostMemory) Free() error {
	allocated := h.context.host.drop(h)
	return h.context.call(func() error {
		if !allocated {
			return errFreed
		}
		return h.release()
	}, "free %d bytes of host memory", len(h.bytes))
}

// UploadAsync queues an upload of the first bytes of host and returns at once. The GPU reads them after
// all earlier operations of the stream. Do not change host before the stream is synchronized.
func (m *Memory) UploadAsync(s *Stream, offset int64, host *HostMemory, bytes int64) error {
	return m.queue(s, offset, host, bytes, "upload", func(part []byte) error {
		return m.context.session.upload(m.address+uint64(offset), part, s.handle)
	})
}

// DownloadAsync queues a download to the first bytes of host and returns at once. Do not access
// the bytes before the stream is synchronized.
func (m *Memory) DownloadAsync(s *Stream, host *HostMemory, offset, bytes int64) error {
	return m.queue(s, offset, host, bytes, "download", func(part []byte) error {
		return m.context.session.download(part, m.address+uint64(offset), s.handle)
	})
}

// queue calls give with the first bytes of host if the stream can copy them and the memory.
func (m *Memory) queue(s *Stream, offset int64, host *HostMemory, bytes int64, what string, give func([]byte) error) error {
	return m.context.call(func() error {
		if err := m.check(s, offset, bytes); err != nil {
			return err
		}
		switch {
		case host == nil || !m.context.host.has(host):
			return fmt.Errorf("page-locked memory is nil, freed or of another context: %w", errRange)
		case bytes > int64(len(host.bytes)):
			return fmt.Errorf("page-locked memory: the maximum is %d bytes: %w", len(host.bytes), errRange)
		case bytes == 0:
			return nil
		}
		return give(host.bytes[:bytes])
	}, "%s %d bytes at %d of %d", what, bytes, offset, m.size)
}
