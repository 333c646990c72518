// On the CPU: internal/linalg/blocktri/segment.go and internal/linalg/blocktri/solve.go.
//
// The algebra of windows: factor and solutions of the block-tridiagonal A = G + λI
// (DESIGN.md, section 12). A thread block processes a segment, that is,
// consecutive windows. A segment begins at a separator.
//
//	chain_reduce   level by level: eliminates the inner blocks of each segment,
//	               leaving the chain of separators, which is the next level
//	chain_factor   from the last level back to A: factors a segment, whose first
//	               block is fully updated, as in a factorization from the first
//	               block to the last
//	chain_inverse, chain_adjoint: inverse.cu
//
//	shapes      M_v features a window, D right-hand sides
//	precision   float64; the table determines the order of sums
//	operations  for each window of m features 19/3·m³ flops to reduce, 7/3·m³ to
//	            factor, 14/3·m³ for the inverse and 2·m³ for its L⁻¹ in full
#include "chain.cuh"

// A Front is a block being eliminated: X, below it its couplings E to the next block and W to the
// separator, and below these its right-hand sides y.
struct Front {
	double *at;
	int ld, m, next, left, d;

	DEVICE Front(double *shared, long long stride) : at(shared), ld((int)stride) {}
	DEVICE double *e() const { return at + m * ld; }
	DEVICE double *w() const { return at + (m + next) * ld; }
	DEVICE double *y() const { return at + (m + next + left) * ld; }
	DEVICE int rows() const { return m + next + left + d; }
	DEVICE Operand of(double *part) const { return {part, ld, 1}; }
};

// chain_reduce eliminates the inner blocks of a segment. The separator's P = ΣWWᵀ goes to prior of
// the next level. The next block, minus E·Eᵀ, is stored at the following separator's block, and the
// coupling between it and the separator, −E·Wᵀ, at their coupling.
KERNEL(256, 3) chain_reduce(const ChainBlock *blocks, double *at, double *rhs, long long count, const ChainBlock *over,
    double *over_at, long long fan, long long d, long long stride) {
	SHARED(double, shared);
	Level a = {blocks, at, rhs, count}, up = {over, over_at, over_at, 0};
	int first = (int)(fan * blockIdx.x), end = (int)(first + fan < count ? first + fan : count);
	ChainBlock s = a.block(first), t = up.block(blockIdx.x), run = up.block((long long)blockIdx.x + 1);
	Front f(shared, stride);
	f.left = (int)s.m;
	f.d = (int)d;
	each(f.left, f.left, [&](int i, int j) { up.at[t.prior + i * s.m + j] = s.prior < 0 ? 0.0 : a.at[s.prior + i * s.m + j]; });
	each(1, f.left * f.d, [&](int, int e) { up.rhs[t.prior_rhs + e] = s.prior_rhs < 0 ? 0.0 : a.rhs[s.prior_rhs + e]; });
	if (first == 0) {
		each(f.left, f.left, [&](int i, int j) {
			if (j <= i)
				up.at[t.diag + i * s.m + j] = a.at[s.diag + i * s.m + j];
		});
		each(1, f.left * f.d, [&](int, int e) { up.rhs[t.rhs + e] = a.rhs[s.rhs + e]; });
	}
	barrier(); // eliminate has no barrier if the first inner block has no features
	for (int v = first + 1; v < end; v++) {
		const ChainBlock &b = blocks[v];
		bool begins = v == first + 1, ends = v + 1 == end;
		f.m = (int)b.m;
		f.next = a.size(v + 1);
		const double *coupling = begins ? a.at + s.below : up.at + t.below;
		each(f.m, f.m, [&](int i, int j) {
			if (j <= i)
				f.at[i * f.ld + j] = begins ? diagonal(a, b, i, j) : up.at[run.diag + i * b.m + j];
		});
		each(f.next, f.m, [&](int i, int j) { f.e()[i * f.ld + j] = a.at[b.below + i * b.m + j]; });
		each(f.m, f.left, [&](int i, int j) { f.w()[j * f.ld + i] = coupling[i * s.m + j]; });
		each(f.m, f.d, [&](int i, int o) { f.y()[o * f.ld + i] = begins ? right(a, b, i * d + o) : up.rhs[run.rhs + i * d + o]; });
		eliminate(f.at, f.ld, f.m, f.rows());
		double *prior = up.at + t.prior, *prior_rhs = up.rhs + t.prior_rhs;
		auto zero = [](int, int) { return 0.0; };
		take(f.left, f.left, true, f.of(f.w()), f.of(f.w()), f.m, zero, [&](int i, int j, double x) { prior[i * s.m + j] -= x; });
		take(f.d, f.left, false, f.of(f.y()), f.of(f.w()), f.m, zero, [&](int o, int j, double x) { prior_rhs[j * d + o] -= x; });
		if (f.next > 0) {
			const ChainBlock &n = blocks[v + 1];
			take(f.next, f.next, true, f.of(f.e()), f.of(f.e()), f.m,
				 [&](int i, int j) { return ends ? a.at[n.diag + i * n.m + j] : diagonal(a, n, i, j); },
				 [&](int i, int j, double x) { up.at[run.diag + i * n.m + j] = x; });
			take(f.next, f.left, false, f.of(f.e()), f.of(f.w()), f.m, zero,
			    [&](int i, int j, double x) { up.at[t.below + i * s.m + j] = x; });
			take(f.d, f.next, false, f.of(f.y()), f.of(f.e()), f.m,
				 [&](int o, int j) { return ends ? a.rhs[n.rhs + j * d + o] : right(a, n, j * d + o); },
				 [&](int o, int j, double x) { up.rhs[run.rhs + j * d + o] = x; });
		}
		barrier();
	}
}

