//go:build !race

package blocktri

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// TestSegmentsMemory checks that factor and inverse allocate almost nothing if a has scratch memory
// (only the jobs of a block, no matrix), and that the scratch memory is one block per inner window.
// (The race detector drops pooled buffers at random, hence the build constraint. The test uses one
// processor because pools are per processor.)
func TestSegmentsMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const size, segments = 64, 4
	for _, blocks := range []int{40, 160} {
		if !slow.Tests && blocks > 100 {
			continue
		}
		g := dominant(chain(blocks, size))
		a := g.Clone()
		least := math.Inf(1)
		for range 6 {
			a.CopyFrom(g)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f := testkit.Must(Factorize(a, 0.1, segments))(t)
			f.Inverse()
			runtime.ReadMemStats(&after)
			least = min(least, float64(after.TotalAlloc-before.TotalAlloc))
		}
		if matrix := float64(8 * size * size * (2*blocks - 1)); least > 0.05*matrix {
			t.Errorf("%d blocks: %.0f bytes, want less than a twentieth of the matrix's %.0f", blocks, least, matrix)
		}
		inner, fill := 0, 0
		f := testkit.Must(Factorize(a, 0.1, segments))(t)
		for i, s := range f.segments {
			fill += len(s.fill)
			if i > 0 && i < segments-1 {
				inner += s.hi - s.lo - 1
			}
		}
		if fill != inner*size*size {
			t.Errorf("%d blocks: fill of %d numbers, want one block for each of %d", blocks, fill, inner)
		}
	}
}
