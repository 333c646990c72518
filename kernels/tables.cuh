// Rows of the tables that package gpu creates for the kernels. go generate writes a Go struct for
// each, so every member is a long long.
#pragma once

// A Chunk is some rows of one run, with the run's features.
struct Chunk {
	long long lo, hi;              // rows [lo, hi)
	long long f0, m, split;        // first feature, number of features, number in the first window
	long long diag0, below, diag1; // positions of the windows' blocks in the Gram array
	long long store;               // position of its features in the store, in numbers
};

// A Job is the work of a thread block on one chunk.
struct Job {
	long long chunk; // index in the table of chunks
	long long block; // part of the chunk's features or rows, in units of the kernel's size
	long long other; // for products of features: the other part, at most block; otherwise 0
	long long slot;  // slot of the partial sums; 0 if there are none
};

// A Reduction is the work of the thread blocks that add, in the order of the slots, a block's partial
// sums over all chunks of a run, or the sums of all blocks over one chunk (predict_quad_reduce).
struct Reduction {
	long long chunk;              // first chunk
	long long block;              // as in Job; for products of features: index of the tile, row by row
	long long slot, slots, apart; // first slot, number of slots, distance between slots
};

// A ChainBlock is one block of a level of a chain (chain.cuh), with the positions of its parts in
// the level's arrays. The table of a level ends with an extra block without features.
struct ChainBlock {
	long long m;              // features
	long long diag, below;    // the diagonal block [m,m], and the block below it [n,m], n features of the next block
	long long prior;          // a block to subtract from the diagonal block; −1: none
	long long rhs, prior_rhs; // the right-hand sides [m,D]; others to subtract from them; −1: none
};