// chain_factor overwrites a segment by its part of the factor, L_v on the diagonal and E_v below,
// and the right-hand sides by y. The first block is updated except for prior. under is the level
// below, whose block fan·v receives block v first, or null. logs receives Σ log diag L_v.
KERNEL(256, 3) chain_factor(const ChainBlock *blocks, double *at, double *rhs, long long count,
    const ChainBlock *under, double *under_at, double *under_rhs, long long fan, long long length, long long d,
    long long stride, double *logs) {
	SHARED(double, shared);
	Level a = {blocks, at, rhs, count}, low = {under, under_at, under_rhs, 0};
	int first = (int)(length * blockIdx.x), end = (int)(first + length < count ? first + length : count);
	Front f(shared, stride);
	f.left = 0;
	f.d = (int)d;
	for (int v = first; v < end; v++) {
		const ChainBlock &b = blocks[v];
		f.m = (int)b.m;
		f.next = a.size(v + 1);
		if (under) {
			ChainBlock u = low.block(fan * v);
			each(f.m, f.m, [&](int i, int j) {
				if (j <= i)
					low.at[u.diag + i * b.m + j] = a.at[b.diag + i * b.m + j];
			});
			each(1, f.m * f.d, [&](int, int e) { low.rhs[u.rhs + e] = a.rhs[b.rhs + e]; });
		}
		each(f.m, f.m, [&](int i, int j) {
			if (j <= i)
				f.at[i * f.ld + j] = diagonal(a, b, i, j);
		});
		each(f.next, f.m, [&](int i, int j) { f.e()[i * f.ld + j] = a.at[b.below + i * b.m + j]; });
		each(f.m, f.d, [&](int i, int o) { f.y()[o * f.ld + i] = right(a, b, i * d + o); });
		eliminate(f.at, f.ld, f.m, f.rows());
		each(f.m, f.m, [&](int i, int j) {
			if (j <= i)
				a.at[b.diag + i * b.m + j] = f.at[i * f.ld + j];
		});
		each(f.next, f.m, [&](int i, int j) { a.at[b.below + i * b.m + j] = f.e()[i * f.ld + j]; });
		each(f.m, f.d, [&](int i, int o) { a.rhs[b.rhs + i * d + o] = f.y()[o * f.ld + i]; });
		if (logs && threadIdx.x < 32) {
			double sum = 0;
#pragma unroll 1
			for (int i = threadIdx.x; i < f.m; i += 32)
				sum += log(f.at[i * f.ld + i]);
			sum = warp_sum(sum);
			if (threadIdx.x == 0)
				logs[v] = sum;
		}
		if (v + 1 < end) {
			ChainBlock n = a.block(v + 1);
			take(f.next, f.next, true, f.of(f.e()), f.of(f.e()), f.m,
				 [&](int i, int j) { return a.at[n.diag + i * n.m + j]; },
				 [&](int i, int j, double x) { a.at[n.diag + i * n.m + j] = x; });
			take(f.d, f.next, false, f.of(f.y()), f.of(f.e()), f.m,
				 [&](int o, int j) { return a.rhs[n.rhs + j * d + o]; },
				 [&](int o, int j, double x) { a.rhs[n.rhs + j * d + o] = x; });
		}
		barrier();
	}
}
