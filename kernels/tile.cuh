// The tile engine: acc [T,T] += AᵀB for two panels [16,T] in shared memory, on
// the float64 tensor cores.
//
// A block of 2T threads owns a tile. T = 128: eight warps, four by two, each
// with 32 × 64 numbers; T = 64: four warps, two by two, each with 32 × 32. A
// thread's numbers lie as the tensor cores have them (group = lane/4, place =
// lane%4): rows group + 8i, columns 8j + 2·place + {0, 1}. A panel's rows are
// T+4 apart, so that the loads of a fragment meet each bank once.
#pragma once

#include "feature.cuh"

template <int T> struct Tile {
	static constexpr int threads = 2 * T;
	static constexpr int across = 2;                        // warps along the columns
	static constexpr int wide = T / across;                 // columns of a warp's part
	static constexpr int tall = 32;                         // rows of a warp's part
	static constexpr int ld = T + PAD;                      // between a panel's rows
	static constexpr int panel = STAGE * ld;                // numbers of a panel
	static constexpr int shared = 2 * 2 * panel;            // numbers of two stages
	static constexpr int columns = wide / 8;

	double acc[2][columns][4]; // [16 rows][8 columns][the thread's four]
	int row0, col0, group, place;

	DEVICE void clear() {
		int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
		row0 = warp / across * tall;
		col0 = warp % across * wide;
		group = lane / 4;
		place = lane % 4;
#pragma unroll
		for (int i = 0; i < 2; i++)
#pragma unroll
			for (int j = 0; j < columns; j++)
#pragma unroll
				for (int c = 0; c < 4; c++)
					acc[i][j][c] = 0;
	}

	// row and col are where the thread's number acc[i][j][c] stands.
	DEVICE int row(int i, int c) const { return row0 + 16 * i + 8 * (c / 2) + group; }
	DEVICE int col(int j, int c) const { return col0 + 8 * j + 2 * place + c % 2; }

	// multiply adds a stage's products.
	DEVICE void multiply(const double *a, const double *b);
};

// DEPTH is how many rows of the sum one instruction takes: m16n8k8 on sm_90,
// m8n8k4 (two of them for sixteen rows) on sm_80.
#if VSSGP_ARCH >= 900
constexpr int DEPTH = 8;
#else
constexpr int DEPTH = 4;
#endif

// A Fragment is a thread's part of a step's operands: a for ROWS times 16 rows by
// DEPTH, b for DEPTH by COLUMNS times 8 columns.
//	a[2h + r] = A[group + 8r][place + 4h]   b[h] = B[place + 4h][group]
template <int ROWS, int COLUMNS> struct Fragment {
	double a[ROWS][DEPTH / 2], b[COLUMNS][DEPTH / 4];
};

template <int ROWS, int COLUMNS> DEVICE void mma(double (&acc)[ROWS][COLUMNS][4], const Fragment<ROWS, COLUMNS> &f) {
#ifdef VSSGP_EMU
	const void *const *all = warp_gather(&f);
	auto of = [&](int lane) { return (const Fragment<ROWS, COLUMNS> *)all[lane]; };
	int group = threadIdx.x % 32 / 4, place = threadIdx.x % 4;
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++)
			for (int c = 0; c < 4; c++)
				for (int k = 0; k < DEPTH; k++)
					acc[i][j][c] = fma(of(group * 4 + k % 4)->a[i][k / 4 * 2 + c / 2],
									   of((2 * place + c % 2) * 4 + k % 4)->b[j][k / 4], acc[i][j][c]);
	warp_meet();
#elif VSSGP_ARCH >= 900
#pragma unroll
	for (int i = 0; i < ROWS; i++)
#pragma unroll
		for (int j = 0; j < COLUMNS; j++)
			asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
						 : "+d"(acc[i][j][0]), "+d"(acc[i][j][1]), "+d"(acc[i][j][2]), "+d"(acc[i][j][3])
						 : "d"(f.a[i][0]), "d"(f.a[i][1]), "d"(f.a[i][2]), "d"(f.a[i][3]), "d"(f.b[j][0]), "d"(f.b[j][1]));
#else
#pragma unroll
	for (int i = 0; i < ROWS; i++)
#pragma unroll
		for (int j = 0; j < COLUMNS; j++)
#pragma unroll
			for (int r = 0; r < 2; r++)
				asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
							 : "+d"(acc[i][j][2 * r]), "+d"(acc[i][j][2 * r + 1])
							 : "d"(f.a[i][r]), "d"(f.b[j][0]));
#endif
}

template <int T> DEVICE void Tile<T>::multiply(const double *a, const double *b) {
#pragma unroll
	for (int k = 0; k < STAGE; k += DEPTH) {
		Fragment<2, columns> f;
#pragma unroll
		for (int h = 0; h < DEPTH / 4; h++) {
			const double *pa = a + (k + 4 * h + place) * ld + row0 + group;
			const double *pb = b + (k + 4 * h + place) * ld + col0 + group;
#pragma unroll
			for (int i = 0; i < 2; i++) {
				f.a[i][2 * h] = pa[16 * i];
				f.a[i][2 * h + 1] = pa[16 * i + 8];
			}
#pragma unroll
			for (int j = 0; j < columns; j++)
				f.b[j][h] = pb[8 * j];
		}
		mma(acc, f);
	}
}

// overlap runs through stages 0 … n−1: make(stage, i) makes the i-th in one of two
// places that take turns, multiply(stage) uses it. Two warps share each of a
// processor's four parts; one of them makes the next stage while the other
// multiplies, so that both kinds of unit are busy.
template <int T, class Make, class Multiply> DEVICE void overlap(double *shared, long long n, Make make, Multiply multiply) {
	int early = threadIdx.x / 128;
	for (long long i = -1; i < n; i++) {
		double *now = shared + (i & 1) * 2 * Tile<T>::panel, *then = shared + ((i + 1) & 1) * 2 * Tile<T>::panel;
#pragma unroll 1
		for (int part = 0; part < 2; part++) {
			if (part == early && i + 1 < n)
				make(then, i + 1);
			if (part != early && i >= 0)
				multiply(now);
		}
		barrier();
	}
}

// GramColumn is where column k of a run's symmetric matrix stands in the Gram
// array, k counted from the run's first feature: two chunks of rows, one a
// window, each with a step of its own.
struct GramColumn {
	long long split, at0, step0, at1, step1;

	DEVICE long long entry(long long j) const { return j < split ? at0 + j * step0 : at1 + (j - split) * step1; }
};

DEVICE GramColumn gram_column(const Chunk &s, long long k) {
	if (k < s.split)
		return {s.split, s.diag0 + k, s.split, s.below + k, s.split};
	return {s.split, s.below + (k - s.split) * s.split, 1, s.diag1 + k - s.split, s.m - s.split};
}

// gram_entry is where entry (i, j) stands.
DEVICE long long gram_entry(const Chunk &s, long long i, long long j) { return gram_column(s, j).entry(i); }
