// Pullback in mixed precision: the sums of pullback.cu for the features φ̃ of
// digits.cuh, with 2·Ḡ in whole numbers too.
//
// pullback_digits   splits a run's matrix beforehand. Row k of H_kj = Ḡ_kj·A1_j
//                   (j ≠ k) is divided by a power of two that leaves |h| ≤ 2^38
//                   and written in five signed digits to base 256: an error of
//                   2^-39 of the row's largest at most. block 128
//   launch once before pullback_mixed, for all runs whose stretches follow; runs
//   of the same f0 and m share a place
//   runs [R][8]     f0, m, split, diag0, below, diag1, place, unused; place is where the
//                   run's part of the workspace begins, in bytes, a multiple of 16
//   jobs [R'][2]    run, tk: one for each of a run's t = ceil(m/64) tiles of rows
//   room            the workspace; a run takes t²·20480 + t·1536 bytes (some
//                   5·m²): digits [tk][tj][5][64 k][64 j], then units [64t] of
//                   float64, then records [64t] of 16 bytes
//   x [N,Q] is not read; even may be null as for the other passes, and must be
//                   null here if and only if it is there
// pullback_mixed    ROWS, BANK, gram, cbar, room, places, part; block 128
//   jobs [J][3]     stretch, tk, slot, and part [slot][64][4+3q], as pullback_64
//   places [S]      for each stretch the place of its run
//   shared memory   41728 bytes: panels 8·5120, gates 512, flags 256
//   features        over a run: 32768 at most, so that no sum leaves int32
//   precision       twelve of fifteen digit products; the three dropped are below
//                   2^-38 of the largest of their row, some 2^-40 each and of
//                   either sign, like Ḡ's own rounding. The sum over j is exact,
//                   joined in int64; y·C̄ is added in float64; ∂/∂E[φ], the derivatives
//                   and their products in float32, each 32 rows' sums added to
//                   float64
// Five digits: an error of Ḡ acts on all rows alike and grows with N where the
// features' own (6e-8, at random) grow with √N. By that estimate, which no run has
// tested, four digits (2^-31) would be the larger of the two from N = 10^5 on, five
// from N = 10^9.
//
// Operations for a row: 12·64² int8 products for 64 by 64 features (12·N·M²), 64
// features (as in moments_mixed.cu, and some 11 float64 operations for each 32
// rows), and for each of the M contractions about 60 float32 and 3+D float64
// operations, estimated from the source.
//
// Expected on the card of moments_mixed.cu and as there, not timed, N = 10^6, M =
// 4096, D = 1: products 0.61 s, features beside them 0.30 s, contractions 0.03 s;
// products in float64 26 s.
//
// Against float64 in emulation (N ≤ 300, M ≤ 150, Q ≤ 4, D ≤ 5) the sums differed
// by 1e-7 to 4e-7 of their norm, now and then 1e-6.
#include "contract_mixed.cuh"
#include "tile.cuh"

// Digits of Ḡ; their chunk for 64 by 64 entries in bytes, and how far h reaches.
constexpr int GRAM_DIGITS = 5, CHUNK = GRAM_DIGITS * 64 * 64, REACH = 38;

// Matrix is a run's part of the workspace.
struct Matrix {
	char *digits;
	double *units;
	Record *records;
	long long tiles;
};

DEVICE Matrix matrix_at(const int *room, long long place, long long m) {
	long long t = (m + 63) / 64;
	char *p = (char *)room + place;
	return {p, (double *)(p + t * t * CHUNK), (Record *)(p + t * t * CHUNK + 512 * t), t};
}

