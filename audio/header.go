package audio

import (
	"cmp"
	"fmt"
	"io"
)

// layout says where the samples lie and how to read them.
type layout struct {
	container      Container
	rate, channels int
	encoding       Encoding
	offset         int64 // of the first sample; from there the file holds frames × channels samples
	frames         int
	streamed       bool        // a WAV file whose sizes were never filled in
	speakers       uint32      // as WAVE numbers the channels' positions; 0: not given
	pcm            io.ReaderAt // the samples from offset 0 on, where the file does not hold them as such
}

// maxRate is above any converter's; a larger rate is a damaged header.
const maxRate = 100_000_000

func (l layout) frameBytes() int { return l.channels * l.encoding.Bytes }

func (l layout) dataLen() int64 { return int64(l.frames) * int64(l.frameBytes()) }

// end returns the offset of the byte after the last sample.
func (l layout) end() int64 { return l.offset + l.dataLen() }

// head reads a file's header for the parsers, a block at a time because a header may consist of many small chunks. It keeps
// its first read error: the parsers see a file that ends there, and their caller reports err instead.
type head struct {
	src   io.ReaderAt
	size  int64
	block []byte
	at    int64 // of block in the file
	err   error
}

// headBlock is how much of a header is read at once.
const headBlock = 1 << 12

// bytes returns n bytes from an offset on, and fewer only where the file ends before. They are good until the next call.
func (h *head) bytes(at int64, n int) []byte {
	n = int(max(0, min(int64(n), h.size-at)))
	if at < h.at || at+int64(n) > h.at+int64(len(h.block)) {
		h.block, h.at = make([]byte, max(n, int(min(headBlock, h.size-at)))), at
		h.err = cmp.Or(h.err, readAt(h.src, h.size, h.block, at))
	}
	if h.err != nil {
		return nil
	}
	return h.block[at-h.at:][:n]
}

// readAt fills b from a file that had size bytes when it was opened, at least up to the end of b.
func readAt(src io.ReaderAt, size int64, b []byte, at int64) error {
	n, err := src.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF:
		return bad(at+int64(n), "the file ends here; it had %d bytes when it was opened", size)
	}
	return fmt.Errorf("audio: read at offset %d: %w", at, err)
}

const (
	// magicLen is how many bytes of a file identify its format if it is read.
	magicLen = 12
	// sniffLen is how many bytes identify a format that is not read.
	sniffLen = 36
)
