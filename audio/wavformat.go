package audio

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
)

// WAVE format codes; 0xFFFE defers to a GUID in the fmt chunk.
const (
	codePCM        = 1
	codeFloat      = 3
	codeExtensible = 0xFFFE
)

// codeNames names the codings that are recognized only to be refused.
var codeNames = map[int]string{
	0x0002: "Microsoft ADPCM", 0x0006: "A-law", 0x0007: "mu-law", 0x0010: "OKI ADPCM", 0x0011: "IMA ADPCM",
	0x0014: "G.723 ADPCM", 0x0022: "TrueSpeech", 0x0031: "GSM 6.10", 0x0040: "G.721 ADPCM", 0x0045: "G.726 ADPCM",
	0x0050: "MPEG audio", 0x0055: "MP3", 0x0092: "AC-3 over S/PDIF", 0x00FF: "AAC", 0x0160: "WMA 1", 0x0161: "WMA 2",
	0x0162: "WMA Pro", 0x0163: "WMA lossless", 0x1610: "AAC", 0x2000: "AC-3", 0x2001: "DTS", 0x674F: "Ogg Vorbis",
	0x704F: "Opus", 0xF1AC: "FLAC",
}

// guidTail is the end of a GUID that stands for a format code: its first two bytes are the code.
const guidTail = "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"

// withChunks walks the chunks from an offset on. riff is the size that the whole file claims.
func (l layout) withChunks(in *head, at int64, next chunks, riff int64) (layout, error) {
	want := "fmt " // the chunk that has to come
	for {
		c, ok := next(at)
		if !ok {
			return l, fmt.Errorf("%w: offset %d: the file ends before its %q chunk", ErrFormat, at, want)
		}
		switch left := in.size - c.body; {
		case c.id == "data" && want == "data":
			return l.withData(at, c, left, riff)
		case c.id == "data":
			return l, fmt.Errorf("%w: offset %d: \"data\" before \"fmt \"; want the format first", ErrFormat, at)
		case c.size > left:
			return l, fmt.Errorf("%w: offset %d: chunk %q claims %d bytes, the file holds %d more", ErrFormat, at, c.id, c.size, left)
		case c.id == "fmt " && want == "data":
			return l, fmt.Errorf("%w: offset %d: a second \"fmt \" chunk; want one", ErrFormat, at)
		case c.id == "fmt ":
			var err error
			if l, err = parseFmt(in.bytes(c.body, int(min(c.size, fmtMost)))); err != nil {
				return l, fmt.Errorf("%w: offset %d: %w", ErrFormat, at, err)
			}
			want = "data"
		}
		at = c.next
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
		code, valid, l.speakers = u16(24), u16(18), binary.LittleEndian.Uint32(b[20:])
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

// withData adds the data chunk, whose header is at offset at; the file holds so many bytes of it. riff is the size that the whole file
// claims.
func (l layout) withData(at int64, c chunk, held, riff int64) (layout, error) {
	l.offset = c.body
	size, frame := c.size, int64(l.frameBytes())
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

// speakers are the positions that WAVE and FLAC give to 1 to 8 channels: bits of front left, front right, center, low frequencies, back
// left, back right, two beside the center, back center, side left, side right.
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
