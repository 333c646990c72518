package gpu

import (
	"math/bits"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/kernels"
)

// A dense contains the addresses for the algebra of one window that many thread blocks work on
// (kernels/dense.cu): A [m,m], U's diagonal blocks and y in a workspace, the solution, the adjoint
// of C, and the three statistics of a window.
type dense struct {
	m, d                             int
	at, corner, y, mean, coef, stats uint64
	launch                           func(k kernel, blocks, shared int)
	large, largeInverse              int // minimum number of large tiles to use them
}

// solve writes A⁻¹ over the lower triangle of A, and computes the solution, Σ log diag L and the
// trace of A⁻¹.
func (a *dense) solve() {
	a.eliminate(0, parts(a.m, denseBlock))
	m, d := int64(a.m), int64(a.d)
	mean := kernels.DenseMean{At: a.at, Corner: a.corner, Y: a.y, Mean: a.mean, M: m, D: d}
	a.launch(&mean, parts(a.m, 8), 0)
	rest := &kernels.DenseResidual{At: a.at, Corner: a.corner, Mean: a.mean, Y: a.y, M: m, D: d}
	a.launch(rest, parts(a.m, 32), 8*rest.Block())
	mean.Share = 1
	a.launch(&mean, parts(a.m, 8), 0)
	k := kernels.DenseInverse64{At: a.at, Corner: a.corner, M: m}
	if n := pairs(a.m, kernels.LargeTile); n >= a.largeInverse { // the first tile has the full depth
		a.launch((*kernels.DenseInverse128)(&k), n, kernels.DenseShared(kernels.LargeTile))
	} else {
		a.launch(&k, pairs(a.m, kernels.SmallTile), kernels.DenseShared(kernels.SmallTile))
	}
	a.launch(&kernels.DenseFinish{At: a.at, Corner: a.corner, M: m, Logs: a.stats + 8, Traces: a.stats + 16}, 1, 128)
}

// eliminate eliminates the blocks of columns [from, end), from which all products of earlier columns
// have been subtracted. It works by halves: it subtracts the products of the first half from all
// columns of the second half at once, so that most sums are long and extend over many tiles. The first
// half is the largest power of two, so that large tiles begin with it if it is longer than a block.
func (a *dense) eliminate(from, end int) {
	m, d := int64(a.m), int64(a.d)
	if end == from+1 {
		a.launch(&kernels.DensePanel{At: a.at, Corner: a.corner, Y: a.y, M: m, D: d, Col0: int64(from * denseBlock)},
			parts(a.m, denseBlock)+parts(a.d, denseBlock), kernels.DensePanelShared)
		return
	}
	half := 1 << (bits.Len(uint(end-from-1)) - 1)
	mid := from + half
	a.eliminate(from, mid)
	tiles := func(tile int) (columns, blocks int) {
		columns = parts(min(a.m, end*denseBlock)-mid*denseBlock, tile)
		return columns, columns * (parts(a.m, tile) + parts(a.d, tile))
	}
	columns, blocks := tiles(kernels.SmallTile)
	k := kernels.DenseUpdate64{
		At: a.at, Corner: a.corner, Y: a.y, M: m, D: d,
		From: int64(from * denseBlock), Mid: int64(mid * denseBlock), Columns: int64(columns),
	}
	if large, n := tiles(kernels.LargeTile); half > 1 && n >= a.large {
		k.Columns = int64(large)
		a.launch((*kernels.DenseUpdate128)(&k), n, kernels.DenseShared(kernels.LargeTile))
	} else {
		a.launch(&k, blocks, kernels.DenseShared(kernels.SmallTile))
	}
	a.eliminate(mid, end)
}

// adjoint replaces A⁻¹ by the adjoint of G and fills coef (kernels/dense.cu).
func (a *dense) adjoint(bar backend.SolvedAdjoint) {
	a.launch(&kernels.DenseAdjoint{
		At: a.at, Mean: a.mean, Coef: a.coef, M: int64(a.m), D: int64(a.d),
		Inverse: bar.Inverse, Outer: bar.Outer, Linear: bar.Linear,
	}, pairs(a.m, kernels.DenseMirror), kernels.DenseMirrorShared)
}
