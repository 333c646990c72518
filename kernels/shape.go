package kernels

// SmallTile and LargeTile are the edges T of the tiles that a block of 2T threads
// owns, as the kernels' names have them.
const SmallTile, LargeTile = 64, 128

// Rows is how many rows a chunk has.
func (c Chunk) Rows() int64 { return c.Hi - c.Lo }

// TileShared is the dynamic shared memory, in bytes, of a block that owns a T×T
// tile (tile.cuh): Ring stages of a panel along and one that may lie across.
func TileShared(t int) int { return Ring * (Stage*(t+Pad) + t*(Stage+Pad)) * 8 }

// DigitShared is the dynamic shared memory, in bytes, of a block that owns a tile of
// products by so many digits (digits.cuh).
func DigitShared(digits int) int { return DigitRing * 2 * digits * DigitTile * DigitStage }

// DigitAdjoint is how many bytes the digits of Ḡ for a run of m features have, with
// their scales (digits_adjoint).
func DigitAdjoint(m, digits int) int {
	return (m+3)/4*32 + (m+DigitStage-1)/DigitStage*DigitStage*m*digits
}

// ContractShared is the dynamic shared memory, in bytes, of digits_contract's blocks of T
// features (pullback.cu): Near for one input, the RowAdjoints of 2T threads for several.
func ContractShared(t, q int) int {
	if q > 1 {
		return 16 * AdjointRows * 2 * t
	}
	return 8 * t * (3 + 2*NearOutputs + 4 + Rotations)
}

// PullbackShared is the shared memory of pullback_T: the stages of its products or, after these, half
// of the tile and what the contraction needs.
func PullbackShared(t, q int) int { return max(TileShared(t), 8*t/2*(t+2)+ContractShared(t, q)) }

// PullbackWidth is how many sums a feature of q inputs has (contract.cuh).
func PullbackWidth(q int) int { return 4 + 3*q }

// DenseShared is the dynamic shared memory, in bytes, of a block that owns a T×T tile
// of a dense matrix (dense.cu): Ring stages of two panels that lie across.
func DenseShared(t int) int { return Ring * 2 * t * (Stage + Pad) * 8 }

// DensePanelShared and DenseMirrorShared are those of dense_panel and dense_adjoint.
const (
	DensePanelShared  = 8 * (2*DenseBlock + 1) * (DenseBlock + Pad)
	DenseMirrorShared = 8 * DenseMirror * (DenseMirror + 1)
)
