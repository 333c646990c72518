//go:build cuda && linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestNoDriver checks that without a driver or GPU the program starts and the error states why.
func TestNoDriver(t *testing.T) {
	devices, err := Devices()
	if err == nil {
		t.Skipf("this machine has %d GPUs", len(devices))
	}
	t.Log(err)
	if !errors.Is(err, ErrNoDevice) {
		t.Errorf("Devices: %v does not wrap ErrNoDevice", err)
	}
	if _, err := Open(0, 0); !errors.Is(err, ErrNoDevice) {
		t.Errorf("Open: %v does not wrap ErrNoDevice", err)
	}
}

// insideFake marks a program that runs with testdata/driver.c as its driver.
const insideFake = "VSSGP_TEST_FAKE_DRIVER"

// TestFakeDriver compiles a fake driver and runs tests with it in separate processes.
func TestFakeDriver(t *testing.T) {
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "gcc"
	}
	for _, c := range []struct{ flag, tests, one string }{
		{"-DNEW", "^(TestInsideFake|TestDriver)", "TestInsideFake"},
		{"-DNEW", "^TestInsideCodes$", "TestInsideCodes"},
		{"-DNEW", "^TestInsideClose$", "TestInsideClose"},
		{"-DOLD", "^TestInsideOld$", "TestInsideOld"},
	} {
		t.Run(c.one, func(t *testing.T) {
			folder := t.TempDir()
			library := filepath.Join(folder, "libcuda.so.1")
			if out, err := exec.Command(compiler, c.flag, "-Wall", "-shared", "-fPIC", "-o", library, "testdata/driver.c").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			program := exec.Command(os.Args[0], "-test.run="+c.tests, "-test.v")
			program.Env = append(os.Environ(), insideFake+"=1", "LD_LIBRARY_PATH="+folder)
			out, err := program.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "--- PASS: "+c.one) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// inFake skips a test outside TestFakeDriver.
func inFake(t *testing.T) {
	t.Helper()
	if os.Getenv(insideFake) == "" {
		t.Skip("TestFakeDriver runs this")
	}
}

// counted returns the counts of the fake driver.
func counted() string { return coded(9000).Error() }

// TestInsideFake makes each driver call once. The first GPU is in exclusive-process mode.
func TestInsideFake(t *testing.T) {
	inFake(t)
	devices, err := Devices()
	want := []Device{
		{0, "fake 0", 1 << 20, 9, 0, 132, 232448, ""},
		{1, "fake 1", 1 << 20, 6, 1, 132, 232448, "its compute capability 6.1 is below the minimum of 8.0"},
		{2, "fake 2", 1 << 20, 9, 0, 132, 232448, "its compute mode is prohibited"},
	}
	if err != nil || !slices.Equal(devices, want) {
		t.Fatalf("%+v, %v: want %+v", devices, err, want)
	}
	wants(t, second(Open(1, 0)), ErrNoDevice, "6.1")
	c := testkit.Must(Open(0, 0))(t)
	if c.Budget() != 900000 {
		t.Errorf("budget %d, want nine tenths of the free memory", c.Budget())
	}
	wants(t, second(c.Alloc(900001)), ErrBudget)
	s, m := memoryInsideFake(t, c)
	other, theirs, _ := open(t, 0, 0)
	launchInsideFake(t, c, s, m)
	if got, want := counted(), "retained 1, reset 0, released 0, loaded 2, "; !strings.HasPrefix(got, want) { // one load failed
		t.Errorf("with two contexts: %s, want %s", got, want)
	}
	wants(t, theirs.Synchronize(), ErrLost)
	testkit.OK(t, errors.Join(c.Close(), other.Close()))
	large := testkit.Must(Open(0, 2000000))(t)
	if got, want := counted(), "retained 2, reset 1, released 1, loaded 2, "; !strings.HasPrefix(got, want) {
		t.Errorf("after a fault: %s, want %s", got, want)
	}
	wants(t, second(large.Alloc(1500000)), ErrOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY (2)")
	testkit.OK(t, large.Close())
}

// TestInsideCodes checks that any error while waiting for a GPU except "out of memory" loses it,
// and that other calls lose it only with known fault codes. If a driver keeps a fault after the
// reset, the error states that another process must be started.
func TestInsideCodes(t *testing.T) {
	inFake(t)
	for n, lost := range map[int]bool{1: true, 2: false, 226: true, 400: true, 721: true, 911: true, 12345: true} {
		c, s, f := open(t, 0, 0)
		err := errors.Join(f("answer").Launch(one, s, []uint64{uint64(n)}), s.Synchronize())
		if err == nil || errors.Is(err, ErrLost) != lost {
			t.Errorf("code %d: lost %v, want %v: %v", n, !lost, lost, err)
		}
		if !lost {
			err = errors.Join(f("answer").Launch(one, s, []uint64{0}), s.Synchronize())
		}
		if cerr := c.Close(); cerr != nil || !lost && err != nil {
			t.Errorf("code %d: %v, and at the close: %v", n, err, cerr)
		}
		if known := fault(coded(n)); known != (n == 226 || n == 721 || n == 911) {
			t.Errorf("code %d of any call is a fault: %v", n, known)
		}
	}
	wants(t, coded(46), ErrNoDevice, "exclusive-process")
	c, _, f := open(t, 0, 0)
	s := testkit.Must(c.NewStream(func(string, time.Duration) {}))(t)
	wants(t, f("answer").Launch(one, s, []uint64{400}), nil, "(400)") // of the event after it
	wants(t, s.Synchronize(), ErrLost, "answer (grid")
	testkit.OK(t, c.Close())
	c, s, f = open(t, 0, 0)
	wants(t, errors.Join(f("end").Launch(one, s, nil), s.Synchronize()), ErrLost)
	testkit.OK(t, c.Close())
	for range 2 {
		wants(t, second(Open(0, 0)), ErrLost, "ILLEGAL_ADDRESS", "start another")
	}
}

// TestInsideClose checks that Close destroys streams and events, also of launches never waited for,
// and keeps the primary context.
func TestInsideClose(t *testing.T) {
	inFake(t)
	c, _, f := open(t, 0, 0)
	s, err := c.NewStream(func(string, time.Duration) {})
	for range 3 {
		err = errors.Join(err, f("wait").Launch(one, s, []uint64{1}))
	}
	testkit.OK(t, errors.Join(err, s.Synchronize(), f("wait").Launch(one, s, []uint64{1}), s.Close(), c.Close()))
	if got, want := counted(), "retained 1, reset 0, released 0, loaded 1, queues 0 (9000)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestInsideOld checks that a function missing in the driver is named and has no other effect.
func TestInsideOld(t *testing.T) {
	inFake(t)
	c, s, f := open(t, 0, 0)
	wants(t, second(c.AllocHost(8)), nil, "the driver lacks cuMemHostAlloc: release 520 or later is required")
	addsOne(t, c, s, f("add"))
}

func memoryInsideFake(t *testing.T, c *Context) (*Stream, *Memory) {
	s, err1 := c.NewStream(nil)
	m, err2 := c.Alloc(24)
	testkit.OK(t, errors.Join(err1, err2))
	out := make([]float64, 3)
	testkit.OK(t, errors.Join(m.Upload(s, 0, Bytes([]float64{1, 2, 3})), m.Zero(s, 8, 8), m.Download(s, Bytes(out), 0)))
	if !slices.Equal(out, []float64{1, 0, 3}) {
		t.Errorf("download %v", out)
	}
	return s, m
}

func launchInsideFake(t *testing.T, c *Context, s *Stream, m *Memory) {
	err := second(c.Load([]byte("no PTX")))
	wants(t, err, nil, "CUDA_ERROR_INVALID_PTX (218): line 1; fatal: want .version")
	if strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v has more than the log's first line", err)
	}
	module := testkit.Must(c.Load(driverPTX))(t)
	wants(t, second(module.Function("mul")), nil, "mul", "CUDA_ERROR_NOT_FOUND (500)")
	add, err1 := module.Function("add")
	fault, err2 := module.Function("fault")
	testkit.OK(t, errors.Join(err1, err2))
	if add.limits != (limits{256, 16}) {
		t.Errorf("limits %+v", add.limits)
	}
	// The kernel's static shared memory counts against the limit.
	g := Geometry{Grid: [3]int{3, 2, 1}, Block: [3]int{32, 1, 1}, Shared: 232448 - 15}
	wants(t, add.Launch(g, s, nil), errGeometry)
	g.Shared--
	args := []uint64{m.Address(), 3, math.Float64bits(0.5)}
	out := make([]float64, 3)
	testkit.OK(t, errors.Join(add.Launch(g, s, args), m.Download(s, Bytes(out), 0)))
	if !slices.Equal(out, []float64{2.5, 1.5, 4.5}) {
		t.Errorf("add made %v", out)
	}
	g.Shared = 0
	var took time.Duration
	timed, err := c.NewStream(func(_ string, d time.Duration) { took += d })
	if err := errors.Join(err, add.Launch(g, timed, args), timed.Synchronize(), timed.Close()); err != nil || took != 1500*time.Microsecond {
		t.Errorf("a launch took %v, %v", took, err)
	}
	testkit.OK(t, errors.Join(add.Launch(g, s, args), s.Synchronize(), m.Free(), fault.Launch(g, s, nil)))
	err = s.Synchronize()
	wants(t, err, ErrLost, "CUDA_ERROR_ILLEGAL_ADDRESS (700)", "fault (grid 3×2×1")
	if strings.Contains(err.Error(), "add") {
		t.Errorf("%v names a completed launch", err)
	}
	wants(t, second(module.Function("add")), ErrLost)
}
