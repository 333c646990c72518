package audio

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseSphere reads a NIST SPHERE header: the line NIST_1A, a line with the header's length in bytes, then lines
// "name -type value" up to end_head. Only sample_rate is required. Left out, sample_coding means pcm, channel_count 1,
// sample_n_bytes what sample_byte_format shows or else 2, sample_byte_format little-endian (01), sample_count all that
// follows the header. Samples of one byte are signed.
func parseSphere(in *head) (l layout, err error) {
	h, err := sphereFields(in)
	if err != nil {
		return l, err
	}
	h.want("sample_coding", "pcm", "pcm: convert it first")
	h.want("channels_interleaved", "TRUE", "TRUE")
	l.channels = h.integer("channel_count", 1, 1, math.MaxUint16)
	l.rate = h.integer("sample_rate", 0, 1, maxRate)
	l.encoding = h.encoding()
	if h.err != nil {
		return l, h.err
	}
	l.offset = int64(h.size)
	if string(in.bytes(l.offset, len(shortenMagic))) == shortenMagic {
		return l, bad(h.size, "samples coded by shorten; want pcm: expand them first")
	}
	held := int(in.size - l.offset)
	most := held / l.frameBytes()
	if l.frames = h.integer("sample_count", most, 1, math.MaxInt); h.err == nil && l.frames > most {
		return l, bad(h.size, "truncated: %d samples of %d channels × %d bytes are declared, but the file has only %d bytes more",
			l.frames, l.channels, l.encoding.Bytes, held)
	}
	return l, h.err
}

// shortenMagic begins samples coded by shorten, which some headers do not mention.
const shortenMagic = "ajkg"

// A sphereHeader has the fields of a header by their names. Its methods keep the first error in err.
type sphereHeader struct {
	fields map[string]string
	size   int // of the header in bytes
	err    error
}

// sphereFields splits the header into its fields.
func sphereFields(in *head) (*sphereHeader, error) {
	file := in.bytes(0, 16)
	if len(file) < 16 {
		return nil, fmt.Errorf("%w: ends after %d bytes, inside the SPHERE header; want at least 16", ErrFormat, len(file))
	}
	size, err := strconv.Atoi(strings.TrimSpace(string(file[8:16])))
	if err != nil || size < 16 || file[7] != '\n' {
		return nil, bad(8, "header length %q; want a number of bytes such as \"   1024\\n\"", file[8:16])
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
				return nil, bad(at, "header line %.40q; want NAME -TYPE VALUE", text)
			}
			h.fields[part[0]] = strings.Join(part[2:], " ")
		}
		at += len(line) + 1
	}
}

// fail keeps the first error.
func (h *sphereHeader) fail(format string, args ...any) {
	h.err = cmp.Or(h.err, fmt.Errorf("%w: "+format, append([]any{ErrFormat}, args...)...))
}

// want refuses a header with another value of a field, in capital or small letters.
func (h *sphereHeader) want(name, value, words string) {
	if got, ok := h.fields[name]; ok && !strings.EqualFold(got, value) {
		h.fail("%s %.40q; want %s", name, got, words)
	}
}

// integer reads a whole number in [lo, hi], also written as a real ("16000.0"); without the field it is fallback, which
// must be in range too.
func (h *sphereHeader) integer(name string, fallback, lo, hi int) int {
	n, text := fallback, h.fields[name]
	if text != "" {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || v != math.Trunc(v) {
			h.fail("%s %.40q; want a whole number", name, text)
		}
		n = int(max(-maxPosition, min(v, maxPosition)))
	}
	switch {
	case n >= lo && n <= hi:
	case text == "":
		h.fail("the SPHERE header gives no %s, and the file no value in %d to %d for it", name, lo, hi)
	default:
		h.fail("%s is %d; want %d to %d", name, n, lo, hi)
	}
	return n
}

// encoding combines sample_n_bytes and sample_byte_format: "01", "012", "0123" are little-endian, "10" and so on big.
func (h *sphereHeader) encoding() Encoding {
	order := h.fields["sample_byte_format"]
	width := h.integer("sample_n_bytes", cmp.Or(len(order), 2), 1, 4)
	if h.err != nil {
		return Encoding{}
	}
	little, big := "0123"[:width], "3210"[4-width:]
	e := Encoding{Bytes: width, BigEndian: width > 1 && (order == big || order == "10")}
	if width > 1 && !e.BigEndian && order != "" && order != little && order != "01" {
		h.fail("sample_byte_format %.40q for samples of %d bytes; want %s or %s", order, width, little, big)
	}
	return e
}

// sphereHeader returns a SPHERE header of 1024 bytes for little-endian integers.
func (l layout) sphereHeader() ([]byte, error) {
	if l.encoding.Float {
		return nil, fmt.Errorf("%w: SPHERE has no %v samples; write a .wav", ErrFormat, l.encoding)
	}
	width := l.encoding.Bytes
	order := "01" // as sox writes and reads it at any width from 2 on
	if width == 1 {
		order = "1"
	}
	h := fmt.Sprintf("NIST_1A\n   1024\nchannel_count -i %d\nsample_count -i %d\nsample_rate -i %d\nsample_n_bytes -i %d\n"+
		"sample_byte_format -s%d %s\nsample_sig_bits -i %d\nsample_coding -s3 pcm\nend_head\n",
		l.channels, l.frames, l.rate, width, len(order), order, 8*width)
	return append([]byte(h), bytes.Repeat([]byte{' '}, 1024-len(h))...), nil
}
