package audio

import (
	"cmp"
	"encoding/binary"
	"fmt"
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

// riffChunks are those of RIFF files: a name of four letters and 32 bits of size, padded to even length. large are the sizes that do not fit.
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

// parseRF64 reads the header of an RF64 or BW64 file: that of a WAV file, with sizes in a ds64 chunk.
func parseRF64(in *head) (l layout, err error) {
	large, first, err := rf64Sizes(in)
	if err != nil {
		return l, err
	}
	return l.withChunks(in, first, riffChunks(in, binary.LittleEndian, large), 1)
}

// rf64Sizes returns the sizes that a ds64 chunk gives, by the chunks' names, and where the next chunk is.
func rf64Sizes(in *head) (large map[string]int64, first int64, err error) {
	b := in.bytes(magicLen, 8+28)
	if len(b) < 8+28 || string(b[:4]) != "ds64" {
		return nil, 0, fmt.Errorf("%w: offset %d: %.4q; want \"ds64\" with the sizes", ErrFormat, magicLen, b)
	}
	size := int64(binary.LittleEndian.Uint32(b[4:]))
	body := in.bytes(magicLen+8, int(min(size, headBlock)))
	if size < 28 || int64(len(body)) < min(size, headBlock) {
		return nil, 0, fmt.Errorf("%w: offset %d: \"ds64\" of %d bytes; want at least 28, all in the file", ErrFormat, magicLen, size)
	}
	number := func(i int) int64 { return int64(min(binary.LittleEndian.Uint64(body[i:]), math.MaxInt64/2)) }
	large = map[string]int64{"data": number(8)}
	for i, left := 28, binary.LittleEndian.Uint32(body[24:]); left > 0 && i+12 <= len(body); i, left = i+12, left-1 {
		large[string(body[i:i+4])] = number(i + 4)
	}
	return large, magicLen + 8 + size + size&1, nil
}

// parseW64 reads the header of a Wave64 file.
func parseW64(in *head) (l layout, err error) {
	const first = w64Head + 16
	b := in.bytes(0, first)
	if len(b) < first || string(b[:16]) != w64Riff || string(b[w64Head:]) != "wave"+w64Tail {
		return l, fmt.Errorf("%w: offset 0: no Wave64 header; want the names riff and wave", ErrFormat)
	}
	return l.withChunks(in, first, w64Chunks(in), 1)
}

// speakers are the positions that WAVE and FLAC give to 1 to 8 channels: bits of front left, front right, centre, low frequencies, back left,
// back right, two beside the centre, back centre, side left, side right.
var speakers = []uint32{0, 0x4, 0x3, 0x7, 0x33, 0x37, 0x3f, 0x70f, 0x63f}

// waveFormat returns the body of a fmt chunk, with an extension for all but PCM of 8 and 16 bits in 1 or 2 channels. The positions of more
// than two channels, and integers of other widths, need the long one.
func (l layout) waveFormat() (b []byte) {
	code := uint16(codePCM)
	if l.encoding.Float {
		code = codeFloat
	}
	frame, bits, short := l.frameBytes(), uint16(8*l.encoding.Bytes), code
	long := l.channels > 2 || !l.encoding.Float && l.encoding.Bytes > 2 || l.encoding.ValidBits != 0
	if long {
		short = codeExtensible
	}
	add := func(values ...any) {
		for _, v := range values {
			b, _ = binary.Append(b, binary.LittleEndian, v) // numbers do not fail
		}
	}
	add(short, uint16(l.channels), uint32(l.rate), uint32(int64(l.rate)*int64(frame)), uint16(frame), bits)
	switch {
	case long:
		positions := l.speakers
		if positions == 0 && l.channels < len(speakers) {
			positions = speakers[l.channels]
		}
		add(uint16(22), cmp.Or(uint16(l.encoding.ValidBits), bits), positions, code, []byte(guidTail))
	case l.encoding.Float:
		add(uint16(0))
	}
	return b
}

// rf64Header returns a plain RF64 file up to its samples.
func (l layout) rf64Header() ([]byte, error) {
	if l.frameBytes() > math.MaxUint16 {
		return nil, fmt.Errorf("audio: frames of %d bytes do not fit a WAV file (64 KiB): %w", l.frameBytes(), ErrFormat)
	}
	format, size := l.waveFormat(), l.dataLen()
	le := binary.LittleEndian
	b := append(le.AppendUint32([]byte("RF64"), unknownSize), "WAVEds64"...)
	b = le.AppendUint32(b, 28)
	b = le.AppendUint64(b, uint64(4+8+28+8+int64(len(format))+8+size+size&1))
	b = le.AppendUint64(le.AppendUint64(b, uint64(size)), uint64(l.frames))
	b = append(le.AppendUint32(b, 0), "fmt "...)
	b = append(append(le.AppendUint32(b, uint32(len(format))), format...), "data"...)
	return le.AppendUint32(b, unknownSize), nil
}

// w64Header returns a plain Wave64 file up to its samples.
func (l layout) w64Header() ([]byte, error) {
	if l.frameBytes() > math.MaxUint16 {
		return nil, fmt.Errorf("audio: frames of %d bytes do not fit a Wave64 file (64 KiB): %w", l.frameBytes(), ErrFormat)
	}
	format, size := l.waveFormat(), l.dataLen()
	le := binary.LittleEndian
	padded := make([]byte, (len(format)+7)&^7)
	copy(padded, format)
	total := w64Head + 16 + w64Head + int64(len(padded)) + w64Head + (size+7)&^7
	b := le.AppendUint64([]byte(w64Riff), uint64(total))
	b = append(b, "wave"+w64Tail+"fmt "+w64Tail...)
	b = append(le.AppendUint64(b, uint64(w64Head+len(format))), padded...)
	b = append(b, "data"+w64Tail...)
	return le.AppendUint64(b, uint64(w64Head+size)), nil
}
