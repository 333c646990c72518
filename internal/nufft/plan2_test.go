package nufft

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// direct2 returns mode (g0, g1) of a sum by definition, as direct does in one dimension.
func direct2(u, low [2][]float64, v []float64, g0, g1 int) complex128 {
	var sum, lost complex128
	for n := range v {
		turns := phase(u[0], low[0], n, g0) + phase(u[1], low[1], n, g1)
		term := complex(v[n], 0)*cmplx.Rect(1, 2*math.Pi*turns) - lost
		next := sum + term
		sum, lost = next, (next-sum)-term
	}
	return sum
}

// check compares some of the modes of a Plan2 with sums. It returns the largest error, relative to Σ|v|.
func check(t *testing.T, name string, u, low [2][]float64, v []float64, count [2]int) (largest float64) {
	t.Helper()
	got := NewPlan2(u, low, count).Transform(nil, v)
	if want := (2*count[0] - 1) * count[1]; len(got) != want {
		t.Fatalf("%s: %d modes, want %d", name, len(got), want)
	}
	modes := min(len(got), 5+2000/len(v))
	for i := range modes {
		at := i * (len(got) - 1) / max(1, modes-1)
		g0, g1 := at/count[1]-count[0]+1, at%count[1]
		err := cmplx.Abs(got[at]-direct2(u, low, v, g0, g1)) / absolute(v)
		if !(err <= tolerance2) {
			t.Fatalf("%s: %d values: mode %d,%d of %v has an error of %.2g", name, len(v), g0, g1, count, err)
		}
		largest = max(largest, err)
	}
	return largest
}

// tolerance2 is twice tolerance, for two axes.
const tolerance2 = 2 * tolerance

func TestTransform2IsTheSum(t *testing.T) {
	slow.Race(t)
	rng := rand.New(rand.NewPCG(9, 10))
	uniform := func(int, int, int) float64 { return rng.Float64() }
	turns := func(int, int, int) float64 { return 1e5 * rng.NormFloat64() }
	equal := func(int, int, int) float64 { return 0.3 }
	tiny := func(int, int, int) float64 { return 1e-20 * rng.NormFloat64() }
	ascending := func(i, n, _ int) float64 { return -1.3 + 3*(float64(i)+rng.Float64())/float64(n) }
	border := func(_, _, count int) float64 {
		size := length(count)
		return float64(rng.IntN(2*size)-size) / float64(size)
	}
	cluster := func(_, n, count int) float64 { return 1 + rng.NormFloat64()*float64(rng.IntN(2))/float64(8*count) }

	largest := 0.0
	for _, c := range []struct {
		name string
		low  bool
		at   [2]func(i, n, count int) float64
	}{
		{"random", false, [2]func(i, n, count int) float64{uniform, uniform}},
		{"grid", false, [2]func(i, n, count int) float64{
			func(i, n, _ int) float64 { return float64(i/100) / 200 },
			func(i, n, _ int) float64 { return float64(i%100) / 100 },
		}},
		{"all equal", false, [2]func(i, n, count int) float64{equal, equal}},
		{"equal rows", false, [2]func(i, n, count int) float64{equal, uniform}},
		{"equal columns", false, [2]func(i, n, count int) float64{uniform, equal}},
		{"negative", false, [2]func(i, n, count int) float64{
			func(int, int, int) float64 { return -rng.Float64() },
			func(int, int, int) float64 { return -rng.Float64() / 3 },
		}},
		{"many turns", false, [2]func(i, n, count int) float64{turns, turns}},
		{"with low parts", true, [2]func(i, n, count int) float64{turns, turns}},
		{"borders of cells", true, [2]func(i, n, count int) float64{border, border}},
		{"borders of cells, exact", false, [2]func(i, n, count int) float64{border, border}},
		{"tiny", true, [2]func(i, n, count int) float64{tiny, tiny}},
		{"clusters", false, [2]func(i, n, count int) float64{cluster, cluster}},
		{"ascending", true, [2]func(i, n, count int) float64{ascending, uniform}},
	} {
		counts := append([][2]int{{1, 1}, {1, 2}, {2, 1}, {15, 16}, {16, 17}, {17, 15}, {1, 40}, {300, 2}, {130, 70}},
			slow.Pick([][2]int{{40, 1}, {2, 300}, {33, 65}, {240, 121}, {400, 500}}, nil)...)
		for _, n := range []int{1, 2, 17, 1000, 20000} {
			for _, count := range counts {
				if n == 20000 && count[0] < 100 && count[0] != 17 {
					continue // slow, and the errors of many values cancel
				}
				var u, low [2][]float64
				for k := range u {
					for i := range n {
						u[k] = append(u[k], c.at[k](i, n, count[k]))
						if c.low {
							low[k] = append(low[k], 1e-11*rng.NormFloat64())
						}
					}
				}
				largest = max(largest, check(t, c.name, u, low, normal(rng, n), count))
			}
		}
	}
	t.Logf("the largest error is %.2g", largest)
}

