package audio

import (
	"encoding/binary"
	"math"
)

// A chunk of a file is a name, a size and so many bytes.
type chunk struct {
	id   string
	body int64 // offset
	size int64 // of the body
	next int64 // offset of the next one
}

// chunks reads the headers of chunks. ok is false where the file ends before.
type chunks func(at int64) (c chunk, ok bool)

// unknownSize stands in a chunk's header for a size that a ds64 chunk gives.
const unknownSize = math.MaxUint32

// riffChunks are those of RIFF files: a name of four letters and 32 bits of size, padded to even length. large are the sizes that do not
// fit.
func riffChunks(in *head, order binary.ByteOrder, large map[string]int64) chunks {
	return func(at int64) (c chunk, ok bool) {
		b := in.bytes(at, 8)
		if len(b) < 8 {
			return c, false
		}
		c = chunk{id: string(b[:4]), body: at + 8, size: int64(order.Uint32(b[4:]))}
		if size, ok := large[c.id]; ok && c.size == unknownSize {
			c.size = size
		}
		c.next = c.body + c.size + c.size&1
		return c, true
	}
}

// w64Tail ends the names of Wave64, which are the four letters of RIFF's and these bytes; riff's own is another.
const (
	w64Tail = "\xf3\xac\xd3\x11\x8c\xd1\x00\xc0\x4f\x8e\xdb\x8a"
	w64Riff = "riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\x00\x00"
	w64Head = 16 + 8 // of a chunk: name, and a size that includes both
)

// w64Chunks are those of Wave64, which begin at multiples of 8.
func w64Chunks(in *head) chunks {
	return func(at int64) (c chunk, ok bool) {
		b := in.bytes(at, w64Head)
		if len(b) < w64Head {
			return c, false
		}
		size := int64(min(binary.LittleEndian.Uint64(b[16:]), math.MaxInt64/2))
		c = chunk{id: string(b[:4]), body: at + w64Head, size: max(0, size-w64Head)}
		if string(b[4:16]) != w64Tail {
			c.id = "?" + c.id
		}
		c.next = at + (max(size, w64Head)+7)&^7
		return c, true
	}
}
