package kernels

// SmallTile and LargeTile are the edges T of the tiles that a block of 2T threads
// owns, as the kernels' names have them.
const SmallTile, LargeTile = 64, 128

// TileShared is the dynamic shared memory, in bytes, of a block that owns a T×T
// tile (tile.cuh): two stages of two panels.
func TileShared(t int) int { return 2 * 2 * Stage * (t + Pad) * 8 }

// PullbackWidth is how many sums a feature of q inputs has (contract.cuh).
func PullbackWidth(q int) int { return 4 + 3*q }
