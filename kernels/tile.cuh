// The tile engine: acc [T,T] += A·B for two panels of BLOCK_K terms of the sum, in shared memory, on
// the float64 tensor cores.
//
// A block of 2T threads owns a tile. T = 128: eight warps, four by two, each with 32 × 64 entries;
// T = 64: four warps, two by two, each with 32 × 32. A thread's entries are placed as in the tensor
// cores (group = lane/4, place = lane%4): rows group + 8i, columns 8j + 2·place + {0, 1}.
//
// As in BLAS and CUTLASS, M and N are the tile's rows and columns, and K is the index of the sum. A panel has the same
// layout in shared memory as its source in device memory:
//	MN-major   [BLOCK_K][T + PAD]   neighbors are rows or columns of the tile
//	K-major    [T][BLOCK_K + PAD]   neighbors are terms of the sum
// In both, the loads of a fragment use each bank once.
#pragma once

#include "feature.cuh"

template <int T> struct Tile {
	static constexpr int threads = 2 * T;
	static constexpr int over = 2;                       // warps along the columns
	static constexpr int wide = T / over;                // columns of a warp's part
	static constexpr int tall = 32;                      // rows of a warp's part
	static constexpr int columns = wide / 8;
	static constexpr int mn_major = BLOCK_K * (T + PAD); // numbers of an MN-major panel
	static constexpr int k_major = T * (BLOCK_K + PAD);  // of a K-major panel

	double acc[2][columns][4]; // [16 rows][8 columns][the thread's four]
	int row0, col0, group, place;

	DEVICE void clear() {
		int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
		row0 = warp / over * tall;
		col0 = warp % over * wide;
		group = lane / 4;
		place = lane % 4;
		each([](int, int, double &v) { v = 0; });
	}

	// each calls f(row, column, number) for the thread's numbers.
	template <class F> DEVICE void each(F f) {
#pragma unroll
		for (int i = 0; i < 2; i++)
#pragma unroll
			for (int j = 0; j < columns; j++)
#pragma unroll
				for (int c = 0; c < 4; c++)
					f(row0 + 16 * i + 8 * (c / 2) + group, col0 + 8 * j + 2 * place + c % 2, acc[i][j][c]);
	}

	// change calls to(row, column, from(row, column), number), sixteen calls of from before those
	// of to: loads then do not wait for other stores.
	template <class From, class To> DEVICE void change(From from, To to) {
#pragma unroll
		for (int j0 = 0; j0 < 2 * columns; j0 += 4) {
			double old[4][4];
			auto at = [&](auto f) {
#pragma unroll
				for (int j = 0; j < 4; j++)
#pragma unroll
					for (int c = 0; c < 4; c++)
						f(row0 + 16 * (j0 / columns) + 8 * (c / 2) + group, col0 + 8 * (j0 % columns + j) + 2 * place + c % 2, old[j][c],
						    acc[j0 / columns][j0 % columns + j][c]);
			};
			at([&](int r, int c, double &o, double) { o = from(r, c); });
			at([&](int r, int c, double o, double v) { to(r, c, o, v); });
		}
	}

	// sum adds n stages' products.
	template <bool B_K_MAJOR, bool A_K_MAJOR, class Load>
	DEVICE void sum(double *shared, int size, int b, int n, Load load);
};

// MMA_K is the number of terms of the sum per instruction, 4 or 8: -DVSSGP_MMA_K=8 compiles a variant
// for measurements. Only sm_90 has an instruction for 8.
#ifndef VSSGP_MMA_K
#define VSSGP_MMA_K 4
#endif
constexpr int MMA_K = VSSGP_MMA_K;
static_assert(MMA_K == 4 || MMA_K == 8, "VSSGP_MMA_K must be 4 or 8");

// A Fragment is a thread's part of the operands for K terms: a for ROWS times 16 rows, b for COLUMNS times
// 8 columns.
//	a[·][s][r] = A[group + 8r][4s + place]   b[·][s] = B[4s + place][group]
template <int ROWS, int COLUMNS, int K = MMA_K> struct Fragment {
	double a[ROWS][K / 4][2], b[COLUMNS][K / 4];
};

#ifndef VSSGP_EMU
// mma16x8 adds the products of 16 rows and 8 columns.
template <int K> DEVICE void mma16x8(double (&acc)[4], const double (&a)[K / 4][2], const double (&b)[K / 4]) {
#if VSSGP_ARCH >= 900
	if constexpr (K == 8)
		asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
					 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
					 : "+d"(acc[0]), "+d"(acc[1]), "+d"(acc[2]), "+d"(acc[3])
					 : "d"(a[0][0]), "d"(a[0][1]), "d"(a[1][0]), "d"(a[1][1]), "d"(b[0]), "d"(b[1]));
	else
		asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
					 : "+d"(acc[0]), "+d"(acc[1]), "+d"(acc[2]), "+d"(acc[3])
					 : "d"(a[0][0]), "d"(a[0][1]), "d"(b[0]));
#else
#pragma unroll
	for (int s = 0; s < K / 4; s++)
