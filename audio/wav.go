package audio

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// A chunk of a file is a name, a size and so many bytes. next is the offset of the next one.
type chunk struct {
	id               string
	body, size, next int64 // of the body
}

// chunks reads the header of the chunk at an offset. ok is false if the file ends before.
type chunks func(at int64) (c chunk, ok bool)

// unknownSize is the size in a chunk's header if a ds64 chunk gives the real one.
const unknownSize = uint32(math.MaxUint32)

// riffChunks reads chunks of RIFF files: a name of four letters and 32 bits of size, padded to even length. large are the sizes that do
// not fit.
func riffChunks(in *head, order binary.ByteOrder, large map[string]int64) chunks {
	return func(at int64) (c chunk, ok bool) {
		b := in.bytes(at, 8)
		if len(b) < 8 {
			return c, false
		}
		c = chunk{id: string(b[:4]), body: at + 8, size: int64(order.Uint32(b[4:]))}
		if size, ok := large[c.id]; ok && c.size == int64(unknownSize) {
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

// w64Chunks reads chunks of Wave64, which begin at multiples of 8.
func w64Chunks(in *head) chunks {
	return func(at int64) (c chunk, ok bool) {
		b := in.bytes(at, w64Head)
		if len(b) < w64Head {
			return c, false
		}
		size := int64(min(binary.LittleEndian.Uint64(b[16:]), math.MaxInt64/2))
		c = chunk{string(b[:4]), at + w64Head, max(0, size-w64Head), at + (max(size, w64Head)+7)&^7}
		if string(b[4:16]) != w64Tail {
			c.id = "?" + c.id
		}
		return c, true
	}
}

// parseWAV reads the header of a WAV file.
func parseWAV(in *head) (l layout, err error) {
	riff := int64(binary.LittleEndian.Uint32(in.bytes(0, magicLen)[4:]))
	return l.withChunks(in, magicLen, riffChunks(in, binary.LittleEndian, nil), riff)
}

// parseRF64 reads the header of an RF64 or BW64 file, a WAV file with sizes in a ds64 chunk.
func parseRF64(in *head) (l layout, err error) {
	next, first, err := rf64Chunks(in)
	if err != nil {
		return l, err
	}
	return l.withChunks(in, first, next, 1)
}

// rf64Chunks reads the chunks after a ds64 chunk, which gives their sizes by their names, and returns where the first of them is.
func rf64Chunks(in *head) (next chunks, first int64, err error) {
	b := in.bytes(magicLen, 8+28)
	if len(b) < 8+28 || string(b[:4]) != "ds64" {
		return nil, 0, bad(magicLen, "%.4q; want \"ds64\" with the sizes", b)
	}
	size := int64(binary.LittleEndian.Uint32(b[4:]))
	body := in.bytes(magicLen+8, int(min(size, headBlock)))
	if size < 28 || int64(len(body)) < min(size, headBlock) {
		return nil, 0, bad(magicLen, "\"ds64\" of %d bytes; want at least 28, all in the file", size)
	}
	number := func(i int) int64 { return int64(min(binary.LittleEndian.Uint64(body[i:]), math.MaxInt64/2)) }
	large := map[string]int64{"data": number(8)}
	for i, left := 28, binary.LittleEndian.Uint32(body[24:]); left > 0 && i+12 <= len(body); i, left = i+12, left-1 {
		large[string(body[i:i+4])] = number(i + 4)
	}
	return riffChunks(in, binary.LittleEndian, large), magicLen + 8 + size + size&1, nil
}

// parseW64 reads the header of a Wave64 file.
func parseW64(in *head) (l layout, err error) {
	const first = w64Head + 16
	b := in.bytes(0, first)
	if len(b) < first || string(b[:16]) != w64Riff || string(b[w64Head:]) != "wave"+w64Tail {
		return l, bad(0, "no Wave64 header; want the names riff and wave")
	}
	return l.withChunks(in, first, w64Chunks(in), 1)
}

// withChunks reads the chunks from an offset up to the samples. Others than fmt are skipped (and, as the whole file is copied, written
// back). riff is the size that the whole file claims.
func (l layout) withChunks(in *head, at int64, next chunks, riff int64) (layout, error) {
	want := "fmt " // the chunk that has to come
	for {
		c, ok := next(at)
		if !ok {
			return l, bad(at, "the file ends before its %q chunk", want)
		}
		switch left := in.size - c.body; {
		case c.id == "data" && want == "data":
			return l.withData(at, c, left, riff)
		case c.id == "data":
			return l, bad(at, "\"data\" before \"fmt \"; want the format first")
		case c.size > left:
			return l, bad(at, "chunk %q claims %d bytes, but the file has only %d more", c.id, c.size, left)
		case c.id == "fmt " && want == "data":
			return l, bad(at, "a second \"fmt \" chunk; want one")
		case c.id == "fmt ":
			var err error
			if l, err = parseFmt(in.bytes(c.body, int(min(c.size, fmtMost)))); err != nil {
				return l, bad(at, "%w", err)
			}
			want = "data"
		}
		at = c.next
	}
}

// withData adds the data chunk, whose header is at offset at. held is the number of its bytes in the file. A chunk that claims more is a
// truncated file, unless the sizes are written by programs that stream into a pipe and cannot go back: they mean "to the end".
func (l layout) withData(at int64, c chunk, held, riff int64) (layout, error) {
	l.offset = c.body
	size, frame := c.size, int64(l.frameBytes())
	if sizeUnknown(size) && sizeUnknown(riff) && (size == 0 || size > held) {
		l.streamed = true
		size = held - held%frame
	}
	switch {
	case size == 0:
		return l, bad(at, "\"data\" has no samples")
	case size > held:
		return l, bad(at, "truncated: \"data\" claims %d bytes, but the file has only %d more", size, held)
	case size%frame != 0:
		return l, bad(at, "\"data\" of %d bytes; want whole frames of %d bytes", size, frame)
	}
	l.frames = int(size / frame)
	return l, nil
}

// sizeUnknown reports whether programs write this 32-bit size before they know the real one: 0, all ones, or within a header
// of 2^31 (sox and espeak-ng write 0x7FFFF000 for the data and 36 more for the file).
func sizeUnknown(size int64) bool {
	return size == 0 || size == 1<<32-1 || size >= 1<<31-1<<12 && size <= 1<<31+1<<12
}

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

// guidTail is the end of a GUID that means a format code: its first two bytes are the code.
const guidTail = "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"

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
func wavEncoding(code, bits, valid int) (e Encoding, err error) {
	switch {
	case code == codePCM && !slices.Contains([]int{8, 16, 24, 32}, bits):
		return e, fmt.Errorf("PCM of %d bits; want 8, 16, 24 or 32", bits)
	case code == codePCM && valid > bits:
		return e, fmt.Errorf("%d valid bits in samples of %d", valid, bits)
	case code == codePCM:
		return Encoding{Bytes: bits / 8, Unsigned: bits == 8, ValidBits: valid % bits}, nil
	case code == codeFloat && bits != 32 && bits != 64:
		return e, fmt.Errorf("IEEE float of %d bits; want 32 or 64", bits)
	case code == codeFloat:
		return Encoding{Bytes: bits / 8, Float: true}, nil
	}
	return e, fmt.Errorf("format %#04x is %s; want PCM or IEEE float: convert it first", code, cmp.Or(codeNames[code], "an unknown coding"))
}

// speakers are the positions that WAVE and FLAC give to 1 to 8 channels: bits of front left, front right, center, low frequencies, back
// left, back right, two next to the center, back center, side left, side right.
var speakers = []uint32{0, 0x4, 0x3, 0x7, 0x33, 0x37, 0x3f, 0x70f, 0x63f}

// waveFormat returns the body of a fmt chunk, with an extension for all but PCM of 8 and 16 bits in 1 or 2 channels. The positions of more
// than two channels, and integers of other widths, need the long one. what names the file in the error.
func (l layout) waveFormat(what string) ([]byte, error) {
	frame, code, bits := l.frameBytes(), uint16(codePCM), uint16(8*l.encoding.Bytes)
	if frame > math.MaxUint16 {
		return nil, fmt.Errorf("audio: frames of %d bytes do not fit a %s file (64 KiB): %w", frame, what, ErrFormat)
	}
	if l.encoding.Float {
		code = codeFloat
	}
	short := func(code uint16) []byte {
		return pack(binary.LittleEndian, code, uint16(l.channels), uint32(l.rate), uint32(int64(l.rate)*int64(frame)), uint16(frame), bits)
	}
	switch {
	case l.channels > 2 || !l.encoding.Float && l.encoding.Bytes > 2 || l.encoding.ValidBits != 0:
		positions := l.speakers
		if positions == 0 && l.channels < len(speakers) {
			positions = speakers[l.channels]
		}
		valid := cmp.Or(uint16(l.encoding.ValidBits), bits)
		return append(short(codeExtensible), pack(binary.LittleEndian, uint16(22), valid, positions, code, guidTail)...), nil
	case l.encoding.Float:
		return append(short(code), 0, 0), nil
	}
	return short(code), nil
}

// pack returns the bytes of strings, bytes and numbers one after the other.
func pack(order binary.ByteOrder, values ...any) (b []byte) {
	for _, v := range values {
		if s, ok := v.(string); ok {
			v = []byte(s)
		}
		b, _ = binary.Append(b, order, v) // numbers do not fail
	}
	return b
}

// wavHeader returns a plain WAV file up to its samples; an RF64 file where they do not fit.
func (l layout) wavHeader() ([]byte, error) {
	le, size, fact := binary.LittleEndian, l.dataLen(), ""
	format, err := l.waveFormat("WAV")
	if size > math.MaxUint32-64 || err != nil {
		return l.rf64Header()
	}
	if l.encoding.Float { // all formats but PCM have a chunk with the length
		fact = string(pack(le, "fact", uint32(4), uint32(l.frames)))
	}
	return pack(le, "RIFF", uint32(int64(4+8+len(format)+len(fact)+8)+size+size&1),
		"WAVEfmt ", uint32(len(format)), format, fact, "data", uint32(size)), nil
}

// rf64Header returns a plain RF64 file up to its samples.
func (l layout) rf64Header() ([]byte, error) {
	format, err := l.waveFormat("WAV")
	size := l.dataLen()
	return pack(binary.LittleEndian, "RF64", unknownSize, "WAVEds64", uint32(28), uint64(4+8+28+8+int64(len(format))+8+size+size&1),
		uint64(size), uint64(l.frames), uint32(0), "fmt ", uint32(len(format)), format, "data", unknownSize), err
}

// w64Header returns a plain Wave64 file up to its samples.
func (l layout) w64Header() ([]byte, error) {
	format, err := l.waveFormat("Wave64")
	n, size := w64Head+len(format), l.dataLen()
	format = append(format, make([]byte, -n&7)...)
	total := w64Head + 16 + w64Head + int64(len(format)) + w64Head + (size+7)&^7
	return pack(binary.LittleEndian, w64Riff, uint64(total), "wave"+w64Tail, "fmt "+w64Tail, uint64(n), format,
		"data"+w64Tail, uint64(w64Head+size)), err
}

// mostCues bounds the bytes of a chunk of cue points that are read.
const mostCues = 1 << 24

// Cues returns the regions that a WAV, RF64 or BW64 file marks itself, in rising order: cue points to which the file gives a length. Cue
// points without a length, and regions that reach beyond the samples, are left out. Files of other containers have none.
func (f *File) Cues() (gaps []Gap, err error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	in := &head{src: f.src, size: f.size}
	next, at := riffChunks(in, binary.LittleEndian, nil), int64(magicLen)
	switch f.container {
	case WAV:
	case RF64:
		if next, at, err = rf64Chunks(in); err != nil {
			return nil, err
		}
	default:
		return nil, nil
	}
	starts, lengths := map[uint32]uint32{}, map[uint32]uint32{} // by the number of the point
	for c, ok := next(at); ok; c, ok = next(c.next) {
		switch {
		case c.body == f.offset: // a streamed file says nothing of its size
			c.next = f.end() + f.dataLen()&1
		case c.id == "cue ": // a count, and 24 bytes for each point: its number first, its sample last
			b := in.bytes(c.body, int(min(c.size, mostCues)))
			for b = b[min(4, len(b)):]; len(b) >= 24; b = b[24:] {
				starts[binary.LittleEndian.Uint32(b)] = binary.LittleEndian.Uint32(b[20:])
			}
		case c.id == "LIST" && string(in.bytes(c.body, 4)) == "adtl": // chunks, of which ltxt has a point's number and length
			for part, ok := next(c.body + 4); ok && part.body < c.next; part, ok = next(part.next) {
				if b := in.bytes(part.body, 8); part.id == "ltxt" && min(part.size, int64(len(b))) >= 8 {
					lengths[binary.LittleEndian.Uint32(b)] = binary.LittleEndian.Uint32(b[4:])
				}
			}
		}
	}
	if in.err != nil {
		return nil, fmt.Errorf("cue points: %w", in.err)
	}
	for id, start := range starts {
		if n := int(lengths[id]); n > 0 && int(start)+n <= f.frames {
			gaps = append(gaps, Gap{Start: int(start), End: int(start) + n})
		}
	}
	slices.SortFunc(gaps, Gap.compare)
	return gaps, nil
}
