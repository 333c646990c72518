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
// because nearly collinear features would lose accuracy.
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
		for (int k0 = 0; k0 < depth; k0 += MMA_K) {
			Fragment<1, COLUMNS> f;
			int k = k0 + place;
			bool there = k < depth;
#pragma unroll
			for (int r = 0; r < 2; r++)
				f.a[0][r] = there ? SIGN * pa[r][k * a.step] : 0.0;
#pragma unroll
			for (int j = 0; j < COLUMNS; j++)
				f.b[j] = there ? pb[j][k * b.step] : 0.0;
			mma(acc, f);
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

// pivot factors the w × w block at x, w ≤ PANEL, in one warp, and writes the reciprocals of its
// diagonal to inv. A nonpositive pivot becomes NaN, and so do all dependent entries.
//
// Each lane has a row. The values for the next pivot are broadcast while d^−½ is computed, and
// nothing waits for the root itself: the steps from one pivot to the next are the critical path of
// a factorization.
DEVICE void pivot(double *x, int ld, int w, double *inv) {
	int lane = threadIdx.x % 32;
	double row[PANEL];
#pragma unroll
	for (int j = 0; j < PANEL; j++)
		row[j] = lane < w && j <= lane ? x[lane * ld + j] : lane == j; // rows of I beyond w
	double d = shuffle(row[0], 0);
#pragma unroll
	for (int c = 0; c < PANEL; c++) {
		double first = 0, next = 0;
		if (c + 1 < PANEL) {
			first = shuffle(row[c], c + 1);
			next = shuffle(row[c + 1], c + 1);
		}
		double over = inverse_root(d), root = d * over;
		root = fma(fma(-root, root, d), 0.5 * over, root);
		first *= over;
		d = fma(-first, first, next);
		if (lane == c && c < w)
			inv[c] = over;
		row[c] = lane == c ? root : row[c] * over;
#pragma unroll
		for (int j = c + 1; j < PANEL; j++)
			row[j] = fma(-row[c], shuffle(row[c], j), row[j]);
	}
	if (lane >= w)
		return;
#pragma unroll
	for (int j = 0; j < PANEL; j++)
		if (j <= lane)
			x[lane * ld + j] = row[j];
}

// divide multiplies a row's w entries at s by the inverse of the transposed block at l, in place.
DEVICE void divide(double *s, const double *l, int ld, int w, const double *inv) {
	double x[PANEL];
#pragma unroll
	for (int c = 0; c < PANEL; c++)
		x[c] = c < w ? s[c] : 0.0;
#pragma unroll
	for (int c = 0; c < PANEL; c++)
		if (c < w) {
			x[c] *= inv[c];
#pragma unroll
			for (int e = c + 1; e < PANEL; e++)
				if (e < w)
					x[e] = fma(-x[c], l[e * ld + c], x[e]);
		}
#pragma unroll
	for (int c = 0; c < PANEL; c++)
		if (c < w)
			s[c] = x[c];
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

// eliminate eliminates the first m columns of a front, panel by panel from the left, and writes the
// reciprocals of L's diagonal to inv [m]. If m > 0, it begins and ends with a barrier.
DEVICE void eliminate(double *f, int ld, int m, int rows, double *inv) {
	int warp = threadIdx.x / 32;
#pragma unroll 1
	for (int c0 = 0; c0 < m; c0 += PANEL) {
		int w = m - c0 < PANEL ? m - c0 : PANEL;
		for (int i0 = c0 + 16 * warp; c0 > 0 && i0 < rows; i0 += 16 * (FRONT_THREADS / 32)) {
			double *s = f + i0 * ld + c0;
			Strip<1> t;
			t.begin(rows - i0, w, [&](int i, int j) { return s[i * ld + j]; });
			t.template add<-1>({f + i0 * ld, ld, 1}, rows - i0, {f + c0 * ld, ld, 1}, w, c0);
			t.end(rows - i0, w, [&](int i, int j, double v) { s[i * ld + j] = v; });
		}
		barrier();
		double *x = f + c0 * ld + c0;
		if (warp == 0)
			pivot(x, ld, w, inv + c0);
		barrier();
		for (int i = c0 + w + threadIdx.x; i < rows; i += FRONT_THREADS)
			divide(f + i * ld + c0, x, ld, w, inv + c0);
		barrier();
	}
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
