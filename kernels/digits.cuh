// Features as whole numbers, for cards whose float64 is slow (precision mixed).
//
// The phase of a feature is counted in turns, in fixed point of 2^-64: on evenly
// spaced rows it is phase(n) = phase(base) + (n − base)·step modulo one turn, so
// that the reduction costs nothing and a feature at a row is the same number in
// every kernel, whichever row a thread began at. Pieces of PIECE rows, counted
// from the stretch's first row, begin with a float64 phase; stretches are cut at
// multiples of PIECE, so the pieces of all passes are the same. Elsewhere (uneven
// rows, several inputs) phase and quad are those of feature.cuh, in float64, and
// rounded to 2^-32 turns and to float32 after the reduction.
//
// From there on float32, with polynomials of our own and every fused operation
// written out, so that emulation and cards agree bit for bit:
//
//	u = (g·e)·cos θ,  v = round(u·UNIT),  φ̃ = A1·v/UNIT,  UNIT = 127·2^16
//
// φ̃ is THE feature of the mixed passes. φ̃/A1 was within 2.3e-7 of float64's (root
// of mean square 4.6e-8) at 70 000 features of all kinds, v's half step of 6e-8
// included; v has three signed digits to base 256, −127 … 127 the first and
// −128 … 127 the others, that int8 tensor cores multiply and add without error.
//
// What is not a number cannot be a whole one: it is counted as 0 and flagged, and
// who holds the flag writes NaN in its place. Gates have to be within [−1, 1].
#pragma once

#include "feature.cuh"

// PIECE is after how many rows a phase is begun anew, and how many rows or
// features a stage of the products holds.
constexpr int PIECE = 64;

// UNIT is the v of u = 1.
constexpr int UNIT = 127 << 16;

#ifdef VSSGP_EMU
DEVICE int nearest(float v) { return (int)rintf(v); }
DEVICE int bits(float v) {
	int i;
	memcpy(&i, &v, sizeof i);
	return i;
}
DEVICE float float_of(int i) {
	float v;
	memcpy(&v, &i, sizeof v);
	return v;
}
// choose makes a word of four of the eight bytes of a (0 … 3) and b (4 … 7).
DEVICE int choose(int a, int b, int which) {
	unsigned long long both = (unsigned long long)(unsigned)b << 32 | (unsigned)a;
	unsigned w = 0;
	for (int i = 0; i < 4; i++)
		w |= (unsigned)(both >> 8 * (which >> 4 * i & 7) & 0xff) << 8 * i;
	return (int)w;
}
#else
DEVICE int nearest(float v) { return __float2int_rn(v); }
DEVICE int bits(float v) { return __float_as_int(v); }
DEVICE float float_of(int i) { return __int_as_float(i); }
DEVICE int choose(int a, int b, int which) { return (int)__byte_perm((unsigned)a, (unsigned)b, (unsigned)which); }
#endif

// not_a_number is what a flag stands for.
DEVICE double not_a_number() { return nan(""); }

// cosine is cos 2πt of t = p·2^-32 turns: sin 2πr of r = ¼ − |t|, an odd
// polynomial (its own error is 7.6e-9). A quarter turn less gives the sine.
DEVICE float cosine(int p) {
	unsigned away = p < 0 ? 0u - (unsigned)p : (unsigned)p;
	float r = (float)(int)(0x40000000u - away) * 0x1p-32f, z = r * r;
	float w = 0x1.3911b2p+5f;
	w = fmaf(w, z, -0x1.31fbeep+6f);
	w = fmaf(w, z, 0x1.466504p+6f);
	w = fmaf(w, z, -0x1.4abba2p+5f);
	return fmaf(w * z, r, 0x1.921fb4p+2f * r);
}

DEVICE float sine(int p) { return cosine((int)((unsigned)p - 0x40000000u)); }

