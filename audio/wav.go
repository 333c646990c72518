package audio

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// A chunk is the position of a RIFF chunk in a file.
type chunk struct {
	id   string
	body int64 // offset of the body
	size int64 // of the body in bytes
	next int64 // offset of the next chunk
}

// chunks reads the header of the chunk at an offset. ok is false if the file ends before the end of the header.
type chunks func(at int64) (c chunk, ok bool)

// unknownSize is the size in a chunk's header if the size is in the ds64 chunk.
const unknownSize = uint32(math.MaxUint32)

// riffChunks reads the chunks of RIFF files. The header is a four-letter name and a 32-bit size; bodies are padded to even length. large
// contains the sizes that exceed 32 bits.
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

// Chunk names in Wave64 are GUIDs: the four letters of the RIFF name, then w64Tail. Only riff has a different tail.
const (
	w64Tail = "\xf3\xac\xd3\x11\x8c\xd1\x00\xc0\x4f\x8e\xdb\x8a"
	w64Riff = "riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\x00\x00"
	w64Head = 16 + 8 // length of a chunk's header: the name and the size, which includes the header
)

// w64Chunks reads the chunks of Wave64, which begin at multiples of 8.
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

// parseRF64 reads the header of an RF64 or BW64 file, which is a WAV file with 64-bit sizes in a ds64 chunk.
func parseRF64(in *head) (l layout, err error) {
	next, first, err := rf64Chunks(in)
	if err != nil {
		return l, err
	}
	return l.withChunks(in, first, next, -1)
}

// rf64Chunks parses the ds64 chunk. It returns a reader of the chunks that follow and the offset of the first of them.
func rf64Chunks(in *head) (next chunks, first int64, err error) {
	b := in.bytes(magicLen, 8+28)
	if len(b) < 8+28 || string(b[:4]) != "ds64" {
		return nil, 0, bad(magicLen, "chunk %.4q, expected \"ds64\"", b)
	}
	size := int64(binary.LittleEndian.Uint32(b[4:]))
	body := in.bytes(magicLen+8, int(min(size, headBlock)))
	if size < 28 || int64(len(body)) < min(size, headBlock) {
		return nil, 0, bad(magicLen, "the \"ds64\" chunk has %d bytes, expected at least 28 and not beyond the end of the file", size)
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
		return l, bad(0, "invalid Wave64 header, expected the names riff and wave")
	}
	return l.withChunks(in, first, w64Chunks(in), -1)
}

