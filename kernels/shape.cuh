// Shapes that the kernels share with package gpu, which launches them: go generate
// makes a Go constant of each.
#pragma once

constexpr int MAX_INPUTS = 16;    // inputs at most, so that the rows of a job fit shared memory
constexpr int OUTPUT_GROUP = 4;   // outputs that a launch of a kernel with D0 takes
constexpr int ROTATIONS = 3;      // numbers that features_prepare leaves for each feature
constexpr int RESYNC = 64;        // rows after which a Wave begins anew
constexpr int STAGE = 8;          // numbers of the sum in a stage of a tile's products
constexpr int RING = 4;           // stages that a block holds in shared memory
constexpr int PAD = 4;            // numbers between two rows of a panel, beyond its own
constexpr int JOB_ROWS = 32;      // rows of a block of factorized_residual and predict_rows
constexpr int KEPT_ROWS = 8;      // rows of a job whose numbers a thread keeps in shared memory at a time
constexpr int QUAD_ROWS = 4096;  // rows at most of a chunk of predict_quad
constexpr int GRADIENT_ROWS = 64; // rows that factorized_gradient holds in shared memory
constexpr int ADJOINT_ROWS = 16;  // rows whose RowAdjoints a thread keeps in shared memory, if there are several inputs
constexpr int NEAR_OUTPUTS = 2;   // outputs of the rows and of C̄ that pullback copies to shared memory, at most
constexpr int DIGIT_TILE = 64;    // edge of a tile of products by digits
constexpr int DIGIT_STAGE = 32;   // numbers of the sum in a stage of it
constexpr int DIGIT_RING = 3;     // such stages that a block holds in shared memory
constexpr int DIGIT_SUM = 20480;  // numbers at most of a sum of products by digits in int32
constexpr int DENSE_BLOCK = 64;   // columns that dense_panel divides out
constexpr int DENSE_MIRROR = 32;  // edge of the tiles that dense_adjoint mirrors
constexpr int SPECTRUM_TILE = 32; // edge of the tiles of pairs that spectrum_gram leaves
constexpr int PAIR_SUMS = 8;      // numbers of a pair
constexpr int SINGLE_SUMS = 6;    // numbers of a feature's sums with one vector
