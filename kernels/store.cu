// On the CPU: internal/simd/feature.go, which stores no features.
//
// Features stored in memory for products (store.cuh).
//
// features_prepare   a thread computes a feature's rotation by delta
// features_store     a thread owns one feature over RESYNC rows of a slab: block
//                    (job, group of rows), job = (chunk, 128 features)
//   operations 9 float64 instructions a feature on evenly spaced rows and 84 for
//              each RESYNC of them, 47 elsewhere; eight bytes written
#include "store.cuh"

KERNEL(128) features_prepare(const double *decay, const double *turn, double *rot, long long m, double delta) {
	long long k = 128 * (long long)blockIdx.x + threadIdx.x;
	if (k >= m)
		return;
	double s, c;
	sincos_turns(turn[k] * delta, s, c);
	double *out = rot + ROTATIONS * k;
	out[0] = c;
	out[1] = s;
	out[2] = exp(-decay[k] * delta * delta);
}

KERNEL(128) features_store(PASS_ARGS, long long slab, long long most, double *store) {
	Rows r = ROWS_OF_ARGS;
	FeatureParams params = FEATURE_PARAMS_OF_ARGS;
	const Job &job = jobs[blockIdx.x];
	Chunk s = slab_at(chunks, job.chunk, slab, most);
	long long local = 128 * job.block + threadIdx.x, k = s.f0 + local, wide = store_width(s.m);
	long long lo = s.lo + RESYNC * (long long)blockIdx.y;
	int n = (int)(s.hi - lo < RESYNC ? s.hi - lo : RESYNC);
	if (local >= wide || n <= 0)
		return;
	double *out = store + s.store + (lo - s.lo) * wide + local;
	if (local >= s.m) {
		for (int i = 0; i < n; i++)
			out[i * wide] = 0;
		return;
	}
	double scale = params.amp[k];
	Wave wave;
	wave.begin(r, params, lo, n, k, local < s.split ? 0 : 1);
	wave.walk<0>(r, params, [&](auto value) {
#pragma unroll 2
		for (int i = 0; i < n; i++)
			out[i * wide] = scale * value(i, gate_at(r, lo + i, wave.column)).cos;
	});
}
