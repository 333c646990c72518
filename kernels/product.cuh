// product: a tile of out_kn = Σ_{j≠k} w·S_kj φ̄_nj for T features k of a run, T rows
// n and all the run's features j, as pullback and predict_quad need it. The
// panels are made sixteen features j at a time: S from its blocks, φ̄ from the
// rows. Left to do afterwards: bars, which moves half the tile to shared memory.
#pragma once

#include "tile.cuh"

// panels makes both panels of a stage: features j0 … j0+15 of the run by the T
// features k of which the thread's is column k, and by T rows.
template <int T>
DEVICE void panels(double *a, const Rows &r, const Bank &b, const Chunk &s, const double *gram, const GramColumn &column, long long k, long long base, long long hi, long long j0) {
	constexpr int passes = STAGE * 16 / Tile<T>::threads, each = T / 16;
	double *p = a + Tile<T>::panel;
	a += threadIdx.x % T;
#pragma unroll 4
	for (int i = threadIdx.x / T; i < STAGE; i += 2) {
		long long j = j0 + i;
		a[i * Tile<T>::ld] = j < s.m && k < s.m && j != k ? gram[column.entry(j)] : 0.0;
	}
#pragma unroll 1
	for (int pass = 0; pass < passes; pass++) {
		int own = threadIdx.x / 16 + pass * (STAGE / passes), lane = threadIdx.x % 16;
		long long j = j0 + own, row = base + lane, f = s.f0 + j;
		double *out = p + own * Tile<T>::ld + lane;
		bool there = j < s.m;
		double amp = there ? b.amp[f] : 0;
		int steps = there && row < hi ? (int)((hi - row + 15) / 16 < each ? (hi - row + 15) / 16 : each) : 0;
		Wave<16> wave;
		wave.turning = false;
		if (steps > 0)
			wave.begin(r, b, row, steps, f, j < s.split ? 0 : 1);
		if (steps == each && wave.turning) {
#pragma unroll
			for (int i = 0; i < each; i++)
				out[16 * i] = amp * wave.turned(r).cos;
			continue;
		}
#pragma unroll 1
		for (int i = 0; i < steps; i++)
			out[16 * i] = amp * wave.next(r, b).cos;
		for (int i = steps; i < each; i++)
			out[16 * i] = 0;
	}
}

// product needs all threads of the block; rows at or beyond hi and features
// beyond the run are zeros.
template <int T>
DEVICE void product(Tile<T> &tile, const Rows &r, const Bank &b, const Chunk &s, const double *gram, long long k0, long long base, long long hi, double *shared) {
	long long k = k0 + threadIdx.x % T;
	GramColumn column = gram_column(s, k);
	tile.clear();
	overlap<T>(shared, (s.m + STAGE - 1) / STAGE,
			   [&](double *stage, long long i) { panels<T>(stage, r, b, s, gram, column, k, base, hi, i * STAGE); },
			   [&](const double *stage) { tile.multiply(stage, stage + Tile<T>::panel); });
}

// HALF is between the rows of the half tile that bars leaves: [T/2 rows][T].
template <int T> constexpr int half_ld = T + 2;

// bars writes the tile's columns (rows of data) of one half, times w, to shared
// memory, [T/2][half_ld]: row of data, feature.
template <int T> DEVICE void bars(const Tile<T> &tile, int half, double w, double *shared) {
#pragma unroll
	for (int i = 0; i < 2; i++)
#pragma unroll
		for (int j = 0; j < Tile<T>::columns; j++)
#pragma unroll
			for (int c = 0; c < 4; c++) {
				int n = tile.col(j, c) - half * T / 2;
				if (n >= 0 && n < T / 2)
					shared[n * half_ld<T> + tile.row(i, c)] = w * tile.acc[i][j][c];
			}
}
