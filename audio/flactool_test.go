package audio

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// tool runs a program of the FLAC reference implementation and returns its output.
func tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		if os.Getenv("VSSGP_REQUIRE_FLAC") != "" {
			t.Fatal(err)
		}
		t.Skip("no " + name + "; VSSGP_REQUIRE_FLAC=1 makes this a failure")
	}
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestFLACWritten checks that the reference decoder accepts a written file and returns its samples.
func TestFLACWritten(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		e                 Encoding
		rate, channels, n int
	}{
		{PCM8, 8000, 1, 40_000}, {PCM16, 24000, 1, 1}, {PCM16, 44100, 2, 100_000}, {PCM24, 96000, 6, 30_000}, {PCM24, 655350, 8, 5000},
		{PCM16, 95999, 2, 4097}, {PCM16, 1048575, 1, 5000},
	} {
		f := sound(t, c.rate, c.e, c.channels, c.n)
		path, decoded := filepath.Join(dir, "ours.flac"), filepath.Join(dir, "decoded.wav")
		testkit.OK(t, os.WriteFile(path, flacOf(t, f), 0o600))
		tool(t, "flac", "--test", "--warnings-as-errors", "--silent", path)
		tool(t, "flac", "--decode", "--warnings-as-errors", "--silent", "--force", "-o", decoded, path)
		if back := mustOpen(t, testkit.Read(t, decoded)); !sameSamples(samplesOf(t, back), samplesOf(t, f)) {
			t.Errorf("%+v: different samples in FLAC's decoding", c)
		}
		printed := tool(t, "metaflac", "--show-total-samples", "--show-channels", "--show-bps", "--show-sample-rate", path)
		if want := fmt.Sprintf("%d\n%d\n%d\n%d\n", c.n, c.channels, 8*c.e.Bytes, c.rate); printed != want {
			t.Errorf("metaflac prints %q, want %q", printed, want)
		}
	}
}

// TestFLACMadeElsewhere checks files of the reference encoder at all levels, block lengths and widths, and that filling a gap preserves
// their tags.
func TestFLACMadeElsewhere(t *testing.T) {
	dir := t.TempDir()
	plain, path := filepath.Join(dir, "in.wav"), filepath.Join(dir, "made.flac")
	for _, args := range []string{
		"-5", "-5 -T TITLE=click -T ARTIST=none -S 1s", "-0", "-8", "-8 -p -e -l 32 --lax", "-0 --blocksize=16", "-5 --blocksize=4608 --no-padding", "-1 -b 192",
		"--disable-fixed-subframes --disable-constant-subframes", "-5 --lax -b 65535",
	}[:slow.Pick(10, 2)] {
		for _, f := range []*File{sound(t, 44100, PCM16, 2, 70_000), sound(t, 48000, PCM24, 1, 30_000)} {
			testkit.OK(t, os.WriteFile(plain, written(t, &Patch{f: f}, WAV), 0o600))
			tool(t, "flac", append(strings.Fields(args), "--silent", "--force", "-o", path, plain)...)
			back := mustOpen(t, testkit.Read(t, path))
			if !sameSamples(samplesOf(t, back), samplesOf(t, f)) {
				t.Fatalf("%s, %v: different samples", args, f.Encoding())
			}
			p, _, err := back.Patch([]Change{{100, append([][]float64{{0.5}}, make([][]float64, f.Channels()-1)...)}})
			testkit.OK(t, err)
			tags := tool(t, "metaflac", "--export-tags-to=-", path)
			testkit.OK(t, os.WriteFile(path, written(t, p, FLAC), 0o600))
			tool(t, "flac", "--test", "--warnings-as-errors", "--silent", path)
			testkit.Equal(t, tool(t, "metaflac", "--export-tags-to=-", path), tags, args)
		}
	}
}

// TestFLACWidths checks that all widths up to 24 bits can be read, and that a width that has a FLAC code is preserved when written.
func TestFLACWidths(t *testing.T) {
	dir := t.TempDir()
	plain, path := filepath.Join(dir, "in.wav"), filepath.Join(dir, "made.flac")
	for width, again := range map[int]int{4: 8, 7: 8, 8: 8, 11: 12, 12: 12, 13: 16, 16: 16, 17: 20, 20: 20, 21: 24, 24: 24} {
		e := Encoding{Bytes: (width + 7) / 8, Unsigned: width <= 8, ValidBits: width}
		limit := float64(int(1) << (width - 1))
		want, data := make([]float64, 9000), make([]byte, 9000*e.Bytes)
		for n := range want {
			want[n] = float64((n*n/7)%int(2*limit))/limit - 1
			e.encode(data[n*e.Bytes:], want[n])
		}
		testkit.OK(t, os.WriteFile(plain, riff("fmt ", extensible(1, 1, 32000, 8*e.Bytes, width), "data", string(data)), 0o600))
		tool(t, "flac", "--silent", "--force", "--lax", "-o", path, plain)
		file := testkit.Read(t, path)
		f := mustOpen(t, file)
		if got := samplesOf(t, f); !sameSamples(got, [][]float64{want}) || f.Encoding().Step() != 1/limit {
			t.Fatalf("%d bits: different samples, of step %v", width, f.Encoding().Step())
		}
		p, _, err := f.Patch([]Change{{0, [][]float64{{want[0]}}}})
		testkit.OK(t, err)
		out := written(t, p, FLAC)
		back := mustOpen(t, out)
		if got := samplesOf(t, back); !sameSamples(got, [][]float64{want}) || int(back.pcm.(*flacFile).info.BitsPerSample) != again {
			t.Errorf("%d bits: different samples, or of %d bits", width, back.pcm.(*flacFile).info.BitsPerSample)
		}
		if w := mustOpen(t, written(t, p, WAV)); !sameSamples(samplesOf(t, w), [][]float64{want}) || w.Encoding().Step() != 1/limit {
			t.Errorf("%d bits: different samples in a WAV file, of step %v", width, w.Encoding().Step())
		}
		testkit.OK(t, os.WriteFile(path, out, 0o600))
		tool(t, "flac", "--test", "--silent", path)
		if !bytes.Equal(written(t, &Patch{f: f}, FLAC), file) {
			t.Errorf("%d bits: it differs from the file without changes", width)
		}
	}
}
