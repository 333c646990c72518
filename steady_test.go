//go:build !race

package vssgp

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

// allocated is how many bytes f takes from the heap. Buffers that nobody uses
// are dropped before, not while it runs (the race detector drops them at
// random, hence this file's build constraint).
func allocated(f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

// TestMemory: an evaluation with gradient needs room for two matrices of M²
// numbers and for tiles of rows by M, and the next one next to nothing.
func TestMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const tile = 2*256 + 3*128*2 + 128 // rows: cos and sin; cos, sin and the adjoint on each of two goroutines; all else
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for _, c := range []struct {
		name     string
		kind     kind
		m        int // numbers of a row of A that are stored
		segments int
	}{
		{"dense", kind{n: 1500, l: 8, k: 64, q: 1, d: 1}, 512, 0},
		{"dense, odd", kind{n: 1500, l: 1, k: 509, q: 2, d: 3}, 509, 0},
		{"windows", kind{n: 3000, l: 30, k: 32, q: 1, d: 1, windows: 15}, 2 * 64, 0},
		{"windows in segments", kind{n: 3000, l: 30, k: 32, q: 1, d: 1, windows: 15}, 2 * 64, 4},
	} {
		p, data := c.kind.make()
		m, err := NewModel(p)
		if err != nil {
			t.Fatal(c.name, err)
		}
		h, err := m.hold(data)
		if err != nil {
			t.Fatal(c.name, err)
		}
		h.segments = c.segments
		evaluate := func() {
			if _, err := h.exact(p, true); err != nil {
				t.Fatal(c.name, err)
			}
		}
		runtime.GC() // twice: then spare buffers are gone
		runtime.GC()
		first := allocated(evaluate) / 8
		again := math.Inf(1) // the least: spare buffers may wait where another goroutine left them
		for range 4 {
			again = min(again, allocated(evaluate)/8)
		}
		matrix, rows := float64(p.M()*c.m), float64(p.M()*tile)
		t.Logf("%s: M = %d: first %.2f M², tiles %.2f, then %.3f", c.name, p.M(), first/matrix, rows/matrix, again/matrix)
		if first > 2*matrix+rows {
			t.Errorf("%s: the first evaluation takes %.0f numbers, want at most 2·%.0f and %.0f for tiles", c.name, first, matrix, rows)
		}
		if again > 0.05*matrix {
			t.Errorf("%s: a further evaluation takes %.0f numbers, of %.0f that the matrix has", c.name, again, matrix)
		}
		if err := h.close(); err != nil {
			t.Error(c.name, err)
		}
	}
}
