// On the CPU: internal/rowspectrum/planesums.go.
//
// C and G of one window with two inputs, from tables (plane.cuh) instead of passes over the rows. spectrum_pullback computes the gradient.
//
// plane_gram         one warp for each pair of runs of features, which differ only in phase; block (4 pairs, row by row of the triangle).
//                    Writes the sums along each input of their pairs of features j > k to pairs [2][tiles of the lower
//                    triangle][PAIR_SUMS][32 j][32 k] and, if gram is not null, G_jk = ½A1_jA1_k Re S_0
//   operations       12 float64 instructions a term and wave, two waves, 32 × 32 terms if both features reach over all rows; a term is
//                    16 bytes of a table, which is in the L2 cache
//   shared memory    PATCH_ROWS weights of each warp
// plane_columns      one warp for each feature and vector v; block (4 features, v). v = 0 is E[φ²], v = 1 + o is output o. Writes
//                    singles [2,1+D,M] and, if sums is not null, C and E[φ²] as moments_columns does
//   precision        float64, sums in a fixed order
#include "plane.cuh"

// pair_of returns the runs of pair n, counted row by row: n = i(i+1)/2 + o.
DEVICE void pair_of(long long n, long long &i, long long &o) {
	i = (long long)(sqrt(0.25 + 2 * (double)n) - 0.5);
	while (i * (i + 1) / 2 > n) // the root is rounded
		i--;
	while ((i + 1) * (i + 2) / 2 <= n)
		i++;
	o = n - i * (i + 1) / 2;
}

KERNEL(128) plane_gram(PLANE, double *pairs, double *gram) {
	SHARED(Complex, weights);
	Plane p = PLANE_OF_ARGUMENTS;
	long long pair = 4 * (long long)blockIdx.x + threadIdx.x / 32, i, o;
	if (pair >= count * (count + 1) / 2)
		return;
	pair_of(pair, i, o);
	int lane = threadIdx.x % 32, input = lane % 2;
	long long j0 = (long long)runs[i], k0 = (long long)runs[o];
	int others = (int)((long long)runs[o + 1] - k0), all = (int)((long long)runs[i + 1] - j0) * others;
	if (i == o && all == 1)
		return;
	const FeatureWave *own = waves + input * m + j0, *other = waves + input * m + k0;
	Patch patch;
	patch.set(p, product(*own, *other));
	Complex *room = weights + threadIdx.x / 32 * PATCH_ROWS;
	Moments plus = {}, minus = {};
#pragma unroll 1
	for (int sign = 1; sign >= -1; sign -= 2) {
		plus = minus;
		minus = patch.sums(p, combined(*own, *other, sign), 0, room);
	}
#pragma unroll 1
	for (int n = 0; n < all; n += 16) { // each lane writes the sums along one input of a pair of features
		int at = n + lane / 2 < all ? n + lane / 2 : all - 1;
		long long j = j0 + at / others, k = k0 + at % others;
		double turns = waves[input * m + j].phase, less = waves[input * m + k].phase;
		turns += shuffle_xor(turns, 1);
		less += shuffle_xor(less, 1);
		if (k >= j || n + lane / 2 >= all)
			continue;
		PairSums s;
		s.clear();
		s.add(plus.turned(turns + less), 1);
		s.add(minus.turned(turns - less), -1);
		s.store(pairs + input * pair_numbers(m) + pair_at(j, k), patch.a);
		if (gram && input == 0)
			store_entry(gram, m, amp, waves[j].feature(), waves[k].feature(), s.both.re0);
	}
}

KERNEL(128, 4) plane_columns(PLANE, Single *singles, double *sums, long long n) {
	SHARED(Complex, weights);
	Plane p = PLANE_OF_ARGUMENTS;
	int lane = threadIdx.x % 32, input = lane % 2;
	long long k = 4 * (long long)blockIdx.x + threadIdx.x / 32, v = blockIdx.y;
	if (k >= m)
		return;
	FeatureWave w = waves[input * m + k];
	if (v == 0)
		w = w.twice();
	Patch patch;
	patch.set(p, {w.p, w.z, w.low, 0});
	Moments of = patch.sums(p, {w.cycles, w.part, 0}, v, weights + threadIdx.x / 32 * PATCH_ROWS);
	WaveSums turned = of.turned(w.phase + shuffle_xor(w.phase, 1));
	if (lane < 2)
		singles[(input * (1 + d) + v) * m + k] = {turned, patch.a};
	if (sums && lane == 0)
		store_column(sums, w.feature(), v, m, turned.re0, amp, power, ripple, n);
}
