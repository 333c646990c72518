//go:build cudaemu && !cuda

package cuda

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/vssgp/vssgp/internal/testkit"
)

// at views n numbers of an emulated device's memory, as a kernel does.
func at(address uint64, n int) []float64 {
	return unsafe.Slice(*(**float64)(unsafe.Pointer(&address)), n)
}

// TestMain registers the kernels of these tests. add adds args[2], the bits of a number, to the
// args[1] numbers at args[0]. wait takes args[0] ns. wide and fault are as in
// testdata/driver.ptx. spill writes a number args[1] bytes beyond args[0].
func TestMain(m *testing.M) {
	for _, arch := range []int{80, 90} {
		RegisterEmulated(arch, "add", func(_ Geometry, args []uint64) error {
			for i, v := range at(args[0], int(args[1])) {
				at(args[0], int(args[1]))[i] = v + math.Float64frombits(args[2])
			}
			return nil
		})
		RegisterEmulated(arch, "wait", func(_ Geometry, args []uint64) error {
			time.Sleep(time.Duration(args[0]))
			return nil
		})
		RegisterEmulated(arch, "wide", func(g Geometry, args []uint64) error {
			if args[1] > uint64(g.Shared) {
				return errors.New("write beyond shared memory")
			}
			at(args[0], 1)[0] = 7
			return nil
		})
		RegisterEmulated(arch, "fault", func(Geometry, []uint64) error { return errors.New("read of nowhere") })
		RegisterEmulated(arch, "spill", func(_ Geometry, args []uint64) error {
			at(args[0]+args[1], 1)[0] = 1
			return nil
		})
	}
	RegisterEmulated(90, "only90", func(Geometry, []uint64) error { return nil })
	os.Exit(m.Run())
}

func TestCopiesRoundTrip(t *testing.T) {
	c, s, f := open(t, 1, 0)
	in := []float64{1, 2, 3}
	m := alloc(t, c, 24)
	if m.Address()%256 != 0 {
		t.Errorf("address %x", m.Address())
	}
	testkit.OK(t, m.Upload(s, 0, Bytes(in)))
	testkit.OK(t, f("add").Launch(one, s, []uint64{m.Address(), 3, math.Float64bits(0.5)}))
	out := make([]float64, 2)
	if err := m.Download(s, Bytes(out), 8); err != nil || !slices.Equal(out, []float64{2.5, 3.5}) {
		t.Errorf("%v, %v", out, err)
	}
	testkit.OK(t, m.Zero(s, 8, 8))
	if err := m.Download(s, Bytes(out), 0); err != nil || !slices.Equal(out, []float64{1.5, 0}) {
		t.Errorf("%v, %v", out, err)
	}
	testkit.OK(t, m.Free())
	testkit.OK(t, c.Close())
	wants(t, c.Close(), errClosed)
	wants(t, second(c.Alloc(8)), errClosed)
}

// TestFreshMemoryIsNaN checks that uninitialized memory reads as NaN.
func TestFreshMemoryIsNaN(t *testing.T) {
	c, s, _ := open(t, 0, 0)
	m := alloc(t, c, 80)
	out := make([]float64, 10)
	testkit.OK(t, errors.Join(m.Download(s, Bytes(out), 0), m.Free()))
	for i, v := range out {
		if !math.IsNaN(v) {
			t.Errorf("number %d is %v", i, v)
		}
	}
}

func TestBudgetIsEnforced(t *testing.T) {
	c, _, _ := open(t, 0, 1000)
	m := alloc(t, c, 600)
	wants(t, second(c.Alloc(401)), ErrBudget, "401", "400 left", "1000", "emulated sm_80")
	wantAllocated(t, c, 600, 1)
	testkit.OK(t, m.Free())
	m = alloc(t, c, 1000)
	testkit.OK(t, m.Free())
	for _, n := range []int64{0, -1} {
		wants(t, second(c.Alloc(n)), errRange)
	}
	wants(t, second(Open(0, -1)), ErrBudget)
}

func TestMemoryOfTheEnvironment(t *testing.T) {
	t.Setenv("VSSGP_EMU_MEMORY", "5000")
	c, _, _ := open(t, 1, 9000)
	if d := c.Device(); d.Memory != 5000 || d.SharedPerBlock != 227<<10 || d.Major != 9 {
		t.Errorf("%+v", d)
	}
	wants(t, second(c.Alloc(5001)), ErrOutOfMemory, "5001")
	wantAllocated(t, c, 0, 0)
	auto, _, _ := open(t, 1, 0)
	if auto.Budget() != 4500 {
		t.Errorf("budget %d", auto.Budget())
	}
	t.Setenv("VSSGP_EMU_MEMORY", "much")
	wants(t, second(Devices()), ErrNoDevice, "VSSGP_EMU_MEMORY", "much")
}

func TestOpenChecksOrdinal(t *testing.T) {
	for _, n := range []int{-1, 2} {
		wants(t, second(Open(n, 0)), ErrNoDevice, fmt.Sprint(n), "0 to 1")
	}
}

