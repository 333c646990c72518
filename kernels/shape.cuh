// Shapes that the kernels share with package gpu, which launches them: go generate
// makes a Go constant of each.
#pragma once

constexpr int MAX_INPUTS = 16;    // inputs that a kernel can hold sums for
constexpr int OUTPUT_GROUP = 4;   // outputs that a launch of a kernel with D0 takes
constexpr int ROTATIONS = 6;      // numbers that features_prepare leaves for each feature
constexpr int RESYNC = 64;        // rows after which a Wave begins anew, in moments.cu
constexpr int STAGE = 16;         // rows of the sum in a stage of a tile's products
constexpr int PAD = 4;            // numbers between two rows of a panel, beyond T
constexpr int JOB_ROWS = 32;      // rows at most of a job of factorised_residual and predict_rows
constexpr int GRADIENT_ROWS = 64; // rows that factorised_gradient holds in shared memory
constexpr int CHUNK_FIELDS = 8;   // numbers of a row of the table of chunks, or of runs
constexpr int BLOCK_FIELDS = 6;   // numbers of a row of a level's table
