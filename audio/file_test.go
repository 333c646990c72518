package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// tiled runs a test with tiles that are too small, end inside samples and frames, and contain everything.
func tiled(t *testing.T, test func(t *testing.T)) {
	was := tileBytes
	defer func() { tileBytes = was }()
	for _, tileBytes = range []int{1, 7, 64, was} {
		t.Run(fmt.Sprintf("tiles of %d", tileBytes), test)
	}
}

func mustOpen(t *testing.T, file []byte) *File {
	t.Helper()
	return testkit.Must(NewFile(bytes.NewReader(file), int64(len(file))))(t)
}

// wavOf returns a WAV file with samples [channels][·].
func wavOf(t testing.TB, rate int, e Encoding, samples [][]float64) *File {
	t.Helper()
	var out bytes.Buffer
	w := testkit.Must(NewWriter(&out, rate, e, len(samples), len(samples[0])))(t)
	for n := range samples[0] {
		for _, x := range samples {
			testkit.OK(t, w.Write(x[n:n+1]))
		}
	}
	testkit.OK(t, w.Close())
	return testkit.Must(NewFile(bytes.NewReader(out.Bytes()), int64(out.Len())))(t)
}

func written(t testing.TB, p *Patch, c Container) []byte {
	t.Helper()
	var out bytes.Buffer
	testkit.OK(t, p.Write(&out, c))
	return out.Bytes()
}

// TestFileInParts checks for every kind of file that reading in parts equals reading the whole, and that a patch changes only the
// bytes of its samples. The gaps are at the start, at the end, across tiles, and over the whole file.
func TestFileInParts(t *testing.T) {
	tiled(t, func(t *testing.T) {
		for _, g := range goodFiles() {
			f := mustOpen(t, g.file)
			whole := testkit.Must(Decode(g.file))(t)
			if f.Len() != 37 || f.Channels() != g.channels || f.Rate() != whole.Rate || f.Encoding() != g.encoding {
				t.Fatalf("%s: %d samples of %d channels at %d, %v", g.name, f.Len(), f.Channels(), f.Rate(), f.Encoding())
			}
			for _, r := range []Gap{{Start: 0, End: 37}, {Start: 0, End: 1}, {Start: 36, End: 37}, {Start: 5, End: 23}, {Start: 9, End: 9}} {
				if part, err := f.Read(r.Start, r.End); err != nil || !sameSamples(part, within(whole.Samples, r.Start, r.End)) {
					t.Fatalf("%s: samples %v differ (%v)", g.name, r, err)
				}
			}
			for _, gaps := range [][]Gap{{{Start: 0, End: 3}, {Start: 34, End: 37}}, {{Start: 5, End: 23}, {Start: 23, End: 24}}, {{Start: 0, End: 37}}, {{Start: 36, End: 37}}, nil} {
				checkPatch(t, g, f, gaps)
			}
			checkPatch(t, g, f, []Gap{{Start: 3, End: 30, Channel: g.channels}})
			if g.channels > 1 { // both channels' changes overlap in time
				checkPatch(t, g, f, []Gap{{Start: 2, End: 9, Channel: 1}, {Start: 4, End: 33, Channel: 2}, {Start: 9, End: 34, Channel: 1}})
			}
		}
	})
}

func checkPatch(t *testing.T, g goodFile, f *File, gaps []Gap) {
	t.Helper()
	want := bytes.Clone(g.file)
	at := bytes.Index(g.file, g.data)
	var changes []Change
	for _, gap := range slices.Backward(gaps) {
		c := Change{Start: gap.Start, Values: makePlanar(g.channels, gap.Len())}
		for n := range gap.Len() {
			for i := range c.Values {
				if !gap.In(i) {
					c.Values[i] = nil
					continue
				}
				c.Values[i][n] = float64((gap.Start+n+3*i)%7-3) / 8
				g.encoding.encode(want[at+((gap.Start+n)*g.channels+i)*g.encoding.Bytes:], c.Values[i][n])
			}
		}
		changes = append(changes, c)
	}
	p, clipped, err := f.Patch(changes)
	if err != nil || clipped != 0 {
		t.Fatal(g.name, err, clipped)
	}
	if got := written(t, p, f.Container()); !bytes.Equal(got, want) {
		t.Fatalf("%s, gaps %v: different bytes", g.name, gaps)
	}
	same := testkit.Must(Decode(want))(t)
	for _, other := range others(f) {
		back := testkit.Must(Decode(written(t, p, other)))(t)
		if back.Container() != other || !sameSamples(back.Samples, same.Samples) {
			t.Fatalf("%s, gaps %v: other samples in %v", g.name, gaps, other)
		}
	}
}

