// Digits: products of features on the int8 tensor cores, with exact sums, for GPUs with slow
// float64 units.
//
// A number c, |c| ≤ 1, is represented by the integer X = c·σ rounded to the nearest, σ = 2^(8s−2),
// in s signed digits to base 256, least significant first:
//
//	X = Σ_i d_i 256^i,  d_i ∈ [−128, 127],  and the last has |d_(s−1)| ≤ 64
//
// so X has an error of at most ½, and for s = 7, σ = 2⁵⁴, it is the exact float64 if
// |c| ≥ ¼. A product is Σ_ij d_i e_j 256^(i+j). Pairs with i + j ≥ s−1 are computed,
// s(s+1)/2 of them, and added up by their level i + j − (s−1) in int32, exactly: of
// all levels level 0 has the most pairs, s − 2 of at most 2¹⁴ and two of at most 2¹³, so
// DIGIT_SUM numbers of a sum are at most (s−1)·2¹⁴·20480 < 2³¹. Then the levels are
// added in 96 bits (Whole), so a sum is an exact integer that does not depend on the order.
//
// The error of a product c·c' (in units of σ², for s of 3 or 7): rounding takes
// (½|X'| + ½|X| + ¼)/σ² ≤ 2^(2−8s) + 2^(2−16s); the pairs left out, s−1 on the highest
// of their levels, Σ_(l<s−1) (l+1)·2¹⁴·256^l/σ² ≤ (s−1)·2^(2−8s) · 1.005. Together
// s·2^(2−8s) · 1.01 for each number of the sum.
//
// Panels. A digit's plane is cut along the sum into stages of 32 numbers. In device memory and in
// shared memory the 32 digits of a number for one stage and plane are contiguous, followed by the
// next rows or features of the other index, then by the next plane: [sum/32][s][own][32] bytes. A
// lane (group, place) reads 8 bytes of row group at 8·place, for the two k of its fragment: terms
// 8·place + {0 … 3} and + {4 … 7} of the sum are used as the instruction's 4·place + {0 … 3} and 16
// + …, in both operands, which does not change the sum. Half a warp thus reads 128 contiguous
// bytes, each bank once.
#pragma once

#include "product.cuh"

constexpr int MAX_DIGITS = 7;
constexpr int DIGIT_THREADS = 256; // per tile: eight warps, four by two
typedef signed char Digit;

// digit_unit returns 256^(s−1)/σ², the unit of a sum of products.
DEVICE double digit_unit(long long s) { return ldexp(1.0, (int)(-8 * s - 4)); }

// digits_of returns digit i of c in byte i: the bytes of X + 128·Σ 256^i are the digits + 128. NaN
// and values rounded beyond ±1 become ±1; separate float64 sums detect NaN.
DEVICE unsigned long long digits_of(double c, long long s) {
	const unsigned long long bias = 0x0080808080808080;
	long long one = 1ll << (8 * s - 2), x = llrint(c * (double)one);
	x = x < -one ? -one : x > one ? one : x;
	return ((unsigned long long)x + bias) ^ bias;
}

// adjoint_scales returns the size in bytes of the scales of m rows (digits_adjoint).
DEVICE long long adjoint_scales(long long m) { return (m + 3) / 4 * 32; }

// digit_at returns the position of a number's digit in plane 0; planes are owns·DIGIT_STAGE apart.
DEVICE long long digit_at(long long s, long long sum, long long own, long long owns) {
	return (sum / DIGIT_STAGE * s * owns + own) * DIGIT_STAGE + sum % DIGIT_STAGE;
}

// Sixteen is 16 bytes that are copied at once.
struct alignas(16) Sixteen {
	unsigned word[4];
};

// put_digits writes the digits of terms first … first+15 of a sum, first a multiple of 16. It calls
// number(i) for i = 0 … n−1 in order; the remaining digits are zeros.
template <class Number> DEVICE void put_digits(Digit *store, long long s, long long first, long long own,
    long long owns, int n, Number number) {
	Sixteen plane[MAX_DIGITS];
#pragma unroll 1
	for (int quarter = 0; quarter < 4; quarter++) {
		unsigned word[MAX_DIGITS] = {};
#pragma unroll 4
		for (int i = 0; i < 4; i++) {
			unsigned long long d = 4 * quarter + i < n ? digits_of(number(4 * quarter + i), s) : 0;
#pragma unroll
			for (int p = 0; p < MAX_DIGITS; p++)
				word[p] = word[p] >> 8 | (unsigned)(d >> 8 * p) << 24;
		}
#pragma unroll
		for (int p = 0; p < MAX_DIGITS; p++) {
			plane[p].word[0] = plane[p].word[1]; // only constant indices
			plane[p].word[1] = plane[p].word[2];
			plane[p].word[2] = plane[p].word[3];
			plane[p].word[3] = word[p];
		}
	}
	Digit *out = store + digit_at(s, first, own, owns);
#pragma unroll
	for (int p = 0; p < MAX_DIGITS; p++)
		if (p < s)
			*(Sixteen *)(out + p * owns * DIGIT_STAGE) = plane[p];
}

