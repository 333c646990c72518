package audio

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

func init() { log.SetOutput(io.Discard) } // the library logs unusual sample rates

// sound returns a WAV file that exercises each kind of FLAC frame: silence, tones in noise, white noise at full scale, identical channels,
// extreme values, and values with zero low bits.
func sound(t testing.TB, rate int, e Encoding, channels, n int) *File {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), uint64(channels)))
	x := makePlanar(channels, n)
	for i := range n {
		common := rng.Float64()*2 - 1
		for c := range x {
			switch tone := math.Sin(float64(i)*0.05*float64(c+1)) / 2; i / 3000 % 6 {
			case 0:
				x[c][i] = tone + rng.NormFloat64()/1000
			case 1:
				x[c][i] = rng.Float64()*2 - 1
			case 2:
				x[c][i] = common / 2
			case 3:
				x[c][i] = float64(i%2*2 - 1)
			case 4:
				x[c][i] = math.Round(tone*16) / 16
			}
		}
	}
	return wavOf(t, rate, e, x)
}

// flacOf encodes a file as FLAC.
func flacOf(t testing.TB, f *File) []byte { return written(t, &Patch{f: f}, FLAC) }

// samplesOf returns all samples of a file.
func samplesOf(t *testing.T, f *File) [][]float64 {
	t.Helper()
	return testkit.Must(f.Read(0, f.Len()))(t)
}

func sameSamples(a, b [][]float64) bool { return slices.EqualFunc(a, b, slices.Equal[[]float64]) }

// within returns samples [lo, hi) of all channels.
func within(x [][]float64, lo, hi int) (part [][]float64) {
	for _, c := range x {
		part = append(part, c[lo:hi])
	}
	return part
}

// TestFLACRoundTrip checks the FLAC round trip for every supported integer width, channel count, length and rate: whole, in parts and patched.
func TestFLACRoundTrip(t *testing.T) {
	twelve := Encoding{Bytes: 2, ValidBits: 12}
	for _, c := range []struct {
		e                 Encoding
		rate, channels, n int
	}{
		{PCM8, 8000, 1, 1}, {PCM16, 8000, 1, 2}, {PCM24, 11025, 2, 3}, {PCM16, 22050, 1, 15}, {PCM16, 24000, 2, 17}, {PCM16, 44100, 2, 4095},
		{PCM16, 44100, 2, 4096}, {PCM24, 48000, 1, 4097}, {PCM24, 96000, 6, 20000}, {PCM8, 192000, 2, 30000}, {PCM16, 95999, 8, 9000},
		{PCM24, 655350, 2, 20000}, {PCM16, 1048575, 1, 16*flacBlock + 1}, {PCM24, 176400, 2, 16 * flacBlock}, {twelve, 16000, 3, 20000},
	} {
		t.Run(fmt.Sprintf("%d bits %d Hz %d channels %d samples", 8*c.e.Bytes, c.rate, c.channels, c.n), func(t *testing.T) {
			var f *File
			if c.e == twelve {
				f = mustOpen(t, riff("fmt ", extensible(1, c.channels, c.rate, 16, 12), "data", strings.Repeat("\x10\x20\xf0\xe0\x30\x0f", c.n)))
			} else {
				f = sound(t, c.rate, c.e, c.channels, c.n)
			}
			checkFLAC(t, f)
		})
	}
}

// TestFLACSmaller checks that FLAC compresses speech.
func TestFLACSmaller(t *testing.T) {
	plain := testkit.Must(os.ReadFile("../testdata/speech.wav"))(t)
	if n := len(flacOf(t, mustOpen(t, plain))); float64(n) > 0.8*float64(len(plain)) {
		t.Errorf("%d bytes, %d in a WAV file", n, len(plain))
	}
}

// checkFLAC compares a file's samples with its FLAC file.
func checkFLAC(t *testing.T, f *File) {
	t.Helper()
	file := flacOf(t, f)
	back, want := mustOpen(t, file), samplesOf(t, f)
	if back.Container() != FLAC || back.Rate() != f.Rate() || back.Len() != f.Len() || back.Encoding() != (Encoding{Bytes: f.encoding.Bytes}) {
		t.Fatalf("a %v of %d samples of %v at %d", back.Container(), back.Len(), back.Encoding(), back.Rate())
	}
	if got := samplesOf(t, back); !sameSamples(got, want) {
		t.Fatal("different samples came back")
	}
	if again := flacOf(t, f); !bytes.Equal(again, file) {
		t.Error("the same samples give a different file")
	}
	n := f.Len()
	for _, r := range [][2]int{{0, 1}, {n - 1, n}, {n / 3, n - n/3}, {max(0, n-5000), n}, {min(n, 4095), min(n, 4097)}, {n, n}} {
		if got := testkit.Must(back.Read(r[0], r[1]))(t); !sameSamples(got, within(want, r[0], r[1])) {
			t.Fatalf("samples %v differ", r)
		}
	}
	change := Change{Start: n / 2, Values: make([][]float64, f.Channels())}
	change.Values[f.Channels()-1] = []float64{0.25}
	patch := func(f *File) *Patch {
		p, _, err := f.Patch([]Change{change})
		testkit.OK(t, err)
		return p
	}
	want[f.Channels()-1][n/2] = 0.25
	for _, c := range []Container{FLAC, WAV, AIFF} {
		if got := samplesOf(t, mustOpen(t, written(t, patch(back), c))); !sameSamples(got, want) {
			t.Errorf("a changed sample, as %v: different samples", c)
		}
	}
	if fromWAV, fromFLAC := written(t, patch(f), FLAC), written(t, patch(back), FLAC); !bytes.Equal(fromWAV, fromFLAC) {
		t.Error("the file depends on the container that the samples come from")
	}
	if !bytes.Equal(written(t, &Patch{f: back}, FLAC), file) {
		t.Error("a file without changes was changed")
	}
}

