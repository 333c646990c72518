// Moments: C = Φ̄ᵀY, the lower triangle of Φ̄ᵀΦ̄, and Σ_n E[φ²] (cpu/moments.go).
//
// moments_gram_T   a block owns one T×T tile of a run's Gram matrix over one
//                  chunk of its rows. Features are made in shared memory,
//                  sixteen rows at a time, and multiplied on the spot; half
//                  the warps make the next stage while half multiply.
//   shapes         ti ≥ tj; part [slot][T][T] = Σ_n φ̄_(T·ti+a)·φ̄_(T·tj+b), 0 beyond m
//   precision      float64 throughout
//   operations     2·T² flops a row and tile (the triangle: N·M²), and 2T
//                  features a row: 9 instructions each on evenly spaced rows,
//                  50 elsewhere
// moments_columns  a thread owns one feature over one chunk:
//                  part [slot][128][5] = Σ φ̄·y for outputs d0 … d0+3, Σ E[φ²]
//
// Tried: T = 64 for all sizes (each feature is then made for half as many
// products: on even rows 56 % of the time goes into features); features kept
// in a workspace in device memory, made once (the reads of 128×128 tiles from
// the second-level cache come to 3.7 TB/s at full rate, for a gain only where
// rows are not evenly spaced). Neither was timed: there was no card.
#include "tile.cuh"

// A Maker fills one column of a panel: one feature, some rows of each stage.
template <int T> struct Maker {
	Wave<1> wave;
	long long k;
	int column, first, count; // rows [first, first+count) of each stage
	bool there;
	double amp;

	DEVICE void open(const Bank &b, const Chunk &s, long long local, int lo, int n) {
		there = local < s.m;
		k = s.f0 + (there ? local : 0);
		column = local < s.split ? 0 : 1;
		first = lo;
		count = n;
		amp = there ? b.amp[k] : 0;
	}

	// fill writes the column's E[φ] for the stage that begins at row base.
	DEVICE void fill(double *out, const Rows &r, const Bank &b, const Chunk &s, long long base) {
		long long at = base + first;
		bool whole = count == STAGE;
		if (there && at < s.hi && (!whole || (base - s.lo) % RESYNC == 0)) {
			long long most = whole ? RESYNC : count;
			wave.begin(r, b, at, (int)(s.hi - at < most ? s.hi - at : most), k, column);
		}
		int n = there && at < s.hi ? (int)(s.hi - at < count ? s.hi - at : count) : 0;
		out += first * Tile<T>::ld;
		if (n == STAGE && wave.turning) {
#pragma unroll 4
			for (int i = 0; i < STAGE; i++)
				out[i * Tile<T>::ld] = amp * wave.turned(r).cos;
			return;
		}
#pragma unroll 1
		for (int i = 0; i < n; i++)
			out[i * Tile<T>::ld] = amp * wave.next(r, b).cos;
		for (int i = n; i < count; i++)
			out[i * Tile<T>::ld] = 0;
	}
};

template <int T> DEVICE void moments_gram(const Rows &r, const Bank &b, const long long *chunks, const long long *jobs, double *part, double *shared) {
	const long long *job = jobs + 4 * (long long)blockIdx.x;
	Chunk s = chunk_at(chunks, job[0]);
	bool diagonal = job[1] == job[2];
	int side = threadIdx.x / T, at = threadIdx.x % T;
	Maker<T> maker;
	maker.open(b, s, T * (diagonal || side == 0 ? job[1] : job[2]) + at, diagonal ? side * STAGE / 2 : 0, diagonal ? STAGE / 2 : STAGE);
	Tile<T> tile;
	tile.clear();
	bool above = diagonal && tile.row0 + Tile<T>::tall <= tile.col0;
	int own = (diagonal ? 0 : side * Tile<T>::panel) + at;
	overlap<T>(shared, (s.hi - s.lo + STAGE - 1) / STAGE,
			   [&](double *stage, long long i) { maker.fill(stage + own, r, b, s, s.lo + i * STAGE); },
			   [&](const double *stage) {
				   if (!above)
					   tile.multiply(stage, stage + (diagonal ? 0 : Tile<T>::panel));
			   });
	double *out = part + job[3] * T * T;
#pragma unroll
	for (int i = 0; i < 2; i++)
#pragma unroll
		for (int j = 0; j < Tile<T>::columns; j++)
#pragma unroll
			for (int c = 0; c < 4; c++)
				out[tile.row(i, c) * T + tile.col(j, c)] = tile.acc[i][j][c];
}

