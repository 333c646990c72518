// On the CPU: internal/rowspectrum/planesums.go.
//
// C and G of one window with two inputs, from tables (plane.cuh) instead of passes over the rows. spectrum_pullback computes the gradient.
//
// plane_gram         one warp for each pair of features j > k; block (4 pairs, row by row of the triangle). Writes the sums along each input
//                    to pairs [2][tiles of the lower triangle][PAIR_SUMS][32 j][32 k] and, if gram is not null, G_jk = ½A1_jA1_k Re S_0
//   operations       12 float64 instructions a term and wave, two waves, 32 × 32 terms if both features reach over all rows; a term is
//                    16 bytes of a table, which is in the L2 cache
//   shared memory    PATCH_ROWS weights of each warp
// plane_columns      one warp for each feature and vector v; block (4 features, v). v = 0 is E[φ²], v = 1 + o is output o. Writes
//                    singles [2,1+D,M] and, if sums is not null, C and E[φ²] as moments_columns does
//   precision        float64, sums in a fixed order
#include "plane.cuh"

// pair_of returns the features of pair n, counted row by row: n = j(j−1)/2 + k.
DEVICE void pair_of(long long n, long long &j, long long &k) {
	j = (long long)(0.5 + sqrt(0.25 + 2 * (double)n));
	while (j * (j - 1) / 2 > n) // the root is rounded
		j--;
	while (j * (j + 1) / 2 <= n)
		j++;
	k = n - j * (j - 1) / 2;
}

KERNEL(128) plane_gram(PLANE, double *pairs, double *gram) {
	SHARED(Complex, weights);
	Plane p = PLANE_OF_ARGUMENTS;
	int lane = threadIdx.x % 32, input = lane % 2;
	long long pair = 4 * (long long)blockIdx.x + threadIdx.x / 32, j, k;
	if (pair >= m * (m - 1) / 2)
		return;
	pair_of(pair, j, k);
	const FeatureWave *own = waves + input * m + j, *other = waves + input * m + k; // read for each product, to need fewer registers
	Patch patch;
	patch.set(p, product(*own, *other));
	PairSums all;
	all.clear();
#pragma unroll 1
	for (int sign = 1; sign >= -1; sign -= 2)
		all.add(patch.sums(p, combined(*own, *other, sign), 0, weights + threadIdx.x / 32 * PATCH_ROWS), sign);
	if (lane < 2)
		all.store(pairs + input * pair_numbers(m) + pair_at(j, k), patch.a);
	if (gram && lane == 0)
		store_entry(gram, m, amp, own->feature(), other->feature(), all.both.re0);
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
	WaveSums of = patch.sums(p, {w.cycles, w.part, w.phase}, v, weights + threadIdx.x / 32 * PATCH_ROWS);
	if (lane < 2)
		singles[(input * (1 + d) + v) * m + k] = {of, patch.a};
	if (sums && lane == 0)
		store_column(sums, w.feature(), v, m, of.re0, amp, power, ripple, n);
}
