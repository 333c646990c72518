//go:build !race

package variational_test

import (
	"context"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/variational"
)

// allocated returns the number of bytes that f allocates on the heap. It drops unused pooled
// buffers before f runs. (The race detector drops them at random, hence the build constraint of
// this file.)
func allocated(f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

// TestMemory checks that an evaluation with gradient allocates two matrices of M² numbers, four more for the sums of pairs if these
// come from tables, and tiles of rows by M, and that the next evaluation allocates almost nothing.
func TestMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const tile = 2*256 + 3*128*2 + 128 // rows: cos and sin; cos, sin and the adjoint on each of two goroutines; all else
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for _, c := range []struct {
		name     string
		kind     kind
		m        int // stored numbers per row of A
		segments int
		matrices float64
	}{
		{"dense", kind{N: 500, L: 8, K: 64, Q: 1, D: 1}, 512, 0, 2},
		{"dense, by tables", kind{N: 1500, L: 8, K: 64, Q: 1, D: 1}, 512, 0, 6},
		{"dense, odd", kind{N: 600, L: 1, K: 509, Q: 2, D: 3}, 509, 0, 2},
		{"windows", kind{N: 1500, L: 30, K: 32, Q: 1, D: 1, Windows: 15}, 2 * 64, 0, 2},
		{"windows in segments", kind{N: 1500, L: 30, K: 32, Q: 1, D: 1, Windows: 15}, 2 * 64, 4, 2},
	} {
		p, data := c.kind.Make()
		rows, err := variational.Open(context.Background(), *data, variational.Setting{Backend: cpu.New(), Segments: c.segments})
		if err != nil {
			t.Fatal(c.name, err)
		}
		evaluate := func() {
			if _, err := rows.Exact(p, true); err != nil {
				t.Fatal(c.name, err)
			}
		}
		runtime.GC() // the second one drops the spare buffers
		runtime.GC()
		first := allocated(evaluate) / 8
		matrix, tiles := float64(p.M()*c.m), float64(p.M()*tile)
		further := make([]float64, 15) // use the median: a spare buffer may be in another processor's pool
		for i := range further {
			further[i] = allocated(evaluate) / 8
		}
		slices.Sort(further)
		again := further[len(further)/2]
		t.Logf("%s: M = %d: first %.2f M², tiles %.2f, then %.3f", c.name, p.M(), first/matrix, tiles/matrix, again/matrix)
		if first > c.matrices*matrix+tiles {
			t.Errorf("%s: the first evaluation allocates %.0f numbers, want at most %v·%.0f and %.0f for tiles", c.name, first, c.matrices, matrix, tiles)
		}
		if again > 0.05*matrix {
			t.Errorf("%s: a further evaluation allocates %.0f numbers; the matrix has %.0f", c.name, again, matrix)
		}
		if err := rows.Close(); err != nil {
			t.Error(c.name, err)
		}
	}
}