// power2 is 2^y for y ≤ 0 (3.1e-9 besides rounding), 2^-125 below that; less is
// 1 − 2^y, with a relative error of 2e-7.
DEVICE float power2(float y, float &less) {
	y = fmaxf(y, -125.0f);
	float t = y + 12582912.0f, k = t - 12582912.0f, f = y - k;
	float w = 0x1.4447bp-13f;
	w = fmaf(w, f, 0x1.5f096p-10f);
	w = fmaf(w, f, 0x1.3b2a28p-7f);
	w = fmaf(w, f, 0x1.c6af7ap-5f);
	w = fmaf(w, f, 0x1.ebfbep-3f);
	w = fmaf(w, f, 0x1.62e43p-1f);
	float e = float_of((int)((unsigned)bits(fmaf(w, f, 1.0f)) + ((unsigned)bits(t) << 23)));
	less = k == 0 ? -(w * f) : 1 - e;
	return e;
}

// turns64 is r in [−½, ½] turns in fixed point.
DEVICE unsigned long long turns64(double r) { return (unsigned long long)(long long)(r * 0x1p63) << 1; }

// Record is what is worth knowing beforehand of a feature: its phase from row to
// row, −½·log2(e)·P (Q = 1), and whether it decays at all or is not a number.
struct Record {
	unsigned long long step;
	float rate;
	int flags; // DECAYS, BAD
};
constexpr int DECAYS = 1, BAD = 2;

DEVICE Record record_of(const Rows &r, const Bank &b, long long k) {
	constexpr double most = 1e308;
	Record o = {0, 0, 0};
	for (long long i = 0; i < r.q; i++) {
		double p = b.decay[k * r.q + i];
		if (p != 0)
			o.flags |= DECAYS;
		if (!(p >= 0 && p <= most && fabs(b.center[k * r.q + i]) <= most))
			o.flags |= BAD;
	}
	if (r.q != 1)
		return o;
	double rate = -0.72134752044448170368 * b.decay[k];
	o.rate = (float)(rate > -3e38 ? rate : -3e38);
	if (!r.even)
		return o;
	double t = b.turn[k] * r.delta, rest = fma(b.turn[k], r.delta, -t), s = t - rint(t);
	if (!(fabs(s) <= 0.5))
		o.flags |= BAD;
	else
		o.step = turns64(s) + (unsigned long long)(long long)rint(rest * 0x1p64);
	return o;
}

// Spot is a feature at a row: turns·2^-32, e, 1 − e, d where Q = 1, and whether
// they are numbers.
struct Spot {
	int turns;
	float e, less, d;
	bool ok;
};

// Course is one feature along the rows of a piece.
struct Course {
	long long k;
	Record own;
	bool even;
	unsigned long long phase; // at the next row
	float at, dh, dl, sh, sl; // d = dh + dl + at·(sh + sl)

	DEVICE void open(const Rows &r, long long feature, const Record &record) {
		k = feature;
		own = record;
		sh = (float)r.delta;
		sl = (float)(r.delta - sh);
		even = false;
	}

	// begin stands on row base + first of the piece of n rows that begins at base.
	DEVICE void begin(const Rows &r, const Bank &b, long long base, int n, int first) {
		even = r.q == 1 && r.even && r.even[base] >= n;
		if (!even)
			return;
		double d = r.x[base] - b.center[k], turns = fma(b.turn[k], d, b.phase[k]);
		turns -= rint(turns);
		if (!(fabs(turns) <= 0.5)) {
			own.flags |= BAD;
			turns = 0;
		}
		phase = turns64(turns) + (unsigned)first * own.step;
		at = (float)first;
		dh = (float)d;
		dl = (float)(d - dh);
	}

	DEVICE bool bad() const { return own.flags & BAD; }

	// glide is the feature at the next row of an even piece.
	DEVICE Spot glide() {
		float d = fmaf(at, sh, dh) + fmaf(at, sl, dl), e = 1, less = 0;
		int turns = (int)(phase >> 32);
		if (own.flags & DECAYS)
			e = power2(own.rate * d * d, less);
		phase += own.step;
		at += 1;
		return {turns, e, less, d, true};
	}

