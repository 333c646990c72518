package ranks

import (
	"runtime"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/parallel"
)

// A block is an array that is sent as a unit. Of a symmetric matrix [m,m] only the lower triangle
// is sent.
type block struct {
	a         []float64
	symmetric int // m, or 0 if it is not symmetric
}

// byWindow returns the blocks of the windows [first, end). It is nil on ranks that do not have
// them.
type byWindow func(first, end int) []block

// eachWindow returns one number per window.
func eachWindow(a []float64) byWindow {
	return func(first, end int) []block { return []block{{a: a[first:end]}} }
}

// rowsBy returns the rows of arrays [M,n], one row per feature of f.
func rowsBy(f *backend.Features, arrays ...[]float64) byWindow {
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

// featuresBy returns the values of f's features in values, which has f's shape.
func featuresBy(f, values *backend.Features) byWindow {
	if f == nil {
		return nil
	}
	var arrays [][]float64
	for _, a := range values.Fields() {
		arrays = append(arrays, a.Data)
	}
	return rowsBy(f, arrays...)
}

// momentsBy returns the rows of C and the blocks of G.
func momentsBy(m *backend.Moments) byWindow {
	if m == nil {
		return nil
	}
	return func(first, end int) []block {
		o := m.Gram.Offset
		return append([]block{{a: m.C[o[first]*m.D : o[end]*m.D]}}, gramBlocks(m.Gram, first, end)...)
	}
}

// gramBlocks returns the stored blocks of the windows [first, end) and between them.
func gramBlocks(g *backend.Gram, first, end int) (all []block) {
	for v := first; v < end; v++ {
		all = append(all, block{g.Diag[v], g.Size(v)})
		if v+1 < end {
			all = append(all, block{a: g.Below[v]})
		}
	}
	return all
}

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

// pack returns the concatenated blocks.
func pack(all []block) []float64 {
	packed := make([]float64, sizeOf(all))
	at := packed
	for _, b := range all {
		m := b.symmetric
		if m == 0 {
			copy(at, b.a)
		}
		eachRow(m, func(i int) { copy(at[triangle(i):], b.a[i*m:][:i+1]) })
		at = at[b.size():]
	}
	return packed
}

// unpack sets the blocks to numbers from pack, or adds them if add is true.
func unpack(all []block, packed []float64, add bool) {
	for _, b := range all {
		at, m := packed, b.symmetric
		packed = packed[b.size():]
		if m == 0 && add {
			for i := range b.a {
				b.a[i] += at[i]
			}
		} else if m == 0 {
			copy(b.a, at)
		}
		eachRow(m, func(i int) {
			for j, v := range at[triangle(i):][:i+1] {
				if add {
					v += b.a[i*m+j]
				}
				b.a[i*m+j], b.a[j*m+i] = v, v
			}
		})
	}
}

// triangle returns the index of row i of a lower triangle.
func triangle(i int) int { return i * (i + 1) / 2 }

const (
	// rowsPerJob is the number of matrix rows per goroutine, and serialRows the size up to which a
	// matrix is processed by one goroutine.
	rowsPerJob = 16
	serialRows = 64
)

// eachRow calls f for each row of an M×M matrix, in parallel.
func eachRow(m int, f func(i int)) {
	workers := runtime.GOMAXPROCS(0)
	if m <= serialRows {
		workers = 1
	}
	parallel.For((m+rowsPerJob-1)/rowsPerJob, workers, func(job int) {
		for i := job * rowsPerJob; i < min(m, (job+1)*rowsPerJob); i++ {
			f(i)
		}
	})
}