// Whole is the integer high·2³² + low.
struct Whole {
	long long high, low;

	// carry reduces low to 0 … 2³²−1, so that 2³¹ such values can be added.
	DEVICE void carry() {
		high += low >> 32;
		low &= 0xffffffff;
	}

	// value returns the nearest float64, rounded once, if the integer is below 2⁸⁵.
	DEVICE double value() const { return fma((double)(high + (low >> 32)), 4294967296.0, (double)(low & 0xffffffff)); }
};

// A DigitTile is a block's tile of sums of products. A thread's entries are placed as in Tile: rows
// group + 8i, columns 8j + 2·place + {0, 1} of the warp's 16 × 32.
template <int S> struct DigitTile {
	static constexpr int panel = S * DIGIT_TILE * DIGIT_STAGE; // bytes
	static constexpr int columns = 4;

	int acc[columns][S][4]; // [8 columns][level][the thread's four]
	int row0, col0, group, place;

	DEVICE void clear() {
		int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
		row0 = warp / 2 * 16;
		col0 = warp % 2 * 32;
		group = lane / 4;
		place = lane % 4;
#pragma unroll
		for (int j = 0; j < columns; j++)
#pragma unroll
			for (int l = 0; l < S; l++)
#pragma unroll
				for (int c = 0; c < 4; c++)
					acc[j][l][c] = 0;
	}

	// each calls f(row, column, number) for the thread's numbers.
	template <class F> DEVICE void each(F f) const {
#pragma unroll
		for (int j = 0; j < columns; j++)
#pragma unroll
			for (int c = 0; c < 4; c++) {
				Whole w = {0, 0};
#pragma unroll
				for (int l = 0; l < S; l++)
					if (l < 4)
						w.low += acc[j][l][c] * (1ll << 8 * l);
					else
						w.high += acc[j][l][c] * (1ll << 8 * (l - 4));
				w.carry();
				f(row0 + 8 * (c / 2) + group, col0 + 8 * j + 2 * place + c % 2, w);
			}
	}

	// multiply adds a stage's products: rows from panel a, columns from panel b.
	DEVICE void multiply(const Digit *a, const Digit *b);
};

// A DigitFragment is a thread's part of a stage's operands in all planes: a for 16 rows, b for 8
// columns.
//	a[p] = rows group, group + 8 at the first k; then at the second   b[p] = column group
template <int S> struct DigitFragment {
	int a[S][4], b[S][2];
};

// digit_pairs calls f(i, j, level) for the pairs of digits that are computed.
template <int S, class F> DEVICE void digit_pairs(F f) {
#pragma unroll
	for (int i = S - 1; i >= 0; i--)
#pragma unroll
		for (int j = S - 1 - i; j < S; j++)
			f(i, j, i + j - (S - 1));
}

template <int S> DEVICE void mma(int (&acc)[S][4], const DigitFragment<S> &f) {
#ifdef VSSGP_EMU
	const void *const *all = warp_gather(&f);
	auto of = [&](int lane) { return (const DigitFragment<S> *)all[lane]; };
	int group = threadIdx.x % 32 / 4, place = threadIdx.x % 4;
	for (int c = 0; c < 4; c++)
		for (int k = 0; k < 4; k++) {
			const DigitFragment<S> *a = of(group * 4 + k), *b = of((2 * place + c % 2) * 4 + k);
			digit_pairs<S>([&](int i, int j, int level) {
				for (int h = 0; h < 2; h++)
					for (int byte = 0; byte < 4; byte++)
						acc[level][c] += (Digit)(a->a[i][2 * h + c / 2] >> 8 * byte) * (Digit)(b->b[j][h] >> 8 * byte);
			});
		}
	warp_meet();
#else
	digit_pairs<S>([&](int i, int j, int level) {
		asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
					 : "+r"(acc[level][0]), "+r"(acc[level][1]), "+r"(acc[level][2]), "+r"(acc[level][3])
					 : "r"(f.a[i][0]), "r"(f.a[i][1]), "r"(f.a[i][2]), "r"(f.a[i][3]), "r"(f.b[j][0]), "r"(f.b[j][1]));
	});
