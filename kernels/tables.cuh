// Rows of the tables that package gpu makes for the kernels: go generate makes a Go
// struct of each, so a member is a long long.
#pragma once

// A Chunk is some rows of one run, with the features over it.
struct Chunk {
	long long lo, hi;              // rows [lo, hi)
	long long f0, m, split;        // the first feature, how many there are, how many of them are in the first window
	long long diag0, below, diag1; // where the windows' blocks begin in the Gram array
	long long store;               // where its features begin in the store, in numbers
	long long adjoint;             // where its run's digits of Ḡ begin, in bytes (digits.cu)
};

// A Job is what a block of threads does with one chunk.
struct Job {
	long long chunk; // its number in the table of chunks
	long long block; // which of the chunk's features, or rows, in parts of the kernel's size
	long long other; // where features are multiplied by features: the number of the other part, at most block; otherwise 0
	long long slot;  // where the partial sums are; 0 for a kernel without
};

// A Reduction is what a block of threads adds, in the order of the slots: a block's
// partial sums over all chunks of a run, or the sums of all blocks over one chunk
// (predict_quad_reduce).
struct Reduction {
	long long chunk;              // the first of the chunks
	long long block;              // as in Job; where features are multiplied by features: of all these, row by row
	long long slot, slots, apart; // the first slot, how many there are, from one to the next
};

// A ChainBlock is one block of a level of a chain (chain.cuh), with the places of its
// parts in the level's arrays. The table of a level ends with one block more, which has
// no features.
struct ChainBlock {
	long long m;              // features
	long long diag, below;    // the diagonal block [m,m], and the block below it [n,m], n features of the next block
	long long prior;          // a block to subtract from the diagonal block; −1: none
	long long rhs, prior_rhs; // the right-hand sides [m,D]; others to subtract from them; −1: none
};
