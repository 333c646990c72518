// Moments in mixed precision: the Gram matrix of the features φ̃ of digits.cuh
// without any error but that of its last rounding to float64.
//
// moments_gram_mixed     parameters, jobs [J][4] and part [slot][64][64] are
//                        moments_gram_64's; block 128
//   shared memory        2·3·5120 (panels) + 512 (gates) + 512 (flags) = 31744 bytes
//   sums                 nine int8 digit products in int32, heaped by weight
//                        for 32768 rows at most, joined in int64
// moments_columns_mixed  parameters, jobs [J][3] and part [slot][128][5] are
//                        moments_columns'; block 128
//   shared memory        512 bytes
//   sums                 Σ φ̃·y in float64; Σ E[φ²] = Σ φ̃² + Σ spread, Σ φ̃² in
//                        whole numbers, the spread as contract_mixed.cuh has it
//
// What mixed guarantees. G is the Gram matrix of real features plus a diagonal
// that is not negative where A0, A1 and A2 are a feature's, but for the last rounding of its entries to float64; so
// G + I/τ has a Cholesky factor as far as a G made in float64 has. Measured with
// this arithmetic on the host, not on a card: N = 10^5 and 10^6 even rows, M = 128 frequencies
// so low that the features' space has some 20 dimensions, A0 = A2 = A1²/2 = 1/M, no
// spread, τ = 10^4; G's greatest eigenvalue is 2.4e9/τ at N = 10^6:
//
//	             |G − exact| / |G|    least eigenvalue of G + I/τ, times τ
//	             10^5      10^6       10^5      10^6      (10^6, P = 10^-4/N²)
//	float64      0         0          1.0       1.0       151.7
//	mixed        4.3e-9    4.2e-9     1.0       1.0       151.7
//	float32      1.2e-7    6.5e-8     −7.2      −56       153.2
//
// float32 is features and sums over 1024 rows in float32, float64's diagonal, and
// has no Cholesky factor where the eigenvalue is negative. C was 7e-9 to 1e-8 from
// float64's. P is the decay; at P = 1/N² mixed's G was 1.1e-8 and 7.7e-9 from
// float64's, at 10^-8/N² the least eigenvalue 1.015 in both.
//
// Operations for a row: 9·64² int8 products a tile (9·N·M²/2 in all), and 128
// features: on evenly spaced rows 47 instructions each with decay (counted in the
// machine code for sm_80; fewer without), none of them float64, and some 11
// float64 operations for each 64 rows; elsewhere 8 float64 operations (Q = 1).
//
// Expected, from these counts and nothing timed, on a card of 128 processors at
// 2.5 GHz with 1031 int8 products, 128 float32 and 2 float64 operations a clock
// each, if all units were always busy, N = 10^6, M = 4096, D = 1: products 0.23 s,
// features beside them 0.30 s with decay, columns 0.02 s; products in float64 13 s.
// On uneven rows the features take 3.3 s, most of all.
#include "contract_mixed.cuh"

// pack16 writes sixteen rows of a feature on an even piece, gates [16].
DEVICE void pack16(int *out, Course &course, const float *gates, bool &bad) {
	struct alignas(16) Four {
		int w[4];
	} digits[3];
#pragma unroll
	for (int f = 0; f < 4; f++) {
		int v[4];
#pragma unroll
		for (int i = 0; i < 4; i++)
			v[i] = balanced(fixed_at(course.glide(), gates[4 * f + i], bad));
		int low = choose(v[0], v[1], 0x5140), high = choose(v[2], v[3], 0x5140);
		digits[0].w[f] = choose(choose(v[0], v[1], 0x0062), choose(v[2], v[3], 0x0062), 0x5410);
		digits[1].w[f] = choose(low, high, 0x7632);
		digits[2].w[f] = choose(low, high, 0x5410);
	}
#pragma unroll
	for (int x = 0; x < 3; x++)
		*(Four *)(out + x * PLANE) = digits[x];
}

// pack writes rows [first, first+count) of a piece of n rows that begins at base.
DEVICE void pack(int *out, Course &course, const Rows &r, const Bank &b, long long base, int n, int first, int count, const float *gates, bool &bad) {
	course.begin(r, b, base, n, first);
	if (course.even) {
#pragma unroll 1
		for (int i = first; i < first + count; i += 16)
			pack16(out + i / 4, course, gates + i, bad);
		return;
	}
	int w[3] = {0, 0, 0};
#pragma unroll 1
	for (int i = first; i < first + count; i++) {
		int v = i < n ? balanced(fixed_at(course.plain(r, b, base + i), gates[i], bad)) : 0;
		w[0] = choose(w[0], v, 0x6321);
		w[1] = choose(w[1], v, 0x5321);
		w[2] = choose(w[2], v, 0x4321);
		if (i % 4 == 3)
#pragma unroll
			for (int x = 0; x < 3; x++)
				out[x * PLANE + i / 4] = w[x];
	}
}

typedef DigitTile<3, 3, 5> GramTile;