#endif
}

// Eight is a lane's bytes of a row of a panel, read at once.
struct alignas(8) Eight {
	int first, second;
};

template <int S> DEVICE void DigitTile<S>::multiply(const Digit *a, const Digit *b) {
	DigitFragment<S> f;
	auto at = [&](const Digit *panel, int p, int row) {
		return *(const Eight *)(panel + (p * DIGIT_TILE + row + group) * DIGIT_STAGE + 8 * place);
	};
#pragma unroll
	for (int p = 0; p < S; p++) {
		Eight upper = at(a, p, row0), lower = at(a, p, row0 + 8);
		f.a[p][0] = upper.first;
		f.a[p][1] = lower.first;
		f.a[p][2] = upper.second;
		f.a[p][3] = lower.second;
	}
#pragma unroll
	for (int j = 0; j < columns; j++) {
#pragma unroll
		for (int p = 0; p < S; p++) {
			Eight own = at(b, p, col0 + 8 * j);
			f.b[p][0] = own.first;
			f.b[p][1] = own.second;
		}
		mma(acc[j], f);
	}
}

// DigitPanels starts the copies of panels [S][DIGIT_TILE][32], one after the other along the sum,
// for DIGIT_TILE of owns rows or features from own0 on.
template <int S> struct DigitPanels {
	static constexpr int planes = DIGIT_THREADS / (2 * DIGIT_TILE); // copied by all threads at once
	const Digit *from;
	long long plane; // bytes from one to the next
	bool there;

	DEVICE DigitPanels(const Digit *store, long long own0, long long owns) {
		int own = threadIdx.x / 2 % DIGIT_TILE;
		plane = owns * DIGIT_STAGE;
		there = own0 + own < owns;
		from = store + (there ? threadIdx.x / (2 * DIGIT_TILE) * plane + (own0 + own) * DIGIT_STAGE + 16 * (threadIdx.x % 2) : 0);
	}

	DEVICE void next(Digit *panel) {
#pragma unroll
		for (int p = 0; p < S; p += planes) {
			if (p + planes > S && p + (int)threadIdx.x / (2 * DIGIT_TILE) >= S)
				break;
			copy_async16(panel + p * DIGIT_TILE * DIGIT_STAGE + 16 * threadIdx.x, there ? from + p * plane : from, there);
		}
		if (there)
			from += S * plane;
	}
};

// ring processes stages 0 … n−1: load(stage, i) starts the copies of stage i to shared memory, in
// order, and multiply(stage) uses it. PLACES buffers of size entries alternate: while one stage is
// multiplied, at least the copies of the next PLACES − 2 are in flight. Of the two warps on each
// partition of a multiprocessor, one starts copies first and the other multiplies first, so that
// the tensor cores do not wait for addresses. Both are in one loop, because otherwise the compiler
// copies sums between registers: digits_product_7 then takes 670 instead of 500 instructions per
// stage on sm_90. All threads of the block take part, and shared memory is free on return.
template <int PLACES, class Number, class Load, class Multiply> DEVICE void ring(Number *shared, int size, int n,
    Load load, Multiply multiply) {
	bool early = threadIdx.x < 128;
	auto start = [&](int i) {
		if (i < n)
			load(shared + i % PLACES * size, i);
		copy_commit(); // also without copies: copy_wait counts groups
	};
#pragma unroll 1
	for (int i = 0; i < PLACES - 1; i++)
		start(i);
#pragma unroll 1
	for (int i = 0; i < n; i++) {
		copy_wait<PLACES - 2>();
		barrier();
#pragma unroll 1
		for (int part = 0; part < 2; part++)
			if (early == (part == 0))
				start(i + PLACES - 1);
			else
				multiply(shared + i % PLACES * size);
	}
	barrier();
}

// digit_products adds n stages of two operands' panels. If diagonal is true, the operands are the
// same and entries above the diagonal are not needed.
template <int S> DEVICE void digit_products(DigitTile<S> &tile, DigitPanels<S> a, DigitPanels<S> b, int n, bool diagonal, Digit *shared) {
	constexpr int panel = DigitTile<S>::panel;
	bool above = diagonal && tile.row0 + 16 <= tile.col0;
	ring<DIGIT_RING>(
		shared, 2 * panel, n,
		[&](Digit *stage, int) {
			a.next(stage);
			if (!diagonal)
				b.next(stage + panel);
		},
		[&](const Digit *stage) {
			if (!above)
				tile.multiply(stage, stage + (diagonal ? 0 : panel));
		});
}
