package audio

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestWriter checks that a file written in parts contains the rounded and clipped samples and is padded to an even length.
func TestWriter(t *testing.T) {
	for _, e := range []Encoding{PCM8, PCM16, PCM24, PCM32, Float32, Float64} {
		for channels := 1; channels < 3; channels++ {
			const n = 7
			want, rows := makePlanar(channels, n), []float64{}
			for i := range n {
				for c := range channels {
					v, b := math.Sin(float64(3*i+c))*1.1, make([]byte, 8) // some are clipped
					e.encode(b, v)
					want[c][i], rows = e.decode(b), append(rows, v)
				}
			}
			var file bytes.Buffer
			w := testkit.Must(NewWriter(&file, 8000, e, channels, n))(t)
			for part := range slices.Chunk(rows, 3) {
				testkit.OK(t, w.Write(part))
			}
			testkit.OK(t, w.Close())
			if r := testkit.Must(Decode(file.Bytes()))(t); !sameSamples(r.Samples, want) || file.Len()%2 != 0 {
				t.Errorf("%v, %d channels: %v, want %v", e, channels, r.Samples, want)
			}
		}
	}
}

// TestWriterRefuses checks the errors about missing, surplus and non-finite samples.
func TestWriterRefuses(t *testing.T) {
	var b bytes.Buffer
	w := testkit.Must(NewWriter(&b, 8000, Float32, 2, 3))(t)
	testkit.OK(t, w.Write([]float64{0, 1, 2}))
	for _, v := range []float64{math.NaN(), math.Inf(-1)} {
		testkit.Fails(t, w.Write([]float64{v}), ErrArgument, "sample 1 of channel 1 ", v)
	}
	testkit.Fails(t, w.Write(make([]float64, 4)), ErrArgument, "", "one too many")
	testkit.Fails(t, w.Close(), ErrArgument, "", "three are missing")
}

// TestExtensible checks that files with more than two channels or with unusual integer widths use the extensible format.
func TestExtensible(t *testing.T) {
	twelve := Encoding{Bytes: 2, BigEndian: true, ValidBits: 12}
	for _, c := range []struct {
		e          Encoding
		channels   int
		code, mask uint32 // 0: the plain format
		valid      uint16
	}{
		{PCM16, 1, 0, 0, 0}, {PCM8, 2, 0, 0, 0}, {Float32, 2, 0, 0, 0}, {PCM24, 1, codePCM, 0x4, 24}, {PCM24, 2, codePCM, 0x3, 24},
		{PCM16, 3, codePCM, 0x7, 16}, {PCM16, 4, codePCM, 0x33, 16}, {PCM16, 5, codePCM, 0x37, 16}, {PCM24, 6, codePCM, 0x3f, 24},
		{Float32, 7, codeFloat, 0x70f, 32}, {PCM32, 8, codePCM, 0x63f, 32}, {PCM8, 9, codePCM, 0, 8}, {twelve, 1, codePCM, 0x4, 12},
	} {
		b := testkit.Must(layout{rate: 8000, channels: c.channels, encoding: c.e}.waveFormat("WAV"))(t)
		l, err := parseFmt(append(b, make([]byte, 24)...))
		if err != nil || l.channels != c.channels || l.encoding.Bytes != c.e.Bytes || l.encoding.ValidBits != c.e.ValidBits || l.speakers != c.mask {
			t.Errorf("%v, %d channels: %+v, %v", c.e, c.channels, l, err)
		}
		if long := binary.LittleEndian.Uint16(b) == codeExtensible; long != (c.code != 0) {
			t.Errorf("%v, %d channels: format %x", c.e, c.channels, b)
		} else if long && (len(b) != 40 || binary.LittleEndian.Uint16(b[18:]) != c.valid || binary.LittleEndian.Uint16(b[24:]) != uint16(c.code)) {
			t.Errorf("%v, %d channels: format %x", c.e, c.channels, b)
		}
	}
	side := []byte(extensible(codePCM, 6, 48000, 24, 24))
	side[20], side[21] = 0x0f, 0x06 // 5.1 with the surround channels at the sides
	f := mustOpen(t, riff("fmt ", string(side), "data", strings.Repeat("abc", 60)))
	back := mustOpen(t, written(t, &Patch{f: f}, W64))
	testkit.Equal(t, back.speakers, 0x60f, "positions")
}

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
		{PCM16, 0.5 / 32768, 0, false}, {PCM16, 1.5 / 32768, 2. / 32768, false}, {PCM16, 2.5 / 32768, 2. / 32768, false}, // halves round to even
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

// TestEncodedValuesAreMultiplesOfStep checks that the values of an encoding are the multiples of its step.
func TestEncodedValuesAreMultiplesOfStep(t *testing.T) {
	for _, e := range []Encoding{PCM8, PCM16, PCM24, PCM32, {Bytes: 2, ValidBits: 12}, {Bytes: 3, BigEndian: true, ValidBits: 20}} {
		for _, k := range []float64{-3, 0, 1, 5} {
			b := make([]byte, 8)
			e.encode(b, (k+0.4)*e.Step())
			testkit.Equal(t, e.decode(b), k*e.Step(), e)
		}
	}
}

// TestScaled checks for every kind of file that a gain multiplies and rounds all samples, that changes are stored
// at the new level, and that all other bytes are kept in the same encoding. In another encoding the file is
// rewritten, unless its container cannot store it.
func TestScaled(t *testing.T) {
	for _, g := range goodFiles() {
		f := mustOpen(t, g.file)
		for _, to := range []Encoding{g.encoding, Float32} {
			s := testkit.Must(f.Scaled(0.3, to))(t)
			values := slices.Repeat([][]float64{{0.1, -0.2}}, g.channels)
			p, _, err := s.Patch([]Change{{7, values}})
			testkit.OK(t, err)
			if to != g.encoding && f.container == SPHERE {
				testkit.Fails(t, p.Write(io.Discard, SPHERE), ErrFormat, "32-bit float", g.name)
				continue
			}
			out := written(t, p, f.container)
			got := testkit.Must(Decode(out))(t)
			for c, x := range testkit.Must(f.Read(0, f.frames))(t) {
				for n, v := range x {
					want := to.Nearest(0.3 * v)
					if n >= 7 && n < 9 {
						want = to.Nearest(values[c][n-7])
					}
					if got.Samples[c][n] != want {
						t.Fatalf("%s to %v: sample %d is %v, want %v", g.name, to, n, got.Samples[c][n], want)
					}
				}
			}
			if to == g.encoding && (!bytes.Equal(out[:f.offset], g.file[:f.offset]) ||
				!bytes.Equal(out[f.end():], g.file[f.end():])) {
				t.Errorf("%s: bytes other than samples changed", g.name)
			}
		}
	}
	tagged := withBlocks(flacOf(t, sound(t, 16000, PCM16, 1, 9000)), block(2, true, "ABCDdata"))
	quiet := testkit.Must(mustOpen(t, tagged).Scaled(0.5, PCM16))(t)
	testkit.Contains(t, string(flacOf(t, quiet)), "ABCDdata")
	testkit.Fails(t, testkit.Must(quiet.Scaled(1, Float32))(t).CheckWrite(FLAC), ErrFormat,
		"FLAC cannot store 32-bit float")
	for _, gain := range []float64{-0.1, 1.1, math.NaN()} {
		testkit.Fails(t, testkit.Error(quiet.Scaled(gain, PCM16)), ErrArgument, "from 0 to 1")
	}
	testkit.Fails(t, testkit.Error(quiet.Scaled(1, PCM24)), ErrArgument, "24-bit PCM")
}
