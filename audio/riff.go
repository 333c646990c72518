package audio

import (
	"encoding/binary"
	"fmt"
	"math"
)

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
