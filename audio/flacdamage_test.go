package audio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/mewkiz/flac/frame"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// TestFLACDamage checks that a wrong byte, a truncation or a wrong checksum causes an error or leaves all samples intact.
func TestFLACDamage(t *testing.T) {
	file := flacOf(t, sound(t, 16000, PCM16, 2, 5000))
	want := samplesOf(t, mustOpen(t, file))
	step := 1 + len(file)/slow.Pick(1500, 150)
	for n := 0; n < len(file); n += step {
		if _, err := Decode(file[:n]); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(file), err)
		}
		bad := bytes.Clone(file)
		bad[n] ^= 0x10
		r, err := Decode(bad)
		switch {
		case err != nil && (!errors.Is(err, ErrFormat) || strings.Contains(err.Error(), "\n")):
			t.Fatalf("byte %d is wrong: %v", n, err)
		case err == nil && !sameSamples(r.Samples, want):
			t.Fatalf("byte %d is wrong, but different samples are read without an error", n)
		}
	}
	noSum := bytes.Clone(file)
	clear(noSum[26:42])
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"sum":              {patchedAt(file, 26, 0, 1, 2, 3), "MD5"},
		"sum of 0":         {noSum, ""},
		"more samples":     {patchedAt(noSum, 25, 0xff), "declares 5119 samples, but only 5000 follow"},
		"fewer samples":    {patchedAt(noSum, 25, 1), "4865 samples are declared, but the frames have 5000"},
		"length unknown":   {patchedAt(noSum, 22, 0, 0, 0, 0), ""},
		"unknown, cut":     {patchedAt(noSum, 22, 0, 0, 0, 0)[:len(file)-1], "cut short in the frame of sample 4096"},
		"trailing junk":    {append(bytes.Clone(file), "TAG"...), ""},
		"junk instead":     {append(patchedAt(noSum, 22, 0, 0, 0, 0), "TAGTAG"...), "frame of sample 5000"},
		"32 bits":          {patchedAt(file, 20, 0x03, 0xf0), "32 bits"},
		"another rate":     {patchedAt(file, 18, 0x01), "16000 Hz contradict STREAMINFO (2, 16 and 7808)"},
		"more channels":    {patchedAt(file, 20, 0x04), "2 channels, 16 bits"},
		"another width":    {patchedAt(file, 20, 0x03, 0x70), "16 bits per sample and 16000 Hz contradict"},
		"no STREAMINFO":    {patchedAt(file, 4, 0x84), "type 4, STREAMINFO (type 0) must come first"},
		"short STREAMINFO": {patchedAt(file, 7, 10), "STREAMINFO"},
		"twice":            {withBlocks(file, string(file[4:42])), "type 0, STREAMINFO (type 0) must"},
		"long block":       {withBlocks(file, "\x81\xff\xff\xff"), "declares 16777215 bytes"},
		"metadata alone":   {patchedAt(file, 4, 0)[:42], "ends in its metadata"},
		"no frames":        {patchedAt(noSum, 22, 0, 0, 0, 0)[:42], "no samples"},
		"Ogg":              {[]byte("OggS\x00\x02"), "Ogg is not supported; convert it first: ffmpeg -i IN OUT.wav"},
		"Opus":             {append([]byte("OggS\x00\x02"), strings.Repeat("\x00", 22)+"OpusHead\x01"...), "Ogg Opus is not supported"},
		"M4A":              {[]byte("\x00\x00\x00\x20ftypM4A \x00\x00"), "M4A or MP4 is not supported"},
		"MP3":              {[]byte("\xff\xfb\x90\x64"), "MP3 is not supported"},
		"tag":              {append([]byte("ID3\x04\x00\x00\x00\x00\x00\x01"), file...), "MP3 is not supported"},
	} {
		checkDecode(t, name, c.file, c.want)
	}
}

