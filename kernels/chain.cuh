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
	// size is how many features block v has, 0 beyond the last.
	DEVICE int size(long long v) const { return v < count ? (int)blocks[v].m : 0; }
};

// each calls f(i, j) for the numbers of a rows × cols matrix, one behind the other by
// neighboring threads, so that no thread waits at the end of a row.
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

// warp_sum adds a number of each lane of a warp; every lane gets the sum.
DEVICE double warp_sum(double v) {
#pragma unroll
	for (int half = 16; half > 0; half /= 2)
		v += shuffle_xor(v, half);
	return v;
}

// diagonal is number (i, j) of a block's, what is to be subtracted left out.
DEVICE double diagonal(const Level &a, const ChainBlock &b, int i, int j) {
	double x = a.at[b.diag + i * b.m + j];
	return b.prior < 0 ? x : x - a.at[b.prior + i * b.m + j];
}

// right is number e of a block's right-hand sides, likewise.
DEVICE double right(const Level &a, const ChainBlock &b, long long e) {
	double x = a.rhs[b.rhs + e];
	return b.prior_rhs < 0 ? x : x - a.rhs[b.prior_rhs + e];
}
