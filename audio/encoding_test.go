package audio

import (
	"math"
	"testing"
)

func TestDecodeLevels(t *testing.T) {
	for _, c := range []struct {
		e    Encoding
		bits uint64
		want float64
	}{
		{PCM8, 128, 0}, {PCM8, 0, -1}, {PCM8, 255, 127. / 128}, {PCM16, 0x8000, -1}, {PCM16, 1, 1. / 32768},
		{PCM24, 0x800000, -1}, {PCM24, 0xFFFFFF, -1. / (1 << 23)}, {PCM32, 0x80000000, -1}, {PCM32, 1, math.Ldexp(1, -31)},
		{Encoding{Bytes: 1}, 0x80, -1}, {Encoding{Bytes: 2, BigEndian: true}, 0x4000, 0.5},
		{Float32, uint64(math.Float32bits(1.5)), 1.5}, {Float64, math.Float64bits(-0.1), -0.1},
	} {
		b := make([]byte, 8)
		c.e.putWord(b, c.bits)
		if got := c.e.decode(b); got != c.want {
			t.Errorf("%v of %#x is %v, want %v", c.e, c.bits, got, c.want)
		}
	}
}

func TestEncodeRoundsAndClips(t *testing.T) {
	twelve := Encoding{Bytes: 2, ValidBits: 12}
	for _, c := range []struct {
		e       Encoding
		v, want float64
		clipped bool
	}{
		{PCM16, 0.5 / 32768, 0, false}, {PCM16, 1.5 / 32768, 2. / 32768, false}, {PCM16, 2.5 / 32768, 2. / 32768, false}, // halves: to even
		{PCM16, -0.5 / 32768, 0, false}, {PCM16, -1.5 / 32768, -2. / 32768, false}, {PCM16, -2.5 / 32768, -2. / 32768, false},
		{PCM16, 0.4 / 32768, 0, false}, {PCM16, 0.6 / 32768, 1. / 32768, false}, {PCM16, 1, 32767. / 32768, true},
		{PCM16, -1, -1, false}, {PCM16, -1.1, -1, true}, {PCM8, 7, 127. / 128, true}, {PCM24, -3, -1, true},
		{PCM32, 1e30, 1 - math.Ldexp(1, -31), true}, {Float32, 2, 2, false}, {Float32, 1e300, math.MaxFloat32, true},
		{Float64, -1e300, -1e300, false}, {twelve, 0.6 / 2048, 1. / 2048, false}, {twelve, 1, 2047. / 2048, true},
	} {
		b := make([]byte, 8)
		clipped := c.e.encode(b, c.v)
		if got := c.e.decode(b); got != c.want || clipped != c.clipped {
			t.Errorf("%+v: %v became %v, clipped %t; want %v, %t", c.e, c.v, got, clipped, c.want, c.clipped)
		}
	}
}

// TestStep checks that the values of an encoding are the multiples of its step.
func TestStep(t *testing.T) {
	for _, e := range []Encoding{PCM8, PCM16, PCM24, PCM32, {Bytes: 2, ValidBits: 12}, {Bytes: 3, BigEndian: true, ValidBits: 20}} {
		for _, k := range []float64{-3, 0, 1, 5} {
			b := make([]byte, 8)
			e.encode(b, (k+0.4)*e.Step())
			if got := e.decode(b); got != k*e.Step() {
				t.Errorf("%+v: %v steps of %v become %v", e, k+0.4, e.Step(), got/e.Step())
			}
		}
	}
}