// checkDecode reads a file and expects an ErrFormat that contains the text want, or no error if want is empty.
func checkDecode(t *testing.T, name string, file []byte, want string) {
	t.Helper()
	if _, err := Decode(file); want != "" {
		testkit.Fails(t, err, ErrFormat, want, name)
	} else if err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// TestFLACImpossible checks that samples with too many bits in a frame with valid checksums, and a panic of the library, are errors.
func TestFLACImpossible(t *testing.T) {
	w := testkit.Must(layout{rate: 8000, channels: 1, encoding: Encoding{Bytes: 1}}.flacWriter())(t)
	for last, want := range map[int32]string{127: "",
		128: "sample 1 of channel 1 (from 1) is 128, which exceeds 8 bits", -129: "is -129"} {
		w.coded.Reset()
		rice := &frame.RiceSubframe{Partitions: []frame.RicePartition{{Param: 4}}}
		f := &frame.Frame{
			Header:    frame.Header{HasFixedBlockSize: true, BlockSize: 4, BitsPerSample: 8},
			Subframes: []*frame.Subframe{{SubHeader: frame.SubHeader{Pred: frame.PredFixed, RiceSubframe: rice}, Samples: []int32{0, last, 5, 6}, NSamples: 4}},
		}
		testkit.OK(t, w.coder.WriteFrame(f))
		file := append([]byte("fLaC\x80\x00\x00\x22\x10\x00\x10\x00\x00\x00\x00\x00\x00\x00\x01\xf4\x00\x70"), make([]byte, 20)...)
		checkDecode(t, fmt.Sprint(last), append(file, w.coded.Bytes()...), want)
		d := (&flacFile{src: bytes.NewReader(w.coded.Bytes())}).decoder(0, int64(w.coded.Len())) // without STREAMINFO
		if _, err := d.frame(); err == nil || !strings.Contains(err.Error(), "cannot be decoded") {
			t.Errorf("a panic: %v", err)
		}
	}
}

// TestFLACLongFrame checks a frame of 65 536 samples, for which the library returns a length of 0.
func TestFLACLongFrame(t *testing.T) {
	header, sum := []byte{0xff, 0xf8, 0x70, 0, 0, 0xff, 0xff}, byte(0)
	for _, b := range header {
		sum ^= b
		for range 8 {
			sum = sum<<1 ^ sum>>7*7
		}
	}
	header = append(header, sum)
	s := mustOpen(t, flacOf(t, sound(t, 8000, PCM16, 1, 10))).pcm.(*flacFile)
	s.src = bytes.NewReader(append(header, make([]byte, 10)...))
	if _, err := s.decoder(0, 18).frame(); err == nil || !strings.Contains(err.Error(), "samples, the maximum is 65535") {
		t.Error(err)
	}
}

// patchedAt returns a copy of file in which b replaces the bytes at an offset.
func patchedAt(file []byte, at int, b ...byte) []byte {
	file = bytes.Clone(file)
	copy(file[at:], b)
	return file
}

// TestFLACRefuses checks that unsupported samples are rejected before anything is written.
func TestFLACRefuses(t *testing.T) {
	for _, c := range []struct {
		e              Encoding
		rate, channels int
		want           string
	}{
		{Float32, 8000, 1, "cannot store 32-bit float samples"}, {PCM32, 8000, 1, "cannot store 32-bit PCM samples"}, {PCM16, 8000, 9, "9 channels"},
		{PCM16, 1 << 20, 1, "1048576 Hz"},
	} {
		f := sound(t, c.rate, c.e, c.channels, 10)
		testkit.Fails(t, f.CheckWrite(FLAC), ErrFormat, c.want, c.e)
		testkit.Fails(t, f.CheckWrite(FLAC), ErrFormat, "write a .wav", c.e)
		testkit.Fails(t, (&Patch{f: f}).Write(io.Discard, FLAC), ErrFormat, "", c.e)
	}
}

// TestFLACReadError checks that read errors are returned unchanged, and that a file that changed after it was opened is an error.
func TestFLACReadError(t *testing.T) {
	file := flacOf(t, sound(t, 16000, PCM16, 1, 60_000))
	checkReads(t, "FLAC", file)
	content := bytes.Clone(file)
	f := mustOpen(t, content)
	s := f.pcm.(*flacFile)
	content[s.parts[1].at+50] ^= 1
	testkit.Must(f.Read(0, 100))(t)
	testkit.Fails(t, testkit.Error(f.Read(0, f.Len())), ErrFormat, fmt.Sprint("the frame of sample ", s.parts[1].first))
	s.parts[1].first--
	testkit.Must(f.Read(0, 100))(t)
	s.kept.Store(map[int][]byte(nil))
	testkit.Fails(t, testkit.Error(f.Read(0, 100)), ErrFormat, "has changed", "other frames than before")
	s.src = failing{}
	testkit.Fails(t, testkit.Error(f.Read(40_000, 40_001)), errBroken, "", "samples")
	testkit.Fails(t, (&Patch{f: f}).Write(io.Discard, FLAC), errBroken, "", "write")
}
