// The store: E[φ] of some rows of every chunk in device memory, made once by
// features_store and multiplied by every tile that needs it. A launch takes a slab,
// rows slab … slab+most−1 of each chunk, so the store has a size that the launch
// chooses; sums go on from slab to slab where they stood, so their bits do not
// depend on it. A chunk's rows stand behind each other, store_width(m) numbers
// each, zeros behind the m.
//
// STORED_ARGUMENTS of a kernel are slab, most and store, in this order.
#pragma once

#include "tile.cuh"

// store_width is a multiple of a stage, so that stages need no bounds, and of two,
// so that copies may take sixteen bytes.
DEVICE long long store_width(long long m) { return (m + STAGE - 1) / STAGE * STAGE; }

// slab_at is chunk i cut to a slab. Its rows may be none.
DEVICE Chunk slab_at(const long long *table, long long i, long long slab, long long most) {
	Chunk s = chunk_at(table, i);
	s.lo = s.lo + slab < s.hi ? s.lo + slab : s.hi;
	s.hi = s.lo + most < s.hi ? s.lo + most : s.hi;
	return s;
}

// Along starts the copies of panels [STAGE rows][T features], those of a chunk's rows
// one after the other, for features from k0 of the run on.
template <int T> struct Along {
	static constexpr int below = 4 * STAGE / 8; // rows between the thread's two copies
	const double *from;
	long long wide, left; // numbers of a row; rows from the thread's first on
	int at;
	bool there;

	DEVICE Along(const double *store, const Chunk &s, long long k0) {
		int row = threadIdx.x / (T / 2), k = threadIdx.x % (T / 2) * 2;
		wide = store_width(s.m);
		left = s.hi - s.lo - row;
		there = k0 + k < wide;
		from = store + s.store + (there ? row * wide + k0 + k : 0);
		at = row * (T + PAD) + k;
	}

	DEVICE void next(double *panel) {
#pragma unroll
		for (int i = 0; i < 2; i++) {
			bool here = there && i * below < left;
			copy_async16(panel + at + i * below * (T + PAD), here ? from + i * below * wide : from, here);
		}
		from += there && left > STAGE ? STAGE * wide : 0;
		left -= STAGE;
	}
};

// Across starts the copies of panels [T rows][STAGE features], those of T rows of a
// chunk from row base on, one after the other.
template <int T> struct Across {
	const double *from, *below; // of the thread's two copies
	int at;
	bool there[2];

	DEVICE Across(const double *store, const Chunk &s, long long base) {
		int row = threadIdx.x / (STAGE / 2), j = threadIdx.x % (STAGE / 2) * 2;
		long long wide = store_width(s.m);
		there[0] = base + row < s.hi;
		there[1] = base + row + T / 2 < s.hi;
		from = store + s.store + (base - s.lo + (there[0] ? row : 0)) * wide + j;
		below = there[1] ? from + T / 2 * wide : from;
		at = row * (STAGE + PAD) + j;
	}

	DEVICE void next(double *panel) {
		copy_async16(panel + at, from, there[0]);
		copy_async16(panel + at + T / 2 * (STAGE + PAD), below, there[1]);
		from += STAGE;
		below += STAGE;
	}
};
