package blocktri

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// inSegments returns Factorize with the given number of segments. It reports a test error if the factor
// has another number.
func inSegments(t *testing.T, segments int) func(*backend.Gram, float64) (*Factor, error) {
	return func(a *backend.Gram, lambda float64) (*Factor, error) {
		t.Helper()
		f, err := Factorize(a, lambda, segments)
		if err == nil && (len(f.segments) != segments) {
			t.Errorf("%d blocks are not in %d segments: %+v", a.Blocks(), segments, f.segments)
		}
		return f, err
	}
}

// chain returns the given number of block sizes, which repeat sizes.
func chain(blocks int, sizes ...int) []int {
	return testkit.Numbers(blocks, func(v int) int { return sizes[v%len(sizes)] })
}

// TestAgainstDense compares every number of segments with dense algebra.
func TestAgainstDense(t *testing.T) {
	for _, sizes := range [][]int{{1}, {7}, {3, 4}, {5, 1, 6, 2}, {4, 0, 5, 3}, chain(6, 8), {8, 0, 0, 8, 3}, {0, 7, 0}, {40, 37, 48, 3}, {205}, {193, 200, 17}} {
		againstDense(t, sizes, func(a *backend.Gram, lambda float64) (*Factor, error) { return Factorize(a, lambda, 2) })
		againstDense(t, sizes, inSegments(t, 1))
	}
	for _, sizes := range [][]int{
		chain(5, 8), chain(5, 3), chain(7, 1), chain(9, 4, 0), chain(9, 0, 4), chain(11, 5, 1, 6, 2), chain(16, 8, 16, 8, 3),
		chain(24, 7, 0, 0, 8, 3), chain(24, 0, 6, 9), chain(40, 8), append(chain(31, 0), 1), {0, 0, 5, 0, 0, 0, 3, 0, 0},
		{5, 9, 4, 200, 3, 17, 8}, {200, 9, 4, 3, 195, 8, 3, 9, 210}, chain(7, 194),
	} {
		if !slow.Tests && slices.Max(sizes) > 100 { // takes minutes on emulated processors
			continue
		}
		for segments := 3; 2*segments-1 <= len(sizes); segments++ {
			againstDense(t, sizes, inSegments(t, segments))
			againstDense(t, sizes, func(a *backend.Gram, lambda float64) (*Factor, error) {
				f, err := inSegments(t, segments)(a, lambda)
				if err != nil {
					return nil, err
				}
				c := f.Clone()
				f.Inverse() // the copy has its own memory
				return c, nil
			})
		}
	}
}

// TestFewBlocks checks that with too few blocks for more segments the factor has the bits of two segments.
func TestFewBlocks(t *testing.T) {
	for _, c := range []struct{ blocks, segments int }{{1, 3}, {2, 3}, {3, 3}, {3, 100}, {4, 100}, {40, 2}} {
		g := dominant(chain(c.blocks, 9, 4))
		f, err := Factorize(g.Clone(), 0.1, c.segments)
		if err != nil {
			t.Fatal(c, err)
		}
		want := factorized(t, g)
		if !slices.Equal(f.separators, want.separators) {
			t.Errorf("%v: separators %v, want %v", c, f.separators, want.separators)
		}
		same(t, fmt.Sprint(c), f.Inverse(), want.Inverse())
	}
}

// same fails the test if the matrices have different bits.
func same(t *testing.T, what string, a, b *backend.Gram) {
	t.Helper()
	for v := range a.Diag {
		if !slices.Equal(a.Diag[v], b.Diag[v]) || v < len(a.Below) && !slices.Equal(a.Below[v], b.Below[v]) {
			t.Fatalf("%s: block %d differs", what, v)
		}
	}
}