// TestFLACConcurrent checks that several goroutines can read at once.
func TestFLACConcurrent(t *testing.T) {
	f := sound(t, 44100, PCM16, 2, 150_000)
	back, want := mustOpen(t, flacOf(t, f)), samplesOf(t, f)
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			for range 30 {
				lo := rng.IntN(f.Len() - 40_000)
				hi := lo + rng.IntN(40_000)
				got, err := back.Read(lo, hi)
				if err != nil || !sameSamples(got, within(want, lo, hi)) {
					t.Errorf("samples %d:%d: %v", lo, hi, err)
					return
				}
			}
		})
	}
	group.Wait()
}

// block returns a metadata block.
func block(kind byte, last bool, body string) string {
	if last {
		kind |= 0x80
	}
	return string([]byte{kind, byte(len(body) >> 16), byte(len(body) >> 8), byte(len(body))}) + body
}

// withBlocks inserts metadata after STREAMINFO in a file without other metadata.
func withBlocks(file []byte, blocks ...string) []byte {
	out := append(bytes.Clone(file[:42]), strings.Join(blocks, "")...)
	out[4] &^= 0x80
	return append(out, file[42:]...)
}

// TestFLACMetadata checks that metadata about the sound is preserved byte for byte, and that a seek table is dropped.
func TestFLACMetadata(t *testing.T) {
	file := flacOf(t, sound(t, 16000, PCM16, 1, 9000))
	seek := block(3, false, strings.Repeat("\xff", 18))
	blocks := []string{block(4, false, "\x03\x00\x00\x00abc\x00\x00\x00\x00"), block(6, false, strings.Repeat("picture", 1000)),
		block(2, false, "ABCDdata"), block(100, false, "unknown"), block(5, false, "a cue sheet that is none"), block(1, true, "\x00\x00\x00\x00")}
	want := strings.Join(blocks, "")
	for name, c := range map[string]struct {
		in   []byte
		want string
	}{
		"seek table first":  {withBlocks(file, append([]string{seek}, blocks...)...), want},
		"seek table last":   {withBlocks(file, blocks[0], block(3, true, "")), blocks[0]},
		"nothing but seeks": {withBlocks(file, block(3, true, "")), ""},
	} {
		f := mustOpen(t, c.in)
		p, _, err := f.Patch([]Change{{5, [][]float64{{0.5}}}})
		testkit.OK(t, err)
		out := written(t, p, FLAC)
		rest := mustOpen(t, out).pcm.(*flacFile)
		want := []byte(c.want)
		if name == "seek table last" {
			want[0] |= 0x80
		}
		if got := out[42 : 42+len(want)]; !bytes.Equal(got, want) || rest.parts[0].at != int64(42+len(want)) {
			t.Errorf("%s: metadata %.60q; want %.60q", name, got, want)
		}
		i := rest.info
		if i.NSamples != 9000 || i.BlockSizeMin != 4096 || i.BlockSizeMax != 4096 || i.FrameSizeMin == 0 || i.FrameSizeMax < i.FrameSizeMin {
			t.Errorf("%s: %+v", name, i)
		}
	}
}

// TestFLACFrameSizes checks the smallest (silence) and the largest (noise) frame size in the header.
func TestFLACFrameSizes(t *testing.T) {
	quiet, rng := make([]float64, 2*flacBlock), rand.New(rand.NewPCG(1, 1))
	for i := range flacBlock {
		quiet[flacBlock+i] = rng.Float64() - 0.5
	}
	file := flacOf(t, wavOf(t, 16000, PCM16, [][]float64{quiet}))
	i := mustOpen(t, file).pcm.(*flacFile).info
	if frames := len(file) - 42; i.FrameSizeMin > 20 || int(i.FrameSizeMin+i.FrameSizeMax) != frames {
		t.Errorf("frames of %d to %d bytes; want two, of %d bytes together", i.FrameSizeMin, i.FrameSizeMax, frames)
	}
}

// TestFLACMemory checks that memory does not grow with the number of samples.
func TestFLACMemory(t *testing.T) {
	n := slow.Pick(30_000_000, 1_500_000)
	file := flacOf(t, mustOpen(t, riff("fmt ", fmtBody(1, 1, 16000, 16), "data", strings.Repeat("\x00\x01\x00\xff", n/2))))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f := mustOpen(t, file)
	for at := 0; at < n; at += n / 100 {
		testkit.Must(f.Read(at, min(n, at+1000)))(t)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if got := int64(after.HeapAlloc) - int64(before.HeapAlloc); got > 1<<20 {
		t.Errorf("%d bytes of memory for %d samples", got, n)
	}
	runtime.KeepAlive(f)
}

func FuzzReadFLAC(f *testing.F) {
	for _, e := range []Encoding{PCM8, PCM16, PCM24} {
		for channels := 1; channels < 4; channels++ {
			file := flacOf(f, sound(f, 44100, e, channels, 20))
			f.Add(file)
			f.Add(withBlocks(file, block(4, true, "comment")))
			clear(file[26:42])
			f.Add(patchedAt(file, 22, 0, 0, 0, 0))
		}
	}
	f.Fuzz(fuzzDecode)
}
