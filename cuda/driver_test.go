//go:build cudaemu || (cuda && linux && (amd64 || arm64))

package cuda

import (
	_ "embed"
	"errors"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp/internal/testkit"
)

// The tests TestDriver… run with each driver: a GPU's driver, the emulated one, and
// testdata/driver.c through TestFakeDriver. Their kernels are in testdata/driver.ptx; the other
// drivers have some of these kernels under the same names.
//
//go:embed testdata/driver.ptx
var driverPTX []byte

// firstCard returns the first usable GPU. Without one it skips the test, or fails it if
// VSSGP_REQUIRE_GPU is 1.
func firstCard(t *testing.T) Device {
	t.Helper()
	devices, err := Devices()
	for _, d := range devices {
		if d.Reason == "" {
			return d
		}
		err = errors.New(d.Reason)
	}
	if os.Getenv("VSSGP_REQUIRE_GPU") == "1" {
		t.Fatal(err)
	}
	t.Skipf("%v; VSSGP_REQUIRE_GPU=1 makes this a failure", err)
	return Device{}
}

// isCard reports whether a device is a real GPU.
func isCard(d Device) bool {
	return !strings.HasPrefix(d.Name, "emulated") && !strings.HasPrefix(d.Name, "fake")
}

// open returns a context with a stream and the kernels, and closes it at the end.
func open(t *testing.T, ordinal int, budget int64) (*Context, *Stream, func(string) *Function) {
	t.Helper()
	c := testkit.Must(Open(ordinal, budget))(t)
	t.Cleanup(func() { c.Close() })
	s := testkit.Must(c.NewStream(nil))(t)
	m := testkit.Must(c.Load(driverPTX))(t)
	return c, s, func(name string) *Function {
		t.Helper()
		return testkit.Must(m.Function(name))(t)
	}
}

// alloc allocates device memory and fails the test on an error.
func alloc(t *testing.T, c *Context, bytes int64) *Memory {
	t.Helper()
	return testkit.Must(c.Alloc(bytes))(t)
}

// host allocates page-locked memory and fails the test on an error.
func host(t *testing.T, c *Context, bytes int64) *HostMemory {
	t.Helper()
	return testkit.Must(c.AllocHost(bytes))(t)
}

// wantAllocated checks the device memory of a context.
func wantAllocated(t *testing.T, c *Context, bytes int64, pieces int) {
	t.Helper()
	if b, n := c.Allocated(); b != bytes || n != pieces {
		t.Errorf("%d bytes in %d allocations, want %d in %d", b, n, bytes, pieces)
	}
}

var one = Geometry{Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}}

// addsOne checks that a context adds 1 to some numbers.
func addsOne(t *testing.T, c *Context, s *Stream, add *Function) {
	t.Helper()
	m := alloc(t, c, 24)
	out := make([]float64, 3)
	err := errors.Join(m.Upload(s, 0, Bytes([]float64{1, 2, 3})),
		add.Launch(one, s, []uint64{m.Address(), 3, math.Float64bits(1)}),
		m.Download(s, Bytes(out), 0), m.Free())
	if err != nil || !slices.Equal(out, []float64{2, 3, 4}) {
		t.Errorf("1, 2, 3 and 1 each are %v (%v)", out, err)
	}
}

// TestDriverMemory checks that allocating too much memory returns an error and the context still
// works.
func TestDriverMemory(t *testing.T) {
	d := firstCard(t)
	c, s, f := open(t, d.Ordinal, 1<<60)
	wants(t, second(c.Alloc(d.Memory+1<<20)), ErrOutOfMemory, "(2)")
	wants(t, second(c.Alloc(1<<60+1)), ErrBudget)
	addsOne(t, c, s, f("add"))
	wantAllocated(t, c, 0, 0)
	testkit.OK(t, c.Close())
}