// TestTransform2OfManyValues checks a tile with more values than maxPieces pieces of pieceSize.
func TestTransform2OfManyValues(t *testing.T) {
	const n = pieceSize*maxPieces + 3*maxPieces + 1
	rng := rand.New(rand.NewPCG(11, 12))
	u, v := [2][]float64{normal(rng, n), normal(rng, n)}, normal(rng, n)
	check(t, "one tile", u, [2][]float64{}, v, [2]int{2, 3})
}

func TestTransform2IsLinear(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	u := [2][]float64{normal(rng, 50), normal(rng, 50)}
	v, w, both := normal(rng, 50), normal(rng, 50), make([]float64, 50)
	for i := range both {
		both[i] = 3*v[i] - w[i]
	}
	p := NewPlan2(u, [2][]float64{}, [2]int{30, 20})
	fv, fw := p.Transform(nil, v), p.Transform(nil, w)
	for g, f := range p.Transform(nil, both) {
		if err := cmplx.Abs(f-(3*fv[g]-fw[g])) / absolute(both); !(err <= tolerance2) {
			t.Errorf("mode %d has an error of %.2g", g, err)
		}
	}
}

// TestTransform2Repeats checks that a Plan2 can be reused, and that results do not depend on the number of processors.
// Half of the values are in one tile.
func TestTransform2Repeats(t *testing.T) {
	const n = 30000
	rng := rand.New(rand.NewPCG(5, 6))
	u, v, count := [2][]float64{normal(rng, n), normal(rng, n)}, normal(rng, n), [2]int{70, 50}
	for i := range n / 2 {
		u[0][i], u[1][i] = 0.1+1e-5*u[0][i], 0.2+1e-5*u[1][i]
	}

	first := NewPlan2(u, [2][]float64{}, count).Transform(nil, v)
	dst := make([]complex128, 0, len(first)+100)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(procs)
		p := NewPlan2(u, [2][]float64{}, count)
		p.Transform(dst, u[0])
		if again := p.Transform(dst, v); !slices.Equal(first, again) || &again[0] != &dst[:1][0] {
			t.Errorf("%d processors: different result, or not in dst", procs)
		}
	}
}

// TestTiles checks that tiles of a kind are so far apart that they can be spread at the same time.
func TestTiles(t *testing.T) {
	for count := 1; count < 3000; count += 1 + count/50 {
		a := newAxis(count)
		if a.tiles != 1 && a.tiles%2 != 0 {
			t.Errorf("%d modes: %d tiles", count, a.tiles)
		}
		if a.start(0) != 0 || a.start(a.tiles) != a.cells {
			t.Errorf("%d modes: tiles from %d to %d of %d cells", count, a.start(0), a.start(a.tiles), a.cells)
		}
		for tile := range a.tiles {
			lo, hi := a.start(tile), a.start(tile+1)
			if a.tile(lo) != tile || a.tile(hi-1) != tile {
				t.Errorf("%d modes: cells %d and %d are not in tile %d", count, lo, hi-1, tile)
			}
			if hi-lo < width || hi-lo+width-1 > a.side || a.tiles > 1 && hi-lo < tileCells {
				t.Errorf("%d modes: tile %d has %d cells, and %d around it", count, tile, hi-lo, a.side)
			}
		}
	}
}

func TestTransform2OfNoNumbers(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300} {
		for i := range 5 {
			x := [5]float64{0.25, 0, 0.5, 0, 1}
			x[i] = bad
			u, low := [2][]float64{{0.1, x[0]}, {0.1, x[2]}}, [2][]float64{{0, x[1]}, {0, x[3]}}
			for _, count := range [][2]int{{1, 1}, {1, 50}, {50, 20}} {
				got := NewPlan2(u, low, count).Transform(nil, []float64{1, x[4]})
				if want := (2*count[0] - 1) * count[1]; len(got) != want {
					t.Errorf("%v: %d modes, want %d", x, len(got), want)
				}
				if finite := math.Abs(bad) == 1e300; !finite && !cmplx.IsNaN(got[0]) {
					t.Errorf("%v: mode %v is %v, want NaN", x, count, got[0])
				}
			}
		}
	}
	for _, n := range []int{3, 40} {
		got := NewPlan2([2][]float64{}, [2][]float64{}, [2]int{n, n}).Transform(nil, nil)
		if !slices.Equal(got, make([]complex128, (2*n-1)*n)) {
			t.Errorf("no values: %v, want zeros", got)
		}
	}
}

// BenchmarkTransform2 measures plans and transforms of 10⁶ random positions.
func BenchmarkTransform2(b *testing.B) {
	const n = 1e6
	rng := rand.New(rand.NewPCG(7, 8))
	u, v := [2][]float64{normal(rng, n), normal(rng, n)}, normal(rng, n)
	for _, count := range []int{20, 200, 1000} {
		name, counts := fmt.Sprintf("%dx%d", count, count), [2]int{count, count}
		b.Run(name+"/plan", func(b *testing.B) {
			for b.Loop() {
				NewPlan2(u, [2][]float64{}, counts)
			}
		})
		b.Run(name+"/transform", func(b *testing.B) {
			p := NewPlan2(u, [2][]float64{}, counts)
			dst := p.Transform(nil, v)
			for b.Loop() {
				dst = p.Transform(dst, v)
			}
		})
	}
}