	// plain is the feature at any row.
	DEVICE Spot plain(const Rows &r, const Bank &b, long long row) const {
		double turns = b.phase[k], quad = 0, d = 0;
#pragma unroll 1
		for (long long i = 0; i < r.q; i++) {
			d = r.x[row * r.q + i] - b.center[k * r.q + i];
			turns = fma(b.turn[k * r.q + i], d, turns);
			if (r.q > 1)
				quad = fma(b.decay[k * r.q + i] * d, d, quad);
		}
		turns -= rint(turns);
		Spot s = {0, 1, 0, (float)d, fabs(turns) <= 0.5};
		if (s.ok)
			s.turns = (int)(long long)(turns * 0x1p32);
		if (own.flags & DECAYS)
			s.e = power2(r.q > 1 ? (float)(-0.72134752044448170368 * quad) : own.rate * s.d * s.d, s.less);
		return s;
	}

	DEVICE Spot next(const Rows &r, const Bank &b, long long row) { return even ? glide() : plain(r, b, row); }
};

// fixed is v of u; it flags what is not a number or beyond ±1.
DEVICE int fixed(float u, bool &bad) {
	bool ok = fabsf(u) <= 1.001f;
	bad |= !ok;
	return nearest(ok ? u * UNIT : 0.0f);
}

DEVICE int fixed_at(const Spot &s, float gate, bool &bad) { return fixed(s.ok ? gate * s.e * cosine(s.turns) : float_of(0x7fc00000), bad); }

// balanced has v's digits in its bytes, the last digit lowest.
DEVICE int balanced(int v) { return (v + 0x808080) ^ 0x808080; }

// stage_gates has the block's 128 threads write float32 gates [2][PIECE] of the n
// rows from base; 0 beyond. Barriers are the caller's.
DEVICE void stage_gates(const Rows &r, long long base, int n, float *gates) {
	int row = threadIdx.x % PIECE, column = threadIdx.x / PIECE;
	gates[threadIdx.x] = row < n ? (float)gate_at(r, base + row, column) : 0.0f;
}

// A panel of digits: [digit][64 features or rows][PIECE bytes of the sum], rows of
// it LD words apart, so that loads of fragments and stores of 16 bytes meet each
// bank once.
constexpr int LD = 20, PLANE = 64 * LD;

// DigitTile is acc [64,64] = Σ a·b of digits, A of them on one side and B on the
// other, by weight x + y (0 the heaviest), of which WEIGHTS are kept. 128 threads;
// a thread's numbers lie as in Tile<64>. Sums are exact while |Σ| < 2^31, for
// HEAPED terms at least: three products of 2^14 each.
constexpr int HEAPED = 1 << 15;

template <int A, int B, int WEIGHTS> struct DigitTile {
	int acc[WEIGHTS][2][4][4];
	int row0, col0, group, place;

	DEVICE void clear() {
		int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
		row0 = warp / 2 * 32;
		col0 = warp % 2 * 32;
		group = lane / 4;
		place = lane % 4;
#pragma unroll
		for (int w = 0; w < WEIGHTS; w++)
#pragma unroll
			for (int i = 0; i < 2; i++)
#pragma unroll
				for (int j = 0; j < 4; j++)
#pragma unroll
					for (int c = 0; c < 4; c++)
						acc[w][i][j][c] = 0;
	}

	DEVICE int row(int i, int c) const { return row0 + 16 * i + 8 * (c / 2) + group; }
	DEVICE int col(int j, int c) const { return col0 + 8 * j + 2 * place + c % 2; }

	// whole is a sum in units of the lightest weight kept.
	DEVICE long long whole(int i, int j, int c) const {
		long long sum = 0;
#pragma unroll
		for (int w = 0; w < WEIGHTS; w++)
			sum = sum * 256 + acc[w][i][j][c];
		return sum;
	}

	// multiply adds a stage's products.
	DEVICE void multiply(const int *a, const int *b);
};

#if VSSGP_ARCH < 800

