// Chains: the block-tridiagonal matrices of windows, and their loads into fronts
// (front.cuh). A level of the elimination is one chain; level 0 is A = G + λI, in
// the Gram array.
#pragma once

#include "front.cuh"
#include "tables.cuh"

// A Level is a chain of count blocks.
struct Level {
	const ChainBlock *blocks;
	double *at, *rhs;
	long long count;

	DEVICE ChainBlock block(long long v) const { return blocks[v]; }
	// size returns the number of features of block v, 0 beyond the last block.
	DEVICE int size(long long v) const { return v < count ? (int)blocks[v].m : 0; }
};

// each calls f(i, j) for the entries of a rows × cols matrix. Neighboring threads process
// consecutive entries, so that no thread idles at the end of a row.
template <class F> DEVICE void each(int rows, int cols, F f) {
	if (cols == 0)
		return;
	int i = threadIdx.x / cols, j = threadIdx.x - i * cols;
	int down = FRONT_THREADS / cols, along = FRONT_THREADS - down * cols;
	while (i < rows) {
		f(i, j);
		i += down;
		j += along;
		if (j >= cols) {
			j -= cols;
			i++;
		}
	}
}

// warp_sum returns the sum of v over the lanes of a warp to every lane.
DEVICE double warp_sum(double v) {
#pragma unroll
	for (int half = 16; half > 0; half /= 2)
		v += shuffle_xor(v, half);
	return v;
}

// diagonal returns entry (i, j) of a diagonal block, minus prior.
DEVICE double diagonal(const Level &a, const ChainBlock &b, int i, int j) {
	double x = a.at[b.diag + i * b.m + j];
	return b.prior < 0 ? x : x - a.at[b.prior + i * b.m + j];
}

// right returns entry e of a block's right-hand sides, minus prior_rhs.
DEVICE double right(const Level &a, const ChainBlock &b, long long e) {
	double x = a.rhs[b.rhs + e];
	return b.prior_rhs < 0 ? x : x - a.rhs[b.prior_rhs + e];
}