KERNEL(128) pullback_digits(const long long *runs, const long long *jobs, const int *even, double delta, long long q, const double *center, const double *decay, const double *turn, const double *amp, const double *gram, int *room) {
	Rows r = {nullptr, nullptr, nullptr, even, delta, q, 0};
	Bank b = {center, decay, turn, nullptr, amp, nullptr, nullptr, nullptr};
	const long long *job = jobs + 2 * (long long)blockIdx.x;
	const long long *run = runs + 8 * job[0];
	Stretch s = {0, 0, run[0], run[1], run[2], run[3], run[4], run[5]};
	Matrix to = matrix_at(room, run[6], s.m);
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	long long k0 = 64 * job[1];
	if (threadIdx.x < 64 && k0 + threadIdx.x < s.m)
		to.records[k0 + threadIdx.x] = record_of(r, b, s.f0 + k0 + threadIdx.x);
#pragma unroll 1
	for (int row = warp; row < 64; row += 4) {
		long long k = k0 + row;
		auto entry = [&](long long j) { return j < s.m && k < s.m && j != k ? gram[gram_entry(s, j, k)] * b.amp[s.f0 + j] : 0.0; };
		double most = 0;
		for (long long j = lane; j < s.m; j += 32) {
			double h = fabs(entry(j));
			most = h <= most ? most : h; // NaN stays
			if (!(most <= 1e300))
				most = 1e301;
		}
#pragma unroll
		for (int half = 16; half > 0; half /= 2)
			most = fmax(most, shuffle_xor(most, half));
		int e = 0;
		bool sound = most >= 1e-290 && most <= 1e300;
		if (sound)
			frexp(most, &e);
		double factor = sound ? ldexp(1.0, REACH - e) : 0.0;
		if (lane == 0)
			to.units[k] = sound ? ldexp(2.0 / 127, e - REACH) : most < 1 ? 0.0 : not_a_number();
		for (long long j = 4 * lane; j < 64 * to.tiles; j += 128) {
			int words[GRAM_DIGITS] = {};
#pragma unroll
			for (int i = 0; i < 4; i++) {
				double h = sound ? rint(entry(j + i) * factor) : 0.0;
				unsigned long long v = ((unsigned long long)(long long)h + 0x8080808080ull) ^ 0x8080808080ull;
#pragma unroll
				for (int x = 0; x < GRAM_DIGITS; x++)
					words[x] |= (int)((unsigned)(v >> 8 * (GRAM_DIGITS - 1 - x) & 0xff) << 8 * i);
			}
#pragma unroll
			for (int x = 0; x < GRAM_DIGITS; x++)
				*(int *)(to.digits + (job[1] * to.tiles + j / 64) * CHUNK + x * 4096 + row * 64 + j % 64) = words[x];
		}
	}
}

// Places in shared memory, in words: digits of Ḡ, digits of φ̃, gates, flags of rows.
constexpr int ROOM_PHI = GRAM_DIGITS * PLANE, ROOM_GATES = ROOM_PHI + 3 * PLANE, ROOM_FLAGS = ROOM_GATES + 2 * PIECE;

// WHOLE is between the rows of data of the tile of sums that takes their place.
constexpr int WHOLE = 66;

// copy_digits brings a chunk of Ḡ's digits to shared memory.
DEVICE void copy_digits(const char *from, int *panel) {
	struct alignas(16) Four {
		int w[4];
	};
#pragma unroll 5
	for (int e = threadIdx.x; e < CHUNK / 16; e += 128)
		*(Four *)(panel + e / 4 * LD + e % 4 * 4) = ((const Four *)from)[e];
}

// scatter writes digits of φ̃ for 32 rows of a piece at one of the 64 features of a
// stage, byte by byte.
DEVICE void scatter(signed char *out, Course &course, const Rows &r, const Bank &b, long long base, int n, int first, const float *gates, int *flags) {
	course.begin(r, b, base, n, first);
	bool even = course.even;
#pragma unroll 4
	for (int i = first; i < first + 32; i++) {
		bool bad = false;
		int v = 0;
		if (even)
			v = balanced(fixed_at(course.glide(), gates[i], bad));
		else if (i < n)
			v = balanced(fixed_at(course.plain(r, b, base + i), gates[i], bad));
		if (bad || course.bad())
			flags[i] = 1;
#pragma unroll
		for (int x = 0; x < 3; x++)
			out[4 * (x * PLANE + i * LD)] = (signed char)(v >> 8 * (2 - x));
	}
}

typedef DigitTile<GRAM_DIGITS, 3, 5> PullTile;

