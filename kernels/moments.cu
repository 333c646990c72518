// On the CPU: cpu/moments.go.
//
// Moments: C = Φ̄ᵀY, the lower triangle of Φ̄ᵀΦ̄, and Σ_n E[φ²].
//
// moments_gram_T   a block owns one T×T tile of a run's Gram matrix over a chunk's
//                  rows of a slab, whose features are in the store (store.cuh).
//   shapes         ti ≥ tj; part [slot][T][T] = Σ_n φ̄_(T·ti+a)·φ̄_(T·tj+b), 0 beyond m
//   precision      float64 throughout, each sum in the order of the rows
//   operations     2·T² flops a row and tile (the triangle: N·M²)
// moments_columns  a thread owns one feature over one chunk:
//                  part [slot][128][5] = Σ φ̄·y for outputs d0 … d0+3, Σ E[φ²]
#include "product.cuh"

template <int T>
DEVICE void moments_gram(const Chunk *chunks, const Job *jobs, long long slab, long long most, const double *store,
    double *part, double *shared) {
	const Job &job = jobs[blockIdx.x];
	Chunk s = slab_at(chunks, job.chunk, slab, most);
	if (s.lo == s.hi)
		return;
	bool diagonal = job.block == job.other;
	Tile<T> tile;
	tile.clear();
	double *own = part + job.slot * T * T;
	if (slab > 0)
		tile.each([&](int i, int j, double &v) { v = own[i * T + j]; });
	constexpr int panel = Tile<T>::mn_major;
	MNMajor<T> rows(shared, store, s, T * job.block), columns(shared + panel, store, s, T * job.other);
	int stages = (int)((s.hi - s.lo + BLOCK_K - 1) / BLOCK_K);
	tile.template sum<false, false>(shared, 2 * panel, diagonal ? 0 : panel, stages, [&](int at, int) {
		rows.next(at);
		if (!diagonal)
			columns.next(at);
	});
	tile.each([&](int i, int j, double &v) { own[i * T + j] = v; });
}

KERNEL(128) moments_gram_64(const Chunk *chunks, const Job *jobs, long long slab, long long most, const double *store,
    double *part) {
	SHARED(double, shared);
	moments_gram<64>(chunks, jobs, slab, most, store, part, shared);
}

KERNEL(256) moments_gram_128(const Chunk *chunks, const Job *jobs, long long slab, long long most, const double *store,
    double *part) {
	SHARED(double, shared);
	moments_gram<128>(chunks, jobs, slab, most, store, part, shared);
}

// Columns are one feature's sums for at most OUTPUTS outputs.
template <int OUTPUTS> struct Columns {
	double scale, power, ripple, along[OUTPUTS] = {}, squares = 0;

	// add adds one row: v is the feature there, g its gate, y n outputs.
	DEVICE void add(const Damped &v, double g, const double *y, int n) {
		squares += fma(power * g, g, ripple * v.e2 * fma(v.cos, v.cos, -(v.sin * v.sin)));
		double phi = scale * v.cos;
#pragma unroll
		for (int o = 0; o < OUTPUTS; o++)
			if (OUTPUTS == 1 || o < n)
				along[o] = fma(phi, y[o], along[o]);
	}

	DEVICE void walk(const Rows &r, const FeatureParams &params, const Chunk &s, long long k, int column, long long d0,
	    double *out) {
		scale = params.amp[k];
		power = params.power[k];
		ripple = params.ripple[k];
		int n = (int)(r.d - d0);
		for (long long base = s.lo; base < s.hi; base += RESYNC) {
			int rows = (int)(s.hi - base < RESYNC ? s.hi - base : RESYNC);
			const double *y = r.y + base * r.d + d0;
			Wave wave;
			wave.begin(r, params, base, rows, k, column);
			wave.walk<0>(r, params, [&](auto value) {
#pragma unroll 2
				for (int i = 0; i < rows; i++, y += r.d) {
					double g = gate_at(r, base + i, column);
					add(value(i, g), g, y, n);
				}
			});
		}
#pragma unroll
		for (int o = 0; o < OUTPUT_GROUP; o++)
			out[o] = o < OUTPUTS ? along[o] : 0;
		out[OUTPUT_GROUP] = squares;
	}
};

KERNEL(128) moments_columns(PASS_ARGS, long long d0, double *part) {
	Rows r = ROWS_OF_ARGS;
	FeatureParams params = FEATURE_PARAMS_OF_ARGS;
	const Job &job = jobs[blockIdx.x];
	Chunk s = chunks[job.chunk];
	long long local = 128 * job.block + threadIdx.x;
	if (local >= s.m)
		return;
	double *out = part + (job.slot * 128 + threadIdx.x) * (OUTPUT_GROUP + 1);
	int column = local < s.split ? 0 : 1;
	if (r.d == 1)
		Columns<1>().walk(r, params, s, s.f0 + local, column, d0, out);
	else
		Columns<OUTPUT_GROUP>().walk(r, params, s, s.f0 + local, column, d0, out);
}