#pragma unroll
		for (int r = 0; r < 2; r++)
			asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
						 : "+d"(acc[2 * r]), "+d"(acc[2 * r + 1])
						 : "d"(a[s][r]), "d"(b[s]));
#endif
}
#endif

// mma adds the products of a fragment to acc. It calls used(i, j) after the products of rows i and columns j,
// which may then change a[i] if j is the last, and b[j] if i is the last.
template <int ROWS, int COLUMNS, int K, class Used>
DEVICE void mma(double (&acc)[ROWS][COLUMNS][4], const Fragment<ROWS, COLUMNS, K> &f, Used used) {
#ifdef VSSGP_EMU
	const void *const *all = warp_gather(&f);
	auto of = [&](int lane) { return (const Fragment<ROWS, COLUMNS, K> *)all[lane]; };
	int group = threadIdx.x % 32 / 4, place = threadIdx.x % 4;
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++)
			for (int c = 0; c < 4; c++)
				for (int k = 0; k < K; k++)
					acc[i][j][c] = fma(of(group * 4 + k % 4)->a[i][k / 4][c / 2],
					    of((2 * place + c % 2) * 4 + k % 4)->b[j][k / 4], acc[i][j][c]);
	warp_meet();
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++)
			used(i, j);
#else
#pragma unroll
	for (int i = 0; i < ROWS; i++)
#pragma unroll
		for (int j = 0; j < COLUMNS; j++) {
			mma16x8<K>(acc[i][j], f.a[i], f.b[j]);
			used(i, j);
		}
#endif
}

// sum processes n stages: load(at, i) starts the copies of stage i, in order, to shared memory at
// number at: A's panel, and B's panel b numbers later. STAGES buffers of size numbers alternate. An
// operand of the next step, which may be in the next stage, is read as soon as it is no longer needed
// for this one, so that the tensor cores wait neither for shared memory nor at the barrier. All threads
// take part, and shared memory is free on return.
template <int T> template <bool B_K_MAJOR, bool A_K_MAJOR,
    class Load> DEVICE void Tile<T>::sum(double *shared, int size, int b, int n, Load load) {
	static_assert(BLOCK_K % MMA_K == 0, "a stage is whole steps");
	constexpr int steps = BLOCK_K / MMA_K;
	constexpr int a_next = A_K_MAJOR ? 1 : T + PAD, a_row = A_K_MAJOR ? BLOCK_K + PAD : 1;
	constexpr int b_next = B_K_MAJOR ? 1 : T + PAD, b_column = B_K_MAJOR ? BLOCK_K + PAD : 1;
	const double *own_a = shared + place * a_next + (row0 + group) * a_row;
	const double *own_b = shared + b + place * b_next + (col0 + group) * b_column;
	Fragment<2, columns> f;
	auto fetch_a = [&](int i, const double *from) {
#pragma unroll
		for (int s = 0; s < MMA_K / 4; s++)
#pragma unroll
			for (int r = 0; r < 2; r++)
				f.a[i][s][r] = from[4 * s * a_next + (16 * i + 8 * r) * a_row];
	};
	auto fetch_b = [&](int j, const double *from) {
#pragma unroll
		for (int s = 0; s < MMA_K / 4; s++)
			f.b[j][s] = from[4 * s * b_next + 8 * j * b_column];
	};
	int at = 0; // of the stage
#pragma unroll 1
	for (int i = 0; i < STAGES; i++) {
		if (i < n)
			load(i * 8 * size, i);
		copy_commit(); // also without copies: copy_wait counts groups
	}
	copy_wait<STAGES - 1>();
	barrier();
	if (n > 0) {
#pragma unroll
		for (int i = 0; i < 2; i++)
			fetch_a(i, own_a);
#pragma unroll
		for (int j = 0; j < columns; j++)
			fetch_b(j, own_b);
	}
#pragma unroll 1
	for (int i = 0; i < n; i++) {
		int next = at == (STAGES - 1) * size ? 0 : at + size;
#pragma unroll
		for (int step = 0; step < steps; step++) {
			bool last = step + 1 == steps;
			if (last) {
				copy_wait<STAGES - 2>();
				barrier(); // the next stage is complete, and this one has been read
			}
			const double *next_a = own_a + (last ? next : at + (step + 1) * MMA_K * a_next);
			const double *next_b = own_b + (last ? next : at + (step + 1) * MMA_K * b_next);
			mma(acc, f, [&](int r, int j) {
				if (j == columns - 1)
					fetch_a(r, next_a);
				if (r == 1)
					fetch_b(j, next_b);
			});
		}
		if (i + STAGES < n)
			load(8 * at, i + STAGES);
		copy_commit();
		at = next;
	}
	barrier(); // the last step has read numbers that it does not need
}

// triangle returns the n'th pair (i, j), i ≥ j, counted row by row.
DEVICE void triangle(long long n, long long &i, long long &j) {
	i = (long long)((sqrt(8.0 * n + 1) - 1) / 2);
	if (i * (i + 1) / 2 > n)
		i--;
	if ((i + 1) * (i + 2) / 2 <= n)
		i++;
	j = n - i * (i + 1) / 2;
}
