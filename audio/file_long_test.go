package audio

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// sparse is a 16-bit mono file of so many bytes of samples, of which the disk holds hardly any.
func sparse(t *testing.T, c Container, size int64) (*File, *os.File) {
	t.Helper()
	header, err := containers[c].header(layout{rate: 16000, channels: 1, encoding: PCM16, frames: int(size / 2)})
	if err != nil {
		t.Fatal(err)
	}
	src, err := os.Create(filepath.Join(t.TempDir(), "long.wav"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	if _, err := src.Write(header); err != nil {
		t.Fatal(err)
	}
	whole := int64(len(header)) + size
	if err := src.Truncate(whole); err != nil {
		t.Fatal(err)
	}
	f, err := NewFile(src, whole)
	if err != nil {
		t.Fatal(err)
	}
	return f, src
}

// counter counts what is written, and what of it is not zero.
type counter struct{ all, sound int64 }

func (c *counter) Write(b []byte) (int, error) {
	c.all += int64(len(b))
	c.sound += int64(len(b) - bytes.Count(b, []byte{0}))
	return len(b), nil
}

// Memory does not grow with the file: all that is allocated from opening to writing is a few tiles.
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
		if _, err := src.WriteAt([]byte{1, 1}, f.place(at)); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := f.Read(n/2-5000, n/2+5000); err != nil {
		t.Error(err)
	}
	p, _, err := f.Patch([]Change{{0, [][]float64{{0.51, 0.51}}}, {n - 2, [][]float64{{-0.51, -0.51}}}})
	if err != nil {
		t.Fatal(err)
	}
	if f.Container() != c {
		t.Fatalf("it is a %v", f.Container())
	}
	for _, c := range []Container{WAV, SPHERE, W64} { // WAV becomes RF64 where it must
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
