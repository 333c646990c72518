package kernels

// Shapes that the sources fix (tile.cuh, product.cuh) and a launch must know. The
// emulator fences shared memory, so a launch with too little of it fails there.
const (
	// SmallTile and LargeTile are the edges T of the tiles that a block of 2T
	// threads owns.
	SmallTile, LargeTile = 64, 128
	// ColumnBlock is how many features a block of moments_columns and
	// factorised_gradient takes, one a thread.
	ColumnBlock = 128
	// ResidualRows is how many rows a job of factorised_residual and of
	// predict_rows has at most.
	ResidualRows = 32
	// MaxInputs is the most inputs that a kernel holds sums for.
	MaxInputs = 16
	// Strides of the rotations that features_prepare makes, and numbers of
	// them for each feature.
	Rotations = 6

	stageRows = 16 // rows of the sum in a stage
	padding   = 4  // between a panel's rows, beyond T
)

// TileShared is the dynamic shared memory, in bytes, of a block that owns a T×T
// tile in float64: two stages of two panels.
func TileShared(t int) int { return 2 * 2 * stageRows * (t + padding) * 8 }

// PullbackWidth is how many sums a feature of q inputs has.
func PullbackWidth(q int) int { return 4 + 3*q }
