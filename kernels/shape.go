package kernels

// SmallTile and LargeTile are the edges T of the tiles that a block of 2T threads computes, as in
// the kernels' names.
const SmallTile, LargeTile = 64, 128

// Rows returns the number of rows of a chunk.
func (c Chunk) Rows() int64 { return c.Hi - c.Lo }

// TileShared returns the dynamic shared memory, in bytes, of a block that computes a T×T tile
// (tile.cuh): Stages stages, each with an MN-major panel and one that may be K-major.
func TileShared(t int) int { return Stages * (BlockK*(t+Pad) + t*(BlockK+Pad)) * 8 }

// PullbackShared returns the dynamic shared memory, in bytes, of pullback_T for q inputs: the
// stages of its products or, after these, half of the tile and the data of the contraction. That is
// Near for one input, and the RowAdjoints for several. The sums by input follow if they are kept.
func PullbackShared(t, q int, kept bool) int {
	contraction, sums := 8*t*(3+2*NearOutputs+4+Rotations), 0
	if q > 1 {
		contraction = 16 * Adjoints
		if kept {
			sums = 8 * 3 * q * 2 * t
		}
	}
	return max(TileShared(t), 8*t/2*(t+2)+contraction) + sums
}

// PullbackWidth returns the number of sums of a feature of q inputs (contract.cuh).
func PullbackWidth(q int) int { return 4 + 3*q }

// DenseShared returns the dynamic shared memory, in bytes, of a block that computes a T×T tile of a
// dense matrix (dense.cu): Stages stages of two K-major panels.
func DenseShared(t int) int { return Stages * 2 * t * (BlockK + Pad) * 8 }

// SpectrumGramShared, SpectrumPullbackShared and PlaneShared are the shared memory of the kernels of tables, whose
// blocks have four warps: NearTerms terms on either side of the frequency of each thread's wave, with padding; six
// numbers of 32 × PairStrip pairs for each warp, with padding; PatchRows weights for each warp.
const (
	SpectrumGramShared     = 4 * SpectrumTile * (2*NearTerms + 1) * 16
	SpectrumPullbackShared = 4 * 6 * SpectrumTile * (PairStrip + 1) * 8
	PlaneShared            = 4 * PatchRows * 16
)

// DensePanelShared and DenseMirrorShared are the shared memory of dense_panel and dense_adjoint.
const (
	DensePanelShared  = 8 * 2 * DenseBlock * (DenseBlock + Pad)
	DenseMirrorShared = 8 * DenseMirror * (DenseMirror + 1)
)
