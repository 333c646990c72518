package audio

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseSphere reads a NIST SPHERE header: the line NIST_1A, a line with the header's length in bytes, then lines "name -type value" up to
// end_head. Only sample_rate is required. The defaults are sample_coding pcm, channel_count 1, sample_byte_format 01 (little-endian),
// sample_n_bytes from the length of sample_byte_format or else 2, and sample_count up to the end of the file. One-byte samples are signed.
func parseSphere(in *head) (l layout, err error) {
	h, err := sphereFields(in)
	if err != nil {
		return l, err
	}
	h.require("sample_coding", "pcm", "pcm: convert the file first")
	h.require("channels_interleaved", "TRUE", "TRUE")
	l.channels = h.integer("channel_count", 1, 1, math.MaxUint16)
	l.rate = h.integer("sample_rate", 0, 1, maxRate)
	l.encoding = h.encoding()
	if h.err != nil {
		return l, h.err
	}
	l.offset = int64(h.size)
	if string(in.bytes(l.offset, len(shortenMagic))) == shortenMagic {
		return l, bad(h.size, "the samples are compressed by shorten, which is not supported: decompress the file first")
	}
	available := int(in.size - l.offset)
	most := available / l.frameBytes()
	if l.frames = h.integer("sample_count", most, 1, math.MaxInt); h.err == nil && l.frames > most {
		in.damaged("the file is cut short: the header declares %d samples in each channel, but only %d follow",
			l.frames, most)
		if most == 0 {
			return l, in.damage
		}
		l.frames, l.streamed = most, true
	}
	return l, h.err
}

// shortenMagic is the beginning of samples compressed by shorten. Some headers do not declare this compression.
const shortenMagic = "ajkg"

// A sphereHeader contains the fields of a header by name. Its methods store the first error in err.
type sphereHeader struct {
	fields map[string]string
	size   int // of the header in bytes
	err    error
}

// sphereFields splits the header into its fields.
func sphereFields(in *head) (*sphereHeader, error) {
	file := in.bytes(0, 16)
	if len(file) < 16 {
		return nil, fmt.Errorf("%w: the file ends after %d bytes, inside the SPHERE header of at least 16", ErrFormat, len(file))
	}
	size, err := strconv.Atoi(strings.TrimSpace(string(file[8:16])))
	if err != nil || size < 16 || file[7] != '\n' {
		return nil, bad(8, "header length %q, must be a number of bytes such as \"   1024\\n\"", file[8:16])
	}
	if file = in.bytes(0, size); len(file) < size {
		return nil, bad(8, "truncated: a header of %d bytes is declared, but the file has only %d", size, in.size)
	}
	h := &sphereHeader{fields: map[string]string{}, size: size}
	for at := 16; ; {
		line, _, ok := bytes.Cut(file[at:], []byte("\n"))
		text := strings.TrimSpace(string(line))
		if text == "end_head" {
			return h, nil
		}
		if !ok {
			return nil, bad(at, "the header of %d bytes has no end_head", size)
		}
		if text != "" && text[0] != ';' {
			part := strings.Fields(text)
			if len(part) < 2 || part[1][0] != '-' {
				return nil, bad(at, "header line %.40q, must be NAME -TYPE VALUE", text)
			}
			h.fields[part[0]] = strings.Join(part[2:], " ")
		}
		at += len(line) + 1
	}
}

// fail stores an error if it is the first.
func (h *sphereHeader) fail(format string, args ...any) {
	h.err = cmp.Or(h.err, fmt.Errorf("%w: "+format, append([]any{ErrFormat}, args...)...))
}

// require fails if the header contains the field with another value, ignoring case.
func (h *sphereHeader) require(name, value, words string) {
	if got, ok := h.fields[name]; ok && !strings.EqualFold(got, value) {
		h.fail("%s is %.40q, must be %s", name, got, words)
	}
}

// integer returns an integer field in [lo, hi], which may be written as a real number ("16000.0"). If the field is missing, it returns
// fallback, which must be in the range, too.
func (h *sphereHeader) integer(name string, fallback, lo, hi int) int {
	n, text := fallback, h.fields[name]
	if text != "" {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || v != math.Trunc(v) {
			h.fail("%s is %.40q, must be an integer", name, text)
		}
		n = int(max(-maxPosition, min(v, maxPosition)))
	}
	switch {
	case n >= lo && n <= hi:
	case text == "":
		h.fail("the SPHERE header has no %s, and its default %d is not in the range %d to %d", name, n, lo, hi)
	default:
		h.fail("%s is %d, must be %d to %d", name, n, lo, hi)
	}
	return n
}

// encoding returns the encoding given by sample_n_bytes and sample_byte_format. "01", "012" and "0123" are little-endian, "10", "210" and
// "3210" big-endian.
func (h *sphereHeader) encoding() Encoding {
	order := h.fields["sample_byte_format"]
	width := h.integer("sample_n_bytes", cmp.Or(len(order), 2), 1, 4)
	if h.err != nil {
		return Encoding{}
	}
	little, big := "0123"[:width], "3210"[4-width:]
	e := Encoding{Bytes: width, BigEndian: width > 1 && (order == big || order == "10")}
	if width > 1 && !e.BigEndian && order != "" && order != little && order != "01" {
		h.fail("sample_byte_format is %.40q, must be %s or %s for samples of %d bytes", order, little, big, width)
	}
	return e
}

// sphereHeader returns a 1024-byte SPHERE header for little-endian integers.
func (l layout) sphereHeader() ([]byte, error) {
	if l.encoding.Float {
		return nil, fmt.Errorf("%w: SPHERE cannot store %v samples; write a .wav", ErrFormat, l.encoding)
	}
	width := l.encoding.Bytes
	order := "01" // sox writes and reads this for all widths of at least 2
	if width == 1 {
		order = "1"
	}
	h := fmt.Sprintf("NIST_1A\n   1024\nchannel_count -i %d\nsample_count -i %d\nsample_rate -i %d\nsample_n_bytes -i %d\n"+
		"sample_byte_format -s%d %s\nsample_sig_bits -i %d\nsample_coding -s3 pcm\nend_head\n",
		l.channels, l.frames, l.rate, width, len(order), order, 8*width)
	return append([]byte(h), bytes.Repeat([]byte{' '}, 1024-len(h))...), nil
}