// withChunks reads the chunks from an offset up to the samples. It skips all chunks except fmt. riff is the RIFF size,
// the number of bytes after it, or −1 if the container has none.
func (l layout) withChunks(in *head, at int64, next chunks, riff int64) (layout, error) {
	want := "fmt " // the next required chunk
	for {
		c, ok := next(at)
		if !ok {
			return l, bad(at, "the file ends before its %q chunk", want)
		}
		switch left := in.size - c.body; {
		case c.id == "data" && want == "data":
			l, err := l.withData(in, at, c, left, riff)
			if err == nil && !l.streamed && riff >= 0 && !endsAt(in, next, c, riffEnd(riff)) {
				l.wrongRIFF = true
				in.damaged("the header has the RIFF size %d, which must be %d for a file of %d bytes", riff, in.size-8, in.size)
			}
			return l, err
		case c.id == "data":
			return l, bad(at, "the \"data\" chunk comes before the \"fmt \" chunk")
		case c.size > left:
			return l, bad(at, "chunk %q declares %d bytes, but only %d bytes remain in the file", c.id, c.size, left)
		case c.id == "fmt " && want == "data":
			return l, bad(at, "second \"fmt \" chunk, expected only one")
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

// withData adds the data chunk, whose header is at offset at. available is the number of bytes from its body to the
// end of the file. If the chunk declares more, the file is truncated. The sizes of programs that write to a pipe and do
// not know the length mean "up to the end of the file", or up to the end that the RIFF size declares, if it is inside
// the file. So does a size of 0 if the file has a size but no chunk after it: the program that wrote it was interrupted.
// As the file does not show whether samples are missing, both are damage.
func (l layout) withData(in *head, at int64, c chunk, available, riff int64) (layout, error) {
	l.offset = c.body
	size, frame := c.size, int64(l.frameBytes())
	unknown := sizeUnknown(size) && (size == 0 || size > available)
	end := riffEnd(riff)
	declared := !sizeUnknown(riff) && end >= c.body+frame && end <= in.size
	if unknown && declared {
		available = end - c.body
	}
	switch {
	case unknown && (sizeUnknown(riff) || size == 0 && !chunkAt(in, c.body) || size > 0 && declared):
		l.streamed = true
		in.damaged("the header has no length, because the file was written to a pipe or the program was interrupted")
		size = available - available%frame
	case size > available:
		l.streamed = true
		in.damaged("the file is cut short: the header declares %d bytes of samples, but only %d follow", size, available)
		size = available - available%frame
	case size%frame != 0:
		in.damaged("the header declares %d bytes of samples, must be a multiple of %d", size, frame)
	}
	if l.frames = int(size / frame); l.frames == 0 {
		return l, cmp.Or(in.damage, bad(at, "the \"data\" chunk has no samples"))
	}
	return l, nil
}

// riffEnd returns the offset of the end of a file with a RIFF size, the number of bytes after it.
func riffEnd(size int64) int64 { return size + magicLen - 4 }

// endsAt reports whether an offset is the end of the file or of the data chunk or of a later one. Programs differ in
// whether they count a padding byte, so the offset may be wrong by one.
func endsAt(in *head, next chunks, c chunk, end int64) bool {
	for ok := true; ok && c.next < end-1 && end < in.size-1; {
		if c, ok = next(c.next); !ok {
			return true // no chunks, but other bytes
		}
	}
	return end >= c.body+c.size && (end <= c.next+1 || end >= in.size-1) && end <= in.size+1
}

// chunkAt reports whether a RIFF chunk that fits into the file, or the end of the file, is at an offset.
func chunkAt(in *head, at int64) bool {
	b := in.bytes(at, 8)
	return len(b) == 0 || len(b) == 8 && int64(binary.LittleEndian.Uint32(b[4:])) <= in.size-at-8 &&
		!slices.ContainsFunc(b[:4], func(c byte) bool { return c < ' ' || c > '~' })
}

// sizeUnknown reports whether a 32-bit size is written by programs that do not know the length: 0, all ones, or close to 2^31 (sox and
// espeak-ng write 0x7FFFF000 for the data and 36 more for the file).
func sizeUnknown(size int64) bool {
	return size == 0 || size == 1<<32-1 || size >= 1<<31-1<<12 && size <= 1<<31+1<<12
}

// WAVE format codes; 0xFFFE defers to a GUID in the fmt chunk.
const (
	codePCM        = 1
	codeFloat      = 3
	codeExtensible = 0xFFFE
)

// codeNames are the names of unsupported codings, for messages.
var codeNames = map[int]string{
	0x0002: "Microsoft ADPCM", 0x0006: "A-law", 0x0007: "mu-law", 0x0010: "OKI ADPCM", 0x0011: "IMA ADPCM",
	0x0014: "G.723 ADPCM", 0x0022: "TrueSpeech", 0x0031: "GSM 6.10", 0x0040: "G.721 ADPCM", 0x0045: "G.726 ADPCM",
	0x0050: "MPEG audio", 0x0055: "MP3", 0x0092: "AC-3 over S/PDIF", 0x00FF: "AAC", 0x0160: "WMA 1", 0x0161: "WMA 2",
	0x0162: "WMA Pro", 0x0163: "WMA lossless", 0x1610: "AAC", 0x2000: "AC-3", 0x2001: "DTS", 0x674F: "Ogg Vorbis",
	0x704F: "Opus", 0xF1AC: "FLAC",
}

// guidTail is the end of a GUID whose first two bytes are a format code.
const guidTail = "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"

// fmtMost is the number of bytes read from the body of the fmt chunk.
const fmtMost = 40

// parseFmt reads the body of the fmt chunk.
func parseFmt(b []byte) (l layout, err error) {
	if len(b) < 16 {
		return l, fmt.Errorf("the \"fmt \" chunk has %d bytes, expected at least 16", len(b))
	}
	u16 := func(i int) int { return int(binary.LittleEndian.Uint16(b[i:])) }
	code, align, bits, valid := u16(0), u16(12), u16(14), 0
	l.channels, l.rate = u16(2), int(binary.LittleEndian.Uint32(b[4:]))
	if code == codeExtensible {
		if len(b) < 40 {
			return l, fmt.Errorf("the extensible \"fmt \" chunk has %d bytes, expected at least 40", len(b))
		}
		if string(b[26:40]) != guidTail {
			return l, fmt.Errorf("the coding with GUID %x is not supported: convert the file to PCM or IEEE float first", b[24:40])
		}
		code, valid, l.speakers = u16(24), u16(18), binary.LittleEndian.Uint32(b[20:])
	}
	switch {
	case l.channels == 0:
		return l, fmt.Errorf("the file has 0 channels, expected at least 1")
	case l.rate == 0 || l.rate > maxRate:
		return l, fmt.Errorf("the sample rate is %d Hz, must be 1 to %d Hz", l.rate, maxRate)
	}
	if l.encoding, err = wavEncoding(code, bits, valid); err == nil && align != l.frameBytes() {
		err = fmt.Errorf("the block align is %d, must be %d for %d channels of %d bits", align, l.frameBytes(), l.channels, bits)
	}
	return l, err
}

// wavEncoding returns the encoding for a format code and bits per sample, of which the first valid bits are used (0: all).
func wavEncoding(code, bits, valid int) (e Encoding, err error) {
	switch {
	case code == codePCM && !slices.Contains([]int{8, 16, 24, 32}, bits):
		return e, fmt.Errorf("%d-bit PCM is not supported, must be 8, 16, 24 or 32 bits", bits)
	case code == codePCM && valid > bits:
		return e, fmt.Errorf("%d valid bits exceed the sample width of %d bits", valid, bits)
	case code == codePCM:
		return Encoding{Bytes: bits / 8, Unsigned: bits == 8, ValidBits: valid % bits}, nil
	case code == codeFloat && bits != 32 && bits != 64:
		return e, fmt.Errorf("%d-bit IEEE float is not supported, must be 32 or 64 bits", bits)
	case code == codeFloat:
		return Encoding{Bytes: bits / 8, Float: true}, nil
	}
	return e, fmt.Errorf("format %#04x (%s) is not supported: convert the file to PCM or IEEE float first", code,
		cmp.Or(codeNames[code], "unknown"))
}

// speakers are the default channel masks of WAVE and FLAC for up to 8 channels. The bits are front left, front right, center, low
// frequency, back left, back right, front left of center, front right of center, back center, side left and side right.
var speakers = []uint32{0, 0x4, 0x3, 0x7, 0x33, 0x37, 0x3f, 0x70f, 0x63f}

// waveFormat returns the body of a fmt chunk. It uses WAVE_FORMAT_EXTENSIBLE for more than two channels and for integers other than 8 and
// 16 bits. container is used in the error message.
func (l layout) waveFormat(container string) ([]byte, error) {
	frame, code, bits := l.frameBytes(), uint16(codePCM), uint16(8*l.encoding.Bytes)
	if frame > math.MaxUint16 {
		return nil, fmt.Errorf("frames of %d bytes exceed the limit of %s (64 KiB): %w", frame, container, ErrFormat)
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

// pack returns the concatenated bytes of strings, byte slices and numbers.
func pack(order binary.ByteOrder, values ...any) (b []byte) {
	for _, v := range values {
		if s, ok := v.(string); ok {
			v = []byte(s)
		}
		b, _ = binary.Append(b, order, v) // cannot fail for numbers
	}
	return b
}

// wavHeader returns the header of a plain WAV file, or of an RF64 file if the samples exceed 4 GiB.
func (l layout) wavHeader() ([]byte, error) {
	le, size, fact := binary.LittleEndian, l.dataLen(), ""
	format, err := l.waveFormat("WAV")
	if size > math.MaxUint32-64 || err != nil {
		return l.rf64Header()
	}
	if l.encoding.Float { // formats other than PCM need a fact chunk with the length
		fact = string(pack(le, "fact", uint32(4), uint32(l.frames)))
	}
	return pack(le, "RIFF", uint32(int64(4+8+len(format)+len(fact)+8)+size+size&1),
		"WAVEfmt ", uint32(len(format)), format, fact, "data", uint32(size)), nil
}

// rf64Header returns the header of a plain RF64 file.
func (l layout) rf64Header() ([]byte, error) {
	format, err := l.waveFormat("WAV")
	size := l.dataLen()
	return pack(binary.LittleEndian, "RF64", unknownSize, "WAVEds64", uint32(28), uint64(4+8+28+8+int64(len(format))+8+size+size&1),
		uint64(size), uint64(l.frames), uint32(0), "fmt ", uint32(len(format)), format, "data", unknownSize), err
}

// w64Header returns the header of a plain Wave64 file.
func (l layout) w64Header() ([]byte, error) {
	format, err := l.waveFormat("Wave64")
	n, size := w64Head+len(format), l.dataLen()
	format = append(format, make([]byte, -n&7)...)
	total := w64Head + 16 + w64Head + int64(len(format)) + w64Head + (size+7)&^7
	return pack(binary.LittleEndian, w64Riff, uint64(total), "wave"+w64Tail, "fmt "+w64Tail, uint64(n), format,
		"data"+w64Tail, uint64(w64Head+size)), err
}

// maxCues is the maximum number of bytes read from a chunk of cue points.
const maxCues = 1 << 24

// Cues returns the regions marked in a WAV, RF64 or BW64 file, in increasing order. A region is a cue point with a length. Cue points
// without a length and regions that extend beyond the samples are ignored. For other containers the result is empty.
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
	starts, lengths := map[uint32]uint32{}, map[uint32]uint32{} // by cue point ID
	for c, ok := next(at); ok; c, ok = next(c.next) {
		switch {
		case c.body == f.offset: // in a streamed file, the chunk's size is unknown
			c.next = f.end() + f.dataLen()&1
		case c.id == "cue ": // count, then 24 bytes per point, from ID to sample offset
			b := in.bytes(c.body, int(min(c.size, maxCues)))
			for b = b[min(4, len(b)):]; len(b) >= 24; b = b[24:] {
				starts[binary.LittleEndian.Uint32(b)] = binary.LittleEndian.Uint32(b[20:])
			}
		case c.id == "LIST" && string(in.bytes(c.body, 4)) == "adtl": // an ltxt subchunk contains a point's ID and length
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
