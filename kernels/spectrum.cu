// On the CPU: internal/rowspectrum/sums.go; spectrum_pullback: internal/rowspectrum/gradient.go.
//
// C, G and the gradient of one window with one input, from tables (spectrum.cuh) instead of passes over the rows; plane.cu computes C and G
// with two inputs.
//
// spectrum_gram      one thread for each pair of features j > k; block (4 features j, 32 features k). Writes the sums of both products
//                    to pairs [tiles of the lower triangle][PAIR_SUMS][32 j][32 k] and, if gram is not null, G_jk = ½A1_jA1_k Re S_0
//   operations       17 float64 instructions a term and wave, two waves, 34 terms if both features reach over all rows
//   shared memory    the 16 terms on either side of each thread's frequency; further terms are read where they are
// spectrum_columns   one thread for each feature and vector v; block (128 features, v). v = 0 is E[φ²], v = 1 + o is output o. Writes
//                    singles [1+D,M] and, if sums is not null, C and E[φ²] as moments_columns does
// spectrum_pullback  one warp for each 32 features times 32 others, one lane for each of the former; block (32 features, 4·32 others).
//                    Writes part [features/32][others/32][32][4+3·q], the sums of contract.cuh, for sums_reduce: one launch for each
//                    input, with the waves and sums along it, writes the sums by that input and, with the same bits, the common ones
//   shared memory    six numbers of 32 × 8 pairs for each warp, if the others come before the features
//   precision        float64, sums in a fixed order
#include "contract.cuh"
#include "spectrum.cuh"

// copy_near copies the terms of a table around the waves' frequencies to a warp's part of shared memory. first is the
// index of the first term for the lane's wave, or negative. A row of NEAR has one wave's terms, which the warp loads
// together; each lane alone would load from another line.
constexpr int NEAR = 2 * NEAR_TERMS + 1;
DEVICE void copy_near(Complex *to, const Complex *table, long long first) {
	int lane = threadIdx.x % TILE;
	warp_barrier(); // the lanes have read the last terms
#pragma unroll 4
	for (int wave = 0; wave < TILE; wave++) {
		long long from = bits_of(shuffle(of_bits(first), wave));
		if (from >= 0)
			copy_async16(to + wave * NEAR + lane, table + from + lane, true);
	}
	copy_commit();
	copy_wait<0>();
	warp_barrier();
}

KERNEL(128) spectrum_gram(SPECTRUM, double *pairs, double *gram) {
	SHARED(Complex, terms);
	Spectrum s = SPECTRUM_OF_ARGUMENTS;
	int lane = threadIdx.x % TILE;
	long long j = 4 * (long long)blockIdx.x + threadIdx.x / TILE, k = TILE * (long long)blockIdx.y + lane;
	if (j >= m || k - lane >= j)
		return;
	bool there = k < j;
	FeatureWave own = waves[j], other = waves[there ? k : j];
	Shape shape;
	shape.kind = Shape::none;
	shape.from = shape.to = 0;
	if (there) {
		shape.e = product(own, other);
		shape.choose(s, true);
	}
	Complex *near = terms + (threadIdx.x - lane) * NEAR;
	PairSums all;
	all.clear();
#pragma unroll 1
	for (int sign = 1; sign >= -1; sign -= 2) {
		Carrier c = aliased(s, combined(own, other, sign));
		copy_near(near, s.tables, shape.nearby() ? s.margin + (long long)fabs(c.cycles) - NEAR_TERMS : -1);
		all.add(shape.sums(s, c, 0, shape.nearby() ? near + lane * NEAR : nullptr), sign);
	}
	if (!there)
		return;
	all.store(pairs + pair_at(j, k), shape.a);
	if (gram) // with the indices read again, since registers would be spilled for them
		store_entry(gram, m, amp, waves[j].feature(), waves[k].feature(), all.both.re0);
}

KERNEL(128) spectrum_columns(SPECTRUM, Single *singles, double *sums, long long n) {
	Spectrum s = SPECTRUM_OF_ARGUMENTS;
	long long k = 128 * (long long)blockIdx.x + threadIdx.x, v = blockIdx.y;
	if (k >= m)
		return;
	FeatureWave w = waves[k];
	if (v == 0)
		w = w.twice();
	Shape shape;
	shape.e = {w.p, w.z, w.low, 0};
	shape.choose(s, v == 0);
	WaveSums of = shape.sums(s, aliased(s, {w.cycles, w.part, w.phase}), v, nullptr);
	singles[v * m + k] = {of, shape.a};
	if (sums)
		store_column(sums, w.feature(), v, m, of.re0, amp, power, ripple, n);
}

