package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestChange checks that a change replaces only its samples, and that decoded samples are encoded to the same bits.
func TestChange(t *testing.T) {
	for _, g := range goodFiles() {
		r := testkit.Must(Decode(g.file))(t)
		same, clipped, err := r.Patch([]Change{{0, r.Samples}})
		if err != nil || clipped != 0 || !bytes.Equal(written(t, same, r.Container()), g.file) {
			t.Fatalf("%s: refill: %v, %d clipped", g.name, err, clipped)
		}
		c, want := Change{Start: 7}, makePlanar(r.Channels(), r.Len())
		for i := range want {
			c.Values = append(c.Values, []float64{0.25, -0.5})
			copy(want[i], r.Samples[i])
			copy(want[i][7:], c.Values[i])
		}
		p, clipped, err := r.Patch([]Change{c})
		testkit.OK(t, err)
		after := written(t, p, r.Container())
		if filled := testkit.Must(Decode(after))(t); clipped != 0 || !sameSamples(filled.Samples, want) {
			t.Fatalf("%s: %d clipped, or different samples", g.name, clipped)
		}
		from, to := r.frameOffset(7), r.frameOffset(9)
		if !bytes.Equal(after[:from], g.file[:from]) || !bytes.Equal(after[to:], g.file[to:]) {
			t.Fatalf("%s: bytes outside the gap changed", g.name)
		}
	}
}

// others returns the other containers that a file can be converted to.
func others(f *File) (all []Container) {
	for _, c := range []Container{WAV, SPHERE, RF64, W64, AIFF, FLAC} {
		unfit := f.encoding.Float && (c == SPHERE || c == FLAC) || f.encoding.Bytes == 4 && c == FLAC
		if c != f.container && f.target(c) == c && !unfit {
			all = append(all, c)
		}
	}
	return all
}

// TestSphereAndWAVAgree reads a ramp, with sample n equal to 8000+n on the left and 16000+n on the right, to find errors in byte order or
// interleaving.
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
		r := testkit.Must(Decode(file))(t)
		if r.Rate != 8000 || r.Len() != 100 {
			t.Fatalf("%s: rate %d, %d samples", name, r.Rate, r.Len())
		}
		for n := range 100 {
			if r.Samples[0][n] != float64(8000+n)/32768 || r.Samples[1][n] != float64(16000+n)/32768 {
				t.Fatalf("%s: sample %d is %v, %v", name, n, r.Samples[0][n], r.Samples[1][n])
			}
		}
	}
}

// TestStreamedWAV checks that the sizes of programs that write to a pipe are damage and are corrected.
func TestStreamedWAV(t *testing.T) {
	good := riff("fmt ", fmtBody(1, 1, 16000, 16), "data", "\x01\x02\x03\x04")
	tiled(t, func(t *testing.T) {
		for _, sizes := range [][2]uint32{{0xFFFFFFFF, 0xFFFFFFFF}, {0, 0}, {0x7FFFF024, 0x7FFFF000}} {
			file := append(slices.Clone(good), 5) // the stream broke inside a sample
			binary.LittleEndian.PutUint32(file[4:], sizes[0])
			binary.LittleEndian.PutUint32(file[40:], sizes[1])
			f, damaged := salvaged(t, file)
			if f == nil || f.Len() != 2 || !damaged {
				t.Fatalf("%x: %v, damaged %v; want 2 samples and damage", sizes, f, damaged)
			}
			testkit.Equal(t, string(written(t, &Patch{f: f}, WAV)), string(good), "rewritten")
		}
	})
}

// TestTruncatedAnywhere checks that a truncated file is an error, unless only data after the samples is lost.
func TestTruncatedAnywhere(t *testing.T) {
	for _, g := range goodFiles() {
		whole := testkit.Must(Decode(g.file))(t)
		for n := range g.file {
			r, err := Decode(g.file[:n:n])
			switch {
			case err != nil && !errors.Is(err, ErrFormat):
				t.Fatalf("%s cut to %d: %v", g.name, n, err)
			case err == nil && int64(n) < whole.end():
				t.Fatalf("%s cut to %d of %d bytes: no error", g.name, n, len(g.file))
			case err == nil && !sameSamples(r.Samples, whole.Samples):
				t.Fatalf("%s cut to %d: different samples", g.name, n)
			}
		}
	}
}

