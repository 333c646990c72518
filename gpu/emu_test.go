//go:build cudaemu

package gpu

import (
	"errors"
	"math"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/gpu/internal/emu"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/kernels"
)

// TestReversedThreadsGiveSameBits checks that the order of threads between barriers does not matter, so that no
// barrier is missing. The problem has several stages, rows and tiles, so that shared memory is
// reused.
func TestReversedThreadsGiveSameBits(t *testing.T) {
	defer emu.Backwards(false)
	for _, s := range []shape{
		{n: 700, m: 200, q: 1, d: 2, even: true},
		{n: 300, m: 70, q: 2, d: 1},
		{n: 700, m: 90, q: 1, d: 1, even: true, windows: 3},
		{n: 300, m: 200, q: 1, d: 2, windows: 10}, // 20 features each: partial strips and panels, and segments
		{n: 100, m: 9, q: 2, d: 1, tables: true},
	} {
		p := newProblem(s)
		onEach(t, func(t *testing.T, ordinal int) {
			b := open(t, s.options(ordinal))
			for _, m := range p.methods() {
				emu.Backwards(false)
				forwards := p.on(t, b, m)
				emu.Backwards(true)
				backwards := p.on(t, b, m)
				// Unwritten shared memory is NaN, which differs from itself.
				if err := errors.Join(near(forwards, forwards, 0), sameBits(forwards, backwards)); err != nil {
					t.Errorf("%d features, %s: %v", s.m, m.name, err)
				}
			}
		})
	}
}

// TestReversedThreadsOfDenseAlgebra repeats TestReversedThreadsGiveSameBits for the large tiles of the dense algebra, which small
// models do not use.
func TestReversedThreadsOfDenseAlgebra(t *testing.T) {
	defer emu.Backwards(false)
	a, bar := newAlgebra(261, 2, 0, 0.3), backend.SolvedAdjoint{Inverse: 1, Outer: 2, Linear: 3}
	onEachCard(t, func(t *testing.T, b *Backend) {
		for _, large := range []int{1, math.MaxInt} {
			var both [2][]answer
			for i := range both {
				emu.Backwards(i > 0)
				both[i] = a.on(t, b, large, bar).answers()
			}
			if err := errors.Join(near(both[0], both[0], 0), sameBits(both[0], both[1])); err != nil {
				t.Errorf("large tiles from %d on: %v", large, err)
			}
		}
	})
}

// TestSumsByInputAnywhere compares two GPUs of which only one has enough shared memory for pullback's
// sums by input.
func TestSumsByInputAnywhere(t *testing.T) {
	p := newProblem(shape{n: 300, m: 200, q: 16, d: 1})
	need := kernels.PullbackShared(kernels.LargeTile, p.q, true)
	var both [2][]answer
	for i, d := range usable(t) {
		if fits := need <= d.SharedPerBlock; fits != (i == 1) {
			t.Errorf("%s: %d bytes of shared memory, %d needed", d.Name, d.SharedPerBlock, need)
		}
		both[i] = p.on(t, open(t, p.options(d.Ordinal)), p.methods()[1])
	}
	testkit.OK(t, sameBits(both[0], both[1]))
}

// TestFailedCallsChangeNothing checks that if any call fails, the method returns the error, leaves its outputs
// unchanged and frees its memory. After an out-of-memory error, a repeat succeeds.
func TestFailedCallsChangeNothing(t *testing.T) {
	p := newProblem(shape{n: 150, m: 20, q: 1, d: 2, even: true, windows: 2})
	for _, call := range []string{"alloc", "upload", "download", "zero", "launch"} {
		for _, m := range p.methods() {
			t.Run(call+"/"+m.name, func(t *testing.T) { p.failsAt(t, m, call) })
		}
	}
	p = newProblem(tableShapes[1])
	for _, call := range []string{"alloc", "upload", "launch"} {
		for _, m := range p.methods() {
			t.Run(call+"/"+m.name+" by tables", func(t *testing.T) { p.failsAt(t, m, call) })
		}
	}
}

// failsAt checks a method with a failure of its first call, of its second call, and so on.
func (p *problem) failsAt(t *testing.T, m method, call string) {
	for n := 1; p.fails(t, m, call, n); n++ {
		if n > 100 {
			t.Fatal("no end after 100 calls")
		}
	}
}

// TestFailedOpenFreesMemory checks that Open returns an error and frees its memory if the rows cannot be
// uploaded.
func TestFailedOpenFreesMemory(t *testing.T) {
	p := newProblem(shape{n: 150, m: 20, q: 1, d: 2, even: true, windows: 2})
	for _, call := range []string{"alloc", "upload"} {
		for n := 1; n <= 4; n++ { // x, y, gates, even rows
			b, err := Open(Options{})
			testkit.OK(t, err)
			cuda.FailEmulated(call, n)
			_, err = b.Open(p.data)
			cuda.FailEmulated(call, 0)
			if want := map[string]error{"alloc": cuda.ErrOutOfMemory, "upload": cuda.ErrLost}[call]; !errors.Is(err, want) {
				t.Errorf("%s %d: %v, want %v", call, n, err, want)
			}
			if bytes, pieces := b.context.Allocated(); bytes != 0 || pieces != 0 {
				t.Errorf("%s %d: %d bytes in %d allocations are not freed", call, n, bytes, pieces)
			}
			if _, err := p.run(b, p.methods()[0]); call == "alloc" && err != nil {
				t.Errorf("%s %d: again: %v", call, n, err)
			}
			b.Close()
		}
	}
}

// fails checks a method with a failure of the n-th call and reports whether the method made that many calls.
func (p *problem) fails(t *testing.T, m method, call string, n int) bool {
	b := testkit.Must(Open(p.options(0)))(t)
	r := testkit.Must(b.Open(p.data))(t)
	cuda.FailEmulated(call, n)
	all, err := m.call(r)
	cuda.FailEmulated(call, 0)
	failed := err != nil
	if failed {
		want := cuda.ErrLost
		if call == "alloc" {
			want = cuda.ErrOutOfMemory
		}
		if !errors.Is(err, want) {
			t.Errorf("call %d: %v, want %v", n, err, want)
		}
		for _, a := range all {
			for i, v := range a.v {
				if v != 7 {
					t.Fatalf("call %d: %s[%d] was written, but the method failed: %v", n, a.name, i, v)
				}
			}
		}
	}
	if call == "alloc" && failed {
		if _, err := m.call(r); err != nil {
			t.Errorf("call %d: again: %v", n, err)
		}
	}
	if err := r.Close(); err != nil && (call == "alloc" || !failed) {
		t.Errorf("call %d: close: %v", n, err)
	}
	if bytes, pieces := b.context.Allocated(); bytes != 0 || pieces != 0 {
		t.Errorf("call %d: %d bytes in %d allocations are not freed after Close", n, bytes, pieces)
	}
	if err := b.Close(); err != nil && (call == "alloc" || !failed) {
		t.Errorf("call %d: closing the backend: %v", n, err)
	}
	return failed
}