// TestOddChunksArePadded checks that chunks of odd length are padded, if a streamed file ends with its data and if a SPHERE file is converted to
// WAV, and that an existing pad byte is not repeated.
func TestOddChunksArePadded(t *testing.T) {
	odd := riff("fmt ", fmtBody(1, 1, 8000, 8), "data", "abc")
	streamed := bytes.Clone(odd[:len(odd)-1])
	binary.LittleEndian.PutUint32(streamed[4:], 0)
	binary.LittleEndian.PutUint32(streamed[40:], 0)
	tiled(t, func(t *testing.T) {
		for name, c := range map[string]struct{ file, want []byte }{
			"padded": {odd, odd}, "not padded": {odd[:47], odd[:47]}, "streamed": {streamed, odd}, "trailing bytes": {append(bytes.Clone(odd), "tail"...), append(bytes.Clone(odd), "tail"...)},
			"SPHERE": {sph([]byte{'a' ^ 0x80, 'b' ^ 0x80, 'c' ^ 0x80}, "sample_rate -i 8000", "sample_n_bytes -i 1"), odd},
		} {
			f, _ := salvaged(t, c.file) // a streamed file is damaged
			if got := written(t, &Patch{f: f}, WAV); !bytes.Equal(got, c.want) {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}
	})
}

// TestDeclaredSize checks that a converted file declares its whole length, including padding bytes.
func TestDeclaredSize(t *testing.T) {
	for n := 1; n < 4; n++ {
		f := mustOpen(t, sph([]byte("abc")[:n], "sample_rate -i 8000", "sample_n_bytes -i 1"))
		for c, size := range map[Container]func(b []byte) int{
			WAV:  func(b []byte) int { return 8 + int(binary.LittleEndian.Uint32(b[4:])) },
			RF64: func(b []byte) int { return 8 + int(binary.LittleEndian.Uint64(b[20:])) },
			W64:  func(b []byte) int { return int(binary.LittleEndian.Uint64(b[16:])) },
			AIFF: func(b []byte) int { return 8 + int(binary.BigEndian.Uint32(b[4:])) },
		} {
			if b := written(t, &Patch{f: f}, c); size(b) != len(b) || len(b)%2 != 0 {
				t.Errorf("%v of %d samples of 8 bits: %d bytes, %d of them declared", c, n, len(b), size(b))
			}
		}
	}
}

// TestFileReadErrors checks read failures, and that a NaN is an error only if its sample is read.
func TestFileReadErrors(t *testing.T) {
	file := riff("fmt ", fmtBody(3, 1, 8000, 32), "data", strings.Repeat("\x00\x00\x80\x3f", 8)+"\x00\x00\xc0\x7f")
	f := mustOpen(t, file)
	testkit.Must(f.Read(0, 8))(t)
	testkit.Fails(t, testkit.Error(f.Read(0, 9)), ErrFormat, "offset 76: sample 8 of channel 1 (from 1) is NaN", "NaN")
	testkit.Fails(t, testkit.Error(NewFile(bytes.NewReader(file[:60]), int64(len(file)))), ErrFormat, "when it was opened",
		"a file that has become shorter")
	broken := mustOpen(t, file)
	broken.src = failing{}
	testkit.Fails(t, (&Patch{f: broken}).Write(io.Discard, WAV), errBroken, "")
	testkit.Fails(t, testkit.Error(NewFile(failing{}, 100)), errBroken, "")
	testkit.Fails(t, testkit.Error(NewFile(endless(file), maxFile+1)), ErrFormat, "4 GiB", "a WAV file of more than 4 GiB")
}

var errBroken = errors.New("broken")

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, errBroken }

// flaky fails once, after the given number of calls.
type flaky struct {
	*bytes.Reader
	calls int
}

func (f *flaky) ReadAt(b []byte, at int64) (int, error) {
	if f.calls--; f.calls == -1 {
		return 0, errBroken
	}
	return f.Reader.ReadAt(b, at)
}

// checkReads opens a file repeatedly, with a different read failing each time. It checks that the error is returned unchanged and that
// no read follows.
func checkReads(t *testing.T, name string, file []byte) {
	t.Helper()
	for calls := 0; ; calls++ {
		src := &flaky{bytes.NewReader(file), calls}
		_, err := NewFile(src, int64(len(file)))
		if src.calls >= 0 { // fewer reads were needed
			if err != nil || calls < 3 {
				t.Errorf("%s: %d reads, %v", name, calls, err)
			}
			return
		}
		if !errors.Is(err, errBroken) || errors.Is(err, ErrFormat) {
			t.Errorf("%s: read %d fails: %v", name, calls, err)
		}
	}
}

// TestHeaderReadError checks that reading a header stops at the first failed read.
func TestHeaderReadError(t *testing.T) {
	far := strings.Repeat("x", 3*headBlock)
	checkReads(t, "WAV", riff("LIST", far, "fmt ", fmtBody(1, 1, 8000, 16), "LIST", far, "data", "ab"))
	checkReads(t, "SPHERE", append([]byte("NIST_1A\n   9000\nsample_rate -i 8000\nend_head\n"), make([]byte, 9000)...))
}