// salvaged returns a file from Salvage, and whether it is damaged. A damaged file is an error of NewFile.
func salvaged(t *testing.T, file []byte) (f *File, damaged bool) {
	t.Helper()
	f, damage, err := Salvage(bytes.NewReader(file), int64(len(file)))
	_, strict := NewFile(bytes.NewReader(file), int64(len(file)))
	if (strict == nil) != (damage == nil && err == nil) || damage != nil && !errors.Is(damage, ErrFormat) {
		t.Fatalf("damage %v, error %v, but NewFile's error is %v", damage, err, strict)
	}
	return f, damage != nil
}

// TestSalvage checks that the complete samples of a truncated file are read, and that it is written with the right
// sizes. An AIFF file whose format comes after the samples cannot be read.
func TestSalvage(t *testing.T) {
	files := goodFiles()
	for _, frames := range []int{4096, 9000} { // the first FLAC file has only one frame, so no samples are left
		w := sound(t, 16000, PCM16, 2, frames)
		files = append(files, goodFile{name: "flac", file: flacOf(t, w), channels: 2})
	}
	for _, g := range files {
		whole := testkit.Must(Decode(g.file))(t)
		size, end := int(whole.dataLen()), int(whole.end())
		if g.name == "flac" {
			size, end = len(g.file), len(g.file)
		}
		for _, cut := range []int{1, size / 3, size / 2} {
			n := end - cut
			f, damaged := salvaged(t, g.file[:n:n])
			if strings.Contains(g.name, "samples first") || whole.Len() == 4096 {
				if f != nil {
					t.Fatalf("%s cut to %d: no error", g.name, n)
				}
				continue
			}
			if f == nil || !damaged {
				t.Fatalf("%s cut to %d: not read, or no damage", g.name, n)
			}
			samples := samplesOf(t, f)
			if f.Len() >= whole.Len() || !sameSamples(samples, within(whole.Samples, 0, f.Len())) {
				t.Fatalf("%s cut to %d: %d of %d samples, or other samples", g.name, n, f.Len(), whole.Len())
			}
			for _, c := range []Container{f.container, WAV} {
				again := mustOpen(t, written(t, &Patch{f: f}, c))
				if !sameSamples(samplesOf(t, again), samples) {
					t.Fatalf("%s cut to %d: written to %v with other samples", g.name, n, c)
				}
			}
		}
	}
	data := "\x01\x02\x03\x04"
	good := riff("fmt ", fmtBody(1, 1, 16000, 16), "data", data)
	for _, c := range []struct {
		name    string
		size    uint32 // of the data chunk
		more    string // after it
		frames  int
		damaged bool
	}{
		{"no size", 0, "", 2, true}, {"no size, odd", 0, "\xfe", 2, true}, {"largest size", math.MaxUint32, "", 2, true},
		{"whole", 4, "", 2, false},
		{"half a frame", 3, "", 1, true}, {"followed by a chunk", 0, "LIST", 0, false},
	} {
		file := slices.Concat(good, []byte(c.more))
		if c.more == "LIST" { // no samples, but a chunk
			file = riff("fmt ", fmtBody(1, 1, 16000, 16), "data", "", "LIST", data)
		}
		binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
		binary.LittleEndian.PutUint32(file[40:], c.size)
		f, damaged := salvaged(t, file)
		if f == nil && c.frames > 0 || f != nil && f.Len() != c.frames || damaged != c.damaged {
			t.Errorf("%s: %v, damaged %v; want %d samples", c.name, f, damaged, c.frames)
		}
		if c.size == 0 && f != nil {
			testkit.Equal(t, string(written(t, &Patch{f: f}, WAV)), string(good), c.name)
		}
	}
}

