package audio

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// WAVE format codes; 0xFFFE defers to a GUID in the fmt chunk.
const (
	codePCM        = 1
	codeFloat      = 3
	codeExtensible = 0xFFFE
)

// codeNames names the codings that are recognised only to be refused.
var codeNames = map[int]string{
	0x0002: "Microsoft ADPCM", 0x0006: "A-law", 0x0007: "mu-law", 0x0010: "OKI ADPCM", 0x0011: "IMA ADPCM",
	0x0014: "G.723 ADPCM", 0x0022: "TrueSpeech", 0x0031: "GSM 6.10", 0x0040: "G.721 ADPCM", 0x0045: "G.726 ADPCM",
	0x0050: "MPEG audio", 0x0055: "MP3", 0x0092: "AC-3 over S/PDIF", 0x00FF: "AAC", 0x0160: "WMA 1", 0x0161: "WMA 2",
	0x0162: "WMA Pro", 0x0163: "WMA lossless", 0x1610: "AAC", 0x2000: "AC-3", 0x2001: "DTS", 0x674F: "Ogg Vorbis",
	0x704F: "Opus", 0xF1AC: "FLAC",
}

// guidTail is the end of a GUID that stands for a format code: its first two bytes are the code.
const guidTail = "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"

// parseWAV walks the chunks up to the data chunk. Chunks that it does not know are skipped (and, as the whole file is
// copied, written back); the bytes after the data are not read. A data chunk that claims more than the file holds is a
// truncated file, except for the sizes that a program writes when it streams into a pipe and cannot go back: those mean
// "to the end of the file".
func parseWAV(in *head) (l layout, err error) {
	riff := int64(binary.LittleEndian.Uint32(in.bytes(0, magicLen)[4:]))
	next := "fmt " // the chunk that has to come
	for at := int64(12); ; {
		header := in.bytes(at, 8)
		if len(header) < 8 {
			return l, fmt.Errorf("%w: offset %d: the file ends before its %q chunk", ErrFormat, at, next)
		}
		id, size, left := string(header[:4]), int64(binary.LittleEndian.Uint32(header[4:])), in.size-at-8
		switch {
		case id == "data" && next == "data":
			return l.withData(at, size, left, riff)
		case id == "data":
			return l, fmt.Errorf("%w: offset %d: \"data\" before \"fmt \"; want the format first", ErrFormat, at)
		case size > left:
			return l, fmt.Errorf("%w: offset %d: chunk %q claims %d bytes, the file holds %d more", ErrFormat, at, id, size, left)
		case id == "fmt " && next == "data":
			return l, fmt.Errorf("%w: offset %d: a second \"fmt \" chunk; want one", ErrFormat, at)
		case id == "fmt ":
			if l, err = parseFmt(in.bytes(at+8, int(min(size, fmtMost)))); err != nil {
				return l, fmt.Errorf("%w: offset %d: %w", ErrFormat, at, err)
			}
			next = "data"
		}
		at += 8 + size + size&1 // chunks are padded to even length
	}
}

// fmtMost is how many bytes of the fmt chunk's body are used here.
const fmtMost = 40

// parseFmt reads the body of the fmt chunk.
func parseFmt(b []byte) (l layout, err error) {
	if len(b) < 16 {
		return l, fmt.Errorf("\"fmt \" chunk of %d bytes; want at least 16", len(b))
	}
	u16 := func(i int) int { return int(binary.LittleEndian.Uint16(b[i:])) }
	code, align, bits, valid := u16(0), u16(12), u16(14), 0
	l.channels, l.rate = u16(2), int(binary.LittleEndian.Uint32(b[4:]))
	if code == codeExtensible {
		if len(b) < 40 {
			return l, fmt.Errorf("extensible \"fmt \" chunk of %d bytes; want 40", len(b))
		}
		if string(b[26:40]) != guidTail {
			return l, fmt.Errorf("unknown coding with GUID %x; want PCM or IEEE float", b[24:40])
		}
		code, valid = u16(24), u16(18)
	}
	switch {
	case l.channels == 0:
		return l, fmt.Errorf("0 channels; want at least 1")
	case l.rate == 0 || l.rate > maxRate:
		return l, fmt.Errorf("%d samples a second; want 1 to %d", l.rate, maxRate)
	}
	if l.encoding, err = wavEncoding(code, bits, valid); err == nil && align != l.frameBytes() {
		err = fmt.Errorf("block align is %d; want %d for %d channels of %d bits", align, l.frameBytes(), l.channels, bits)
	}
	return l, err
}

