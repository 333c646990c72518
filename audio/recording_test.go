package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// randomData is frames×channels samples of an encoding, every bit pattern possible that is finite.
func randomData(e Encoding, count int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(e.Bytes)))
	b := make([]byte, count*e.Bytes)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	if e.Float {
		for i := range count {
			v := r.NormFloat64() / 3
			w := math.Float64bits(v)
			if e.Bytes == 4 {
				w = uint64(math.Float32bits(float32(v)))
			}
			e.putWord(b[i*e.Bytes:], w)
		}
	}
	return b
}

// riff wraps chunks, given as id, body, id, body …, padding each.
func riff(chunks ...string) []byte {
	var b []byte
	for i := 0; i < len(chunks); i += 2 {
		b = append(b, chunks[i]...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(chunks[i+1])))
		b = append(b, chunks[i+1]...)
		if len(chunks[i+1])%2 == 1 {
			b = append(b, 0)
		}
	}
	head := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+len(b)))
	return append(append(head, "WAVE"...), b...)
}

// fmtBody is the body of a fmt chunk.
func fmtBody(code, channels, rate, bits int) string {
	align := channels * bits / 8
	b := binary.LittleEndian.AppendUint16(nil, uint16(code))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate*align))
	b = binary.LittleEndian.AppendUint16(b, uint16(align))
	return string(binary.LittleEndian.AppendUint16(b, uint16(bits)))
}

// extensible is the body of an extensible fmt chunk.
func extensible(code, channels, rate, bits, valid int) string {
	b := []byte(fmtBody(codeExtensible, channels, rate, bits))
	b = append(b, 22, 0, byte(valid), 0, 0, 0, 0, 0, byte(code), byte(code>>8))
	return string(b) + guidTail
}

// sph is a SPHERE file with these header lines.
func sph(data []byte, lines ...string) []byte {
	h := "NIST_1A\n   1024\n" + strings.Join(lines, "\n") + "\nend_head\n"
	return append([]byte(h+strings.Repeat(" ", 1024-len(h))), data...)
}

type goodFile struct {
	name     string
	file     []byte
	encoding Encoding
	channels int
	data     []byte
}

func goodFiles() []goodFile {
	var out []goodFile
	const frames = 37
	for _, ch := range []int{1, 2, 5} {
		for _, e := range []Encoding{PCM8, PCM16, PCM24, PCM32, Float32, Float64} {
			code := codePCM
			if e.Float {
				code = codeFloat
			}
			data := randomData(e, ch*frames)
			out = append(out,
				goodFile{fmt.Sprintf("wav %v %d channels", e, ch), riff("fmt ", fmtBody(code, ch, 16000, 8*e.Bytes), "data", string(data)), e, ch, data},
				goodFile{fmt.Sprintf("extensible %v %d channels", e, ch), riff("JUNK", "odd", "fmt ", extensible(code, ch, 44100, 8*e.Bytes, 8*e.Bytes),
					"data", string(data), "LIST", "INFOodd"), e, ch, data})
		}
		out = append(out, more(ch, frames)...)
		for width := 1; width <= 4; width++ {
			for _, order := range []string{"0123"[:width], "3210"[4-width:]} {
				e := Encoding{Bytes: width, BigEndian: width > 1 && order[0] != '0'}
				data := randomData(e, ch*frames)
				out = append(out, goodFile{fmt.Sprintf("sphere %d bytes order %s %d channels", width, order, ch),
					sph(data, "sample_rate -i 16000", fmt.Sprintf("channel_count -i %d", ch), fmt.Sprintf("sample_n_bytes -i %d", width),
						fmt.Sprintf("sample_byte_format -s%d %s", width, order), fmt.Sprintf("sample_count -i %d", frames)), e, ch, data})
			}
		}
	}
	return out
}