// TestRIFFEnd checks that samples without a length end where the RIFF size declares the end of the file, if that is
// after the first sample and neither unknown nor beyond the file.
func TestRIFFEnd(t *testing.T) {
	good := riff("fmt ", fmtBody(1, 1, 16000, 16), "data", "\x01\x02\x03\x04")
	end := uint32(len(good) - 8)
	for _, c := range []struct {
		name   string
		size   uint32 // of the data chunk
		riff   uint32
		frames int
	}{
		{"right", 0, end, 2}, {"right, largest", math.MaxUint32, end, 2}, {"right, pipe", 0x7FFFF000, end, 2},
		{"padded", 0, end + 1, 2}, {"odd", 0, end - 1, 1}, {"odd, largest", math.MaxUint32, end - 1, 1},
		{"before the samples", 0, end - 4, 8}, {"beyond the file", 0, end + 13, 8}, {"none", 0, 0, 8},
		{"largest", math.MaxUint32, math.MaxUint32, 8},
	} {
		file := append(bytes.Clone(good), "LIST\x04\x00\x00\x00INFO"...)
		binary.LittleEndian.PutUint32(file[4:], c.riff)
		binary.LittleEndian.PutUint32(file[40:], c.size)
		f, damaged := salvaged(t, file)
		if f == nil || f.Len() != c.frames || !damaged {
			t.Errorf("%s: %v, damaged %v; want %d samples", c.name, f, damaged, c.frames)
		}
	}
}

// TestRIFFSize checks that a wrong RIFF size is damage if the length of the samples is right, and that it is corrected
// in the output. It may be wrong by one, because programs differ in whether they count a padding byte, and may exclude
// trailing bytes or chunks.
func TestRIFFSize(t *testing.T) {
	one := riff("fmt ", fmtBody(1, 1, 8000, 8), "data", strings.Repeat("x", 401))
	two := riff("fmt ", fmtBody(1, 1, 8000, 8), "data", strings.Repeat("x", 401), "LIST", strings.Repeat("i", 300))
	data, after := len(one)-8, len(two)-8 // right sizes
	for _, c := range []struct {
		name    string
		file    []byte
		size    int
		damaged bool
	}{
		{"right", one, data, false}, {"right, two chunks", two, after, false}, {"without the pad", one, data - 1, false},
		{"one more", one, data + 1, false}, {"not padded", one[:len(one)-1], data, false},
		{"not padded, right", one[:len(one)-1], data - 1, false}, {"chunk excluded", two, data, false},
		{"chunk and pad excluded", two, data - 1, false},
		{"bytes excluded", append(bytes.Clone(one), "tail"...), data, false},
		{"bytes included", append(bytes.Clone(one), "tail"...), data + 4, false},
		{"0", one, 0, true}, {"largest", two, math.MaxUint32, true}, {"100 less", one, data - 100, true},
		{"100 more", one, data + 100, true}, {"in the last chunk", two, after - 100, true},
		{"100 more, two", two, after + 100, true},
		{"size of the file", one, data + 8, true}, {"2 less", one, data - 2, true},
	} {
		file := bytes.Clone(c.file)
		binary.LittleEndian.PutUint32(file[4:], uint32(c.size))
		f, damaged := salvaged(t, file)
		if f == nil || f.Len() != 401 || damaged != c.damaged {
			t.Errorf("%s: %v, damaged %v", c.name, f, damaged)
			continue
		}
		if damaged {
			binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
		}
		testkit.Equal(t, string(written(t, &Patch{f: f}, WAV)), string(file), c.name)
	}
}

// TestID3TagsAreSkipped checks that ID3v2 tags in front of a file are skipped, and kept in front of a FLAC file.
func TestID3TagsAreSkipped(t *testing.T) {
	for _, file := range [][]byte{flacOf(t, sound(t, 16000, PCM16, 1, 5000)), goodFiles()[0].file} {
		long := "ID3\x04\x00\x00\x00\x00\x01\x02" + strings.Repeat("x", 130)
		footer := "ID3\x03\x00\x10\x00\x00\x00\x04data3DI\x03\x00\x10\x00\x00\x00\x04"
		for _, tag := range []string{long, footer, long + footer, footer + footer + long} {
			f := mustOpen(t, append([]byte(tag), file...))
			want := file
			if f.container == FLAC {
				want = append([]byte(tag), file...)
			}
			p, _, err := f.Patch([]Change{{5, [][]float64{samplesOf(t, f)[0][5:6]}}})
			testkit.OK(t, err)
			testkit.Equal(t, string(written(t, p, f.container)), string(want), f.container)
			if f.container == FLAC {
				testkit.Equal(t, string(written(t, &Patch{f: testkit.Must(f.Scaled(1, PCM16))(t)}, FLAC)), string(want), "scaled")
			}
		}
	}
}