template <int A, int B, int WEIGHTS> DEVICE void DigitTile<A, B, WEIGHTS>::multiply(const int *a, const int *b) {
#pragma unroll 1
	for (int k = 0; k < PIECE / 4; k++) {
		int u[A][4];
#pragma unroll
		for (int x = 0; x < A; x++)
#pragma unroll
			for (int i = 0; i < 4; i++)
				u[x][i] = a[x * PLANE + (row0 + 8 * i + group) * LD + k];
#pragma unroll
		for (int j = 0; j < 8; j++)
#pragma unroll
			for (int y = 0; y < B; y++) {
				int v = b[y * PLANE + col(j / 2, j % 2) * LD + k];
#pragma unroll
				for (int x = 0; x < A && x + y < WEIGHTS; x++)
#pragma unroll
					for (int i = 0; i < 4; i++) {
						int &s = acc[x + y][i / 2][j / 2][i % 2 * 2 + j % 2];
						s = dp4a(u[x][i], v, s);
					}
			}
	}
}

#else

#ifdef VSSGP_EMU

// Pieces are a thread's part of a step's operands, 32 terms of the sum:
//	a[2h + r] = A[group + 8r][16h + 4·place …]   b[h] = B[16h + 4·place …][group]
template <int A, int B> struct Pieces {
	int a[A][2][4], b[B][4][2];
};

template <int A, int B, int WEIGHTS> DEVICE void DigitTile<A, B, WEIGHTS>::multiply(const int *a, const int *b) {
	for (int step = 0; step < PIECE / 4; step += 8) {
		Pieces<A, B> f;
		for (int h = 0; h < 2; h++) {
			int at = step + 4 * h + place;
			for (int r = 0; r < 4; r++)
				for (int x = 0; x < A; x++)
					f.a[x][r / 2][2 * h + r % 2] = a[x * PLANE + (row0 + 8 * r + group) * LD + at];
			for (int j = 0; j < 4; j++)
				for (int y = 0; y < B; y++)
					f.b[y][j][h] = b[y * PLANE + (col0 + 8 * j + group) * LD + at];
		}
		const void *const *all = warp_gather(&f);
		for (int c = 0; c < 4; c++)
			for (int k = 0; k < 8; k++) {
				auto *u = (const Pieces<A, B> *)all[group * 4 + k % 4], *v = (const Pieces<A, B> *)all[(2 * place + c % 2) * 4 + k % 4];
				for (int x = 0; x < A; x++)
					for (int y = 0; y < B && x + y < WEIGHTS; y++)
						for (int i = 0; i < 2; i++)
							for (int j = 0; j < 4; j++)
								acc[x + y][i][j][c] = dp4a(u->a[x][i][k / 4 * 2 + c / 2], v->b[y][j][k / 4], acc[x + y][i][j][c]);
			}
		warp_barrier();
	}
}

#else

template <int A, int B, int WEIGHTS> DEVICE void DigitTile<A, B, WEIGHTS>::multiply(const int *a, const int *b) {
	a += (row0 + group) * LD + place;
	b += (col0 + group) * LD + place;
#pragma unroll 1
	for (int step = 0; step < PIECE / 4; step += 8)
#pragma unroll
		for (int i = 0; i < 2; i++) {
			int u[A][4];
#pragma unroll
			for (int x = 0; x < A; x++)
#pragma unroll
				for (int r = 0; r < 4; r++)
					u[x][r] = a[x * PLANE + (16 * i + r % 2 * 8) * LD + step + r / 2 * 4];
#pragma unroll
			for (int j = 0; j < 4; j++)
#pragma unroll
				for (int y = 0; y < B; y++) {
					const int *p = b + y * PLANE + 8 * j * LD + step;
					int v0 = p[0], v1 = p[4];
#pragma unroll
					for (int x = 0; x < A && x + y < WEIGHTS; x++) {
						int(&s)[4] = acc[x + y][i][j];
						asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
									 : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3])
									 : "r"(u[x][0]), "r"(u[x][1]), "r"(u[x][2]), "r"(u[x][3]), "r"(v0), "r"(v1));
					}
				}
		}
}

#endif
#endif
