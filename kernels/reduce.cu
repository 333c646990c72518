// On the CPU: cpu/moments.go, cpu/pullback.go and cpu/predict.go, in the same functions as the passes.
//
// Reductions of the partial sums of a pass, and the beginning of the algebra.
//
// moments_gram_reduce   adds the chunks' tiles to the strictly lower triangle of G
// sums_reduce           adds the chunks' sums of each feature
// predict_quad_reduce   adds the tiles' sums of each row
//   shapes     gridDim.y blocks share the results of reductions[blockIdx.x]; a thread
//              computes a result from all its partial sums
//   precision  float64 throughout, in the order of the slots
//   operations eight bytes read for each partial sum
// chain_start           completes the diagonal of A and copies C
#include "product.cuh"

// entries calls f(e) for the thread's share of n results.
template <class F> DEVICE void entries(long long n, F f) {
	for (long long e = threadIdx.x + blockDim.x * (long long)blockIdx.y; e < n; e += blockDim.x * (long long)gridDim.y)
		f(e);
}

// in_order adds the numbers of some slots that are apart numbers apart: of each slot sides numbers,
// step apart. The loop adds eight at a time, so that as many loads are in flight.
DEVICE double in_order(const double *from, long long slots, long long apart, long long sides = 1, long long step = 0) {
	constexpr int loads = 8;
	long long side = 0, back = (sides - 1) * step;
	double sum = 0;
#pragma unroll 1
	for (long long left = slots * sides; left > 0; left -= loads) {
		double v[loads];
#pragma unroll
		for (int i = 0; i < loads; i++) {
			v[i] = i < left ? *from : 0.0; // adding this zero changes no bit
			bool last = ++side == sides;
			from += last ? apart - back : step;
			side = last ? 0 : side;
		}
#pragma unroll
		for (int i = 0; i < loads; i++)
			sum += v[i];
	}
	return sum;
}

// The runs of one launch share no window.
KERNEL(256) moments_gram_reduce(const Chunk *chunks, const Reduction *reductions, const double *part, double *gram,
    long long tile) {
	const Reduction &r = reductions[blockIdx.x];
	Chunk s = chunks[r.chunk];
	long long ti, tj;
	triangle(r.block, ti, tj);
	entries(tile * tile, [&](long long e) {
		int row = (int)e / (int)tile;
		long long i = tile * ti + row, j = tile * tj + e - row * tile;
		if (i >= s.m || j >= i)
			return;
		gram[gram_entry(s, i, j)] += in_order(part + r.slot * tile * tile + e, r.slots, r.apart * tile * tile);
	});
}

// A slot contains the sums of sides threads. The runs of one launch share no feature.
KERNEL(128) sums_reduce(const Chunk *chunks, const Reduction *reductions, const double *part, double *out,
    long long tile, long long width, long long sides) {
	const Reduction &r = reductions[blockIdx.x];
	Chunk s = chunks[r.chunk];
	long long first = tile * r.block, n = s.m - first < tile ? s.m - first : tile;
	long long side = tile * width, slot = sides * side;
	entries(n * width, [&](long long e) {
		out[(s.f0 + first) * width + e] += in_order(part + r.slot * slot + e, r.slots, r.apart * slot, sides, side);
	});
}

// The chunks of one launch share no row.
KERNEL(128) predict_quad_reduce(const Chunk *chunks, const Reduction *reductions, const double *part, double *out) {
	const Reduction &r = reductions[blockIdx.x];
	Chunk s = chunks[r.chunk];
	entries(s.hi - s.lo, [&](long long e) {
		out[s.lo + e] += in_order(part + r.slot * QUAD_ROWS + e, r.slots, r.apart * QUAD_ROWS);
	});
}

// chain_start adds λ to the second moments, which are G's diagonal, copies C to the right-hand sides
// and to coef [M,D], and writes the trace of G's block to traces.
KERNEL(128) chain_start(const ChainBlock *blocks, double *at, double *rhs, const double *sums, double *coef,
    double *traces, double lambda, long long m, long long d) {
	const ChainBlock &b = blocks[blockIdx.x];
	SHARED(double, room);
	long long first = b.rhs / d;
	double sum = 0;
	for (long long i = threadIdx.x; i < b.m; i += 128) {
		double g = sums[(first + i) * (OUTPUT_GROUP + 1) + OUTPUT_GROUP];
		at[b.diag + i * b.m + i] = g + lambda;
		sum += g;
		for (long long o = 0; o < d; o++) {
			long long e = (first + i) * d + o;
			coef[e] = rhs[e] = sums[(o / OUTPUT_GROUP * m + first + i) * (OUTPUT_GROUP + 1) + o % OUTPUT_GROUP];
		}
	}
	room[threadIdx.x] = sum;
	barrier();
	if (threadIdx.x > 0)
		return;
	for (int t = 1; t < 128; t++)
		sum += room[t];
	traces[blockIdx.x] = sum;
}
