// Fronts: tall matrices in shared memory whose first m columns are eliminated, as in a multifrontal
// Cholesky factorization, and the products of the rows below. A front is stored by rows, with a
// distance of ld between rows:
//
//	X   [m,m]   lower triangle        L        X = L·Lᵀ
//	S   [·,m]   couplings to X     S·L⁻ᵀ
//
// so that − S·Sᵀ is added to the rest of the matrix, which is in device memory. Products are
// computed by warps on 16 rows by 8 or 16 columns, on the tensor cores (tile.cuh). Triangular
// solves process eight columns, one thread per row. Diagonal blocks are not inverted for this,
// because nearly collinear features would lose accuracy. Each thread of eliminate also factors
// the eight columns' diagonal block.
#pragma once

#include "tile.cuh"

// FRONT_THREADS is the number of threads of a block that processes fronts.
constexpr int FRONT_THREADS = 256;

// PANEL is the number of columns eliminated at a time.
constexpr int PANEL = 8;

// An Operand has its number (i, k) at at[i·row + k·step].
struct Operand {
	const double *at;
	long long row, step;
};

// A Strip is 16 rows by 8·COLUMNS columns of a result, distributed over a warp.
template <int COLUMNS> struct Strip {
	double acc[1][COLUMNS][4];
	int group, place;

	DEVICE int row(int c) const { return 8 * (c / 2) + group; }
	DEVICE int col(int j, int c) const { return 8 * j + 2 * place + c % 2; }

	// begin initializes the entries inside the matrix with from(i, j).
	template <class From> DEVICE void begin(int rows, int cols, From from) {
		group = threadIdx.x % 32 / 4;
		place = threadIdx.x % 4;
#pragma unroll
		for (int j = 0; j < COLUMNS; j++)
#pragma unroll
			for (int c = 0; c < 4; c++)
				acc[0][j][c] = row(c) < rows && col(j, c) < cols ? from(row(c), col(j, c)) : 0.0;
	}

	// end gives to(i, j, v) the result.
	template <class To> DEVICE void end(int rows, int cols, To to) const {
#pragma unroll
		for (int j = 0; j < COLUMNS; j++)
#pragma unroll
			for (int c = 0; c < 4; c++)
				if (row(c) < rows && col(j, c) < cols)
					to(row(c), col(j, c), acc[0][j][c]);
	}

	// add adds SIGN · Σ_k a(i,k)·b(j,k), k < depth. Rows and columns outside the matrix repeat the
	// last one.
	template <int SIGN> DEVICE void add(Operand a, int rows, Operand b, int cols, int depth) {
		const double *pa[2], *pb[COLUMNS];
#pragma unroll
		for (int r = 0; r < 2; r++)
			pa[r] = a.at + (group + 8 * r < rows ? group + 8 * r : rows - 1) * a.row;
#pragma unroll
		for (int j = 0; j < COLUMNS; j++)
			pb[j] = b.at + (8 * j + group < cols ? 8 * j + group : cols - 1) * b.row;
#pragma unroll 1
		for (int k0 = 0; k0 < depth; k0 += 4) {
			Fragment<1, COLUMNS, 4> f;
			int k = k0 + place;
			bool there = k < depth;
#pragma unroll
			for (int r = 0; r < 2; r++)
				f.a[0][0][r] = there ? SIGN * pa[r][k * a.step] : 0.0;
#pragma unroll
			for (int j = 0; j < COLUMNS; j++)
				f.b[j][0] = there ? pb[j][k * b.step] : 0.0;
			mma(acc, f, [](int, int) {});
		}
	}
};

// products computes a rows × cols result with the block's warps; if lower is true, only the strips
// that meet the lower triangle. from returns the initial value of an entry, sum(strip, i0, j0) adds
// products, and to stores it.
template <class From, class Sum, class To>
DEVICE void products(int rows, int cols, bool lower, From from, Sum sum, To to) {
	constexpr int wide = 2;
	int across = (cols + 8 * wide - 1) / (8 * wide), down = (rows + 15) / 16;
	for (int t = threadIdx.x / 32; t < across * down; t += FRONT_THREADS / 32) {
		int i0 = t / across * 16, j0 = t % across * 8 * wide;
		if (lower && j0 > i0)
			continue;
		Strip<wide> s;
		s.begin(rows - i0, cols - j0, [&](int i, int j) { return !lower || j0 + j <= i0 + i ? from(i0 + i, j0 + j) : 0.0; });
		sum(s, i0, j0);
		s.end(rows - i0, cols - j0, [&](int i, int j, double v) {
			if (!lower || j0 + j <= i0 + i)
				to(i0 + i, j0 + j, v);
		});
	}
}

// take subtracts Σ_k a(i,k)·b(j,k), k < depth, from a result (products).
template <class From, class To>
DEVICE void take(int rows, int cols, bool lower, Operand a, Operand b, int depth, From from, To to) {
	products(
		rows, cols, lower, from,
		[&](auto &s, int i0, int j0) {
			s.template add<-1>({a.at + i0 * a.row, a.row, a.step}, rows - i0, {b.at + j0 * b.row, b.row, b.step}, cols - j0, depth);
		},
		to);
}

