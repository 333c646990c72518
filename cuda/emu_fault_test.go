//go:build cudaemu && !cuda

package cuda

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

func TestFencesFindOverwrites(t *testing.T) {
	for _, at := range []int64{-8, 16, fence + 8} {
		c, s, f := open(t, 0, 0)
		alloc(t, c, 8)
		m := alloc(t, c, 16)
		testkit.OK(t, f("spill").Launch(one, s, []uint64{m.Address(), uint64(at)}))
		wants(t, m.Free(), errRange, "allocation 2 of 16 bytes", "at byte")
	}
}

func TestCloseReportsLeak(t *testing.T) {
	c, s, f := open(t, 0, 0)
	alloc(t, c, 24)
	m := alloc(t, c, 16)
	testkit.OK(t, f("spill").Launch(one, s, []uint64{m.Address(), 16}))
	wants(t, c.Close(), errRange, "40 bytes in 2 allocations", "outside it")
	wantAllocated(t, c, 0, 0)
	wants(t, m.Free(), errClosed)
	again, _, _ := open(t, 0, 0)
	if all := again.Device().Memory; again.Budget() != all/10*9 {
		t.Errorf("a budget of %d bytes of %d: a closed context has not freed its memory", again.Budget(), all)
	}
}

// TestFaultLosesContext checks that a fault is reported at the next synchronization, that the error names the
// launches since the last one, and that all later calls repeat it.
func TestFaultLosesContext(t *testing.T) {
	c, s, f := open(t, 0, 0)
	m := alloc(t, c, 8)
	add := f("add")
	args := []uint64{m.Address(), 1, 0}
	testkit.OK(t, errors.Join(add.Launch(one, s, args), s.Synchronize()))
	faulty := Geometry{Grid: [3]int{7, 1, 1}, Block: [3]int{64, 1, 1}, Shared: 24}
	if err := f("fault").Launch(faulty, s, nil); err != nil {
		t.Fatalf("a launch reported a fault early: %v", err)
	}
	err := s.Synchronize()
	wants(t, err, ErrLost, "fault (grid 7×1×1, block 64×1×1, 24 bytes shared)", "CUDA_ERROR_ILLEGAL_ADDRESS (700)", "read of nowhere")
	if strings.Contains(err.Error(), "add") {
		t.Errorf("%v names a completed launch", err)
	}
	wants(t, add.Launch(one, s, args), ErrLost, "launch add", "fault (grid")
	wants(t, m.Download(s, make([]byte, 8), 0), ErrLost)
	wants(t, second(c.Alloc(8)), ErrLost)
	wants(t, m.Free(), ErrLost)
	wantAllocated(t, c, 0, 0)
	testkit.OK(t, c.Close())
}

// TestFaultNamesLastLaunches checks that only the last launches are named and the others counted.
func TestFaultNamesLastLaunches(t *testing.T) {
	_, s, f := open(t, 0, 0)
	add, fault := f("add"), f("fault")
	for range maxNamed + 5 {
		testkit.OK(t, add.Launch(one, s, []uint64{0, 0, 0}))
	}
	testkit.OK(t, fault.Launch(one, s, nil))
	wants(t, s.Synchronize(), ErrLost, "6 and then add", "fault (grid")
}

func TestInjectedFailures(t *testing.T) {
	c, s, f := open(t, 0, 0)
	m := alloc(t, c, 8)
	FailEmulated("alloc", 2)
	testkit.OK(t, alloc(t, c, 8).Free())
	wants(t, second(c.Alloc(8)), ErrOutOfMemory)
	testkit.OK(t, alloc(t, c, 8).Free())
	FailEmulated("launch", 1)
	testkit.OK(t, f("add").Launch(one, s, []uint64{m.Address(), 0, 0}))
	wants(t, s.Synchronize(), ErrLost, "injected into launch", "add (grid")
	wants(t, errors.Join(m.Free(), c.Close()), ErrLost)
	for _, call := range []string{"upload", "download", "zero"} {
		c, s, _ := open(t, 0, 0)
		m := alloc(t, c, 8)
		FailEmulated(call, 1)
		wants(t, errors.Join(m.Upload(s, 0, make([]byte, 8)), m.Download(s, make([]byte, 8), 0), m.Zero(s, 0, 8)), ErrLost, "injected into "+call)
		wants(t, errors.Join(m.Free(), c.Close()), ErrLost)
	}
	after, _, _ := open(t, 0, 0)
	if all := after.Device().Memory; after.Budget() != all/10*9 {
		t.Errorf("a budget of %d bytes of %d: a lost context has not freed its memory", after.Budget(), all)
	}
}

// TestLockedCopiesAreQueued checks that copies of page-locked memory read it when the stream reaches them. Freeing
// the memory before returns an error and sets it to NaN.
func TestLockedCopiesAreQueued(t *testing.T) {
	c, s, _ := open(t, 0, 0)
	m, h := alloc(t, c, 8), host(t, c, 8)
	h.Float64s()[0] = 1
	err := m.UploadAsync(s, 0, h, 8)
	h.Float64s()[0] = 2
	out := make([]float64, 1)
	if err := errors.Join(err, m.Download(s, Bytes(out), 0), m.UploadAsync(s, 0, h, 8)); err != nil || out[0] != 2 {
		t.Errorf("%v, %v: want the contents at the time of the copy", out, err)
	}
	wants(t, h.Free(), errRange, "in progress")
	if err := m.Download(s, Bytes(out), 0); err != nil || !math.IsNaN(out[0]) {
		t.Errorf("freed memory has %v (%v)", out, err)
	}
	FailEmulated("alloc", 1)
	wants(t, second(c.AllocHost(8)), ErrOutOfMemory)
	wants(t, second(c.AllocHost(0)), errRange)
	testkit.OK(t, errors.Join(m.Free(), c.Close()))
}

// TestFaultAtClose checks that Close returns the fault of a launch never waited for, and that the
// next Open does not.
func TestFaultAtClose(t *testing.T) {
	c, s, f := open(t, 0, 0)
	testkit.OK(t, f("fault").Launch(one, s, nil))
	wants(t, c.Close(), ErrLost, "fault (grid")
	next, s, f := open(t, 0, 0)
	addsOne(t, next, s, f("add"))
}