func TestMisuseIsRefused(t *testing.T) {
	c, s, _ := open(t, 0, 0)
	other, theirs, _ := open(t, 0, 0)
	m := alloc(t, c, 16)
	buffer := make([]byte, 16)
	wants(t, m.Upload(s, 1, buffer), errRange, "16 bytes at 1 of 16")
	wants(t, m.Upload(s, -1, buffer[:1]), errRange)
	wants(t, m.Upload(s, math.MaxInt64, buffer), errRange)
	wants(t, m.Download(s, buffer, 8), errRange)
	wants(t, m.Zero(s, 0, 17), errRange)
	wants(t, m.Zero(s, 0, -1), errRange)
	wants(t, m.Zero(theirs, 0, 1), nil, "another context")
	wants(t, m.Zero(nil, 0, 1), nil, "no stream")
	testkit.OK(t, errors.Join(m.Upload(s, 16, nil), m.Download(s, nil, 0), m.Zero(s, 3, 0), m.Free()))
	wants(t, m.Free(), nil, "already freed")
	wants(t, m.Upload(s, 0, buffer), nil, "freed")
	wants(t, m.Download(s, buffer, 0), nil, "freed")
	wantAllocated(t, c, 0, 0)
	testkit.OK(t, s.Close())
	wants(t, s.Close(), errClosed)
	wants(t, s.Synchronize(), errClosed)
	testkit.OK(t, other.Close())
}

func TestGeometryIsChecked(t *testing.T) {
	for ordinal, most := range []int{163 << 10, 227 << 10} {
		_, s, f := open(t, ordinal, 0)
		add := f("add")
		for _, c := range []struct {
			grid, block [3]int
			shared      int
			ok          bool
		}{
			{[3]int{1, 1, 1}, [3]int{1024, 1, 1}, most, true},
			{[3]int{1<<31 - 1, 65535, 65535}, [3]int{1, 1, 64}, 0, true},
			{[3]int{0, 1, 1}, [3]int{1, 1, 1}, 0, false},
			{[3]int{1, 65536, 1}, [3]int{1, 1, 1}, 0, false},
			{[3]int{1, 1, 1}, [3]int{1, 1, 65}, 0, false},
			{[3]int{1, 1, 1}, [3]int{1, 0, 1}, 0, false},
			{[3]int{1, 1, 1}, [3]int{1024, 2, 1}, 0, false},
			{[3]int{1, 1, 1}, [3]int{1, 1, 1}, most + 1, false},
			{[3]int{1, 1, 1}, [3]int{1, 1, 1}, -1, false},
		} {
			g := Geometry{c.grid, c.block, c.shared}
			err := add.Launch(g, s, []uint64{0, 0, 0})
			if c.ok && err != nil {
				t.Error(err)
			}
			if !c.ok {
				wants(t, err, errGeometry, "launch add", g.String())
			}
		}
		if err := s.Synchronize(); err != nil {
			t.Errorf("a rejected launch reached the device: %v", err)
		}
	}
}

func TestKernelNotThere(t *testing.T) {
	c, _, _ := open(t, 0, 0)
	m := testkit.Must(c.Load(driverPTX))(t)
	wants(t, second(m.Function("only90")), nil, "only90", "emulated sm_80", "CUDA_ERROR_NOT_FOUND (500)")
	wants(t, second(c.Load(nil)), errRange)
	testkit.OK(t, c.Close())
	wants(t, second(m.Function("add")), errClosed)
}

// TestTimesAreReportedOnce checks that a stream with a callback reports the time of each launch once, at its next
// synchronization or download, and reuses the events.
func TestTimesAreReportedOnce(t *testing.T) {
	c, other, f := open(t, 0, 0)
	var took []string
	s, err := c.NewStream(func(kernel string, d time.Duration) {
		if kernel == "wait" && d < 2*time.Millisecond {
			t.Errorf("%s took %v", kernel, d)
		}
		took = append(took, kernel)
	})
	testkit.OK(t, err)
	m := alloc(t, c, 8)
	args := []uint64{m.Address(), 1, 0}
	for range 3 {
		took = nil
		testkit.OK(t, errors.Join(f("add").Launch(one, s, args), f("wait").Launch(one, s, []uint64{2e6}),
			f("add").Launch(one, other, args), other.Synchronize()))
		if len(took) > 0 {
			t.Errorf("times of %v at another stream's synchronization", took)
		}
		if err := errors.Join(m.Download(s, make([]byte, 8), 0), s.Synchronize()); err != nil || !slices.Equal(took, []string{"add", "wait"}) {
			t.Errorf("times of %v, %v", took, err)
		}
	}
	if len(c.events) != 4 || len(c.card.launches) != 0 {
		t.Errorf("%d events and %d launches are left", len(c.events), len(c.card.launches))
	}
}

// TestConcurrentStreams uses a stream and memory in each of many goroutines.
func TestConcurrentStreams(t *testing.T) {
	c, _, f := open(t, 1, 0)
	add := f("add")
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			s, err := c.NewStream(nil)
			if err != nil {
				t.Error(err)
				return
			}
			for range 20 {
				m, err := c.Alloc(800)
				if err != nil {
					t.Error(err)
					return
				}
				out := make([]float64, 100)
				err = errors.Join(m.Zero(s, 0, 800),
					add.Launch(one, s, []uint64{m.Address(), 100, math.Float64bits(3)}),
					m.Download(s, Bytes(out), 0), s.Synchronize(), m.Free())
				if err != nil || out[0] != 3 || out[99] != 3 {
					t.Errorf("%v, %v", out, err)
				}
				c.Allocated()
			}
			testkit.OK(t, s.Close())
		})
	}
	wg.Wait()
	testkit.OK(t, c.Close())
}
