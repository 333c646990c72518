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

constexpr int MMA_K = 4; // terms of the sum per instruction

// A Fragment is a thread's part of a step's operands: a for ROWS times 16 rows by MMA_K, b for
// MMA_K by COLUMNS times 8 columns.
//	a[r] = A[group + 8r][place]   b = B[place][group]
template <int ROWS, int COLUMNS> struct Fragment {
	double a[ROWS][2], b[COLUMNS];
};

template <int ROWS, int COLUMNS> DEVICE void mma(double (&acc)[ROWS][COLUMNS][4], const Fragment<ROWS, COLUMNS> &f) {
#ifdef VSSGP_EMU
	const void *const *all = warp_gather(&f);
	auto of = [&](int lane) { return (const Fragment<ROWS, COLUMNS> *)all[lane]; };
	int group = threadIdx.x % 32 / 4, place = threadIdx.x % 4;
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++)
			for (int c = 0; c < 4; c++)
				for (int k = 0; k < MMA_K; k++)
					acc[i][j][c] = fma(of(group * 4 + k)->a[i][c / 2], of((2 * place + c % 2) * 4 + k)->b[j], acc[i][j][c]);
	warp_meet();
#elif VSSGP_ARCH >= 900
#pragma unroll
	for (int i = 0; i < ROWS; i++)
#pragma unroll
		for (int j = 0; j < COLUMNS; j++)
			asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
						 : "+d"(acc[i][j][0]), "+d"(acc[i][j][1]), "+d"(acc[i][j][2]), "+d"(acc[i][j][3])
						 : "d"(f.a[i][0]), "d"(f.a[i][1]), "d"(f.b[j]));
#else
#pragma unroll
	for (int i = 0; i < ROWS; i++)
#pragma unroll
		for (int j = 0; j < COLUMNS; j++)
#pragma unroll
			for (int r = 0; r < 2; r++)
				asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
							 : "+d"(acc[i][j][2 * r]), "+d"(acc[i][j][2 * r + 1])
							 : "d"(f.a[i][r]), "d"(f.b[j]));
#endif
}

// sum processes n stages: load(at, i) starts the copies of stage i, in order, to shared memory at
// number at: A's panel, and B's panel b numbers later. STAGES buffers of size numbers alternate. The
// operands of a step are read while the previous one is multiplied, so that the tensor cores wait
// neither for shared memory nor at the barrier. All threads take part, and shared memory is free on
// return.
template <int T> template <bool B_K_MAJOR, bool A_K_MAJOR,
    class Load> DEVICE void Tile<T>::sum(double *shared, int size, int b, int n, Load load) {
	static_assert(BLOCK_K == 2 * MMA_K, "a stage is two steps");
	constexpr int a_next = A_K_MAJOR ? 1 : T + PAD, a_row = A_K_MAJOR ? BLOCK_K + PAD : 1;
	constexpr int b_next = B_K_MAJOR ? 1 : T + PAD, b_column = B_K_MAJOR ? BLOCK_K + PAD : 1;
	const double *own_a = shared + place * a_next + (row0 + group) * a_row;
	const double *own_b = shared + b + place * b_next + (col0 + group) * b_column;
	auto fetch = [&](Fragment<2, columns> &f, int at, int step) {
		const double *pa = own_a + at / 8 + step * MMA_K * a_next, *pb = own_b + at / 8 + step * MMA_K * b_next;
#pragma unroll
		for (int i = 0; i < 2; i++)
#pragma unroll
			for (int r = 0; r < 2; r++)
				f.a[i][r] = pa[(16 * i + 8 * r) * a_row];
#pragma unroll
		for (int j = 0; j < columns; j++)
			f.b[j] = pb[8 * j * b_column];
	};
	int bytes = 8 * size, at = 0;
	Fragment<2, columns> first, second;
#pragma unroll 1
	for (int i = 0; i < STAGES; i++) {
		if (i < n)
			load(i * bytes, i);
		copy_commit(); // also without copies: copy_wait counts groups
	}
	copy_wait<STAGES - 1>();
	barrier();
	if (n > 0)
		fetch(first, 0, 0);
#pragma unroll 1
	for (int i = 0; i < n; i++) {
		fetch(second, at, 1);
		mma(acc, first);
		copy_wait<STAGES - 2>();
		barrier(); // the next stage is complete, and this one has been read
		int next = at == (STAGES - 1) * bytes ? 0 : at + bytes;
		if (i + 1 < n)
			fetch(first, next, 0);
		mma(acc, second);
		if (i + STAGES < n)
			load(at, i + STAGES);
		copy_commit();
		at = next;
	}
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
