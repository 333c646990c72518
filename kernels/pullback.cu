// On the CPU: cpu/pullback.go.
//
// Pullback: the sums over rows for the features' adjoint, given Ḡ and C̄:
//
//	∂/∂φ̄_nk = Σ_d y_nd C̄_kd + 2 Σ_{j≠k} Ḡ_kj φ̄_nj,   ∂/∂E[φ_nk²] = Ḡ_kk
//
// pullback_T   a block owns T features over a chunk's rows of a slab, processed T
//              at a time: product computes T×T entries of 2·Ḡφ̄ on the tensor cores,
//              they pass through shared memory to one thread per feature (two
//              alternate over the rows), which contracts them with the
//              feature's derivatives and adds them to its sums (contract.cuh).
//              Between two tiles the sums are stored in part; with several inputs, the
//              sums by input are in shared memory during the launch if kept is not 0,
//              otherwise in part, with the same bits.
//   shapes     part [slot][2][T][4+3q], the sums of either thread; rows beyond m are
//              zeros
//   precision  float64 throughout, each sum in the order of its rows
//   operations 2·N·M² flops; and N·M contractions of 31 float64 instructions on
//              evenly spaced rows, 70 elsewhere
#include "contract.cuh"
#include "product.cuh"
#include "rows.cuh"

// Near contains the data that the contraction of T rows reads repeatedly, in shared memory if there
// is one input: otherwise each step would wait for device memory. Rows are counted from row0,
// features from k0.
template <int T, int INPUTS> struct Near {
	Rows rows;
	FeatureParams params;
	const double *cbar;
	long long row0, k0;
	int outputs; // all of them, or none

	// open needs all threads; a barrier must follow before the data is used.
	DEVICE void open(const Rows &r, const FeatureParams &all, const Chunk &s, const double *allCbar, long long base,
	    long long first, double *room) {
		rows = r;
		params = all;
		cbar = nullptr;
		row0 = k0 = outputs = 0;
		if (INPUTS > 1)
			return;
		row0 = base;
		k0 = first;
		outputs = r.d <= NEAR_OUTPUTS ? (int)r.d : 0;
		int n = (int)(s.hi - base < T ? s.hi - base : T);
		long long left = s.f0 + s.m - first;
		int m = (int)(left < T ? left : T);
		double *y = room + 3 * T, *own = y + NEAR_OUTPUTS * T, *near = own + (4 + ROTATIONS) * T;
		rows = stage<1>(r, base, n, T, 2 * T, room);
		rows.y = y;
		params.center = own;
		params.decay = own + T;
		params.turn = own + 2 * T;
		params.phase = own + 3 * T;
		params.rot = own + 4 * T;
		cbar = near;
		for (int e = threadIdx.x; e < n * outputs; e += 2 * T)
			y[e] = r.y[base * outputs + e];
		for (int e = threadIdx.x; e < m; e += 2 * T) {
			own[e] = all.center[first + e];
			own[T + e] = all.decay[first + e];
			own[2 * T + e] = all.turn[first + e];
			own[3 * T + e] = all.phase[first + e];
		}
		for (int e = threadIdx.x; r.even && e < m * ROTATIONS; e += 2 * T)
			own[4 * T + e] = all.rot[first * ROTATIONS + e];
		for (int e = threadIdx.x; e < m * outputs; e += 2 * T)
			near[e] = allCbar[first * outputs + e];
	}
};

// contract adds rows lo … lo+n−1 of one feature; bars contains their 2·Ḡφ̄, pitch apart. With
// several inputs, the sums by input are in to, and of_rows is space for the RowAdjoints.
template <int T, int INPUTS>
DEVICE void contract(Sums<INPUTS> &sums, const Near<T, INPUTS> &near, long long lo, int n, long long k, int column,
    const double *bars, long long pitch, double a1, double a2, RowAdjoint *of_rows, InputSums to) {
	const Rows &r = near.rows;
	long long row0 = lo - near.row0, own = k - near.k0;
	const double *cbar = near.cbar + own * near.outputs, *y = r.y + row0 * near.outputs;
	Wave wave;
	wave.begin(r, near.params, row0, n, own, column);
	wave.walk<INPUTS>(r, near.params, [&](auto value) {
		for (int i = 0; i < n; i++) {
			double bar = bars[i * pitch], g = gate_at(r, row0 + i, column);
			if (near.outputs > 0)
				bar = fma(y[i * near.outputs], cbar[0], bar);
			if (near.outputs > 1)
				bar = fma(y[2 * i + 1], cbar[1], bar);
			sums.add(r, near.params, row0 + i, own, value(i, g), g, bar, a1, a2, of_rows + i * 2 * T);
		}
	});
	if (INPUTS > 1)
		sums.add_inputs(r, near.params, row0, n, own, of_rows, 2 * T, to);
}

