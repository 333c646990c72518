// On the CPU: internal/linalg/blocktri/inverse.go; chain_adjoint: internal/linalg/blocktri/adjoint.go.
//
// The stored blocks of A⁻¹ = Z and the solutions m = A⁻¹C from the result of chain_factor, and
// their adjoint. From the last block to the first, with H_v = E_v·L_v⁻¹ (DESIGN.md, section 8),
//
//	Z_{v+1,v} = −Z_{v+1,v+1} H_v     Z_vv = L_v⁻ᵀL_v⁻¹ + H_vᵀ Z_{v+1,v+1} H_v
//	m_v = L_v⁻ᵀ y_v − H_vᵀ m_{v+1}
//
// The segments of a level are independent: the block after each is a separator, whose Z and m are
// in the level above.
#include "chain.cuh"

// trace returns the sum of a block's diagonal to all lanes of one warp.
DEVICE double trace(const double *z, int m) {
	double sum = 0;
	for (int i = threadIdx.x % 32; i < m; i += 32)
		sum += z[(long long)i * m + i];
	return warp_sum(sum);
}

// chain_inverse overwrites a segment's factor by Z, both triangles of its diagonal blocks, and y by
// m. over is the level above, where segment i's separator is block i; traces receives the traces of
// Z_vv. The front contains L, and below it I, which becomes L⁻¹, E, which becomes H, and yᵀ, which
// becomes yᵀL⁻¹.
KERNEL(256, 3) chain_inverse(const ChainBlock *blocks, double *at, double *rhs, long long count,
    const ChainBlock *over, double *over_at, long long length, long long d, long long stride, double *traces) {
	SHARED(double, shared);
	Level a = {blocks, at, rhs, count}, up = {over, over_at, over_at, 0};
	long long first = length * (long long)blockIdx.x, end = first + length < count ? first + length : count;
	int ld = (int)stride, dd = (int)d, warp = threadIdx.x / 32;
	double *inv = shared, *l = shared + ld;
	for (long long v = end - 1; v >= first; v--) {
		ChainBlock b = a.block(v), n = {0, 0, 0, -1, 0, -1};
		int m = (int)b.m, next = a.size(v + 1);
		const double *z = a.at, *solved = a.rhs; // of the block that follows
		if (next > 0 && v + 1 == end) {
			n = up.block((long long)blockIdx.x + 1);
			z = up.at;
			solved = up.rhs;
		} else if (next > 0)
			n = a.block(v + 1);
		z += n.diag;
		solved += n.rhs;
		double *lower = l + m * ld, *h = lower + m * ld, *y = h + next * ld, *below = a.at + b.below;
		each(m, m, [&](int i, int j) {
			double x = j <= i ? a.at[b.diag + i * b.m + j] : 0.0;
			l[i * ld + j] = x;
			lower[i * ld + j] = i == j;
			if (i == j)
				inv[i] = 1 / x;
		});
		each(next, m, [&](int i, int j) { h[i * ld + j] = below[i * b.m + j]; });
		each(m, dd, [&](int i, int o) { y[o * ld + i] = a.rhs[b.rhs + i * d + o]; });
		barrier();
		int own = (m + 15) / 16, strips = m == 0 ? 0 : own + (next + dd + 15) / 16;
		for (int t = warp; t < strips; t += FRONT_THREADS / 32) {
			if (t < own)
				divide_strip(lower + 16 * t * ld, m - 16 * t, l, ld, m, 16 * t + 16, inv);
			else
				divide_strip(h + 16 * (t - own) * ld, next + dd - 16 * (t - own), l, ld, m, m, inv);
		}
		barrier();
		take(next, m, false, {z, next, 1}, {h, 1, ld}, next, [](int, int) { return 0.0; },
		    [&](int i, int j, double x) { below[i * b.m + j] = x; });
		take(dd, m, false, {solved, 1, d}, {h, 1, ld}, next, [&](int o, int j) { return y[o * ld + j]; },
		    [&](int o, int j, double x) { a.rhs[b.rhs + j * d + o] = x; });
		barrier();
		products(
			m, m, true, [](int, int) { return 0.0; },
			[&](auto &s, int i0, int j0) { // L⁻¹ has zeros above its diagonal
				s.template add<1>({lower + i0 * ld + i0, 1, ld}, m - i0, {lower + i0 * ld + j0, 1, ld}, m - j0, m - i0);
				if (next > 0)
					s.template add<-1>({h + i0, 1, ld}, m - i0, {below + j0, 1, b.m}, m - j0, next);
			},
			[&](int i, int j, double x) {
				a.at[b.diag + i * b.m + j] = x;
				a.at[b.diag + j * b.m + i] = x;
			});
		barrier();
		if (traces && warp == 0) {
			double sum = trace(a.at + b.diag, m);
			if (threadIdx.x == 0)
				traces[v] = sum;
		}
	}
}

// chain_adjoint replaces A⁻¹ by inverse·A⁻¹ + outer·m mᵀ and fills coef [M,D] with linear·m, one
// thread block per window and the coupling below it.
KERNEL(256) chain_adjoint(const ChainBlock *blocks, double *at, const double *mean, double *coef, long long count,
    double inverse, double outer, double linear, long long d) {
	long long v = blockIdx.x;
	const ChainBlock &b = blocks[v], &next = blocks[v + 1];
	int m = (int)b.m, n = v + 1 < count ? (int)next.m : 0;
	const double *own = mean + b.rhs, *others = mean + next.rhs;
	auto spread = [&](double *z, const double *rows, int i, int j) {
		double s = 0;
		for (long long o = 0; o < d; o++)
			s = fma(rows[i * d + o], own[j * d + o], s);
		z[(long long)i * m + j] = inverse * z[(long long)i * m + j] + outer * s;
	};
	each(m, m, [&](int i, int j) { spread(at + b.diag, own, i, j); });
	each(n, m, [&](int i, int j) { spread(at + b.below, others, i, j); });
	each(1, m * (int)d, [&](int, int e) { coef[b.rhs + e] = linear * own[e]; });
}
