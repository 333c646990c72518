// The store: E[φ] of some rows of every chunk in device memory, computed once by features_store and
// used by every tile that needs it. A launch processes a slab, rows slab … slab+most−1 of each
// chunk, so the size of the store can be chosen. Sums continue from slab to slab, so their bits do
// not depend on it. A chunk's rows are contiguous, store_width(m) numbers each, padded with zeros.
//
// STORED_ARGUMENTS of a kernel are slab, most and store, in this order.
#pragma once

#include "tile.cuh"

// store_width is a multiple of a stage, so that stages need no bounds checks, and of two, so that
// copies may use sixteen bytes.
DEVICE long long store_width(long long m) { return (m + BLOCK_K - 1) / BLOCK_K * BLOCK_K; }

// slab_at returns chunk i restricted to a slab, possibly without rows.
DEVICE Chunk slab_at(const Chunk *chunks, long long i, long long slab, long long most) {
	Chunk s = chunks[i];
	s.lo = s.lo + slab < s.hi ? s.lo + slab : s.hi;
	s.hi = s.lo + most < s.hi ? s.lo + most : s.hi;
	return s;
}

// MNMajor copies panels [BLOCK_K rows][T features] to shared memory, consecutive ones of a chunk's
// rows, for features from k0 of the run on.
template <int T> struct MNMajor {
	const double *from;
	SharedAt to;
	int wide, left; // numbers of a row; rows from the thread's first on, 0 beyond the features

	DEVICE MNMajor(double *shared, const double *store, const Chunk &s, long long k0) {
		int row = threadIdx.x / (T / 2), k = threadIdx.x % (T / 2) * 2;
		wide = (int)store_width(s.m);
		left = k0 + k < wide ? (int)(s.hi - s.lo) - row : 0;
		from = store + s.store + row * (long long)wide + k0 + k;
		to = shared_at(shared + row * (T + PAD) + k);
	}

	// next starts the copies to the panel at bytes from shared.
	DEVICE void next(int at) {
		copy_async16(to + at, from, left > 0);
		copy_async16(to + at + 4 * (T + PAD) * 8, from + 4 * wide, left > 4);
		from += BLOCK_K * wide;
		left -= BLOCK_K;
	}
};

// KMajor copies panels [T rows][BLOCK_K features], consecutive ones for T rows of a chunk from row
// base on.
template <int T> struct KMajor {
	const double *from;
	SharedAt to;
	int below; // offset of the thread's second row
	bool there, second;

	DEVICE KMajor(double *shared, const double *store, const Chunk &s, long long base) {
		int row = threadIdx.x / (BLOCK_K / 2), j = threadIdx.x % (BLOCK_K / 2) * 2;
		long long wide = store_width(s.m);
		there = base + row < s.hi;
		second = base + row + T / 2 < s.hi;
		from = store + s.store + (base - s.lo + row) * wide + j;
		below = T / 2 * (int)wide;
		to = shared_at(shared + row * (BLOCK_K + PAD) + j);
	}

	DEVICE void next(int at) {
		copy_async16(to + at, from, there);
		copy_async16(to + at + T / 2 * (BLOCK_K + PAD) * 8, from + below, second);
		from += BLOCK_K;
	}
};