// pivot sets row to the eight entries at s times L⁻ᵀ, with L·Lᵀ the block at x. Each thread factors the block itself:
// the steps from one d^−½ to the next are the critical path of a factorization, and leave time for both. A nonpositive
// pivot makes all dependent entries NaN.
DEVICE void pivot(double (&row)[PANEL], const double *s, const double *x, int ld) {
	double l[PANEL][PANEL];
#pragma unroll
	for (int c = 0; c < PANEL; c++) {
		row[c] = s[c];
#pragma unroll
		for (int e = c; e < PANEL; e++)
			l[e][c] = x[e * ld + c];
#pragma unroll
		for (int k = 0; k < c; k++) {
			row[c] = fma(-row[k], l[c][k], row[c]);
#pragma unroll
			for (int e = c; e < PANEL; e++)
				l[e][c] = fma(-l[e][k], l[c][k], l[e][c]);
		}
		double over = inverse_root(l[c][c]);
		row[c] *= over;
#pragma unroll
		for (int e = c + 1; e < PANEL; e++)
			l[e][c] *= over;
	}
}

// divide_up is divide by the block itself, not transposed.
DEVICE void divide_up(double *s, const double *l, int ld, int w, const double *inv) {
	double x[PANEL];
#pragma unroll
	for (int c = 0; c < PANEL; c++)
		x[c] = c < w ? s[c] : 0.0;
#pragma unroll
	for (int c = PANEL - 1; c >= 0; c--)
		if (c < w) {
			x[c] *= inv[c];
#pragma unroll
			for (int e = 0; e < c; e++)
				x[e] = fma(-x[c], l[c * ld + e], x[e]);
		}
#pragma unroll
	for (int c = 0; c < PANEL; c++)
		if (c < w)
			s[c] = x[c];
}

// update subtracts the products of the c0 columns to the left from up to 16 rows of a panel, from row i0 on. It is
// executed by one warp.
DEVICE void update(double *f, int ld, int rows, int c0, int i0) {
	int group = threadIdx.x % 32 / 4, place = threadIdx.x % 4, i[] = {i0 + group, i0 + group + 8}, last = rows - 1;
	const double *a = f + (i[0] < rows ? i[0] : last) * ld + place, *below = f + (i[1] < rows ? i[1] : last) * ld + place;
	const double *b = f + (c0 + group) * ld + place;
	double even[1][1][4], odd[1][1][4] = {}; // two sums, so that a product waits only for the one before the last
#pragma unroll
	for (int c = 0; c < 4; c++)
		even[0][0][c] = i[c / 2] < rows ? -f[i[c / 2] * ld + c0 + 2 * place + c % 2] : 0.0;
#pragma unroll 1
	for (int k = 0; k < c0; k += PANEL) {
		Fragment<1, 1, 4> first = {{{{a[k], below[k]}}}, {{b[k]}}}, second = {{{{a[k + 4], below[k + 4]}}}, {{b[k + 4]}}};
		mma(even, first, [](int, int) {});
		mma(odd, second, [](int, int) {});
	}
#pragma unroll
	for (int c = 0; c < 4; c++)
		if (i[c / 2] < rows)
			f[i[c / 2] * ld + c0 + 2 * place + c % 2] = -(even[0][0][c] + odd[0][0][c]);
}

// eliminate eliminates the first m columns of a front, panel by panel from the left. If m > 0, it begins and ends with
// a barrier. A front has at least PANEL rows of memory. Beyond m, the columns of the last panel are padding, and the
// rows of its block are any numbers, on which no other column depends.
DEVICE void eliminate(double *f, int ld, int m, int rows) {
#pragma unroll 1
	for (int c0 = 0; c0 < m; c0 += PANEL) {
		for (int i0 = c0 + 16 * (threadIdx.x / 32); c0 > 0 && i0 < rows; i0 += 16 * (FRONT_THREADS / 32))
			update(f, ld, rows, c0, i0);
		barrier();
		int left = rows - c0;
		double *x = f + c0 * ld + c0, row[PANEL];
		auto store = [&](int i) {
#pragma unroll
			for (int c = 0; c < PANEL; c++)
				x[i * ld + c] = row[c];
		};
		for (int i = (left - 1) / FRONT_THREADS * FRONT_THREADS + threadIdx.x; i >= 0; i -= FRONT_THREADS) {
			if (i >= left)
				continue;
			pivot(row, x + i * ld, x, ld);
			if (i >= PANEL)
				store(i);
		}
		barrier(); // all threads have read the block
		if (threadIdx.x < PANEL && threadIdx.x < left)
			store(threadIdx.x);
	}
	if (m > 0)
		barrier();
}

// divide_strip multiplies up to 16 rows at s by L⁻¹, with L [m,m] at l. Columns from end on are
// zero and remain zero. It is executed by one warp.
DEVICE void divide_strip(double *s, int rows, const double *l, int ld, int m, int end, const double *inv) {
	int lane = threadIdx.x % 32, last = end < m ? end : m;
	for (int c0 = (last - 1) / PANEL * PANEL; c0 >= 0; c0 -= PANEL) {
		int w = m - c0 < PANEL ? m - c0 : PANEL, done = c0 + w;
		if (done < last) {
			Strip<1> t;
			t.begin(rows, w, [&](int i, int j) { return s[i * ld + c0 + j]; });
			t.template add<-1>({s + done, ld, 1}, rows, {l + done * ld + c0, 1, ld}, w, last - done);
			t.end(rows, w, [&](int i, int j, double v) { s[i * ld + c0 + j] = v; });
		}
		warp_barrier();
		if (lane < 16 && lane < rows)
			divide_up(s + lane * ld + c0, l + c0 * ld + c0, ld, w, inv + c0);
		warp_barrier();
	}
}