// endless contains bytes followed by zeros.
type endless []byte

func (e endless) ReadAt(b []byte, at int64) (int, error) {
	clear(b)
	if at < int64(len(e)) {
		copy(b, e[at:])
	}
	return len(b), nil
}

// TestResidualInParts checks that a residual added in parts gives bitwise the same scores as the whole.
func TestResidualInParts(t *testing.T) {
	slow.Race(t)
	rng := rand.New(rand.NewPCG(1, 2))
	const n, rate = 20000, 16000
	ref, est, mask := make([]float64, n), make([]float64, n), make([]bool, n)
	parts := []Gap{{Start: 0, End: 100}, {Start: 350, End: 420}, {Start: 420, End: 500}, {Start: 7000, End: 7900}, {Start: 12000, End: 12001}, {Start: 19990, End: n}}
	for i := range ref {
		ref[i], est[i] = rng.NormFloat64(), rng.NormFloat64()
	}
	r := NewResidual(n, rate)
	for _, p := range parts {
		for i := p.Start; i < p.End; i++ {
			mask[i] = rng.IntN(4) > 0 || p.Len() == 1
		}
		r.Add(p.Start, ref[p.Start:p.End], est[p.Start:p.End], mask[p.Start:p.End])
		r.STFTRMSE() // does not end the sum
	}
	if again := r.STFTRMSE(); again != r.STFTRMSE() || len(r.ahead) > 400 {
		t.Errorf("STFT RMSE %v, then %v; %d samples are kept", again, r.STFTRMSE(), len(r.ahead))
	}
	testkit.Equal(t, r.RMSE(), RMSE(ref, est, mask), "RMSE")
	testkit.Equal(t, r.STFTRMSE(), STFTRMSE(ref, est, mask, rate), "STFT RMSE")
	// Silence between two parts needs neither memory nor transforms.
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	far := NewResidual(10_000_000, rate)
	far.Add(0, ref[:100], est[:100], nil)
	far.Add(9_999_000, ref[:100], est[:100], nil)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("%d bytes for two short parts far apart", got)
	}
}

// sparse returns a 16-bit mono file with size bytes of samples, sparse on disk.
func sparse(t *testing.T, c Container, size int64) (*File, *os.File) {
	t.Helper()
	header := testkit.Must(containers[c].header(layout{rate: 16000, channels: 1, encoding: PCM16, frames: int(size / 2)}))(t)
	src := testkit.Must(os.Create(filepath.Join(t.TempDir(), "long.wav")))(t)
	t.Cleanup(func() { src.Close() })
	testkit.Must(src.Write(header))(t)
	whole := int64(len(header)) + size
	testkit.OK(t, src.Truncate(whole))
	f := testkit.Must(NewFile(src, whole))(t)
	return f, src
}

// counter counts the written bytes and the nonzero ones.
type counter struct{ all, sound int64 }

func (c *counter) Write(b []byte) (int, error) {
	c.all += int64(len(b))
	c.sound += int64(len(b) - bytes.Count(b, []byte{0}))
	return len(b), nil
}

// TestMemoryOfLongFile checks that opening, reading and writing a long file allocates only a few tiles.
func TestMemoryOfLongFile(t *testing.T) {
	for c, size := range map[Container]int64{WAV: 2 << 30, RF64: 4_500_000_000, W64: 4_300_000_000} {
		if !slow.Tests {
			size = 32 << 20
		}
		t.Run(c.String(), func(t *testing.T) { memoryOf(t, c, size) })
	}
}

func memoryOf(t *testing.T, c Container, size int64) {
	f, src := sparse(t, c, size)
	n := f.Len()
	for _, at := range []int{0, n/2 - 3, n - 1} {
		testkit.Must(src.WriteAt([]byte{1, 1}, f.frameOffset(at)))(t)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := f.Read(n/2-5000, n/2+5000); err != nil {
		t.Error(err)
	}
	p, _, err := f.Patch([]Change{{0, [][]float64{{0.51, 0.51}}}, {n - 2, [][]float64{{-0.51, -0.51}}}})
	testkit.OK(t, err)
	if f.Container() != c {
		t.Fatalf("it is a %v", f.Container())
	}
	for _, c := range []Container{WAV, SPHERE, W64} { // WAV becomes RF64 if it is too long
		var out counter
		if err := p.Write(&out, c); err != nil || out.all < size || out.sound < 10 {
			t.Errorf("%v: %+v, %v", c, out, err)
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 2<<20 {
		t.Errorf("%d bytes were allocated for a file of %d; want a few tiles", got, size)
	}
}
