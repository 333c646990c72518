package audio

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseSphere reads a NIST SPHERE header: the line NIST_1A, a line with the header's length in bytes, then lines
// "name -type value" up to end_head. Only sample_rate is required. Left out, sample_coding means pcm, channel_count 1,
// sample_n_bytes what sample_byte_format shows or else 2, sample_byte_format little-endian (01), sample_count all that
// follows the header. Samples of one byte are signed.
func parseSphere(in *head) (layout, error) {
	var l layout
	fields, size, err := sphereFields(in)
	if err != nil {
		return l, err
	}
	if err := fields.refuseCoded(); err != nil {
		return l, err
	}
	if l.channels, err = fields.integer("channel_count", 1, 1, math.MaxUint16); err != nil {
		return l, err
	}
	if l.rate, err = fields.integer("sample_rate", 0, 1, maxRate); err != nil {
		return l, err
	}
	if l.encoding, err = fields.encoding(); err != nil {
		return l, err
	}
	l.offset = int64(size)
	if start, err := in.bytes(l.offset, len(shortenMagic)); err != nil {
		return l, err
	} else if string(start) == shortenMagic {
		return l, fmt.Errorf("%w: offset %d: samples coded by shorten; want pcm: expand them first", ErrFormat, size)
	}
	held := int(in.size - l.offset)
	frame := l.frameBytes()
	if l.frames, err = fields.integer("sample_count", held/frame, 1, math.MaxInt64); err != nil {
		return l, err
	}
	if l.frames > held/frame {
		return l, fmt.Errorf("%w: offset %d: truncated: %d samples of %d channels × %d bytes are declared, the file holds %d bytes more",
			ErrFormat, size, l.frames, l.channels, l.encoding.Bytes, held)
	}
	return l, nil
}

// shortenMagic begins samples coded by shorten, which some headers do not mention.
const shortenMagic = "ajkg"

// sphereHeader maps a field's name to its value and place.
type sphereHeader map[string]sphereField

type sphereField struct {
	value  string
	offset int
}

// sphereFields splits the header into its fields and returns the header's length.
func sphereFields(in *head) (sphereHeader, int, error) {
	file, err := in.bytes(0, 16)
	if err != nil {
		return nil, 0, err
	}
	if len(file) < 16 {
		return nil, 0, fmt.Errorf("%w: ends after %d bytes, inside the SPHERE header; want at least 16", ErrFormat, len(file))
	}
	size, err := strconv.Atoi(strings.TrimSpace(string(file[8:16])))
	if err != nil || size < 16 || file[7] != '\n' {
		return nil, 0, fmt.Errorf("%w: offset 8: header length %q; want a number of bytes such as \"   1024\\n\"", ErrFormat, file[8:16])
	}
	if int64(size) > in.size {
		return nil, 0, fmt.Errorf("%w: offset 8: truncated: a header of %d bytes is declared, the file holds %d", ErrFormat, size, in.size)
	}
	if file, err = in.bytes(0, size); err != nil {
		return nil, 0, err
	}
	fields := sphereHeader{}
	for at := 16; ; {
		line, _, ok := bytes.Cut(file[at:size], []byte("\n"))
		text := strings.TrimSpace(string(line))
		if text == "end_head" {
			return fields, size, nil
		}
		if !ok {
			return nil, 0, fmt.Errorf("%w: offset %d: the header of %d bytes has no end_head", ErrFormat, at, size)
		}
		if text != "" && text[0] != ';' {
			part := strings.Fields(text)
			if len(part) < 2 || part[1][0] != '-' {
				return nil, 0, fmt.Errorf("%w: offset %d: header line %.40q; want NAME -TYPE VALUE", ErrFormat, at, text)
			}
			fields[part[0]] = sphereField{strings.Join(part[2:], " "), at}
		}
		at += len(line) + 1
	}
}

// refuseCoded names codings other than plain PCM.
func (h sphereHeader) refuseCoded() error {
	if f, ok := h["sample_coding"]; ok && !strings.EqualFold(f.value, "pcm") {
		return fmt.Errorf("%w: offset %d: sample_coding %.40q; want pcm: convert it first", ErrFormat, f.offset, f.value)
	}
	if f, ok := h["channels_interleaved"]; ok && !strings.EqualFold(f.value, "true") {
		return fmt.Errorf("%w: offset %d: channels_interleaved %.40q; want TRUE", ErrFormat, f.offset, f.value)
	}
	return nil
}

// integer reads a whole number in [lo, hi], also written as a real ("16000.0"); without the field it is fallback, which
// must be in range too.
func (h sphereHeader) integer(name string, fallback, lo, hi int) (int, error) {
	f, ok := h[name]
	if !ok {
		if fallback < lo || fallback > hi {
			return 0, fmt.Errorf("%w: the SPHERE header gives no %s, and the file no value in %d to %d for it", ErrFormat, name, lo, hi)
		}
		return fallback, nil
	}
	n, err := strconv.Atoi(f.value)
	if err != nil {
		var v float64
		if v, err = strconv.ParseFloat(f.value, 64); err == nil && v == math.Trunc(v) && math.Abs(v) <= maxPosition {
			n = int(v)
		} else {
			return 0, fmt.Errorf("%w: offset %d: %s %.40q; want a whole number", ErrFormat, f.offset, name, f.value)
		}
	}
	if n < lo || n > hi {
		return 0, fmt.Errorf("%w: offset %d: %s is %d; want %d to %d", ErrFormat, f.offset, name, n, lo, hi)
	}
	return n, nil
}

// encoding combines sample_n_bytes and sample_byte_format: "01", "012", "0123" are little-endian, "10" and so on big.
func (h sphereHeader) encoding() (Encoding, error) {
	order, haveOrder := h["sample_byte_format"]
	width := 2
	if haveOrder {
		width = len(order.value)
	}
	width, err := h.integer("sample_n_bytes", width, 1, 4)
	if err != nil {
		return Encoding{}, err
	}
	e := Encoding{Bytes: width}
	little := "0123"[:width]
	big := "3210"[4-width:]
	switch {
	case !haveOrder || width == 1 || order.value == little || order.value == "01":
	case order.value == big || order.value == "10":
		e.BigEndian = true
	default:
		return e, fmt.Errorf("%w: offset %d: sample_byte_format %.40q for samples of %d bytes; want %s or %s",
			ErrFormat, order.offset, order.value, width, little, big)
	}
	return e, nil
}

// sphereHeader is a SPHERE header of 1024 bytes for little-endian integers.
func (l layout) sphereHeader() ([]byte, error) {
	if l.encoding.Float {
		return nil, fmt.Errorf("%w: SPHERE holds no %v samples; write a .wav", ErrFormat, l.encoding)
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