// pull makes the tile of Σ_j h_kj·v_nj for the 64 features of tile tk and the n rows
// from base.
DEVICE void pull(PullTile &tile, const Rows &r, const Bank &b, const Stretch &s, const Matrix &g, long long tk, long long base, int n, int *shared) {
	int side = threadIdx.x / 64, at = threadIdx.x % 64;
	float *gates = (float *)(shared + ROOM_GATES);
	signed char *out = (signed char *)(shared + ROOM_PHI) + at;
	tile.clear();
	barrier();
	stage_gates(r, base, n, gates);
	if (side == 0)
		shared[ROOM_FLAGS + at] = 0;
	for (long long tj = 0; tj < g.tiles; tj++) {
		barrier();
		copy_digits(g.digits + (tk * g.tiles + tj) * CHUNK, shared);
		long long local = 64 * tj + at;
		if (local < s.m) {
			Course course;
			course.open(r, s.f0 + local, g.records[local]);
			scatter(out, course, r, b, base, n, side * 32, gates + (local < s.split ? 0 : PIECE), shared + ROOM_FLAGS);
		} else
			for (int i = side * 32; i < side * 32 + 32; i++)
				for (int x = 0; x < 3; x++)
					out[4 * (x * PLANE + i * LD)] = 0;
		barrier();
		tile.multiply(shared, shared + ROOM_PHI);
	}
	barrier();
	long long *sums = (long long *)shared;
#pragma unroll
	for (int i = 0; i < 2; i++)
#pragma unroll
		for (int j = 0; j < 4; j++)
#pragma unroll
			for (int c = 0; c < 4; c++)
				sums[tile.col(j, c) * WHOLE + tile.row(i, c)] = tile.whole(i, j, c);
	barrier();
}

template <int INPUTS>
DEVICE void pullback_digital(const Rows &r, const Bank &b, const long long *stretches, const long long *jobs, const double *gram, const double *cbar, const int *room, const long long *places, double *part, int *shared) {
	const long long *job = jobs + 3 * (long long)blockIdx.x;
	Stretch s = stretch_at(stretches, job[0]);
	Matrix g = matrix_at(room, places[job[0]], s.m);
	int at = threadIdx.x % 64, side = threadIdx.x / 64;
	long long local = 64 * job[1] + at, k = s.f0 + local, wide = width(r.q);
	bool there = local < s.m, bad = false;
	const float *gates = (const float *)(shared + ROOM_GATES) + (local < s.split ? 0 : PIECE);
	const long long *sums = (const long long *)shared + at;
	double total[4 + 3 * INPUTS];
#pragma unroll 1
	for (int i = 0; i < wide; i++)
		total[i] = 0;
	PullTile tile;
	for (long long base = s.lo; base < s.hi; base += PIECE) {
		int n = (int)(s.hi - base < PIECE ? s.hi - base : PIECE), first = side * 32, end = first + 32 < n ? first + 32 : n;
		pull(tile, r, b, s, g, job[1], base, n, shared);
		if (!there || first >= end)
			continue;
		float a1 = (float)b.amp[k], a2 = (float)(4 * b.ripple[k] * gram[gram_entry(s, local, local)]);
		double unit = g.units[local];
		Course course;
		course.open(r, k, g.records[local]);
		course.begin(r, b, base, n, first);
		Slopes<INPUTS> slopes;
		slopes.clear();
#pragma unroll 1
		for (int i = first; i < end; i++) {
			double bar = 0;
			for (long long o = 0; o < r.d; o++)
				bar = fma(r.y[(base + i) * r.d + o], cbar[k * r.d + o], bar);
			bar = fma(unit, (double)sums[i * WHOLE], bar);
			if (shared[ROOM_FLAGS + i])
				bar = not_a_number();
			Spot spot = course.next(r, b, base + i);
			bad |= !spot.ok;
			slopes.add(r, b, base + i, k, spot, gates[i], (float)bar, a1, a2);
		}
		bad |= course.bad();
		slopes.addTo(total, r.q);
	}
	barrier();
	double barSecond = there ? gram[gram_entry(s, local, local)] : 0, *out = (double *)shared + at * wide;
#pragma unroll 1
	for (int turn = 1; turn >= 0; turn--) {
		if (side == turn)
#pragma unroll 1
			for (int i = 0; i < wide; i++) {
				double v = bad ? not_a_number() : i == 2 || i == 3 ? barSecond * total[i] : total[i];
				out[i] = turn == 1 ? v : out[i] + v;
			}
		barrier();
	}
	for (long long e = threadIdx.x; e < 64 * wide; e += 128)
		part[job[2] * 64 * wide + e] = ((const double *)shared)[e];
}

KERNEL(128) pullback_mixed(ROWS_BANK, const double *gram, const double *cbar, const int *room, const long long *places, double *part) {
	SHARED(int, shared);
	if (q == 1)
		pullback_digital<1>(ROWS_OF_ARGUMENTS, BANK_OF_ARGUMENTS, stretches, jobs, gram, cbar, room, places, part, shared);
	else
		pullback_digital<MAX_INPUTS>(ROWS_OF_ARGUMENTS, BANK_OF_ARGUMENTS, stretches, jobs, gram, cbar, room, places, part, shared);
}