// add_outputs adds Σ_d y_nd C̄_kd to bars of rows lo … lo+n−1.
DEVICE void add_outputs(const Rows &r, const double *cbar, long long lo, int n, long long k, double *bars, long long pitch) {
#pragma unroll 1
	for (int i = 0; i < n; i++) {
		double bar = bars[i * pitch];
#pragma unroll 1
		for (long long o = 0; o < r.d; o++)
			bar = fma(r.y[(lo + i) * r.d + o], cbar[k * r.d + o], bar);
		bars[i * pitch] = bar;
	}
}

// second_adjoint returns ∂/∂E[φ_nk²] = Ḡ_kk of the run's feature local.
DEVICE double second_adjoint(const Chunk &s, const double *gram, long long local) { return gram[gram_entry(s, local, local)]; }

// Data not used by product is read again after it, including the sums, to leave the registers to
// the tile.
template <int T, int INPUTS>
DEVICE void pullback(const Rows &r, const FeatureParams &params, const Chunk *chunks, const Job *jobs, long long slab,
    long long most, const double *store, const double *gram, const double *cbar, long long kept, double *part,
    double *shared) {
	const Job &job = jobs[blockIdx.x];
	auto chunk = [&] { return slab_at(chunks, job.chunk, slab, most); };
	constexpr int walked = T / 4; // of a half tile, a thread's rows
	constexpr int pitch = half_ld<T>, half_tile = T / 2 * pitch;
	constexpr int stages = STAGES * (Tile<T>::mn_major + Tile<T>::k_major);
	constexpr int most_rows = INPUTS == 1 ? walked : ADJOINTS / (2 * T); // of a contraction
	double *after = shared + half_tile;
	int at = threadIdx.x % T, side = threadIdx.x / T;
	double *own = part + ((2 * job.slot + side) * T + at) * width(r.q);
	long long base = chunk().lo, end = chunk().hi;
	auto by_input = [&]() -> InputSums {
		constexpr int used = half_tile + 2 * ADJOINTS;
		if (!kept)
			return {own + 4, 1};
		return {shared + (used > stages ? used : stages) + threadIdx.x, 2 * T};
	};
	for (int i = 0; INPUTS > 1 && i < 3 * r.q; i++)
		by_input().at[i * by_input().apart] = base == chunks[job.chunk].lo ? 0.0 : own[4 + i];
	for (; base < end; base += T) {
		Tile<T> tile;
		product<T, false>(tile, chunk(), gram, store, T * job.block, base, shared);
		Chunk s = chunk();
		long long local = T * job.block + at, k = s.f0 + local;
		Near<T, INPUTS> near;
		near.open(r, params, s, cbar, base, k - at, after);
		Sums<INPUTS> sums;
		if (base == chunks[job.chunk].lo)
			sums.clear();
		else
			sums.load(own);
#pragma unroll 1
		for (int half = 0; half < 2; half++) {
			bars<T>(tile, half, 2, shared);
			barrier();
			long long lo = base + half * T / 2 + side * walked, hi = lo + walked < end ? lo + walked : end;
			double *own_bars = shared + side * walked * pitch + at;
			if (local < s.m && lo < hi && near.outputs < r.d)
				add_outputs(r, cbar, lo, (int)(hi - lo), k, own_bars, pitch);
#pragma unroll 1
			for (; local < s.m && lo < hi; lo += most_rows, own_bars += most_rows * pitch) {
				int n = (int)(hi - lo < most_rows ? hi - lo : most_rows);
				contract(sums, near, lo, n, k, local < s.split ? 0 : 1, own_bars, pitch, params.amp[k],
				    4 * params.ripple[k] * second_adjoint(s, gram, local), (RowAdjoint *)after + threadIdx.x,
				    by_input());
			}
			barrier();
		}
		bool last = base + T >= chunks[job.chunk].hi;
		sums.store(own, local < s.m && last ? second_adjoint(s, gram, local) : 1);
	}
	for (int i = 0; INPUTS > 1 && i < 3 * r.q; i++)
		own[4 + i] = by_input().at[i * by_input().apart];
}

template <int T>
DEVICE void pullback(const Rows &r, const FeatureParams &params, const Chunk *chunks, const Job *jobs, long long slab,
    long long most, const double *store, const double *gram, const double *cbar, long long kept, double *part,
    double *shared) {
	if (r.q == 1)
		pullback<T, 1>(r, params, chunks, jobs, slab, most, store, gram, cbar, kept, part, shared);
	else
		pullback<T, MAX_INPUTS>(r, params, chunks, jobs, slab, most, store, gram, cbar, kept, part, shared);
}

KERNEL(128) pullback_64(PASS_ARGS, long long slab, long long most, const double *store, const double *gram,
    const double *cbar, long long kept, double *part) {
	SHARED(double, shared);
	pullback<64>(ROWS_OF_ARGS, FEATURE_PARAMS_OF_ARGS, chunks, jobs, slab, most, store, gram, cbar, kept, part, shared);
}

KERNEL(256) pullback_128(PASS_ARGS, long long slab, long long most, const double *store, const double *gram,
    const double *cbar, long long kept, double *part) {
	SHARED(double, shared);
	pullback<128>(ROWS_OF_ARGS, FEATURE_PARAMS_OF_ARGS, chunks, jobs, slab, most, store, gram, cbar, kept, part,
	    shared);
}
