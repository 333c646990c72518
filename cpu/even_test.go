package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/rowspectrum"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestIntervals checks that a tile is divided at jumps, and that intervals too short for the
// recurrence are joined with uneven rows.
func TestIntervals(t *testing.T) {
	run := func(from float64, n int) []float64 {
		return testkit.Numbers(n, func(i int) float64 { return from + float64(i) })
	}
	for _, c := range []struct {
		name   string
		x      []float64
		lo, hi int
		want   []interval
	}{
		{"all even", run(5, 30), 0, 30, []interval{{0, 30, true}}},
		{"from the middle on", run(5, 30), 10, 20, []interval{{0, 10, true}}},
		{"too few", run(5, 30), 10, 17, []interval{{0, 7, false}}},
		{"a jump", slices.Concat(run(0, 10), run(17.5, 12)), 0, 22, []interval{{0, 10, true}, {10, 22, true}}},
		{"a jump near the start", slices.Concat(run(0, 10), run(17.5, 12)), 4, 22, []interval{{0, 6, false}, {6, 18, true}}},
		{"strays", slices.Concat(run(0, 9), []float64{9.25, 9.5, 9.875}, run(12, 3), run(20, 8)), 0, 23, []interval{{0, 9, true}, {9, 15, false}, {15, 23, true}}},
		{"hardly any", []float64{0, 1, 2, 3.5, 4.5, 9}, 0, 6, []interval{{0, 6, false}}},
	} {
		d := backend.Data{N: len(c.x), Q: 1, D: 1, X: c.x, Y: make([]float64, len(c.x))}
		opened := testkit.Must(New().Open(d))(t)
		tile := tile{rows: &opened.(*rows).prepared}
		tile.cut(c.lo, c.hi)
		if !slices.Equal(tile.intervals, c.want) {
			t.Errorf("%s: %v, want %v", c.name, tile.intervals, c.want)
		}
	}
}

// jumpy returns rows on a grid with a jump and some rows off the grid, and features of various decay
// lengths, some of which do not allow the recurrence in some tiles.
func jumpy(n, m, outputs int, window float64) (backend.Data, *backend.Features) {
	rng := rand.New(rand.NewPCG(31, uint64(m)))
	d, f := made(n, m, window)
	for i := n/3 + 1; i < n; i++ {
		d.X[i] += 37.25
	}
	for i := n/2 + 1; i < n/2+5; i++ {
		d.X[i] += 0.25 * rng.Float64()
	}
	d.D, d.Y = outputs, testkit.Numbers(n*outputs, func(int) float64 { return rng.NormFloat64() })
	for k := range f.Decay {
		f.Decay[k] = math.Pow(10, -1-6*rng.Float64())
	}
	return d, f
}

// TestEvenRows checks that the recurrence along even rows and the formula agree to 1e-12 of the
// largest number of each result, for every pass, and that the bits do not depend on the number of
// cores.
func TestEvenRows(t *testing.T) {
	for _, window := range []float64{0, 300} {
		for outputs := 1; outputs <= 2; outputs++ {
			t.Run(fmt.Sprintf("windows %v, %d outputs", window, outputs), func(t *testing.T) {
				eachSet(t, func(t *testing.T) { testEvenRows(t, window, outputs) })
			})
		}
	}
}

func testEvenRows(t *testing.T, window float64, outputs int) {
	d, f := jumpy(1100, map[float64]int{0: 75, 300: 10}[window], outputs, window)
	opened := testkit.Must(New().Open(d))(t)
	if r, ok := opened.(*rowspectrum.Rows); ok {
		opened = r.Rows
	}
	even := opened.(*rows)
	if even.Even == nil || even.Delta != 1 {
		t.Fatal("the rows do not count as even")
	}
	got := newPasses(even, d, f).results(t)
	testkit.SameOnCores(t, "passes", func() []float64 { return slices.Concat(newPasses(even, d, f).results(t)...) })
	even.Even, even.Delta = nil, 0
	if agree(t, got, newPasses(even, d, f).results(t)) == 0 {
		t.Error("the recurrence was not used")
	}
}
