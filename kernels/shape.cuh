// Shapes shared with package gpu, which launches the kernels. go generate writes a Go constant for
// each.
#pragma once

constexpr int MAX_INPUTS = 16;    // maximum number of inputs, so that the rows of a job fit into shared memory
constexpr int OUTPUT_GROUP = 4;   // outputs per launch of a kernel with D0
constexpr int ROTATIONS = 3;      // numbers that features_prepare writes per feature
constexpr int RESYNC = 64;        // rows after which a Wave restarts
constexpr int BLOCK_K = 8;        // terms of the sum in a stage of a tile's products
constexpr int STAGES = 4;         // stages of a block in shared memory: the depth of the pipeline
constexpr int PAD = 4;            // padding between rows of a panel
constexpr int JOB_ROWS = 32;      // rows per block of factorized_residual and predict_rows
constexpr int KEPT_ROWS = 8;      // rows of a job for which a thread stores numbers in shared memory at a time
constexpr int QUAD_ROWS = 2048;   // maximum number of rows of a chunk of predict_quad
constexpr int GRADIENT_ROWS = 64; // rows of factorized_gradient in shared memory
constexpr int ADJOINTS = 2048;    // RowAdjoints of a block in shared memory, with several inputs
constexpr int NEAR_OUTPUTS = 2;   // maximum number of outputs of rows and C̄ that pullback copies to shared memory
constexpr int DENSE_BLOCK = 64;   // columns that dense_panel eliminates
constexpr int DENSE_MIRROR = 32;  // edge of the tiles that dense_adjoint mirrors
constexpr int SPECTRUM_TILE = 32; // edge of the tiles of pairs that spectrum_gram writes
constexpr int NEAR_TERMS = 16;    // terms on either side of a frequency that spectrum_gram copies to shared memory
constexpr int PAIR_STRIP = 8;     // columns of a tile of pairs that spectrum_pullback copies to shared memory at a time
constexpr int PATCH_ROWS = 64;    // weights of a warp of plane_gram in shared memory
constexpr int PAIR_SUMS = 8;      // numbers of a pair
constexpr int SINGLE_SUMS = 6;    // numbers of a feature's sums with one vector
