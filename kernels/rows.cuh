// A job of up to 32 rows: a block computes, for each row, sums over all features of the run.
// factorized_residual and predict_rows use it.
//
// A thread owns features tid, tid + THREADS, … and processes the rows of one feature at a time. It
// has 32 accumulators in registers: ROWS rows by 32/ROWS sums per row. With more sums the rows are
// split into parts, and beyond four sums the features are recomputed for the next four:
// accumulators in shared memory would cost a load and a store per row and feature, more than half
// the cost of a feature, and would leave space for only one block per multiprocessor.
//
// The shapes alone determine the order in which the threads' sums are added: along a warp by
// halving exchanges, then over the warps.
#pragma once

#include "feature.cuh"

// stage copies n rows, at most most, to shared memory, first x [n,Q], then gate [n,2] (ones without
// windows), and returns them as rows counted from lo. Only rows of one input can be evenly spaced.
// The caller ensures that room is free, and calls a barrier before the rows are read.
template <int INPUTS> DEVICE Rows stage(const Rows &r, long long lo, int n, int most, int threads, double *room) {
	int q = INPUTS == 1 ? 1 : (int)r.q;
	double *gate = room + most * q;
	for (int e = threadIdx.x; e < n * q; e += threads)
		room[e] = r.x[lo * q + e];
	for (int e = threadIdx.x; e < 2 * n; e += threads)
		gate[e] = r.gate ? r.gate[2 * lo + e] : 1.0;
	return {room, nullptr, gate, INPUTS == 1 && r.even ? r.even + lo : nullptr, r.delta, q, r.d};
}

// walk adds a thread's features to its sums over rows at … at+n−1 of the staged rows. Terms defines
// the sums: open(params, k) loads the feature's data, keep(v, g) reduces its value at a row to a few
// numbers, and add(sums, kept) adds these.
//
// Full, evenly spaced rows use registers. Others pass through shared memory, with space for
// KEPT_ROWS per thread: accumulators in registers cannot be indexed by a loop that is not unrolled,
// and the unrolled formula would not fit into the instruction caches.
template <int ROWS, int THREADS, int INPUTS, class Terms>
DEVICE void walk(double (&acc)[32], Terms &terms, const Rows &r, const FeatureParams &params, const Chunk &s, int at,
    int n, double *room) {
	auto *kept = (typename Terms::Kept *)room;
	constexpr int columns = 32 / ROWS;
	for (long long local = threadIdx.x; local < s.m; local += THREADS) {
		long long k = s.f0 + local;
		int column = local < s.split ? 0 : 1;
		terms.open(params, k);
		Wave wave;
		wave.begin(r, params, at, n, k, column);
		if (INPUTS == 1 && wave.turning && n == ROWS) {
#pragma unroll
			for (int i = 0; i < ROWS; i++) {
				double g = gate_at(r, at + i, column);
				terms.add(acc + i * columns, terms.keep(wave.turned(g), g));
			}
			continue;
		}
		wave.walk<INPUTS>(r, params, [&](auto value) {
#pragma unroll
			for (int first = 0; first < ROWS; first += KEPT_ROWS) {
				int end = n < first + KEPT_ROWS ? n : first + KEPT_ROWS;
#pragma unroll 1
				for (int i = first; i < end; i++) {
					double g = gate_at(r, at + i, column);
					kept[(i - first) * THREADS + threadIdx.x] = terms.keep(value(i, g), g);
				}
#pragma unroll
				for (int i = first; i < first + KEPT_ROWS; i++)
					if (i < n)
						terms.add(acc + i * columns, kept[(i - first) * THREADS + threadIdx.x]);
			}
		});
	}
}

// totals adds 32 numbers over the block's threads; thread t < 32 receives total t.
template <int THREADS> DEVICE double totals(double (&v)[32], double *room) {
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	fold<16>(v);
	fold<8>(v);
	fold<4>(v);
	fold<2>(v);
	fold<1>(v);
	room[threadIdx.x] = v[0];
	barrier();
	double sum = 0;
	if (warp == 0)
#pragma unroll
		for (int w = 0; w < THREADS / 32; w++)
			sum += room[32 * w + lane];
	barrier();
	return sum;
}

// residuals computes the residuals of a job's rows lo … lo+n−1 and their sum of squares: fit(acc,
// d0, at, count) adds the thread's share of Σ_k φ̄_nk m_kd to acc, for count rows from lo + at and
// 32/ROWS outputs from d0.
template <int ROWS, int THREADS, class Fit>
DEVICE void residuals(const Rows &r, long long lo, int n, double *res, double *value, double *room, Fit fit) {
	constexpr int columns = 32 / ROWS;
	double square = 0;
	for (long long d0 = 0; d0 < r.d; d0 += columns)
		for (int at = 0; at < n; at += ROWS) {
			int count = n - at < ROWS ? n - at : ROWS;
			double acc[32];
#pragma unroll
			for (int i = 0; i < 32; i++)
				acc[i] = 0;
			fit(acc, d0, at, count);
			double total = totals<THREADS>(acc, room);
			int i = threadIdx.x / columns;
			long long o = d0 + threadIdx.x % columns, entry = (lo + at + i) * r.d + o;
			if (i < count && o < r.d) {
				double e = r.y[entry] - total;
				res[entry] = e;
				square = fma(e, e, square);
			}
		}
	if (threadIdx.x >= 32)
		return;
#pragma unroll
	for (int half = 16; half > 0; half /= 2)
		square += shuffle_xor(square, half);
	if (threadIdx.x == 0)
		value[blockIdx.x] = square;
}
