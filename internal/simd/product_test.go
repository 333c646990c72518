package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// sizes are row counts near the boundaries of the kernels' blocks.
var sizes = []int{0, 1, 2, 3, 7, 8, 9, 16, 63, 64, 65, 127, 128, 129, 257}

// sumTol is the tolerance for two orders of a sum of 300 products below 1.
const sumTol = 1e-14

// at returns lane k of row n, counted through the panels.
func (p Panels) at(n, k int) float64 { return p.Panel(k / Lanes)[n*Lanes+k%Lanes] }

// dotRows returns Σ_n a[n][i]·b[n][j] by a plain loop.
func dotRows(a, b Panels, i, j int) float64 {
	s := 0.0
	for n := range a.N {
		s += a.at(n, i) * b.at(n, j)
	}
	return s
}

func TestGramMatchesReference(t *testing.T) {
	slow.Race(t)
	for count := 1; count <= 7; count++ {
		for _, n := range sizes {
			t.Run(fmt.Sprintf("%d panels, %d rows", count, n), func(t *testing.T) {
				eachSet(t, func(t *testing.T) { testGram(t, count, n) })
			})
		}
	}
}

func testGram(t *testing.T, count, n int) {
	f := &fence{t: t}
	r := rand.New(rand.NewPCG(1, uint64(n)))
	a := f.panels(r, count, n)
	m, ld := count*Lanes, count*Lanes+3
	c, cut := f.floats(m*ld, 0), f.floats(m*ld, 0)
	for i := range c {
		c[i] = float64(i % 5)
		cut[i] = c[i]
	}
	Gram(c, ld, a, 0, count)
	for lo := range count {
		Gram(cut, ld, a, lo, lo+1)
	}
	for i := range m {
		for j := range ld {
			k := i*ld + j
			if cut[k] != c[k] {
				t.Fatalf("c[%d,%d] is %v in one call, %v panel by panel", i, j, c[k], cut[k])
			}
			want := float64(k % 5)
			if j < m && j/Lanes <= i/Lanes {
				want += dotRows(a, a, i, j)
			}
			near(t, fmt.Sprintf("c[%d,%d]", i, j), c[k], want, float64(n)+5, sumTol)
		}
	}
	Downdate(cut, ld, a, 0, count)
	for k, v := range cut {
		near(t, fmt.Sprintf("c[%d,%d] after Downdate", k/ld, k%ld), v, float64(k%5), float64(n)+5, sumTol)
	}
	f.check()
	f.between(a)
}

func TestCrossMatchesReference(t *testing.T) {
	slow.Race(t)
	for _, n := range sizes {
		for left := 1; left <= 4; left++ {
			for right := 1; right <= 7; right++ {
				eachSet(t, func(t *testing.T) { testCross(t, left, right, n) })
			}
		}
	}
}

func testCross(t *testing.T, left, right, n int) {
	f := &fence{t: t}
	r := rand.New(rand.NewPCG(2, uint64(n)))
	a, b := f.panels(r, left, n), f.panels(r, right, n)
	ld := right*Lanes + 1
	c := f.floats(left*Lanes*ld-1, 0)
	Cross(c, ld, a, b)
	for i := range left * Lanes {
		for j := range right * Lanes {
			near(t, fmt.Sprintf("c[%d,%d]", i, j), c[i*ld+j], dotRows(a, b, i, j), float64(n)+1, sumTol)
		}
	}
	f.check()
}

func TestProduct(t *testing.T) {
	for count := 1; count <= 7; count++ {
		for _, n := range sizes {
			t.Run(fmt.Sprintf("%d panels, %d rows", count, n), func(t *testing.T) {
				eachSet(t, func(t *testing.T) { testProduct(t, count, 8-count, n) })
			})
		}
	}
	// More than one block of the sum.
	eachSet(t, func(t *testing.T) { testProduct(t, 35, 4, 13) })
}

func testProduct(t *testing.T, inner, cols, n int) {
	f := &fence{t: t}
	r := rand.New(rand.NewPCG(3, uint64(n)))
	a, b := f.panels(r, inner, n), f.panels(r, cols, inner*Lanes)
	s, cut := f.panels(r, cols, n), f.panels(r, cols, n) // random, because it must be overwritten
	Product(s, a, b, 0, cols)
	for lo := range cols {
		Product(cut, a, b, lo, lo+1)
	}
	for i := range n {
		for j := range cols * Lanes {
			want := 0.0
			for k := range inner * Lanes {
				want += a.at(i, k) * b.at(k, j)
			}
			near(t, fmt.Sprintf("s[%d,%d]", i, j), s.at(i, j), want, float64(inner*Lanes), sumTol)
			if s.at(i, j) != cut.at(i, j) {
				t.Fatalf("s[%d,%d] is %v in one call, %v panel by panel", i, j, s.at(i, j), cut.at(i, j))
			}
		}
	}
	f.check()
	f.between(s)
	f.between(a)
	f.between(b)
}

// TestShapes checks that mismatched arguments panic before anything is read.
func TestShapes(t *testing.T) {
	a, b := NewPanels(2, 8), NewPanels(3, 16)
	c := make([]float64, 24*24)
	short := a
	short.Data = short.Data[:len(short.Data)-1]
	for name, f := range map[string]func(){
		"narrow C":         func() { Gram(c, 15, a, 0, 2) },
		"short C":          func() { Gram(c[:16*16-1], 16, a, 0, 2) },
		"short panels":     func() { Gram(c, 16, short, 0, 2) },
		"other rows":       func() { Cross(c, 24, a, b) },
		"a narrow left":    func() { Product(NewPanels(3, 8), NewPanels(1, 8), b, 0, 3) },
		"too few results":  func() { Product(NewPanels(2, 8), a, b, 0, 3) },
		"other rows of S":  func() { Product(NewPanels(3, 7), a, b, 0, 3) },
		"too many results": func() { Product(NewPanels(3, 8), a, b, 0, 4) },
		"too many columns": func() { Gram(c, 24, a, 0, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}
