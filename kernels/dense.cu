// On the CPU: internal/linalg/blocktri/blocktri.go, for one window.
//
// The algebra of a dense model: factor, solutions and inverse of A = G + λI for one window too
// large for the shared memory of a thread block (docs/algorithms.md, "A dense matrix on a GPU").
// The columns of the stack
//
//	A   [M,M]  → L         of the first M columns, DENSE_BLOCK at a time, from the
//	I   [M,M]  → U = L⁻ᵀ   left: dense_panel eliminates them, dense_update subtracts
//	Cᵀ  [D,M]  → yᵀ        their products from the columns to the right
//
// are eliminated in place: the remaining part of a row of A ends where the nonzero part of the same
// row of I begins. So entry (i, j) of the Gram array becomes L_ij below the diagonal, and U_ij on
// and above it (L_ii = 1/U_ii). The diagonal blocks of both move to corner [M,64], so that no block
// of the panel or of the inverse reads entries that another block writes.
//
//	dense_panel     a block owns 64 rows of the stack, and also factors the
//	                diagonal block of the 64 columns
//	dense_update_T  a block owns a T×T tile of the stack and subtracts the
//	                products of columns from … mid−1
//	dense_mean      a warp owns a row of m = U·y
//	dense_residual  a block owns 32 columns of y − Lᵀm, which U turns into a
//	                correction: as accurate as substitution, but parallel
//	dense_inverse_T a block owns a T×T tile of the lower triangle of A⁻¹ = U·Uᵀ,
//	                and writes it over L
//	dense_finish    Σ log diag L and the trace of A⁻¹
//	dense_adjoint   a block owns 32×32 numbers and their mirror image
//
//	shapes      at [M,M], corner [M,64] (rows up to a multiple of 64), y, mean, coef [M,D]
//	precision   float64; the shapes determine the order of sums
//	operations  M³/3 flops for L, for U and for A⁻¹, on the tensor cores
//
// A nonpositive pivot makes all dependent entries NaN.
#include "chain.cuh"

// copy_k_major copies a panel [T rows][BLOCK_K entries] whose entry (i, k) is from[i·row + k·step], with
// zeros beyond the rows. The lanes of a warp cover eight rows by four entries, which use each bank
// once.
template <int T> DEVICE void copy_k_major(double *panel, const double *from, int row, int step, int rows) {
#pragma unroll
	for (int half = 0; half < 2; half++) {
		int i = threadIdx.x / 4 + half * T / 2;
		bool there = i < rows;
#pragma unroll
		for (int k = threadIdx.x % 4; k < BLOCK_K; k += 4)
			copy_async(panel + i * (BLOCK_K + PAD) + k, from + (there ? i * row + k * step : 0), there);
	}
}

// factor_at returns the address of entry (i, j) of L or U.
DEVICE const double *factor_at(const double *at, const double *corner, long long m, unsigned i, unsigned j) {
	return i / DENSE_BLOCK == j / DENSE_BLOCK ? corner + i * (long long)DENSE_BLOCK + j % DENSE_BLOCK : at + i * m + j;
}

// copy_k_major_upper copies a panel of U, rows from row0 on and columns from k0 on, with zeros below the
// diagonal and beyond the matrix.
template <int T> DEVICE void copy_k_major_upper(double *panel, const double *at, const double *corner, long long m,
    long long row0, long long k0) {
	int place = threadIdx.x % 4, size = (int)m, first = (int)k0 + place;
#pragma unroll
	for (int half = 0; half < 2; half++) {
		int local = threadIdx.x / 4 + half * T / 2, i = (int)row0 + local;
		const double *from = factor_at(at, corner, m, i, first);
#pragma unroll
		for (int k = 0; k < BLOCK_K; k += 4) {
			bool there = i <= first + k && first + k < size;
			copy_async(panel + local * (BLOCK_K + PAD) + place + k, there ? from + k : at, there);
		}
	}
}

template <int T>
DEVICE void dense_update(double *at, const double *corner, double *y, long long m, long long d, long long from,
    long long mid, long long columns, double *shared) {
	long long tiles = (m + T - 1) / T, i = blockIdx.x / columns, row0 = T * i, col0 = mid + T * (blockIdx.x % columns);
	bool right = i >= tiles, upper = !right && row0 < mid;
	if (right)
		row0 -= T * tiles;
	else if (!upper && row0 < col0)
		return; // rows of U that begin after these columns
	long long lo = upper && row0 > from ? row0 : from;
	int step = right ? (int)d : 1, next = right ? 1 : (int)m;
	double *own = (right ? y + row0 : at + row0 * m);
	int rows = (int)((right ? d : m) - row0 < T ? (right ? d : m) - row0 : T), cols = (int)(m - col0 < T ? m - col0 : T);
	Tile<T> tile;
	tile.clear();
	constexpr int panel = Tile<T>::k_major;
	tile.template sum<true, true>(shared, 2 * panel, panel, (int)((mid - lo) / BLOCK_K), [&](int bytes, long long s) {
		double *stage = shared + bytes / 8;
		long long k = lo + s * BLOCK_K;
		if (upper)
			copy_k_major_upper<T>(stage, at, corner, m, row0, k);
		else
			copy_k_major<T>(stage, own + k * step, next, step, rows);
		copy_k_major<T>(stage + panel, at + col0 * m + k, (int)m, 1, cols);
	});
	own += col0 * step;
	int diagonal = right || upper ? T : (int)(row0 - col0);
	// Entries of U follow a row's own column.
	auto there = [&](int r, int c) { return r < rows && c < cols && c <= r + diagonal; };
	tile.change(
		[&](int r, int c) { return there(r, c) ? own[r * next + c * step] : 0.0; },
		[&](int r, int c, double old, double v) {
			if (there(r, c))
				own[r * next + c * step] = old - v;
		});
}

