package ranks

import (
	"runtime"

	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/spectral"
)

// A block is numbers that travel together. Of a symmetric matrix [m,m] only the
// lower triangle does.
type block struct {
	a         []float64
	symmetric int // m, else 0
}

// byWindow gives the blocks of some numbers that belong to the windows
// [first, end); nil on ranks that do not have them.
type byWindow func(first, end int) []block

// eachWindow is one number of each window.
func eachWindow(a []float64) byWindow {
	return func(first, end int) []block { return []block{{a: a[first:end]}} }
}

// rowsBy is rows of arrays [M,n], one for each feature of f.
func rowsBy(f *spectral.Features, arrays ...[]float64) byWindow {
	if f == nil {
		return nil
	}
	offset := f.Offsets()
	return func(first, end int) (all []block) {
		lo, hi := offset[first], offset[end]
		for _, a := range arrays {
			n := len(a) / max(1, f.M)
			all = append(all, block{a: a[lo*n : hi*n]})
		}
		return all
	}
}

// featuresBy is f's features' numbers in values, which has f's shape.
func featuresBy(f, values *spectral.Features) byWindow {
	if f == nil {
		return nil
	}
	var arrays [][]float64
	for _, a := range values.Fields() {
		arrays = append(arrays, a.Data)
	}
	return rowsBy(f, arrays...)
}

// momentsBy is rows of C and blocks of G.
func momentsBy(m *spectral.Moments) byWindow {
	if m == nil {
		return nil
	}
	return func(first, end int) []block {
		o := m.Gram.Offset
		return append([]block{{a: m.C[o[first]*m.D : o[end]*m.D]}}, gramBlocks(m.Gram, first, end)...)
	}
}

// gramBlocks are the stored blocks of windows [first, end) and between them.
func gramBlocks(g *spectral.Gram, first, end int) (all []block) {
	for v := first; v < end; v++ {
		all = append(all, block{g.Diag[v], g.Size(v)})
		if v+1 < end {
			all = append(all, block{a: g.Below[v]})
		}
	}
	return all
}

// featuresIn is m features whose numbers are in a, and the rest of a.
func featuresIn(a []float64, m, q int) (f *spectral.Features, rest []float64) {
	take := func(n int) []float64 {
		one := a[:n:n]
		a = a[n:]
		return one
	}
	f = &spectral.Features{
		M: m, Q: q, Center: take(m * q), Decay: take(m * q), Freq: take(m * q),
		Phase: take(m), Amp: take(m), Power: take(m), Ripple: take(m),
	}
	return f, a
}

// perFeature is how many numbers a feature of q inputs has.
func perFeature(q int) int { return 3*q + 4 }

func (b block) size() int {
	if b.symmetric > 0 {
		return triangle(b.symmetric)
	}
	return len(b.a)
}

func sizeOf(all []block) (n int) {
	for _, b := range all {
		n += b.size()
	}
	return n
}

// pack is all blocks, one after the other.
func pack(all []block) []float64 {
	packed := make([]float64, sizeOf(all))
	eachBlock(all, packed, func(b block, at []float64) {
		if b.symmetric == 0 {
			copy(at, b.a)
			return
		}
		eachRows(b.symmetric, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				copy(at[triangle(i):], b.a[i*b.symmetric:][:i+1])
			}
		})
	})
	return packed
}

// unpack overwrites the blocks by what pack has packed.
func unpack(all []block, packed []float64) {
	eachBlock(all, packed, func(b block, at []float64) {
		if b.symmetric == 0 {
			copy(b.a, at)
			return
		}
		m := b.symmetric
		eachRows(m, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				for j, v := range at[triangle(i):][:i+1] {
					b.a[i*m+j], b.a[j*m+i] = v, v
				}
			}
		})
	})
}

// addTo adds to the blocks what pack has packed.
func addTo(all []block, packed []float64) {
	eachBlock(all, packed, func(b block, at []float64) {
		if b.symmetric == 0 {
			for i, v := range at {
				b.a[i] += v
			}
			return
		}
		for i := range b.symmetric {
			for j, v := range at[triangle(i):][:i+1] {
				s := b.a[i*b.symmetric+j] + v
				b.a[i*b.symmetric+j], b.a[j*b.symmetric+i] = s, s
			}
		}
	})
}

func eachBlock(all []block, packed []float64, f func(b block, at []float64)) {
	for _, b := range all {
		n := b.size()
		f(b, packed[:n])
		packed = packed[n:]
	}
}

// triangle is where row i of a lower triangle begins.
func triangle(i int) int { return i * (i + 1) / 2 }

const (
	// rowsPerJob is how many rows of a matrix one goroutine takes, and serialRows
	// how many a matrix has that is not worth a second one.
	rowsPerJob = 16
	serialRows = 64
)

// eachRows calls f for ranges of the rows of an M×M matrix, in parallel.
func eachRows(m int, f func(lo, hi int)) {
	if m <= serialRows {
		f(0, m)
		return
	}
	parallel.For((m+rowsPerJob-1)/rowsPerJob, runtime.GOMAXPROCS(0), func(i int) {
		f(i*rowsPerJob, min(m, (i+1)*rowsPerJob))
	})
}