// TestDriverOptIn checks that 90 KiB of shared memory can be used, and that opting into less in
// another context does not reduce the first.
func TestDriverOptIn(t *testing.T) {
	d := firstCard(t)
	c, s, f := open(t, d.Ordinal, 1<<16)
	other, theirs, g := open(t, d.Ordinal, 1<<16)
	m, n := alloc(t, c, 8), alloc(t, other, 8)
	out := make([]float64, 1)
	for _, l := range []struct {
		f      *Function
		s      *Stream
		m      *Memory
		shared int
	}{{f("wide"), s, m, 90 << 10}, {g("wide"), theirs, n, 60 << 10}, {f("wide"), s, m, 90 << 10}} {
		geometry := one
		geometry.Shared = l.shared
		err := errors.Join(l.m.Zero(l.s, 0, 8), l.f.Launch(geometry, l.s, []uint64{l.m.Address(), uint64(l.shared)}), l.m.Download(l.s, Bytes(out), 0))
		if err != nil || out[0] != 7 {
			t.Errorf("%d bytes: %v (%v)", l.shared, out, err)
		}
	}
	testkit.OK(t, errors.Join(m.Free(), n.Free(), other.Close(), c.Close()))
}

// TestDriverTimes checks the launch times measured by the GPU.
func TestDriverTimes(t *testing.T) {
	d := firstCard(t)
	c, _, f := open(t, d.Ordinal, 1<<16)
	var took []time.Duration
	s, err := c.NewStream(func(kernel string, d time.Duration) { took = append(took, d) })
	testkit.OK(t, err)
	const ask = 2 * time.Millisecond
	for range 3 {
		err = errors.Join(err, f("wait").Launch(one, s, []uint64{uint64(ask)}))
	}
	testkit.OK(t, errors.Join(err, s.Synchronize()))
	t.Log(took)
	for _, d := range took {
		if d < ask/2 || d > time.Second {
			t.Errorf("a launch of %v took %v", ask, d)
		}
	}
	if len(took) != 3 {
		t.Errorf("%d times of 3 launches", len(took))
	}
}

// TestDriverStreams checks that two streams run concurrently, also in two contexts.
func TestDriverStreams(t *testing.T) {
	d := firstCard(t)
	c, s, f := open(t, d.Ordinal, 1<<16)
	second, err := c.NewStream(nil)
	testkit.OK(t, err)
	_, third, g := open(t, d.Ordinal, 1<<16)
	const ask = 40 * time.Millisecond
	args := []uint64{uint64(ask)}
	began := time.Now()
	err = errors.Join(f("wait").Launch(one, s, args), f("wait").Launch(one, second, args), g("wait").Launch(one, third, args),
		s.Synchronize(), second.Synchronize(), third.Synchronize())
	took := time.Since(began)
	t.Logf("three launches of %v on three streams: %v", ask, took)
	if err != nil {
		t.Error(err)
	}
	if isCard(d) && took > 2*ask {
		t.Errorf("three launches of %v take %v: one after another", ask, took)
	}
	addsOne(t, c, second, f("add"))
}

// TestDriverCopies checks that copies of page-locked memory are queued and complete at the
// synchronization, and that uploads of other memory can be reused at once.
func TestDriverCopies(t *testing.T) {
	d := firstCard(t)
	n := min(d.Memory/16, 64<<20) / 8
	c, s, f := open(t, d.Ordinal, 0)
	m, up, down := alloc(t, c, 8*n), host(t, c, 8*n), host(t, c, 8*n)
	for i := range up.Float64s() {
		up.Float64s()[i] = float64(i)
	}
	add := []uint64{m.Address(), uint64(n), math.Float64bits(0.5)}
	for range 2 { // the second time all memory is mapped
		clear(down.Bytes())
		began := time.Now()
		err := errors.Join(m.UploadAsync(s, 0, up, 8*n), s.Synchronize())
		there := time.Since(began)
		err = errors.Join(err, m.DownloadAsync(s, down, 0, 8*n), s.Synchronize())
		back := time.Since(began) - there
		pageable := slices.Clone(up.Bytes())
		began = time.Now()
		testkit.OK(t, errors.Join(err, m.Upload(s, 0, pageable), s.Synchronize()))
		speed := func(d time.Duration) float64 { return float64(8*n) / d.Seconds() / 1e9 }
		t.Logf("%d bytes: page-locked up %.1f GB/s, down %.1f GB/s; else up %.1f GB/s", 8*n, speed(there), speed(back), speed(time.Since(began)))
	}
	numbers := []float64{5}
	err := errors.Join(m.UploadAsync(s, 0, up, 8*n), m.Upload(s, 8, Bytes(numbers)))
	numbers[0] = 6
	testkit.OK(t, errors.Join(err, f("add").Launch(one, s, add), m.DownloadAsync(s, down, 0, 8*n), s.Synchronize()))
	for i, v := range down.Float64s() {
		want := float64(i) + 0.5
		if i == 1 {
			want = 5.5
		}
		if v != want {
			t.Fatalf("number %d is %v, want %v", i, v, want)
		}
	}
	wants(t, m.UploadAsync(s, 8, up, 8*n), errRange)
	wants(t, m.DownloadAsync(s, down, -8, 8), errRange)
	small := host(t, c, 8)
	wants(t, m.UploadAsync(s, 0, small, 9), errRange, "maximum is 8 bytes")
	if bytes, pieces := c.AllocatedHost(); bytes != 16*n+8 || pieces != 3 {
		t.Errorf("%d bytes in %d host allocations", bytes, pieces)
	}
	testkit.OK(t, errors.Join(up.Free(), small.Free(), m.Free()))
	wants(t, up.Free(), errFreed)
	wants(t, m.UploadAsync(s, 0, up, 8), nil, "freed")
	wants(t, c.Close(), nil, "bytes in 1 allocations of page-locked memory were not freed")
}