KERNEL(128) dense_update_64(double *at, const double *corner, double *y, long long m, long long d, long long from,
    long long mid, long long columns) {
	SHARED(double, shared);
	dense_update<64>(at, corner, y, m, d, from, mid, columns, shared);
}

KERNEL(256) dense_update_128(double *at, const double *corner, double *y, long long m, long long d, long long from,
    long long mid, long long columns) {
	SHARED(double, shared);
	dense_update<128>(at, corner, y, m, d, from, mid, columns, shared);
}

// dense_panel eliminates columns col0 … col0+63 of the stack. The front contains their diagonal
// block of A and, below it, the block's rows.
KERNEL(256, 2) dense_panel(double *at, double *corner, double *y, long long m, long long d, long long col0) {
	SHARED(double, shared);
	constexpr int ld = DENSE_BLOCK + PAD;
	double *f = shared;
	long long tiles = (m + DENSE_BLOCK - 1) / DENSE_BLOCK, row0 = DENSE_BLOCK * (long long)blockIdx.x;
	bool right = blockIdx.x >= tiles, own = !right && row0 == col0;
	if (right)
		row0 -= DENSE_BLOCK * tiles;
	long long row = right ? 1 : m, step = right ? d : 1, left = (right ? d : m) - row0;
	int w = (int)(m - col0 < DENSE_BLOCK ? m - col0 : DENSE_BLOCK), rows = (int)(left < DENSE_BLOCK ? left : DENSE_BLOCK);
	double *pivots = at + col0 * m + col0, *mine = right ? y + col0 * d + row0 : at + row0 * m + col0, *below = f + w * ld;
	each(w, w, [&](int i, int j) { copy_async(f + i * ld + j, pivots + i * m + j, true); });
	if (own)
		each(w, w, [&](int i, int j) { below[i * ld + j] = i == j; });
	else
		each(rows, w, [&](int i, int j) { copy_async(below + i * ld + j, mine + i * row + j * step, true); });
	copy_commit();
	copy_wait<0>();
	eliminate(f, ld, w, w + rows); // begins with a barrier
	if (own)
		each(w, w, [&](int i, int j) { corner[(col0 + i) * DENSE_BLOCK + j] = (j < i ? f : below)[i * ld + j]; });
	else
		each(rows, w, [&](int i, int j) { mine[i * row + j * step] = below[i * ld + j]; });
}

// dot adds a(i)·b(i) for i = from, from + step … below end, in this order. Eight loads of each
// operand are in flight at a time.
template <class A, class B> DEVICE double dot(double sum, long long from, long long end, int step, A a, B b) {
#pragma unroll 1
	for (; from < end; from += 8 * step) {
		double x[8], y[8];
#pragma unroll
		for (int u = 0; u < 8; u++) {
			long long i = from + u * step;
			x[u] = i < end ? a(i) : 0.0;
			y[u] = i < end ? b(i) : 0.0;
		}
#pragma unroll
		for (int u = 0; u < 8; u++)
			sum = fma(x[u], y[u], sum);
	}
	return sum;
}

// dense_mean adds U·y to share·mean, share 0 or 1.
KERNEL(256) dense_mean(const double *at, const double *corner, const double *y, double *mean, long long m, long long d, double share) {
	long long i = 8 * (long long)blockIdx.x + threadIdx.x / 32;
	if (i >= m)
		return;
	const double *row = at + i * m, *own = corner + i * DENSE_BLOCK;
	long long k0 = i / DENSE_BLOCK * DENSE_BLOCK;
	int lane = threadIdx.x % 32;
	for (long long o = 0; o < d; o++) {
		double sum = 0;
		for (int k = lane; k < DENSE_BLOCK; k += 32)
			if (k0 + k >= i && k0 + k < m)
				sum = fma(own[k], y[(k0 + k) * d + o], sum);
		auto numbers = [&](long long k) { return row[k]; };
		sum = warp_sum(dot(sum, k0 + DENSE_BLOCK + lane, m, 32, numbers, [&](long long k) { return y[k * d + o]; }));
		if (lane == 0)
			mean[i * d + o] = share == 0 ? sum : mean[i * d + o] + sum;
	}
}

