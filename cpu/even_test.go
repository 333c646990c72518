package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/rowspectrum"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestIntervals: a tile is cut at jumps, and what is too short to be stepped
// goes with what is not even.
func TestIntervals(t *testing.T) {
	run := func(from float64, n int) (x []float64) {
		for i := range n {
			x = append(x, from+float64(i))
		}
		return x
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

// jumpy are rows on a grid with a jump and some strays, and features of every
// width over them: some cannot be stepped in some tiles.
func jumpy(n, m, outputs int, window float64) (backend.Data, *backend.Features) {
	rng := rand.New(rand.NewPCG(31, uint64(m)))
	d := backend.Data{N: n, Q: 1, D: outputs, X: make([]float64, n), Y: make([]float64, n*outputs)}
	for i := range n {
		d.X[i] = float64(i)
		if i > n/3 {
			d.X[i] += 37.25
		}
		if i > n/2 && i < n/2+5 {
			d.X[i] += 0.25 * rng.Float64()
		}
	}
	for i := range d.Y {
		d.Y[i] = rng.NormFloat64()
	}
	windows := make([]int, m)
	if window > 0 {
		d.Windows.Length = window
		for at := 0.0; at < d.X[n-1]; at += window / 2 {
			d.Windows.Center = append(d.Windows.Center, at)
		}
		for k := range windows {
			windows[k] = k * len(d.Windows.Center) / m
		}
	}
	f := backend.NewFeatures(m, 1)
	f.Window, f.Windows = windows, d.Windows
	for k := range m {
		f.Center[k] = d.X[n-1] * rng.Float64()
		if window > 0 {
			f.Center[k] = d.Windows.Center[windows[k]]
		}
		f.Decay[k], f.Freq[k], f.Phase[k] = math.Pow(10, -1-6*rng.Float64()), rng.Float64(), 2*math.Pi*rng.Float64()
		f.Amp[k], f.Power[k], f.Ripple[k] = 1.2, 1, 0.8
	}
	if window == 0 {
		f.Window = nil
	}
	return d, f
}

// TestEvenRows: stepping along even rows and the formula agree to 1e-12 of the
// largest number of each result, for every pass, and the bits do not depend on
// the number of cores.
func TestEvenRows(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, window := range []float64{0, 300} {
		for outputs := 1; outputs <= 2; outputs++ {
			t.Run(fmt.Sprintf("windows %v, %d outputs", window, outputs), func(t *testing.T) {
				eachSet(t, func(t *testing.T) { testEvenRows(t, window, outputs) })
			})
		}
	}
}

func testEvenRows(t *testing.T, window float64, outputs int) {
	d, f := jumpy(1100, 75, outputs, window)
	opened := testkit.Must(New().Open(d))(t)
	if r, ok := opened.(*rowspectrum.Rows); ok {
		opened = r.Rows
	}
	even := opened.(*rows)
	if even.Even == nil || even.Delta != 1 {
		t.Fatal("the rows do not count as even")
	}
	runtime.GOMAXPROCS(2)
	got := newPasses(even, d, f).results(t)
	for _, cores := range []int{1, 7} {
		runtime.GOMAXPROCS(cores)
		if !slices.EqualFunc(got, newPasses(even, d, f).results(t), slices.Equal) {
			t.Errorf("other bits on %d cores", cores)
		}
	}
	even.Even, even.Delta = nil, 0
	if agree(t, got, newPasses(even, d, f).results(t)) == 0 {
		t.Error("nothing was stepped")
	}
}