func TestContentsDetermineFormat(t *testing.T) {
	file := written(t, &Patch{f: wavOf(t, 8000, PCM24, [][]float64{{0, 0.5, -0.5, 2}, {0.25, 0, 0, -2}})}, WAV)
	path := filepath.Join(t.TempDir(), "named.sph") // the format depends on the contents, not on the name
	testkit.OK(t, os.WriteFile(path, file, 0o600))
	back, err := Open(path)
	if err != nil || back.Container() != WAV || back.Samples[1][0] != 0.25 || back.Samples[0][2] != -0.5 || back.Samples[1][3] != -1 {
		t.Fatal(back, err)
	}
}

// TestSizeUnknown checks the sizes that programs write to stream headers, and adjacent values.
func TestSizeUnknown(t *testing.T) {
	for size, want := range map[int64]bool{
		0: true, 1: false, 36: false, 0x7FFFF000 - 1: false, 0x7FFFF000: true, 0x7FFFF000 + 36: true, 1<<31 - 1: true,
		1 << 31: true, 1<<31 + 1<<12: true, 1<<31 + 1<<12 + 1: false, 1<<32 - 2: false, 1<<32 - 1: true,
	} {
		testkit.Equal(t, sizeUnknown(size), want, size)
	}
}

// TestAIFFBits checks that an AIFF file with 12 or 20 bits per sample is rounded to that width.
func TestAIFFBits(t *testing.T) {
	for _, bits := range []int{12, 16, 20} {
		width := (bits + 7) / 8
		f := mustOpen(t, aiff(false, "COMM", comm(1, 1, bits, ""), "SSND", string(make([]byte, 8+width))))
		testkit.Equal(t, f.Encoding().Step(), math.Ldexp(1, 1-bits), bits, " bits")
	}
}

