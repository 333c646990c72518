package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// colored are channels of noise with a spectrum, rounded to so many bits.
func colored(channels, n, bits int) [][]float64 {
	rng, step := rand.New(rand.NewPCG(3, 4)), math.Ldexp(1, 1-bits)
	x := make([][]float64, channels)
	for c := range x {
		x[c] = make([]float64, n)
		var a, b float64
		for i := range x[c] {
			a, b = 1.7*a-0.85*b+0.02*rng.NormFloat64(), a
			x[c][i] = math.Round(a/step) * step
		}
	}
	return x
}

// inFormat puts samples into a folder as a file of the format that its name says.
func inFormat(t *testing.T, dir, name string, rate int, e audio.Encoding, x [][]float64) string {
	t.Helper()
	r, clipped, err := audio.New(rate, e, x)
	if err != nil || clipped > 0 {
		t.Fatal(clipped, err)
	}
	c, err := audio.ContainerOf(name)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Write(&b, c); err != nil {
		t.Fatal(err)
	}
	return testkit.Put(t, dir, name, b.String())
}

// TestFormats: the same samples get the same fill in whichever file they are, and all others come out as they were: 24 bits, 96 kHz and 5.1
// channels, of which one has a gap, and 16 bits in stereo. Floats are not rounded.
func TestFormats(t *testing.T) {
	for _, c := range []struct {
		rate, channels, bits int
		of                   audio.Encoding
		gap                  string
	}{{44100, 2, 16, audio.PCM16, "2000:2040"}, {96000, 6, 24, audio.PCM24, "2000:2040@4"}}[:slow.Pick(2, 1)] {
		dir, x := t.TempDir(), colored(c.channels, 4000, c.bits)
		var first [][]float64
		for _, f := range []struct {
			name string
			e    audio.Encoding
		}{
			{"a.wav", c.of}, {"b.rf64", c.of}, {"c.w64", c.of}, {"d.aiff", c.of}, {"e.flac", c.of}, {"f.sph", c.of},
			{"g.wav", audio.Float32}, {"h.aifc", audio.Float32}, {"i.w64", audio.Float64},
		} {
			in, out := inFormat(t, dir, f.name, c.rate, f.e, x), filepath.Join(dir, "out-"+f.name)
			succeed(t, "impute", in, "--gap", c.gap, "-o", out)
			r, err := audio.Open(out)
			if err != nil {
				t.Fatal(err)
			}
			if want, _ := audio.ContainerOf(f.name); r.Container() != want || r.Encoding().Step() != f.e.Step() || r.Channels() != c.channels {
				t.Errorf("%s came out as a %v of %v in %d channels", f.name, r.Container(), r.Encoding(), r.Channels())
			}
			if first == nil {
				first = r.Samples
				if slices.Equal(first[c.channels/2][2000:2040], x[c.channels/2][2000:2040]) {
					t.Error("nothing is filled")
				}
			}
			within := math.Ldexp(1, 1-c.bits) // of the gap's samples, which integers round
			if !f.e.Float {
				within = 0
			}
			for ch := range first {
				for n, v := range r.Samples[ch] {
					gap := n >= 2000 && n < 2040 && (c.channels == 2 || ch == 3)
					if math.Abs(v-first[ch][n]) > within || !gap && v != x[ch][n] {
						t.Fatalf("%s: sample %d of channel %d is %v; want %v", f.name, n, ch, v, first[ch][n])
					}
				}
			}
		}
		checkConversions(t, dir, c.gap)
	}
}