// heap_store adds the tile's sums to part, or begins with them, where first.
DEVICE void heap_store(const GramTile &tile, const Bank &b, const Stretch &s, const long long *job, const int *flags, int other, bool first, double *out) {
	double cols[4][2];
#pragma unroll
	for (int j = 0; j < 4; j++)
#pragma unroll
		for (int c = 0; c < 2; c++) {
			long long local = 64 * job[2] + tile.col(j, c);
			cols[j][c] = local < s.m ? b.amp[s.f0 + local] / UNIT : 0.0;
			if (flags[other + tile.col(j, c)])
				cols[j][c] = not_a_number();
		}
#pragma unroll
	for (int i = 0; i < 2; i++)
#pragma unroll
		for (int half = 0; half < 2; half++) {
			int row = tile.row(i, 2 * half);
			long long local = 64 * job[1] + row;
			double amp = local < s.m ? b.amp[s.f0 + local] / UNIT : 0.0;
			if (flags[row])
				amp = not_a_number();
#pragma unroll
			for (int j = 0; j < 4; j++)
#pragma unroll
				for (int c = 0; c < 2; c++) {
					double v = (double)tile.whole(i, j, 2 * half + c) * (amp * cols[j][c]);
					double &o = out[row * 64 + tile.col(j, c)];
					o = first ? v : o + v;
				}
		}
}

KERNEL(128) moments_gram_mixed(ROWS_BANK, double *part) {
	SHARED(int, shared);
	Rows r = ROWS_OF_ARGUMENTS;
	Bank b = BANK_OF_ARGUMENTS;
	const long long *job = jobs + 4 * (long long)blockIdx.x;
	Stretch s = stretch_at(stretches, job[0]);
	bool diagonal = job[1] == job[2];
	int side = threadIdx.x / 64, at = threadIdx.x % 64, other = diagonal ? 0 : 64;
	int *panel = shared, *second = shared + (diagonal ? 0 : 3 * PLANE), *flags = shared + 6 * PLANE + 128;
	float *gates = (float *)(shared + 6 * PLANE);
	long long local = 64 * job[diagonal ? 1 : 1 + side] + at;
	bool there = local < s.m;
	int first = diagonal ? side * 32 : 0, count = diagonal ? 32 : 64;
	int *out = (diagonal || side == 0 ? panel : second) + at * LD;
	const float *own = gates + (local < s.split ? 0 : PIECE);
	Course course;
	bool bad = false;
	if (there)
		course.open(r, s.f0 + local, record_of(r, b, s.f0 + local));
	else
		for (int x = 0; x < 3; x++)
			for (int i = first / 4; i < (first + count) / 4; i++)
				out[x * PLANE + i] = 0;
	GramTile tile;
	tile.clear();
	bool above = diagonal && tile.row0 + 32 <= tile.col0;
	bool begun = false;
	for (long long base = s.lo; base < s.hi; base += PIECE) {
		int n = (int)(s.hi - base < PIECE ? s.hi - base : PIECE);
		stage_gates(r, base, n, gates);
		barrier();
		if (there)
			pack(out, course, r, b, base, n, first, count, own, bad);
		bool last = base + PIECE >= s.hi, full = (base - s.lo) % HEAPED == HEAPED - PIECE;
		if (last || full)
			flags[threadIdx.x] = there && (bad || course.bad());
		barrier();
		if (!above)
			tile.multiply(panel, second);
		if (last || full) {
			if (diagonal && threadIdx.x < 64)
				flags[at] |= flags[64 + at];
			barrier();
			heap_store(tile, b, s, job, flags, other, !begun, part + job[3] * 64 * 64);
			begun = true;
			tile.clear();
		}
	}
}

KERNEL(128) moments_columns_mixed(ROWS_BANK, long long d0, double *part) {
	SHARED(float, gates);
	Rows r = ROWS_OF_ARGUMENTS;
	Bank b = BANK_OF_ARGUMENTS;
	const long long *job = jobs + 3 * (long long)blockIdx.x;
	Stretch s = stretch_at(stretches, job[0]);
	long long local = 128 * job[1] + threadIdx.x, k = s.f0 + local;
	bool there = local < s.m, bad = false;
	const float *own = gates + (local < s.split ? 0 : PIECE);
	double along[4] = {0, 0, 0, 0}, seconds = 0, a1 = 0;
	Course course;
	if (there) {
		course.open(r, k, record_of(r, b, k));
		a1 = b.amp[k];
	}
	for (long long base = s.lo; base < s.hi; base += PIECE) {
		int n = (int)(s.hi - base < PIECE ? s.hi - base : PIECE);
		barrier();
		stage_gates(r, base, n, gates);
		barrier();
		if (!there)
			continue;
		Surplus surplus;
		surplus.clear();
		course.begin(r, b, base, n, 0);
#pragma unroll 1
		for (int i = 0; i < n; i++) {
			Spot spot = course.next(r, b, base + i);
			int v = fixed_at(spot, own[i], bad);
			surplus.add(v, own[i], spot);
			double c = v;
#pragma unroll
			for (int o = 0; o < 4; o++)
				if (d0 + o < r.d)
					along[o] = fma(c, r.y[(base + i) * r.d + d0 + o], along[o]);
		}
		seconds += surplus.second(b.power[k], a1, b.ripple[k]);
	}
	if (!there)
		return;
	bad |= course.bad();
	double *out = part + (job[2] * 128 + threadIdx.x) * 5;
#pragma unroll
	for (int o = 0; o < 4; o++)
		out[o] = bad ? not_a_number() : a1 / UNIT * along[o];
	out[4] = bad ? not_a_number() : seconds;
}