// dense_residual subtracts Lᵀm from y.
KERNEL(256) dense_residual(const double *at, const double *corner, const double *mean, double *y, long long m, long long d) {
	SHARED(double, room);
	int warp = threadIdx.x / 32;
	long long j0 = 32 * (long long)blockIdx.x, j = j0 + threadIdx.x % 32, below = (j0 / DENSE_BLOCK + 1) * DENSE_BLOCK;
	for (long long o = 0; o < d; o++) {
		double sum = 0;
		for (long long i = j0 + warp; i < below && i < m; i += 8)
			if (j <= i) {
				double l = corner[i * DENSE_BLOCK + j % DENSE_BLOCK];
				sum = fma(i == j ? 1 / l : l, mean[i * d + o], sum);
			}
		auto column = [&](long long i) { return at[i * m + j]; };
		sum = dot(sum, below + warp, m, 8, column, [&](long long i) { return mean[i * d + o]; });
		room[threadIdx.x] = sum;
		barrier();
		for (int w = 1; w < 8; w++)
			sum += room[w * 32 + threadIdx.x % 32];
		if (warp == 0 && j < m)
			y[j * d + o] -= sum;
		barrier();
	}
}

// The tiles with most products come first, so that none of them runs alone at the end.
template <int T> DEVICE void dense_inverse(double *at, const double *corner, long long m, double *shared) {
	long long i, j;
	triangle(blockIdx.x, i, j);
	long long row0 = T * i, col0 = T * j;
	Tile<T> tile;
	tile.clear();
	constexpr int panel = Tile<T>::k_major;
	tile.template sum<true, true>(shared, 2 * panel, panel, (int)((m - row0 + BLOCK_K - 1) / BLOCK_K), [&](int bytes, long long s) {
		double *stage = shared + bytes / 8;
		long long k = row0 + s * BLOCK_K;
		copy_k_major_upper<T>(stage, at, corner, m, row0, k);
		copy_k_major_upper<T>(stage + panel, at, corner, m, col0, k);
	});
	tile.each([&](int r, int c, double &v) {
		if (row0 + r < m && col0 + c <= row0 + r)
			at[(row0 + r) * m + col0 + c] = v;
	});
}

KERNEL(128) dense_inverse_64(double *at, const double *corner, long long m) {
	SHARED(double, shared);
	dense_inverse<64>(at, corner, m, shared);
}

KERNEL(256) dense_inverse_128(double *at, const double *corner, long long m) {
	SHARED(double, shared);
	dense_inverse<128>(at, corner, m, shared);
}

// dense_finish uses log L_ii = −log U_ii.
KERNEL(256) dense_finish(const double *at, const double *corner, long long m, double *logs, double *traces) {
	SHARED(double, room);
	double log_sum = 0, trace = 0;
	for (long long i = threadIdx.x; i < m; i += 256) {
		log_sum -= log(corner[i * DENSE_BLOCK + i % DENSE_BLOCK]);
		trace += at[i * m + i];
	}
	log_sum = warp_sum(log_sum);
	trace = warp_sum(trace);
	if (threadIdx.x % 32 == 0) {
		room[threadIdx.x / 32] = log_sum;
		room[8 + threadIdx.x / 32] = trace;
	}
	barrier();
	if (threadIdx.x > 0)
		return;
	for (int w = 1; w < 8; w++) {
		log_sum += room[w];
		trace += room[8 + w];
	}
	*logs = log_sum;
	*traces = trace;
}

// dense_adjoint replaces A⁻¹, given by its lower triangle, by both triangles of inverse·A⁻¹ +
// outer·m mᵀ, and fills coef [M,D] with linear·m.
KERNEL(256) dense_adjoint(double *at, const double *mean, double *coef, long long m, long long d, double inverse,
    double outer, double linear) {
	SHARED(double, room); // the tile, transposed
	long long ti, tj;
	triangle(blockIdx.x, ti, tj);
	int lane = threadIdx.x % 32;
	for (int r = threadIdx.x / 32; r < DENSE_MIRROR; r += 8) {
		long long i = DENSE_MIRROR * ti + r, j = DENSE_MIRROR * tj + lane;
		if (i >= m || j > i)
			continue;
		double s = 0;
		for (long long o = 0; o < d; o++)
			s = fma(mean[i * d + o], mean[j * d + o], s);
		s = inverse * at[i * m + j] + outer * s;
		at[i * m + j] = s;
		room[lane * (DENSE_MIRROR + 1) + r] = s;
	}
	barrier();
	for (int r = threadIdx.x / 32; r < DENSE_MIRROR; r += 8) {
		long long i = DENSE_MIRROR * ti + lane, j = DENSE_MIRROR * tj + r;
		if (i < m && j < i)
			at[j * m + i] = room[r * (DENSE_MIRROR + 1) + lane];
	}
	long long left = m - DENSE_MIRROR * ti;
	for (long long e = threadIdx.x; ti == tj && e < (left < DENSE_MIRROR ? left : DENSE_MIRROR) * d; e += 256)
		coef[DENSE_MIRROR * ti * d + e] = linear * mean[DENSE_MIRROR * ti * d + e];
}