func TestSeparators(t *testing.T) {
	for _, c := range []struct {
		sizes    []int
		segments int
		want     []int
	}{
		{chain(2, 4), 2, nil},
		{chain(3, 4), 2, []int{1}},
		{chain(5, 4), 3, []int{1, 3}},
		{chain(5, 4), 9, []int{1, 3}},
		{chain(100, 4), 2, []int{50}},
		{chain(100, 4), 3, []int{40, 59}},
		{chain(100, 4), 4, []int{33, 50, 66}},
		{chain(9, 0), 3, []int{5, 7}},
		{append(chain(10, 40), chain(50, 4)...), 3, []int{4, 6}}, // the large blocks determine the cost
		{append(chain(50, 4), 400, 4, 4), 3, []int{49, 51}},
		{nil, 4, nil},
	} {
		if got := separators(offsets(c.sizes), c.segments); !slices.Equal(got, c.want) {
			t.Errorf("%v in %d: separators %v, want %v", c.sizes, c.segments, got, c.want)
		}
	}
}

// TestSeparatorsLeaveBlocks checks that every segment has a block, for any sizes.
func TestSeparatorsLeaveBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 2000 {
		offset := make([]int, 2+rng.IntN(30))
		for v := range offset[1:] {
			offset[v+1] = offset[v] + rng.IntN(3)*rng.IntN(50)
		}
		segments := rng.IntN(20) - 1
		last := -1
		at := separators(offset, segments)
		for _, v := range append(at, len(offset)-1) {
			if len(at) > 0 && v < last+2 {
				t.Fatalf("offsets %v in %d: separators %v", offset, segments, at)
			}
			last = v
		}
		if want := max(0, min(segments, len(offset)/2)-1); len(at) != want {
			t.Fatalf("offsets %v in %d: %d separators, want %d", offset, segments, len(at), want)
		}
	}
}

// TestSameBits checks that inverse and solution do not depend on the number of goroutines or on earlier
// uses of the memory.
func TestSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, segments := range []int{1, 2, 3, 4, 7} {
		var first *backend.Gram
		var solved []float64
		for _, threads := range []int{1, 2, 4, 9} {
			runtime.GOMAXPROCS(threads)
			g := dominant(chain(14, 37, 0, 260, 8, 24))
			for range 2 {
				a := g.Clone()
				copy(a.Scratch(1<<20), slices.Repeat([]float64{math.NaN()}, 1<<20))
				f := testkit.Must(Factorize(a, 0.1, segments))(t)
				b := make([]float64, a.M())
				b[3] = 1
				f.Solve(b, 1)
				z := f.Inverse()
				if first == nil {
					first, solved = z, b
				}
				same(t, fmt.Sprintf("%d segments, %d goroutines", segments, threads), z, first)
				if !slices.Equal(b, solved) {
					t.Errorf("%d segments, %d goroutines: the solution differs", segments, threads)
				}
			}
		}
	}
}

// TestNotPositive checks the error for matrices that are not positive definite in the first, an inner or
// the last segment or in a separator.
func TestNotPositive(t *testing.T) {
	const size = 9
	sizes := chain(16, size)
	for _, segments := range []int{1, 2, 4} {
		for v := range sizes {
			for what, spoil := range map[string]func(g *backend.Gram){
				"negative pivot":     func(g *backend.Gram) { g.Diag[v][2*(size+1)] = -1e4 },
				"indefinite":         func(g *backend.Gram) { g.Diag[v][size], g.Diag[v][1] = 1e3, 1e3 },
				"NaN":                func(g *backend.Gram) { g.Diag[v][2*(size+1)] = math.NaN() },
				"infinite":           func(g *backend.Gram) { g.Diag[v][2*(size+1)] = math.Inf(1) },
				"NaN coupling":       func(g *backend.Gram) { g.Below[min(v, 14)][80] = math.NaN() },
				"infinite coupling":  func(g *backend.Gram) { g.Below[min(v, 14)][3] = math.Inf(-1) },
				"too large coupling": func(g *backend.Gram) { g.Below[min(v, 14)][40] = 1e3 },
			} {
				g := dominant(sizes)
				spoil(g)
				if _, err := Factorize(g, 0, segments); !errors.Is(err, backend.ErrNotPositive) {
					t.Errorf("%s at block %d, %d segments: error %v, want ErrNotPositive", what, v, segments, err)
				}
			}
		}
	}
}
