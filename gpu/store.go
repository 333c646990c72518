package gpu

import "github.com/vssgp/vssgp/kernels"

// A storage is how a pass stores its features, slab by slab, before they are
// multiplied. The zero value stores none.
type storage struct {
	number int // bytes of a number, with all that is stored beside it
	unit   int // divides the width of a row, and how many rows a chunk has
	most   int // rows of a slab at most
	kernel func(a kernels.RowsBank, s slab, store uint64) kernel
}

// A slab is so many rows of each chunk of a batch, from one row on, whose features are
// in the store.
type slab struct{ first, rows int64 }

// storeFeatures stores float64.
var storeFeatures = storage{number: 8, unit: kernels.Stage, most: longest, kernel: func(a kernels.RowsBank, s slab, store uint64) kernel {
	return &kernels.FeaturesStore{RowsBank: a, Slab: s.first, Most: s.rows, Store: store}
}}

func (s storage) stored() bool { return s.kernel != nil }

// wide is how many numbers a row of m features has in the store.
func (s storage) wide(m int) int { return parts(m, s.unit) * s.unit }

// numbers is the size of a store that has at most so many of a chunk's rows.
func (s storage) numbers(m int, c chunk, rows int) int64 {
	return int64(s.wide(m)) * int64(parts(min(rows, c.rows()), s.unit)*s.unit)
}

// storeBytes is the size of a store that has at most so many rows of each of a run's
// chunks.
func (s storage) storeBytes(r run, chunks []chunk, rows int) (bytes int64) {
	if !s.stored() {
		return 0
	}
	for _, c := range chunks {
		bytes += int64(s.number) * s.numbers(r.m, c, rows)
	}
	return bytes
}

// storeJob is how many numbers a row of the store's table has: a chunk and a block of
// features.
const storeJob = 2
