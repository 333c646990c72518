// product: a tile of out_kn = Σ_j S_kj φ̄_nj for T features k of a run and T rows n. The sum is over the
// run's features j ≠ k in pullback, and j < k in predict_quad. S is in its blocks, φ̄ in the store. Call
// bars afterwards to move half the tile to shared memory.
#pragma once

#include "store.cuh"

// GramColumn is the address of column k of a run's symmetric matrix in the Gram array, k counted
// from the run's first feature: two pieces of rows, one per window, each with its stride.
struct GramColumn {
	long long split, at0, step0, at1, step1;

	DEVICE long long entry(long long j) const { return j < split ? at0 + j * step0 : at1 + (j - split) * step1; }
};

DEVICE GramColumn gram_column(const Chunk &s, long long k) {
	if (k < s.split)
		return {s.split, s.diag0 + k, s.split, s.below + k, s.split};
	return {s.split, s.below + (k - s.split) * s.split, 1, s.diag1 + k - s.split, s.m - s.split};
}

// gram_entry returns the position of entry (i, j).
DEVICE long long gram_entry(const Chunk &s, long long i, long long j) { return gram_column(s, j).entry(i); }

// product must be called by all threads of the block. Rows at or beyond s.hi and features beyond
// the run are zeros.
template <int T, bool LOWER>
DEVICE void product(Tile<T> &tile, const Chunk &s, const double *gram, const double *store, long long k0, long long base,
    double *shared) {
	int own = threadIdx.x % T, side = threadIdx.x / T, k = (int)k0 + own;
	GramColumn column = gram_column(s, k);
	const double *upper = gram + column.at0, *lower = gram + column.at1 - column.split * column.step1;
	int split = (int)(column.split < s.m ? column.split : s.m + BLOCK_K), step0 = (int)column.step0,
	    step1 = (int)column.step1, end = k >= s.m ? 0 : LOWER ? k : (int)s.m;
	long long width = store_width(s.m), terms = LOWER && k0 + T < width ? k0 + T : width;
	SharedAt to = shared_at(shared + side * (T + PAD) + own);
	tile.clear();
	constexpr int panel = Tile<T>::mn_major;
	KMajor<T> rows(shared + panel, store, s, base);
	tile.template sum<true, false>(shared, panel + Tile<T>::k_major, panel, (int)(terms / BLOCK_K), [&](int at, int i) {
		int first = i * BLOCK_K, j = first + side;
		bool above = first < split;
		int step = above ? step0 : step1;
		const double *from = (above ? upper : lower) + (long long)j * step;
		auto copy = [&](int e, const double *from) {
			copy_async(to + at + e * (T + PAD) * 8, from, j + e < end && (LOWER || j + e != k));
		};
		if (above && first + BLOCK_K > split) { // the windows meet in this stage
#pragma unroll 1
			for (int e = 0; e < BLOCK_K; e += 2)
				copy(e, j + e < split ? from + e * step : lower + (long long)(j + e) * step1);
		} else {
#pragma unroll
			for (int e = 0; e < BLOCK_K; e += 2)
				copy(e, from + e * step);
		}
		rows.next(at);
	});
}

// half_ld is the distance between rows of the half tile written by bars: [T/2 rows][T].
template <int T> constexpr int half_ld = T + 2;

// bars writes one half of the tile's columns (rows of data), times w, to shared memory,
// [T/2][half_ld]: row of data, feature.
template <int T> DEVICE void bars(Tile<T> &tile, int half, double w, double *shared) {
	static_assert(Tile<T>::wide == T / 2, "a warp has columns of one half");
	if (tile.col0 == half * (T / 2))
		tile.each([&](int k, int n, double &v) { shared[(n - half * (T / 2)) * half_ld<T> + k] = w * v; });
}
