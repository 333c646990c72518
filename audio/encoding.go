package audio

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Encoding is the binary format of one sample in a file.
type Encoding struct {
	Bytes     int  // 1, 2, 3 or 4 for integers, 4 or 8 for floats
	Float     bool // IEEE 754, full scale 1
	Unsigned  bool // integers are offset by half their range, as in 8-bit WAV
	BigEndian bool // most significant byte first, as in SPHERE's "10"
	ValidBits int  // number of leading bits used by integers, the others are zero; 0 means all
}

// The encodings of plain WAV files, named by their bits per sample. PCM8 is an unsigned integer, PCM16, PCM24 and PCM32 are signed
// integers, Float32 and Float64 are IEEE 754 numbers.
var (
	PCM8    = Encoding{Bytes: 1, Unsigned: true}
	PCM16   = Encoding{Bytes: 2}
	PCM24   = Encoding{Bytes: 3}
	PCM32   = Encoding{Bytes: 4}
	Float32 = Encoding{Bytes: 4, Float: true}
	Float64 = Encoding{Bytes: 8, Float: true}
)

// Step returns the quantization step relative to full scale, or 0 for floats.
func (e Encoding) Step() float64 {
	if e.Float {
		return 0
	}
	return math.Ldexp(1, 1-e.bits())
}

// bits returns the number of bits used by a sample.
func (e Encoding) bits() int { return cmp.Or(e.ValidBits, 8*e.Bytes) }

// MinStep returns the smallest nonzero difference between two values, or 0 if all values are equal. For quantized values, this is the
// quantization step.
func MinStep(values []float64) float64 {
	sorted, least := slices.Sorted(slices.Values(values)), 0.0
	for i := 1; i < len(sorted); i++ {
		if d := sorted[i] - sorted[i-1]; d > 0 && (least == 0 || d < least) {
			least = d
		}
	}
	return least
}

// String returns the name of the encoding, such as "16-bit PCM" or "32-bit float".
func (e Encoding) String() string {
	if e.Float {
		return fmt.Sprintf("%d-bit float", 8*e.Bytes)
	}
	return fmt.Sprintf("%d-bit PCM", 8*e.Bytes)
}

// word returns the sample's bits as the low bits of the result.
func (e Encoding) word(b []byte) uint64 {
	var w uint64
	for i := range e.Bytes {
		if e.BigEndian {
			w = w<<8 | uint64(b[i])
		} else {
			w |= uint64(b[i]) << (8 * i)
		}
	}
	return w
}

// putWord writes the low bits of w into b.
func (e Encoding) putWord(b []byte, w uint64) {
	for i := range e.Bytes {
		if e.BigEndian {
			b[e.Bytes-1-i] = byte(w >> (8 * i))
		} else {
			b[i] = byte(w >> (8 * i))
		}
	}
}

// decode returns the sample in b, with full scale 1. An integer v of n bits becomes v / 2^(n-1), in [-1, 1). A float may be NaN or
// infinite.
func (e Encoding) decode(b []byte) float64 {
	if e == PCM16 { // most files
		return float64(int16(binary.LittleEndian.Uint16(b))) / (1 << 15)
	}
	w := e.word(b)
	if e.Float {
		if e.Bytes == 4 {
			return float64(math.Float32frombits(uint32(w)))
		}
		return math.Float64frombits(w)
	}
	bits := 8 * e.Bytes
	if e.Unsigned {
		w ^= 1 << (bits - 1)
	}
	v := int64(w<<(64-bits)) >> (64 - bits)
	return float64(v) / float64(int64(1)<<(bits-1))
}

// encode writes the finite number v into b. It rounds v to the nearest value of the encoding, halves to even, and reports whether it
// clipped v to the encoding's range.
func (e Encoding) encode(b []byte, v float64) (clipped bool) {
	if e.Float {
		if e.Bytes == 8 {
			e.putWord(b, math.Float64bits(v))
			return false
		}
		e.putWord(b, uint64(math.Float32bits(float32(max(-math.MaxFloat32, min(v, math.MaxFloat32))))))
		return math.Abs(v) > math.MaxFloat32
	}
	bits, valid := 8*e.Bytes, e.bits()
	full := math.Ldexp(1, valid-1)
	rounded := math.RoundToEven(v * full)
	inside := max(-full, min(rounded, full-1))
	w := uint64(int64(inside)) << (bits - valid)
	if e.Unsigned {
		w ^= 1 << (bits - 1)
	}
	e.putWord(b, w)
	return inside != rounded
}

// Nearest returns the value that a file in the encoding stores for the finite number v: v rounded and clipped to
// the encoding's range.
func (e Encoding) Nearest(v float64) float64 {
	var b [8]byte
	e.encode(b[:e.Bytes], v)
	return e.decode(b[:e.Bytes])
}
