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
)

// TestNoDriver: where there is no driver, or none with a card, the program has
// started all the same, and the error says why.
func TestNoDriver(t *testing.T) {
	devices, err := Devices()
	if err == nil {
		t.Skipf("this machine has %d cards", len(devices))
	}
	t.Log(err)
	if !errors.Is(err, ErrNoDevice) {
		t.Errorf("Devices: %v does not wrap ErrNoDevice", err)
	}
	if _, err := Open(0, 0); !errors.Is(err, ErrNoDevice) {
		t.Errorf("Open: %v does not wrap ErrNoDevice", err)
	}
}

// insideFake marks a program that runs with testdata/driver.c for its driver.
const insideFake = "VSSGP_TEST_FAKE_DRIVER"

// TestFakeDriver compiles a driver of cards that are not there, and runs
// TestInsideFake with it in a program of its own.
func TestFakeDriver(t *testing.T) {
	folder := t.TempDir()
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "gcc"
	}
	library := filepath.Join(folder, "libcuda.so.1")
	if out, err := exec.Command(compiler, "-shared", "-fPIC", "-o", library, "testdata/driver.c").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	program := exec.Command(os.Args[0], "-test.run=^TestInsideFake$", "-test.v")
	program.Env = append(os.Environ(), insideFake+"=1", "LD_LIBRARY_PATH="+folder)
	out, err := program.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestInsideFake") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestInsideFake makes each call of the driver once.
func TestInsideFake(t *testing.T) {
	if os.Getenv(insideFake) == "" {
		t.Skip("TestFakeDriver runs this")
	}
	devices, err := Devices()
	want := []Device{
		{0, "fake 0", 1 << 20, 9, 0, 132, 232448, ""},
		{1, "fake 1", 1 << 20, 6, 1, 132, 232448, "its compute capability is 6.1, want 8.0 or more"},
	}
	if err != nil || !slices.Equal(devices, want) {
		t.Fatalf("%+v, %v: want %+v", devices, err, want)
	}
	_, err = Open(1, 0)
	wants(t, err, ErrNoDevice, "6.1")
	c, err := Open(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if c.Budget() != 900000 {
		t.Errorf("budget %d, want nine tenths of what is free", c.Budget())
	}
	_, err = c.Alloc(900001)
	wants(t, err, ErrBudget)
	s, m := memoryInsideFake(t, c)
	launchInsideFake(t, c, s, m)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	large, err := Open(0, 2000000)
	if err != nil {
		t.Fatal(err)
	}
	_, err = large.Alloc(1500000)
	wants(t, err, ErrOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY (2)")
}

func memoryInsideFake(t *testing.T, c *Context) (*Stream, *Memory) {
	s, err1 := c.NewStream(nil)
	m, err2 := c.Alloc(24)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	out := make([]float64, 3)
	if err := errors.Join(m.Upload(s, 0, Bytes([]float64{1, 2, 3})), m.Zero(s, 8, 8), m.Download(s, Bytes(out), 0)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(out, []float64{1, 0, 3}) {
		t.Errorf("download %v", out)
	}
	return s, m
}

func launchInsideFake(t *testing.T, c *Context, s *Stream, m *Memory) {
	_, err := c.Load([]byte("no PTX"))
	wants(t, err, nil, "CUDA_ERROR_INVALID_PTX (218): line 1; fatal: want .version")
	if strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v has more than the log's first line", err)
	}
	module, err := c.Load([]byte(".version 7.8"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = module.Function("mul")
	wants(t, err, nil, "mul", "CUDA_ERROR_NOT_FOUND (500)")
	add, err1 := module.Function("add")
	fault, err2 := module.Function("fault")
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if add.limits != (limits{256, 16}) {
		t.Errorf("limits %+v", add.limits)
	}
	// The bytes that the kernel has of itself count against what is left.
	g := Geometry{Grid: [3]int{3, 2, 1}, Block: [3]int{32, 1, 1}, Shared: 232448 - 15}
	wants(t, add.Launch(g, s, nil), errGeometry)
	g.Shared--
	args := []uint64{m.Address(), 3, math.Float64bits(0.5)}
	out := make([]float64, 3)
	if err := errors.Join(add.Launch(g, s, args), m.Download(s, Bytes(out), 0)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(out, []float64{2.5, 1.5, 4.5}) {
		t.Errorf("add made %v", out)
	}
	g.Shared = 0
	var took time.Duration
	timed, err := c.NewStream(func(_ string, d time.Duration) { took += d })
	if err := errors.Join(err, add.Launch(g, timed, args), timed.Synchronize(), timed.Close()); err != nil || took != 1500*time.Microsecond {
		t.Errorf("a launch took %v, %v", took, err)
	}
	if err := errors.Join(add.Launch(g, s, args), s.Synchronize(), m.Free(), fault.Launch(g, s, nil)); err != nil {
		t.Fatal(err)
	}
	err = s.Synchronize()
	wants(t, err, ErrLost, "CUDA_ERROR_ILLEGAL_ADDRESS (700)", "fault (grid 3×2×1")
	if strings.Contains(err.Error(), "add") {
		t.Errorf("%v names a launch that was done", err)
	}
	_, err = module.Function("add")
	wants(t, err, ErrLost)
}
