package simd

import (
	"fmt"
	"unsafe"
)

// Lanes is the number of features of a panel.
const Lanes = 8

// Panels are Count panels of N rows of eight numbers. Panel p begins at Data[p·Stride·8], and its
// row n consists of the eight numbers from n·8.
//
// For features over a tile, rows are data and lanes are features. For a matrix B [K,8·Count], rows
// are B's rows and panels are blocks of eight columns.
type Panels struct {
	Data             []float64
	N, Stride, Count int
}

// NewPanels allocates count panels of n rows. Each row of eight numbers is one cache line.
func NewPanels(count, n int) Panels {
	return Panels{Data: Aligned(count * n * Lanes), N: n, Stride: n, Count: count}
}

// Aligned returns n zeros that begin on a cache line.
func Aligned(n int) []float64 {
	if n == 0 {
		return nil
	}
	return Align(make([]float64, Room(n)), n)
}

// Resize returns n numbers of arbitrary values, in a's memory if that is large enough.
func Resize(a []float64, n int) []float64 {
	if cap(a) < n {
		return Aligned(n)
	}
	return a[:n]
}

// Room returns the length of an array that contains n numbers beginning on a cache line, for any
// alignment.
func Room(n int) int { return n + Lanes - 1 }

// Align returns the first n numbers of a that begin on a cache line; a has Room(n).
func Align(a []float64, n int) []float64 {
	skip := 0
	if off := uintptr(unsafe.Pointer(&a[0])) / 8 % Lanes; off != 0 {
		skip = Lanes - int(off)
	}
	return a[skip : skip+n : skip+n]
}

// Panel returns the N rows of panel i.
func (p Panels) Panel(i int) []float64 { return p.Data[i*p.Stride*Lanes:][:p.N*Lanes] }

// Slice returns panels [lo, hi).
func (p Panels) Slice(lo, hi int) Panels {
	p.Data, p.Count = p.Data[lo*p.Stride*Lanes:], hi-lo
	return p
}

// Rows returns rows [lo, hi) of every panel.
func (p Panels) Rows(lo, hi int) Panels {
	if p.Count > 0 {
		p.Data = p.Data[lo*Lanes:]
	}
	p.N = hi - lo
	return p
}

// row returns the address of row n of panel i.
func (p Panels) row(i, n int) *float64 { return &p.Data[(i*p.Stride+n)*Lanes] }

// check panics unless Data contains the panels.
func (p Panels) check(what string) {
	if p.N < 0 || p.Count < 0 || p.Stride < p.N {
		panic(fmt.Sprintf("simd: %s: %d panels of %d rows, %d apart", what, p.Count, p.N, p.Stride))
	}
	if p.Count > 0 && len(p.Data) < ((p.Count-1)*p.Stride+p.N)*Lanes {
		panic(fmt.Sprintf("simd: %s: %d numbers are too few for %d panels of %d rows, %d apart", what, len(p.Data), p.Count, p.N, p.Stride))
	}
}

// within panics unless [lo, hi) is a range of the panels.
func (p Panels) within(what string, lo, hi int) {
	if lo < 0 || hi < lo || hi > p.Count {
		panic(fmt.Sprintf("simd: %s: panels [%d, %d) of %d", what, lo, hi, p.Count))
	}
}

// empty reports whether there are no rows or no panels.
func (p Panels) empty() bool { return p.N == 0 || p.Count == 0 }

// same panics unless all panels have the same shape and fit into their arrays.
func same(what string, panels ...Panels) {
	for _, p := range panels {
		p.check(what)
		if q := panels[0]; p.N != q.N || p.Stride != q.Stride || p.Count != q.Count {
			panic(fmt.Sprintf("simd: %s: %d panels of %d rows, %d apart, with %d of %d, %d apart", what, p.Count, p.N, p.Stride, q.Count,
				q.N, q.Stride))
		}
	}
}