// TestDriverShared checks that a second context on the GPU shares the kernels of the first, and
// works after that is closed, as does one opened after all are closed.
func TestDriverShared(t *testing.T) {
	d := firstCard(t)
	began := time.Now()
	a, s, f := open(t, d.Ordinal, 1<<16)
	first := time.Since(began)
	began = time.Now()
	b, q, g := open(t, d.Ordinal, 1<<16)
	t.Logf("opened in %v, and again in %v", first, time.Since(began))
	if a.card != b.card || f("add").function != g("add").function {
		t.Error("two contexts on a GPU do not share its modules")
	}
	addsOne(t, a, s, f("add"))
	testkit.OK(t, a.Close())
	addsOne(t, b, q, g("add"))
	testkit.OK(t, b.Close())
	c, r, h := open(t, d.Ordinal, 1<<16)
	if c.card != b.card {
		t.Error("the GPU was destroyed with its last context")
	}
	addsOne(t, c, r, h("add"))
}

// insideFault marks a program whose GPU may be lost.
const insideFault = "VSSGP_TEST_FAULT"

// TestDriverFault runs TestDriverInsideFault in a separate process, because the GPU may be lost for
// the whole process.
func TestDriverFault(t *testing.T) {
	firstCard(t)
	program := exec.Command(os.Args[0], "-test.run=^TestDriverInsideFault$", "-test.v")
	program.Env = append(os.Environ(), insideFault+"=1")
	out, err := program.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "--- PASS: TestDriverInsideFault") {
		t.Error(err)
	}
}

// TestDriverInsideFault checks that a fault loses all contexts on the GPU. When they are closed,
// the next one works, or its error states that another process must be started.
func TestDriverInsideFault(t *testing.T) {
	if os.Getenv(insideFault) == "" {
		t.Skip("TestDriverFault runs this")
	}
	d := firstCard(t)
	a, s, f := open(t, d.Ordinal, 1<<16)
	b, q, _ := open(t, d.Ordinal, 1<<16)
	m := alloc(t, b, 8)
	testkit.OK(t, errors.Join(f("add").Launch(one, s, []uint64{0, 0, 0}), s.Synchronize(), f("fault").Launch(one, s, nil)))
	err := s.Synchronize()
	t.Log(err)
	wants(t, err, ErrLost, "fault (grid 1×1×1", "(700)")
	if strings.Contains(err.Error(), "add") {
		t.Errorf("%v names a completed launch", err)
	}
	wants(t, m.Zero(q, 0, 8), ErrLost, "fault (grid")
	wants(t, m.Free(), ErrLost)
	wants(t, second(Open(d.Ordinal, 0)), ErrLost, "close", "2 open contexts")
	testkit.OK(t, errors.Join(a.Close(), b.Close()))
	c, err := Open(d.Ordinal, 1<<16)
	if err != nil && isCard(d) {
		wants(t, err, ErrLost, "start another")
		t.Logf("the driver keeps the fault: %v", err)
		return
	}
	testkit.OK(t, err)
	testkit.OK(t, c.Close())
	if c.card == a.card {
		t.Error("the lost GPU is still in use")
	}
	c, s, f = open(t, d.Ordinal, 1<<16)
	addsOne(t, c, s, f("add"))
}