// wavEncoding returns the encoding for a format code and a number of bits per sample, of which the first valid are used; 0: all.
func wavEncoding(code, bits, valid int) (Encoding, error) {
	switch {
	case code == codePCM && !slices.Contains([]int{8, 16, 24, 32}, bits):
		return Encoding{}, fmt.Errorf("PCM of %d bits; want 8, 16, 24 or 32", bits)
	case code == codePCM && valid > bits:
		return Encoding{}, fmt.Errorf("%d valid bits in samples of %d", valid, bits)
	case code == codePCM && valid == bits:
		return Encoding{Bytes: bits / 8, Unsigned: bits == 8}, nil
	case code == codePCM:
		return Encoding{Bytes: bits / 8, Unsigned: bits == 8, ValidBits: valid}, nil
	case code == codeFloat && bits != 32 && bits != 64:
		return Encoding{}, fmt.Errorf("IEEE float of %d bits; want 32 or 64", bits)
	case code == codeFloat:
		return Encoding{Bytes: bits / 8, Float: true}, nil
	}
	name := cmp.Or(codeNames[code], "an unknown coding")
	return Encoding{}, fmt.Errorf("format %#04x is %s; want PCM or IEEE float: convert it first", code, name)
}

// withData adds the data chunk: its header is at offset at and claims size bytes, and the file holds that many more. riff is the size
// that the whole file claims.
func (l layout) withData(at, size, held, riff int64) (layout, error) {
	l.offset = at + 8
	frame := int64(l.frameBytes())
	if sizeUnknown(size) && sizeUnknown(riff) && (size == 0 || size > held) {
		l.streamed = true
		size = held - held%frame
	}
	switch {
	case size == 0:
		return l, fmt.Errorf("%w: offset %d: \"data\" holds no samples", ErrFormat, at)
	case size > held:
		return l, fmt.Errorf("%w: offset %d: truncated: \"data\" claims %d bytes, the file holds %d more", ErrFormat, at, size, held)
	case size%frame != 0:
		return l, fmt.Errorf("%w: offset %d: \"data\" of %d bytes; want whole frames of %d bytes", ErrFormat, at, size, frame)
	}
	l.frames = int(size / frame)
	return l, nil
}

// sizeUnknown reports whether programs write this 32-bit size before they know the real one: 0, all ones, or within a header
// of 2^31 (sox and espeak-ng write 0x7FFFF000 for the data and 36 more for the file).
func sizeUnknown(size int64) bool {
	return size == 0 || size == 1<<32-1 || size >= 1<<31-1<<12 && size <= 1<<31+1<<12
}

// wavHeader returns a plain WAV file up to its samples.
func (l layout) wavHeader() ([]byte, error) {
	frame, size := l.frameBytes(), l.dataLen()
	if size > math.MaxUint32-64 || frame > math.MaxUint16 {
		return nil, fmt.Errorf("audio: %d bytes in frames of %d do not fit a WAV file (4 GiB, 64 KiB): %w", size, frame, ErrFormat)
	}
	code, fmtLen, factLen := uint16(codePCM), uint32(16), uint32(0)
	if l.encoding.Float { // all formats but PCM have the size of an extension, here 0, and a fact chunk with the length
		code, fmtLen, factLen = codeFloat, 18, 12
	}
	b := []byte("RIFF")
	put := func(values ...any) {
		for _, v := range values {
			b, _ = binary.Append(b, binary.LittleEndian, v) // numbers and bytes do not fail
		}
	}
	put(4+8+fmtLen+factLen+8+uint32(size+size&1), []byte("WAVEfmt "), fmtLen, code, uint16(l.channels),
		uint32(l.rate), uint32(int64(l.rate)*int64(frame)), uint16(frame), uint16(8*l.encoding.Bytes))
	if l.encoding.Float {
		put(uint16(0), []byte("fact"), uint32(4), uint32(l.frames))
	}
	put([]byte("data"), uint32(size))
	return b, nil
}
