// Pullback: the sums over rows that the features' adjoint is made of, given Ḡ
// and C̄ (cpu/pullback.go):
//
//	∂/∂φ̄_nk = Σ_d y_nd C̄_kd + 2 Σ_{j≠k} Ḡ_kj φ̄_nj,   ∂/∂E[φ_nk²] = Ḡ_kk
//
// pullback_T   a block owns T features over a chunk's rows of a slab and walks them T
//              at a time: product makes T×T numbers of 2·Ḡφ̄ on the tensor cores,
//              they pass through shared memory to one thread a feature (two
//              take turns at the rows), which contracts them with the
//              feature's derivatives and keeps its sums in registers.
//   shapes     part [slot][2][T][4+3q], the sums of either thread; rows beyond m are
//              zeros
//   precision  float64 throughout, each sum in the order of its rows
//   operations 2·N·M² flops; and N·M contractions of 42 float64 instructions on
//              evenly spaced rows, 75 elsewhere
#include "contract.cuh"
#include "product.cuh"
#include "rows.cuh"

// NEAR_OUTPUTS is how many outputs of the rows and of C̄ a block copies to shared
// memory: with them the copies fit beside the half tile.
constexpr int NEAR_OUTPUTS = 2;

// Near is what the contraction of T rows reads again and again, in shared memory if
// there is one input: otherwise each step waits for device memory in turn. Rows are
// counted from row0, features from k0.
template <int T> struct Near {
	Rows rows;
	Bank bank;
	const double *cbar;
	long long row0, k0;

	// open needs all threads; a barrier has to follow before the rest is used.
	template <int INPUTS> DEVICE void open(const Rows &r, const Bank &b, const Chunk &s, const double *allCbar, long long base, long long first, double *room) {
		rows = r;
		bank = b;
		cbar = allCbar;
		row0 = k0 = 0;
		if (INPUTS > 1 || r.d > NEAR_OUTPUTS)
			return;
		row0 = base;
		k0 = first;
		int n = (int)(s.hi - base < T ? s.hi - base : T), d = (int)r.d;
		long long left = s.f0 + s.m - first;
		int m = (int)(left < T ? left : T);
		double *y = room + 3 * T, *own = y + NEAR_OUTPUTS * T;
		rows = stage<1>(r, base, n, T, 2 * T, room);
		rows.y = y;
		bank.center = own;
		bank.decay = own + T;
		bank.turn = own + 2 * T;
		bank.phase = own + 3 * T;
		bank.rot = own + 4 * T;
		cbar = own + (4 + ROTATIONS) * T;
		for (int e = threadIdx.x; e < n * d; e += 2 * T)
			y[e] = r.y[base * d + e];
		for (int e = threadIdx.x; e < m; e += 2 * T) {
			own[e] = b.center[first + e];
			own[T + e] = b.decay[first + e];
			own[2 * T + e] = b.turn[first + e];
			own[3 * T + e] = b.phase[first + e];
		}
		for (int e = threadIdx.x; r.even && e < m * ROTATIONS; e += 2 * T)
			own[4 * T + e] = b.rot[first * ROTATIONS + e];
		for (int e = threadIdx.x; e < m * d; e += 2 * T)
			own[(4 + ROTATIONS) * T + e] = allCbar[first * d + e];
	}
};