// slope adds to a feature's sums the derivatives of weight·Re Σψ by θ and of quad·Re Σψ by q, for d
// = X − Z. The wave's sums are taken about a point at distance e from Z.
DEVICE void slope(Sums<2> &g, double weight, double quad, double e, const WaveSums &of) {
	g.theta -= weight * of.im0;
	g.thetaD -= weight * fma(e, of.im0, of.im1);
	g.quadD -= quad * fma(e, of.re0, of.re1);
	g.quadD2 -= quad * fma(e, fma(e, of.re0, 2 * of.re1), of.re2);
}

// copy_strip copies six numbers of 32 × STRIP pairs, of which each lane then reads a row, to a warp's part of shared
// memory. In device memory, the lanes' rows would be 256 bytes apart.
constexpr int STRIP = PAIR_STRIP, STRIP_NUMBERS = 6;
DEVICE void copy_strip(double *to, const double *from) {
	int row = threadIdx.x % TILE / STRIP, column = threadIdx.x % STRIP;
	SharedAt at = shared_at(to + row * (STRIP + 1) + column);
	from += row * TILE + column;
	warp_barrier(); // the lanes have read the last strip
#pragma unroll
	for (int i = 0; i < STRIP_NUMBERS; i++)
#pragma unroll
		for (int r = 0; r < TILE; r += TILE / STRIP)
			copy_async(at + (i * TILE + r) * (STRIP + 1) * 8, from + (i < 5 ? i : 7) * AREA + r * TILE, true);
	copy_commit();
	copy_wait<0>();
	warp_barrier();
}

KERNEL(128) spectrum_pullback(SPECTRUM, const double *pairs, const Single *singles, const double *gram,
    const double *cbar, double *part, long long n, long long q, long long input) {
	SHARED(double, strips);
	long long lane = threadIdx.x % TILE, block = 4 * (long long)blockIdx.y + threadIdx.x / TILE, blocks = (m + TILE - 1) / TILE;
	long long j0 = TILE * (long long)blockIdx.x, k0 = TILE * block, end = k0 + TILE < m ? k0 + TILE : m;
	if (block >= blocks)
		return;
	long long j = j0 + lane < m ? j0 + lane : m - 1; // lanes beyond help to copy
	FeatureWave own = waves[j];
	long long feature = own.feature();
	Sums<2> g; // which stores the sums by input separately
	g.clear();
	auto add = [&](long long k, int imaginary, auto number) {
		WaveSums of = {number(0), number(1), number(2), number(imaginary), number(imaginary + 1)};
		long long other = waves[k].feature();
		double bar = gram[other * m + feature] * amp[other], weight = bar * amp[feature];
		g.amp = fma(bar, of.re0, g.amp);
		slope(g, weight, weight, (number(7) - own.z) - own.low, of);
	};
	if (k0 < j0) {
		double *strip = strips + threadIdx.x / TILE * STRIP_NUMBERS * TILE * (STRIP + 1), *row = strip + lane * (STRIP + 1);
#pragma unroll 1
		for (; k0 < end; k0 += STRIP) {
			copy_strip(strip, pairs + pair_at(j0, k0));
#pragma unroll 2
			for (int c = 0; c < STRIP; c++)
				add(k0 + c, 3, [&](int i) { return row[(i < 5 ? i : 5) * TILE * (STRIP + 1) + c]; });
		}
	} else {
#pragma unroll 2
		for (long long k = k0; k < end; k++)
			if (k != j) {
				const double *p = pairs + (j > k ? pair_at(j, k) : pair_at(k, j));
				add(k, j > k ? 3 : 5, [&](int i) { return p[i * AREA]; });
			}
	}
	if (j0 + lane > j)
		return;
	if (block == blockIdx.x) {
		Single one = singles[j];
		double bar = gram[feature * m + feature], weight = bar * ripple[feature];
		g.gate2 = bar * (double)n;
		g.ripple = bar * one.of.re0;
		slope(g, 2 * weight, 4 * weight, (one.a - own.z) - own.low, one.of);
		for (long long o = 0; o < d; o++) {
			one = singles[(1 + o) * m + j];
			weight = cbar[feature * d + o] * amp[feature];
			g.amp = fma(cbar[feature * d + o], one.of.re0, g.amp);
			slope(g, weight, weight, (one.a - own.z) - own.low, one.of);
		}
	}
	g.thetaD *= unit;
	g.quadD *= unit;
	g.quadD2 *= unit * unit;
	double *out = part + ((feature / TILE * blocks + block) * TILE + feature % TILE) * width(q);
	g.store(out, 1);
	g.store_input({out + 4, 1}, (int)q, (int)input);
}
