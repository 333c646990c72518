package gpu

import "github.com/vssgp/vssgp/kernels"

// A slab is the given number of rows of each chunk of a batch, beginning with row first, whose
// features are in the store.
type slab struct{ first, rows int64 }

// storeUnit divides the number of entries of a stored row and the number of stored rows of a chunk.
const storeUnit = kernels.BlockK

// storeWidth returns the number of entries in the store for a row of m features.
func storeWidth(m int64) int64 { return parts(m, storeUnit) * storeUnit }

// storeNumbers returns the number of entries in the store for at most the given number of a chunk's
// rows.
func storeNumbers(c kernels.Chunk, rows int64) int64 {
	return storeWidth(c.M) * parts(min(rows, c.Rows()), storeUnit) * storeUnit
}

// storeBytes returns the size of a pass's store for at most the given number of rows of each chunk.
func (k kind) storeBytes(chunks []kernels.Chunk, rows int64) (bytes int64) {
	if !k.stored {
		return 0
	}
	for _, c := range chunks {
		bytes += 8 * storeNumbers(c, rows)
	}
	return bytes
}