// more are files of the other containers, with chunks that nobody here knows.
func more(ch, frames int) (out []goodFile) {
	for _, e := range []Encoding{PCM8, PCM16, PCM24, Float32, Float64} {
		code := codePCM
		if e.Float {
			code = codeFloat
		}
		data, body := randomData(e, ch*frames), fmtBody(code, ch, 96_000, 8*e.Bytes)
		long := riff("ds64", ds64(len(data), "LIST", 5), "bext", "odd", "fmt ", body, "data", string(data), "LIST", "title")
		at := bytes.Index(long, []byte("data"))
		binary.LittleEndian.PutUint32(long[at+4:], unknownSize)
		for _, magic := range []string{"RF64\xff\xff\xff\xff", "BW64\xff\xff\xff\xff"} {
			copy(long, magic)
			out = append(out, goodFile{fmt.Sprintf("%.4s %v %d channels", magic, e, ch), bytes.Clone(long), e, ch, data})
		}
		out = append(out, goodFile{fmt.Sprintf("w64 %v %d channels", e, ch), w64("junk", "odd", "fmt ", body, "data", string(data), "levl", "12345"), e, ch, data})
	}
	for _, c := range []struct {
		coding string
		bits   int
		e      Encoding
	}{
		{"", 8, Encoding{Bytes: 1, BigEndian: true}}, {"", 16, Encoding{Bytes: 2, BigEndian: true}}, {"", 24, Encoding{Bytes: 3, BigEndian: true}},
		{"NONE", 32, Encoding{Bytes: 4, BigEndian: true}}, {"sowt", 16, PCM16}, {"fl32", 32, Encoding{Bytes: 4, Float: true, BigEndian: true}},
		{"FL64", 64, Encoding{Bytes: 8, Float: true, BigEndian: true}},
	} {
		data := randomData(c.e, ch*frames)
		comm, sound := comm(ch, frames, c.bits, c.coding), "\x00\x00\x00\x02\x00\x00\x00\x00xx"+string(data)
		name := fmt.Sprintf("aiff %s %d bits %d channels", c.coding, c.bits, ch)
		out = append(out, goodFile{name, aiff(c.coding != "", "MARK", "odd", "COMM", comm, "SSND", sound, "NAME", "title"), c.e, ch, data},
			goodFile{name + ", samples first", aiff(c.coding != "", "SSND", sound, "COMM", comm), c.e, ch, data})
	}
	return out
}

// ds64 is the body of a ds64 chunk with the size of the data and of another chunk.
func ds64(data int, id string, size int) string {
	b := make([]byte, 8, 40)
	b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, uint64(data)), 0)
	b = append(binary.LittleEndian.AppendUint32(b, 1), id...)
	return string(binary.LittleEndian.AppendUint64(b, uint64(size)))
}

// w64 is a Wave64 file of chunks.
func w64(chunks ...string) []byte {
	b := append(make([]byte, 24), "wave"+w64Tail...)
	for i := 0; i < len(chunks); i += 2 {
		b = append(b, chunks[i]+w64Tail...)
		b = binary.LittleEndian.AppendUint64(b, uint64(24+len(chunks[i+1])))
		b = append(b, chunks[i+1]...)
		b = append(b, make([]byte, -len(b)&7)...)
	}
	copy(b, w64Riff)
	binary.LittleEndian.PutUint64(b[16:], uint64(len(b)))
	return b
}

// comm is the body of a COMM chunk, at 44 100 Hz.
func comm(channels, frames, bits int, coding string) string {
	b := binary.BigEndian.AppendUint16(nil, uint16(channels))
	b = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32(b, uint32(frames)), uint16(bits))
	b = append(b, 0x40, 0x0e, 0xac, 0x44, 0, 0, 0, 0, 0, 0)
	if coding != "" {
		b = append(b, coding+"\x04name\x00"...)
	}
	return string(b)
}

// aiff is an AIFF or AIFF-C file of chunks.
func aiff(packed bool, chunks ...string) []byte {
	b := []byte("FORM\x00\x00\x00\x00AIFF")
	if packed {
		b[11] = 'C'
	}
	for i := 0; i < len(chunks); i += 2 {
		b = binary.BigEndian.AppendUint32(append(b, chunks[i]...), uint32(len(chunks[i+1])))
		b = append(b, chunks[i+1]...)
		b = append(b, make([]byte, len(b)&1)...)
	}
	binary.BigEndian.PutUint32(b[4:], uint32(len(b)-8))
	return b
}

func TestRoundTripKeepsBits(t *testing.T) {
	for _, g := range goodFiles() {
		t.Run(g.name, func(t *testing.T) {
			r, err := Read(bytes.NewReader(g.file))
			if err != nil {
				t.Fatal(err)
			}
			if r.Len() != 37 || r.Channels() != g.channels || r.Encoding() != g.encoding {
				t.Fatalf("%d samples, %d channels, %+v", r.Len(), r.Channels(), r.Encoding())
			}
			var out bytes.Buffer
			if err := r.Write(&out, r.Container()); err != nil || !bytes.Equal(out.Bytes(), g.file) {
				t.Fatalf("same container: %v, equal %t", err, bytes.Equal(out.Bytes(), g.file))
			}
			// Encoding what was decoded gives the same bits: nothing is lost in float64.
			refilled, clipped, err := r.Fill([]Gap{{Start: 0, End: 37}}, r.Samples)
			if err != nil || clipped != 0 || !bytes.Equal(bytesOf(t, refilled), g.file) {
				t.Fatalf("refill: %v, %d clipped", err, clipped)
			}
			checkOtherContainer(t, r)
			checkOnlyGapsChange(t, r)
		})
	}
}