KERNEL(128) moments_gram_64(ROWS_BANK, double *part) {
	SHARED(double, shared);
	moments_gram<64>(ROWS_OF_ARGUMENTS, BANK_OF_ARGUMENTS, chunks, jobs, part, shared);
}

KERNEL(256) moments_gram_128(ROWS_BANK, double *part) {
	SHARED(double, shared);
	moments_gram<128>(ROWS_OF_ARGUMENTS, BANK_OF_ARGUMENTS, chunks, jobs, part, shared);
}

KERNEL(128) moments_columns(ROWS_BANK, long long d0, double *part) {
	Rows r = ROWS_OF_ARGUMENTS;
	Bank b = BANK_OF_ARGUMENTS;
	const long long *job = jobs + 3 * (long long)blockIdx.x;
	Chunk s = chunk_at(chunks, job[0]);
	long long local = 128 * job[1] + threadIdx.x, k = s.f0 + local;
	if (local >= s.m)
		return;
	int column = local < s.split ? 0 : 1;
	double along[OUTPUT_GROUP] = {}, squares = 0;
	Wave<1> wave;
	for (long long base = s.lo; base < s.hi; base += RESYNC) {
		int n = (int)(s.hi - base < RESYNC ? s.hi - base : RESYNC);
		wave.begin(r, b, base, n, k, column);
		for (int i = 0; i < n; i++) {
			Damped v = wave.next(r, b);
			double g = gate_at(r, base + i, column), phi = b.amp[k] * v.cos;
			squares += second(b, k, v, g);
#pragma unroll
			for (int o = 0; o < OUTPUT_GROUP; o++)
				if (d0 + o < r.d)
					along[o] = fma(phi, r.y[(base + i) * r.d + d0 + o], along[o]);
		}
	}
	double *out = part + (job[2] * 128 + threadIdx.x) * (OUTPUT_GROUP + 1);
#pragma unroll
	for (int o = 0; o < OUTPUT_GROUP; o++)
		out[o] = along[o];
	out[OUTPUT_GROUP] = squares;
}

// features_prepare makes the rotations by delta and by 16·delta.
KERNEL(128) features_prepare(const double *decay, const double *turn, double *rot, long long m, double delta) {
	long long k = 128 * (long long)blockIdx.x + threadIdx.x;
	if (k >= m)
		return;
#pragma unroll
	for (int i = 0; i < 2; i++) {
		double step = (i == 0 ? 1 : 16) * delta, t = turn[k] * step, s, c;
		sincos_turns(t - rint(t), s, c);
		double *out = rot + ROTATIONS * k + 3 * i;
		out[0] = c;
		out[1] = s;
		out[2] = exp(-decay[k] * step * step);
	}
}

// moments_gram_reduce adds the chunks' tiles, in order, to the strictly lower
// triangle of the Gram matrix. The runs of one launch share no window.
KERNEL(256) moments_gram_reduce(const long long *runs, const long long *jobs, const double *part, double *gram, long long tile) {
	const long long *job = jobs + 2 * (long long)blockIdx.x;
	const long long *run = runs + CHUNK_FIELDS * job[0];
	Chunk s = {0, 0, 0, run[0], run[1], run[2], run[3], run[4]};
	long long slot0 = run[5], slots = run[6], pairs = run[7];
	long long ti = 0;
	while ((ti + 1) * (ti + 2) / 2 <= job[1])
		ti++;
	long long tj = job[1] - ti * (ti + 1) / 2;
	for (long long e = threadIdx.x; e < tile * tile; e += 256) {
		long long i = tile * ti + e / tile, j = tile * tj + e % tile;
		if (i >= s.m || j >= i)
			continue;
		double sum = 0;
		for (long long t = 0; t < slots; t++)
			sum += part[(slot0 + t * pairs + job[1]) * tile * tile + e];
		gram[gram_entry(s, i, j)] += sum;
	}
}

// sums_reduce adds the chunks' sums of each feature, in order. The jobs of
// one launch share no feature.
KERNEL(128) sums_reduce(const long long *jobs, const double *part, double *out, long long tile, long long width) {
	const long long *job = jobs + 5 * (long long)blockIdx.x;
	for (long long e = threadIdx.x; e < job[1] * width; e += 128) {
		double sum = 0;
		for (long long t = 0; t < job[3]; t++)
			sum += part[(job[2] + t * job[4]) * tile * width + e];
		out[job[0] * width + e] += sum;
	}
}
