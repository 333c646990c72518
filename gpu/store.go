package gpu

import "github.com/vssgp/vssgp/kernels"

// A storage defines how a pass stores its features, slab by slab, before they are multiplied. The
// zero value stores none.
type storage struct {
	number int64 // bytes per number, including the data stored with it
	unit   int64 // divides the width of a row and the number of rows of a chunk
	most   int64 // maximum number of rows of a slab
	kernel func(a kernels.RowsBank, s slab, store uint64) kernel
}

// A slab is the given number of rows of each chunk of a batch, beginning with row first, whose
// features are in the store.
type slab struct{ first, rows int64 }

// storeFeatures stores float64.
var storeFeatures = storage{number: 8, unit: kernels.Stage, most: longest, kernel: func(a kernels.RowsBank, s slab, store uint64) kernel {
	return &kernels.FeaturesStore{RowsBank: a, Slab: s.first, Most: s.rows, Store: store}
}}

func (s storage) stored() bool { return s.kernel != nil }

// wide returns the number of entries in the store for a row of m features.
func (s storage) wide(m int64) int64 { return parts(m, s.unit) * s.unit }

// numbers returns the size of a store for at most the given number of a chunk's rows.
func (s storage) numbers(c kernels.Chunk, rows int64) int64 {
	return s.wide(c.M) * parts(min(rows, c.Rows()), s.unit) * s.unit
}

// storeBytes returns the size of a store for at most the given number of rows of each chunk.
func (s storage) storeBytes(chunks []kernels.Chunk, rows int64) (bytes int64) {
	if !s.stored() {
		return 0
	}
	for _, c := range chunks {
		bytes += s.number * s.numbers(c, rows)
	}
	return bytes
}
