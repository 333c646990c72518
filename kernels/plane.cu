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
	long long pair = 4 * (long long)blockIdx.x + threadIdx.x / 32, j, k;
	if (pair >= m * (m - 1) / 2)
		return;
	pair_of(pair, j, k);
	FeatureWave own[2] = {waves[j], waves[m + j]}, other[2] = {waves[k], waves[m + k]};
	Patch patch;
	PairSums all[2];
#pragma unroll
	for (int q = 0; q < 2; q++) {
		patch.along[q].e = product(own[q], other[q]);
		all[q].clear();
	}
	patch.set(p);
#pragma unroll 1
	for (int sign = 1; sign >= -1; sign -= 2) {
		WaveSums of[2];
		patch.sums(p, {combined(own[0], other[0], sign), combined(own[1], other[1], sign)}, 0, weights + threadIdx.x / 32 * PATCH_ROWS, of);
		all[0].add(of[0], sign);
		all[1].add(of[1], sign);
	}
	if (threadIdx.x % 32 != 0)
		return;
#pragma unroll
	for (int q = 0; q < 2; q++)
		all[q].store(pairs + q * pair_numbers(m) + pair_at(j, k), patch.along[q].a);
	if (gram)
		store_entry(gram, m, amp, own[0].feature(), other[0].feature(), all[0].both.re0);
}

KERNEL(128) plane_columns(PLANE, Single *singles, double *sums, long long n) {
	SHARED(Complex, weights);
	Plane p = PLANE_OF_ARGUMENTS;
	long long k = 4 * (long long)blockIdx.x + threadIdx.x / 32, v = blockIdx.y;
	if (k >= m)
		return;
	Patch patch;
	FeatureWave w[2];
#pragma unroll
	for (int q = 0; q < 2; q++) {
		w[q] = waves[q * m + k];
		if (v == 0)
			w[q] = w[q].twice();
		patch.along[q].e = {w[q].p, w[q].z, w[q].low, 0};
	}
	patch.set(p);
	WaveSums of[2];
	patch.sums(p, {{w[0].cycles, w[0].part, w[0].phase}, {w[1].cycles, w[1].part, w[1].phase}}, v,
	    weights + threadIdx.x / 32 * PATCH_ROWS, of);
	if (threadIdx.x % 32 != 0)
		return;
#pragma unroll
	for (int q = 0; q < 2; q++)
		singles[(q * (1 + d) + v) * m + k] = {of[q], patch.along[q].a};
	if (sums)
		store_column(sums, w[0].feature(), v, m, of[0].re0, amp, power, ripple, n);
}