func checkOtherContainer(t *testing.T, r *Recording) {
	t.Helper()
	if err := r.Write(&bytes.Buffer{}, SPHERE); r.Encoding().Float && !errors.Is(err, ErrFormat) {
		t.Fatalf("float SPHERE: %v", err)
	}
	for _, other := range others(r.file) {
		var out bytes.Buffer
		if err := r.Write(&out, other); err != nil {
			t.Fatal(err)
		}
		back, err := Decode(out.Bytes())
		if err != nil {
			t.Fatal(other, err)
		}
		if back.Container() != other || back.Rate != r.Rate || back.Encoding().Bytes != r.Encoding().Bytes {
			t.Fatalf("%v %d %+v", back.Container(), back.Rate, back.Encoding())
		}
		for c := range r.Samples {
			if !slices.Equal(back.Samples[c], r.Samples[c]) {
				t.Fatalf("channel %d differs in %v", c, other)
			}
		}
	}
}

// others are the containers that a file can be written to, besides its own.
func others(f *File) (all []Container) {
	for _, c := range []Container{WAV, SPHERE, RF64, W64, AIFF} {
		if c != f.container && f.target(c) == c && !(f.encoding.Float && c == SPHERE) {
			all = append(all, c)
		}
	}
	return all
}

func checkOnlyGapsChange(t *testing.T, r *Recording) {
	t.Helper()
	values := makePlanar(r.Channels(), r.Len())
	for _, v := range values {
		for n := range v {
			v[n] = math.NaN() // outside the gaps it must not be looked at
		}
		v[7], v[8] = 0.25, -0.5
	}
	filled, clipped, err := r.Fill([]Gap{{Start: 7, End: 9}}, values)
	if err != nil || clipped != 0 {
		t.Fatal(err, clipped)
	}
	from, to := r.file.place(7), r.file.place(9)
	before, after := bytesOf(t, r), bytesOf(t, filled)
	if !bytes.Equal(after[:from], before[:from]) || !bytes.Equal(after[to:], before[to:]) {
		t.Fatal("bits outside the gap changed")
	}
	for c := range values {
		if filled.Samples[c][7] != 0.25 || filled.Samples[c][8] != -0.5 || filled.Samples[c][9] != r.Samples[c][9] {
			t.Fatalf("channel %d: %v", c, filled.Samples[c][7:10])
		}
	}
}