func TestBadFiles(t *testing.T) {
	pcm := fmtBody(1, 1, 16000, 16)
	with := func(file []byte, at int, v uint32) []byte {
		file = slices.Clone(file)
		binary.LittleEndian.PutUint32(file[at:], v)
		return file
	}
	good := riff("fmt ", pcm, "data", "\x01\x02\x03\x04")
	nan := binary.LittleEndian.AppendUint32(nil, 0)
	nan = binary.LittleEndian.AppendUint32(nan, math.Float32bits(float32(math.NaN())))
	inf := binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.Inf(-1)))
	badAlign := []byte(pcm)
	badAlign[12] = 4
	shorten := sph([]byte("ajkg\x02data"), "sample_rate -i 16000", "sample_coding -s26 pcm,embedded-shorten-v2.00")
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "empty"},
		{"text", []byte("hello, world"), `"hello, w"`},
		{"RIFF only", []byte("RIFF\x00\x00"), "inside the RIFF header"},
		{"AVI", []byte("RIFF\x00\x00\x00\x00AVI LIST"), `"AVI "`},
		{"RF64", []byte("RF64\xff\xff\xff\xffWAVEds64"), "ds64"},
		{"no chunks", good[:12], `before its "fmt " chunk`},
		{"no data", good[:36], `before its "data" chunk`},
		{"data first", riff("data", "\x01\x02", "fmt ", pcm), `comes before the "fmt " chunk`},
		{"two formats", riff("fmt ", pcm, "fmt ", pcm, "data", "\x01\x02"), "second"},
		{"short fmt", riff("fmt ", pcm[:14], "data", "\x01\x02"), "expected at least 16"},
		{"fmt absurd", with(good, 16, 0xFFFFFFF0), "declares 4294967280 bytes"},
		{"data absurd", with(good, 40, 0xFFFFFFFF), "no length"},
		{"data absurd 31", with(good, 40, 0x7FFFFFFF), "no length"},
		{"truncated", good[:46], "cut short: the header declares"},
		{"no samples", riff("fmt ", pcm, "data", ""), "no samples"},
		{"half a frame", riff("fmt ", pcm, "data", "\x01\x02\x03"), "must be a multiple of 2"},
		{"no channels", riff("fmt ", fmtBody(1, 0, 16000, 16), "data", "\x01\x02"), "0 channels"},
		{"no rate", riff("fmt ", fmtBody(1, 1, 0, 16), "data", "\x01\x02"), "0 Hz, must be 1 to 100000000 Hz"},
		{"rate absurd", riff("fmt ", fmtBody(1, 1, 0xFFFFFFFF, 16), "data", "\x01\x02"), "4294967295 Hz"},
		{"12 bits", riff("fmt ", fmtBody(1, 1, 16000, 12), "data", "\x01\x02"), "must be 8, 16, 24 or 32"},
		{"16-bit float", riff("fmt ", fmtBody(3, 1, 16000, 16), "data", "\x01\x02"), "must be 32 or 64"},
		{"bad align", riff("fmt ", string(badAlign), "data", "\x01\x02"), "block align is 4, must be 2"},
		{"A-law", riff("fmt ", fmtBody(6, 1, 8000, 8), "data", "\x01\x02"), "A-law"},
		{"ADPCM", riff("fmt ", fmtBody(0x11, 1, 8000, 8), "data", "\x01\x02"), "IMA ADPCM"},
		{"MP3", riff("fmt ", fmtBody(0x55, 1, 8000, 8), "data", "\x01\x02"), "MP3"},
		{"extensible mu-law", riff("fmt ", extensible(7, 1, 8000, 8, 8), "data", "\x01\x02"), "mu-law"},
		{"extensible short", riff("fmt ", fmtBody(codeExtensible, 1, 8000, 16), "data", "\x01\x02"), "expected at least 40"},
		{"extensible GUID", riff("fmt ", extensible(1, 1, 8000, 16, 16)[:39]+"x", "data", "\x01\x02"), "GUID"},
		{"valid bits", riff("fmt ", extensible(1, 1, 8000, 16, 17), "data", "\x01\x02"), "17 valid bits"},
		{"NaN", riff("fmt ", fmtBody(3, 1, 8000, 32), "data", string(nan)),
			"offset 48: sample 1 of channel 1 (from 1) is NaN"},
		{"infinite", riff("fmt ", fmtBody(3, 1, 8000, 64), "data", string(inf)), "sample 0 of channel 1 (from 1) is -Inf"},
		{"sphere header length", []byte("NIST_1A\n  -1024\n          "), "header length"},
		{"sphere header absurd", []byte("NIST_1A\n9999999\nend_head\n"), "truncated"},
		{"sphere no end", []byte("NIST_1A\n     32\nsample_rate -i 16"), "no end_head"},
		{"sphere junk line", sph([]byte("ab"), "garbage"), "NAME -TYPE VALUE"},
		{"sphere no rate", sph([]byte("ab")), "sample_rate"},
		{"sphere rate 0", sph([]byte("ab"), "sample_rate -i 0"), "sample_rate is 0"},
		{"sphere rate half", sph([]byte("ab"), "sample_rate -r 0.5"), "must be an integer"},
		{"sphere no samples", sph(nil, "sample_rate -i 8000"), "sample_count"},
		{"sphere truncated", sph([]byte("ab"), "sample_rate -i 8000", "sample_count -i 2"),
			"cut short: the header declares"},
		{"sphere count absurd", sph([]byte("ab"), "sample_rate -i 8000", "sample_count -i 9223372036854775807"),
			"cut short: the header declares"},
		{"sphere channels", sph([]byte("ab"), "sample_rate -i 8000", "channel_count -i 0"), "channel_count is 0"},
		{"sphere width", sph([]byte("ab"), "sample_rate -i 8000", "sample_n_bytes -i 5"), "sample_n_bytes is 5"},
		{"sphere order", sph([]byte("ab"), "sample_rate -i 8000", "sample_byte_format -s2 11"), "sample_byte_format"},
		{"sphere order long", sph([]byte("ab"), "sample_rate -i 8000", "sample_byte_format -s8 shortpack"), "sample_n_bytes"},
		{"sphere ulaw", sph([]byte("ab"), "sample_rate -i 8000", "sample_coding -s4 ulaw"), "ulaw"},
		{"sphere channels apart", sph([]byte("ab"), "sample_rate -i 8000", "channels_interleaved -s5 FALSE"), "channels_interleaved is \"FALSE\", must be TRUE"},
		{"sphere shorten", shorten, "shorten"},
		{"sphere bare shorten", sph([]byte("ajkg\x02data"), "sample_rate -i 16000"), "shorten"},
	} {
		checkDecode(t, c.name, c.file, c.want)
	}
}
