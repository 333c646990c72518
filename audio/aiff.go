package audio

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
)

// aiffCodings maps the names of the supported AIFF-C codings to encodings.
var aiffCodings = map[string]Encoding{
	"NONE": {BigEndian: true}, "twos": {BigEndian: true}, "sowt": {}, "in24": {Bytes: 3, BigEndian: true},
	"in32": {Bytes: 4, BigEndian: true},
	"fl32": {Bytes: 4, Float: true, BigEndian: true}, "FL32": {Bytes: 4, Float: true, BigEndian: true},
	"fl64": {Bytes: 8, Float: true, BigEndian: true}, "FL64": {Bytes: 8, Float: true, BigEndian: true},
}

// parseAIFF reads the header of an AIFF or AIFF-C file. The chunks are big-endian: COMM contains the format and SSND the samples. They
// may come in either order.
func parseAIFF(in *head) (l layout, err error) {
	packed, next, want := string(in.bytes(8, 4)) == "AIFC", riffChunks(in, binary.BigEndian, nil), "COMM"
	var samples *chunk
	for at := int64(magicLen); l.channels == 0 || samples == nil; {
		c, ok := next(at)
		switch {
		case !ok:
			return l, bad(at, "the file ends before its %q chunk", want)
		case c.id == "SSND" && samples == nil:
			samples = &c
		case c.size > in.size-c.body:
			return l, bad(at, "chunk %q declares %d bytes, but only %d bytes remain in the file", c.id, c.size, in.size-c.body)
		case c.id == "COMM" && l.channels == 0:
			if err := l.parseCOMM(in.bytes(c.body, int(min(c.size, fmtMost))), packed); err != nil {
				return l, bad(at, "%w", err)
			}
			want = "SSND"
		}
		at = c.next
	}
	return l.withSound(in, *samples)
}

// parseCOMM reads the body of the COMM chunk.
func (l *layout) parseCOMM(b []byte, packed bool) error {
	least := 18
	if packed {
		least = 22
	}
	if len(b) < least {
		return fmt.Errorf("the \"COMM\" chunk has %d bytes, expected at least %d", len(b), least)
	}
	coding := "NONE"
	if packed {
		coding = string(b[18:22])
	}
	e, ok := aiffCodings[coding]
	if !ok {
		return fmt.Errorf("coding %q is not supported: convert the file to PCM or IEEE float first", coding)
	}
	bits := int(binary.BigEndian.Uint16(b[6:]))
	if e.Bytes == 0 {
		if bits < 1 || bits > 32 {
			return fmt.Errorf("%d-bit PCM is not supported, expected 1 to 32 bits", bits)
		}
		e.Bytes = (bits + 7) / 8
		e.ValidBits = bits % (8 * e.Bytes)
	}
	l.encoding, l.frames = e, int(binary.BigEndian.Uint32(b[2:]))
	rate := extended(b[8:18])
	if !(rate >= 1 && rate <= maxRate) {
		return fmt.Errorf("the sample rate is %v Hz, must be 1 to %d Hz", rate, maxRate)
	}
	l.rate = int(math.Round(rate))
	if l.channels = int(binary.BigEndian.Uint16(b)); l.channels == 0 {
		return fmt.Errorf("the file has 0 channels, expected at least 1")
	}
	return nil
}

// extended decodes an 80-bit number in IEEE 754 extended precision.
func extended(b []byte) float64 {
	exponent := int(binary.BigEndian.Uint16(b)) // sign and exponent
	return math.Ldexp(float64(binary.BigEndian.Uint64(b[2:])), exponent-16383-63)
}

// withSound adds the SSND chunk: an offset to the first sample, a block size, and the samples.
func (l layout) withSound(in *head, c chunk) (layout, error) {
	b := in.bytes(c.body, 8)
	if len(b) < 8 || c.size < 8 {
		return l, bad(c.body-8, "the \"SSND\" chunk has %d bytes, expected at least 8 before the samples", c.size)
	}
	l.offset = c.body + 8 + int64(binary.BigEndian.Uint32(b))
	if available := max(0, min(in.size, c.body+c.size)-l.offset); available < l.dataLen() {
		in.damaged("the file is cut short: the header declares %d bytes of samples, but only %d follow", l.dataLen(),
			available)
		l.frames, l.streamed = int(available/int64(l.frameBytes())), true
	}
	if l.frames == 0 {
		return l, cmp.Or(in.damage, bad(c.body-8, "the \"SSND\" chunk has no samples"))
	}
	return l, nil
}

// aiffHeader returns the header of a plain AIFF file, or of an AIFF-C file if the samples are floats.
func (l layout) aiffHeader() ([]byte, error) {
	size := l.dataLen()
	if size > math.MaxUint32-128 || l.channels > math.MaxInt16 {
		return nil, fmt.Errorf("%d bytes of samples in %d channels exceed the limits of AIFF (4 GiB, 32767 channels): %w", size, l.channels, ErrFormat)
	}
	bits := 8 * l.encoding.Bytes
	if l.encoding.ValidBits > bits-8 {
		bits = l.encoding.ValidBits
	}
	fraction, exponent := math.Frexp(float64(l.rate))
	comm := pack(binary.BigEndian, uint16(l.channels), uint32(l.frames), uint16(bits), uint16(16383+exponent-1),
		uint64(math.Ldexp(fraction, 64)))
	form := "AIFF"
	if l.encoding.Float {
		form = "AIFCFVER\x00\x00\x00\x04\xa2\x80\x51\x40"
		comm = append(comm, fmt.Sprintf("fl%d\x00\x00", bits)...) // an empty name, padded
	}
	return pack(binary.BigEndian, "FORM", uint32(int64(len(form)+8+len(comm)+8+8)+size+size&1), form, "COMM", uint32(len(comm)), comm,
		"SSND", uint32(8+size), uint64(0)), nil
}