// checkConversions fills between WAV and FLAC, by names and by streams: the bytes depend on the samples and the output's format alone.
func checkConversions(t *testing.T, dir, gap string) {
	t.Helper()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct{ from, to, like string }{
		{"a.wav", "1.flac", "out-e.flac"}, {"e.flac", "2.wav", "out-a.wav"}, {"d.aiff", "3.flac", "out-e.flac"},
	} {
		succeed(t, "impute", in(c.from), "--gap", gap, "-o", in(c.to))
		if !bytes.Equal(testkit.Read(t, in(c.to)), testkit.Read(t, in(c.like))) {
			t.Errorf("%s as %s is another file than %s", c.from, c.to, c.like)
		}
	}
	o := fromStdinRun(t, string(testkit.Read(t, in("e.flac"))), "impute", "-", "--gap", gap, "-o", "-")
	if o.code != cli.ExitDone || o.stdout != string(testkit.Read(t, in("out-e.flac"))) {
		t.Errorf("a stream: exit %d, %d bytes, %s", o.code, len(o.stdout), o.stderr)
	}
	bad := testkit.Put(t, dir, "bad.flac", string(testkit.Read(t, in("e.flac")))[:5000])
	for want, args := range map[string][]string{
		"no 32-bit float samples": {in("g.wav"), "-o", in("none.flac")}, "bad.flac: bad audio file: offset ": {bad, "-o", in("none.flac")},
	} {
		o := vssgpRun(t, append([]string{"impute", "--gap", gap}, args...)...)
		if o.code != cli.ExitMistake || !strings.Contains(o.stderr, want) || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%v: exit %d, %q; want %q", args, o.code, o.stderr, want)
		}
	}
}

// TestFillCues: the regions that a file marks are its gaps, alone and in a folder, where a file that marks none is named.
func TestFillCues(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	takes := in("takes")
	file := wav(8000, 1, tone(4000, 8000))
	point, text := make([]byte, 0, 28), make([]byte, 0, 32)
	for _, v := range []uint32{1, 7, 0, binary.LittleEndian.Uint32([]byte("data")), 0, 0, 600} {
		point = binary.LittleEndian.AppendUint32(point, v)
	}
	text = append(text, "adtlltxt\x14\x00\x00\x00\x07\x00\x00\x00\x14\x00\x00\x00rgn \x00\x00\x00\x00\x00\x00\x00\x00"...) // 20 samples
	marked := append(append(append(bytes.Clone(file), "cue \x1c\x00\x00\x00"...), point...), "LIST\x20\x00\x00\x00"...)
	marked = append(marked, text...)
	binary.LittleEndian.PutUint32(marked[4:], uint32(len(marked)-8))
	if err := os.Mkdir(takes, 0o777); err != nil {
		t.Fatal(err)
	}
	testkit.Put(t, takes, "marked.wav", string(marked))
	testkit.Put(t, takes, "plain.wav", string(file))
	succeed(t, "impute", filepath.Join(takes, "marked.wav"), "--gap", "600:620", "-o", in("by-hand.wav"))
	line := []string{"impute", filepath.Join(takes, "marked.wav"), "--cues", "-o", in("by-cues.wav"), "--labels", in("cues.txt"), "--json"}
	r := decode[imputed](t, succeed(t, line...).stdout)
	if !slices.Equal(r.Gaps, [][2]int{{600, 620}}) || !bytes.Equal(testkit.Read(t, in("by-hand.wav")), testkit.Read(t, in("by-cues.wav"))) {
		t.Errorf("gaps %v, or another fill than by --gap", r.Gaps)
	}
	if labels := string(testkit.Read(t, in("cues.txt"))); labels != "0.075000000\t0.077500000\tgap\n" {
		t.Errorf("labels %q", labels)
	}
	o := vssgpRun(t, "impute", takes, "--cues", "--out-dir", in("out"))
	if o.code != cli.ExitMistake || !strings.Contains(o.stderr, "plain.wav marks no region of its 4000 samples") ||
		!bytes.Equal(testkit.Read(t, filepath.Join(in("out"), "marked.wav")), testkit.Read(t, in("by-cues.wav"))) {
		t.Errorf("a folder: exit %d, %q", o.code, o.stderr)
	}
}