// A ramp, sample n being 8000+n on the left and 16000+n on the right, shows any slip of byte order or interleaving.
func TestSphereAndWAVAgree(t *testing.T) {
	var little, big []byte
	for n := range 100 {
		for _, v := range []int{8000 + n, 16000 + n} {
			little = binary.LittleEndian.AppendUint16(little, uint16(v))
			big = binary.BigEndian.AppendUint16(big, uint16(v))
		}
	}
	for name, file := range map[string][]byte{
		"wav":             riff("fmt ", fmtBody(1, 2, 8000, 16), "data", string(little)),
		"sphere little":   sph(little, "sample_count -i 100", "sample_n_bytes -i 2", "channel_count -i 2", "sample_byte_format -s2 01", "sample_rate -i 8000", "sample_coding -s3 pcm"),
		"sphere big":      sph(big, "; a comment", "channel_count -i 2", "sample_byte_format -s2 10", "sample_rate -r 8000.0", "speaker_id -s0 "),
		"sphere defaults": sph(little, "channel_count -i 2", "sample_rate -i 8000"),
	} {
		r, err := Decode(file)
		if err != nil {
			t.Fatal(name, err)
		}
		if r.Rate != 8000 || r.Len() != 100 || r.Seconds() != 0.0125 {
			t.Fatalf("%s: rate %d, %d samples", name, r.Rate, r.Len())
		}
		for n := range 100 {
			if r.Samples[0][n] != float64(8000+n)/32768 || r.Samples[1][n] != float64(16000+n)/32768 {
				t.Fatalf("%s: sample %d is %v, %v", name, n, r.Samples[0][n], r.Samples[1][n])
			}
		}
	}
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

// Programs that stream into a pipe leave sizes that mean nothing.
func TestStreamedWAV(t *testing.T) { tiled(t, checkStreamedWAV) }

func checkStreamedWAV(t *testing.T) {
	good := riff("fmt ", fmtBody(1, 1, 16000, 16), "data", "\x01\x02\x03\x04")
	for _, sizes := range [][2]uint32{{0xFFFFFFFF, 0xFFFFFFFF}, {0, 0}, {0x7FFFF024, 0x7FFFF000}} {
		file := append(slices.Clone(good), 5) // the stream broke inside a sample
		binary.LittleEndian.PutUint32(file[4:], sizes[0])
		binary.LittleEndian.PutUint32(file[40:], sizes[1])
		r, err := Decode(file)
		if err != nil || r.Len() != 2 {
			t.Fatalf("%x: %v", sizes, err)
		}
		var out bytes.Buffer
		if err := r.Write(&out, WAV); err != nil || !bytes.Equal(out.Bytes(), good) {
			t.Fatalf("%x: rewritten as %x, want %x (%v)", sizes, out.Bytes(), good, err)
		}
	}
}

// A file cut anywhere is an error, or, where only what follows the samples is lost, the same samples.
func TestTruncatedAnywhere(t *testing.T) {
	for _, g := range goodFiles() {
		whole, err := Decode(g.file)
		if err != nil {
			t.Fatal(g.name, err)
		}
		for n := range g.file {
			r, err := Decode(g.file[:n:n])
			switch {
			case err != nil && !errors.Is(err, ErrFormat):
				t.Fatalf("%s cut to %d: %v", g.name, n, err)
			case err == nil && int64(n) < whole.file.offset+whole.file.dataLen():
				t.Fatalf("%s cut to %d of %d bytes: no error", g.name, n, len(g.file))
			case err == nil && !slices.Equal(r.Samples[0], whole.Samples[0]):
				t.Fatalf("%s cut to %d: other samples", g.name, n)
			}
		}
	}
}

func TestNewAndOpen(t *testing.T) {
	samples := [][]float64{{0, 0.5, -0.5, 2}, {0.25, 0, 0, -2}}
	r, clipped, err := New(8000, PCM24, samples)
	if err != nil || clipped != 2 {
		t.Fatal(err, clipped)
	}
	var out bytes.Buffer
	if err := r.Write(&out, WAV); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "named.sph") // the contents tell the format, not the name
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	back, err := Open(path)
	if err != nil || back.Container() != WAV || back.Samples[1][0] != 0.25 || back.Samples[0][2] != -0.5 {
		t.Fatal(back, err)
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, ErrFormat) {
		t.Errorf("folder: %v", err)
	}
	if _, err := Open(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, _, err := New(8000, PCM16, [][]float64{{math.NaN()}}); err == nil {
		t.Error("NaN accepted")
	}
	if _, _, err := New(8000, PCM16, [][]float64{{0, 1}, {0}}); err == nil {
		t.Error("ragged channels accepted")
	}
	if _, _, err := r.Fill([]Gap{{Start: 2, End: 5}}, samples); !errors.Is(err, ErrGaps) {
		t.Errorf("gap outside: %v", err)
	}
}

// TestHalves: samples halfway between two integers go to the even one.
func TestHalves(t *testing.T) {
	const full = 1 << 15
	r, clipped, err := New(8000, PCM16, [][]float64{{0.5 / full, 1.5 / full, 2.5 / full, -0.5 / full, -1.5 / full, -2.5 / full}})
	if err != nil || clipped != 0 {
		t.Fatal(clipped, err)
	}
	if want := []float64{0, 2. / full, 2. / full, 0, -2. / full, -2. / full}; !slices.Equal(r.Samples[0], want) {
		t.Errorf("halves come out as %v, want the even ones %v", r.Samples[0], want)
	}
}

// TestSizeUnknown: the sizes that programs write into a stream's header, and their
// neighbours.
func TestSizeUnknown(t *testing.T) {
	for size, want := range map[int64]bool{
		0: true, 1: false, 36: false, 0x7FFFF000 - 1: false, 0x7FFFF000: true, 0x7FFFF000 + 36: true, 1<<31 - 1: true,
		1 << 31: true, 1<<31 + 1<<12: true, 1<<31 + 1<<12 + 1: false, 1<<32 - 2: false, 1<<32 - 1: true,
	} {
		if got := sizeUnknown(size); got != want {
			t.Errorf("%#x: unknown %v, want %v", size, got, want)
		}
	}
}

// bytesOf is the recording's file.
func bytesOf(t *testing.T, r *Recording) []byte {
	t.Helper()
	return written(t, &Patch{f: r.file}, r.Container())
}