// contract adds rows lo … hi−1 of one feature; bars has 2·Ḡφ̄ of them, half_ld apart.
template <int T, int INPUTS>
DEVICE void contract(Sums<INPUTS> &sums, const Near<T> &near, long long lo, long long hi, long long k, int column, const double *bars, double a1, double a2) {
	const Rows &r = near.rows;
	const double *cbar = near.cbar + (k - near.k0) * r.d;
	const double *y = r.y + (lo - near.row0) * r.d;
	int outputs = (int)r.d, begin = (int)(lo - near.row0), n = (int)(hi - lo);
	Wave wave;
	wave.begin(r, near.bank, begin, n, k - near.k0, column);
	wave.walk<INPUTS>(r, near.bank, [&](auto value) {
		for (long long i = 0; i < n; i++, bars += half_ld<T>, y += outputs) {
			double bar = *bars;
			if (outputs > 0) // mostly one: no loop for that
				bar = fma(y[0], cbar[0], bar);
#pragma unroll 1
			for (int o = 1; o < outputs; o++)
				bar = fma(y[o], cbar[o], bar);
			sums.add(r, near.bank, begin + i, k - near.k0, value(i), gate_at(r, begin + i, column), bar, a1, a2);
		}
	});
}

// second_adjoint is ∂/∂E[φ_nk²] = Ḡ_kk of the run's feature number local.
DEVICE double second_adjoint(const Chunk &s, const double *gram, long long local) { return gram[gram_entry(s, local, local)]; }

// What is not used by product is read again after it: registers are for the tile.
template <int T, int INPUTS>
DEVICE void pullback(const Rows &r, const Bank &b, const long long *chunks, const long long *jobs, long long slab, long long most, const double *store, const double *gram, const double *cbar, double *part, double *shared) {
	const long long *job = jobs + 3 * (long long)blockIdx.x;
	auto chunk = [&] { return slab_at(chunks, job[0], slab, most); };
	constexpr int walked = T / 4; // of a half tile, a thread's rows
	int at = threadIdx.x % T, side = threadIdx.x / T;
	double *own = part + ((2 * job[2] + side) * T + at) * width(r.q);
	Sums<INPUTS> sums;
	sums.clear();
	long long base = chunk().lo, end = chunk().hi;
	if (base == end)
		return;
	if (slab > 0)
		sums.load(own, r.q);
	for (; base < end; base += T) {
		Tile<T> tile;
		product<T>(tile, chunk(), gram, store, T * job[1], base, shared);
		Chunk s = chunk();
		long long local = T * job[1] + at, k = s.f0 + local;
		Near<T> near;
		near.template open<INPUTS>(r, b, s, cbar, base, k - at, shared + T / 2 * half_ld<T>);
#pragma unroll 1
		for (int half = 0; half < 2; half++) {
			bars<T>(tile, half, 2, shared);
			barrier();
			long long lo = base + half * T / 2 + side * walked, hi = lo + walked < end ? lo + walked : end;
			if (local < s.m && lo < hi)
				contract<T>(sums, near, lo, hi, k, local < s.split ? 0 : 1, shared + side * walked * half_ld<T> + at,
							b.amp[k], 4 * b.ripple[k] * second_adjoint(s, gram, local));
			barrier();
		}
	}
	Chunk s = chunk();
	long long local = T * job[1] + at;
	bool last = end == chunk_at(chunks, job[0]).hi;
	sums.store(own, r.q, local < s.m && last ? second_adjoint(s, gram, local) : 1);
}

KERNEL(128) pullback_64(ROWS_BANK, long long slab, long long most, const double *store, const double *gram, const double *cbar, double *part) {
	SHARED(double, shared);
	if (q == 1)
		pullback<64, 1>(ROWS_OF_ARGUMENTS, BANK_OF_ARGUMENTS, chunks, jobs, slab, most, store, gram, cbar, part, shared);
	else
		pullback<64, MAX_INPUTS>(ROWS_OF_ARGUMENTS, BANK_OF_ARGUMENTS, chunks, jobs, slab, most, store, gram, cbar, part, shared);
}

// pullback_128 takes one input: with the sums of more, its registers do not suffice.
KERNEL(256) pullback_128(ROWS_BANK, long long slab, long long most, const double *store, const double *gram, const double *cbar, double *part) {
	SHARED(double, shared);
	pullback<128, 1>(ROWS_OF_ARGUMENTS, BANK_OF_ARGUMENTS, chunks, jobs, slab, most, store, gram, cbar, part, shared);
}
