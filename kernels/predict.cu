// On the CPU: cpu/predict.go.
//
// Predictions: means and covariances of rows.
//
// predict_rows    a block owns one job, up to 32 rows of one chunk, and all
//                 features over them; rows.cuh defines the order of sums.
//   shapes     out [N][D + D²]: Σ_k φ̄ m_kd; Σ_k m_kd m_kd' (E[φ²] − φ̄²), and
//              s_k·E[φ²] on the diagonal, s = shared [M] or var [M,D]
//   precision  float64 throughout
//   shared     128 + 32·(q + 2) + 128·16 numbers
//   operations float64 instructions for each row and feature, sm_90, one input
//              and output: 24 on evenly spaced rows, 76 elsewhere; N = 10⁶, M =
//              4096 in 7 or 21 ms on an H200, counting only these
// predict_quad_T  a block owns T features k over a chunk's rows of a slab, whose
//                 features are in the store (store.cuh); the chunk has at most
//                 QUAD_ROWS rows, processed T at a time: product computes T×T entries
//                 Σ_{j<k} S_kj φ̄_nj, since S is symmetric; four threads per row multiply
//                 them by φ̄_nk and add along k.
//   shapes     part [slot][QUAD_ROWS] = 2 Σ_{k in tile} φ̄_nk Σ_{j<k} S_kj φ̄_nj
//   precision  float64 throughout
//   shared     as in tile.cuh
//   operations N·M² flops on the tensor cores, 1 + T/M times as many with whole diagonal tiles
// rows_gather     a thread copies a row.
//
// predict_quad_reduce (reduce.cu) adds the tiles in order, and the host adds their sums to every
// variance. The times are estimates.
#include "product.cuh"
#include "rows.cuh"

// Spread sums entries first … first+COLUMNS−1 of a row's prediction: the D means, then the
// covariance's lower triangle, row by row.
template <int COLUMNS> struct Spread {
	const double *mean, *var, *shared;
	long long d;
	long long i[COLUMNS], j[COLUMNS]; // entry (i, j); j = −1: mean i; i = d: none
	double weight[COLUMNS], diagonal[COLUMNS];
	double amp, power, ripple;

	struct alignas(16) Kept {
		double phi, second;
	};

	DEVICE void choose(long long first) {
		if (COLUMNS == 2) { // one output: its mean and its variance
			i[0] = i[COLUMNS - 1] = j[COLUMNS - 1] = 0;
			j[0] = -1;
			return;
		}
		long long row = 0, left = first < d ? 0 : first - d;
		while (row < d && left > row)
			left -= ++row;
#pragma unroll
		for (int c = 0; c < COLUMNS; c++) {
			if (first + c < d) {
				i[c] = first + c;
				j[c] = -1;
				continue;
			}
			i[c] = row;
			j[c] = left;
			if (row < d && ++left > row) {
				row++;
				left = 0;
			}
		}
	}

	DEVICE void open(const FeatureParams &params, long long k) {
		amp = params.amp[k];
		power = params.power[k];
		ripple = params.ripple[k];
		const double *m = mean + k * d;
#pragma unroll
		for (int c = 0; c < COLUMNS; c++) {
			weight[c] = diagonal[c] = 0;
			if (i[c] >= d)
				continue;
			weight[c] = j[c] < 0 ? m[i[c]] : m[i[c]] * m[j[c]];
			if (i[c] == j[c])
				diagonal[c] = shared ? shared[k] : var[k * d + i[c]];
		}
	}

	DEVICE Kept keep(const Damped &v, double g) const {
		return {amp * v.cos, power * g * g + ripple * v.e2 * (v.cos * v.cos - v.sin * v.sin)};
	}

	DEVICE void add(double *acc, const Kept &v) const {
		double spread = v.second - v.phi * v.phi;
#pragma unroll
		for (int c = 0; c < COLUMNS; c++)
			if (j[c] < 0)
				acc[c] = fma(weight[c], v.phi, acc[c]);
			else
				acc[c] = fma(diagonal[c], v.second, fma(weight[c], spread, acc[c]));
	}

	// put writes a total into a row's D + D² numbers.
	DEVICE void put(double *out, int c, double total) const {
#pragma unroll
		for (int a = 0; a < COLUMNS; a++) { // a is a constant for the compiler, c is not
			if (a != c || i[a] >= d)
				continue;
			if (j[a] < 0) {
				out[i[a]] = total;
				continue;
			}
			out[d + i[a] * d + j[a]] = total;
			out[d + j[a] * d + i[a]] = total;
		}
	}
};

constexpr int predict_threads = 128;

template <int ROWS, int INPUTS>
DEVICE void predicted(const Rows &r, const FeatureParams &params, const Chunk *chunks, const Job *jobs, const double *mean,
    const double *var, const double *shared, double *out, double *room) {
	constexpr int columns = 32 / ROWS;
	const Job &job = jobs[blockIdx.x];
	Chunk s = chunks[job.chunk];
	long long lo = s.lo + JOB_ROWS * job.block, numbers = r.d + r.d * (r.d + 1) / 2;
	int n = (int)(s.hi - lo < JOB_ROWS ? s.hi - lo : JOB_ROWS);
	double *staged = room + predict_threads, *kept = staged + JOB_ROWS * (r.q + 2);
	Rows view = stage<INPUTS>(r, lo, n, JOB_ROWS, predict_threads, staged);
	barrier();
	for (long long first = 0; first < numbers; first += columns) {
		Spread<columns> spread;
		spread.mean = mean;
		spread.var = var;
		spread.shared = shared;
		spread.d = r.d;
		spread.choose(first);
		for (int at = 0; at < n; at += ROWS) {
			int count = n - at < ROWS ? n - at : ROWS;
			double acc[32];
#pragma unroll
			for (int i = 0; i < 32; i++)
				acc[i] = 0;
			walk<ROWS, predict_threads, INPUTS>(acc, spread, view, params, s, at, count, kept);
			double total = totals<predict_threads>(acc, room);
			int i = threadIdx.x / columns;
			if (i < count)
				spread.put(out + (lo + at + i) * (r.d + r.d * r.d), threadIdx.x % columns, total);
		}
	}
}

KERNEL(128) predict_rows(PASS_ARGS, const double *mean, const double *var, const double *shared, double *out) {
	SHARED(double, room);
	if (q > 1)
		predicted<8, MAX_INPUTS>(ROWS_OF_ARGS, FEATURE_PARAMS_OF_ARGS, chunks, jobs, mean, var, shared, out, room);
	else if (d == 1)
		predicted<16, 1>(ROWS_OF_ARGS, FEATURE_PARAMS_OF_ARGS, chunks, jobs, mean, var, shared, out, room);
	else
		predicted<8, 1>(ROWS_OF_ARGS, FEATURE_PARAMS_OF_ARGS, chunks, jobs, mean, var, shared, out, room);
}

template <int T>
DEVICE void quad(const Chunk *chunks, const Job *jobs, long long slab, long long most, const double *store,
    const double *gram, double *part, double *room) {
	const Job &job = jobs[blockIdx.x];
	Chunk s = slab_at(chunks, job.chunk, slab, most);
	double *out = part + job.slot * QUAD_ROWS - chunks[job.chunk].lo; // by row
	long long k0 = T * job.block, wide = store_width(s.m);
	int quarter = threadIdx.x % 4, own = threadIdx.x / 4, n = s.m - k0 < T ? (int)(s.m - k0) : T;
	for (long long base = s.lo; base < s.hi; base += T) {
		Tile<T> tile;
		product<T, true>(tile, s, gram, store, k0, base, room);
#pragma unroll 1
		for (int half = 0; half < 2; half++) {
			bars<T>(tile, half, 1, room);
			barrier();
			long long row = base + half * T / 2 + own;
			double sum = 0;
			if (row < s.hi) {
				const double *phi = store + s.store + (row - s.lo) * wide + k0, *bar = room + own * half_ld<T>;
#pragma unroll 8
				for (int e = quarter; e < n; e += 4)
					sum = fma(phi[e], bar[e], sum);
			}
			sum += shuffle_xor(sum, 1);
			sum += shuffle_xor(sum, 2);
			if (quarter == 0 && row < s.hi)
				out[row] = 2 * sum;
			barrier();
		}
	}
}

KERNEL(128) predict_quad_64(const Chunk *chunks, const Job *jobs, long long slab, long long most, const double *store,
    const double *gram, double *part) {
	SHARED(double, room);
	quad<64>(chunks, jobs, slab, most, store, gram, part, room);
}

KERNEL(256) predict_quad_128(const Chunk *chunks, const Job *jobs, long long slab, long long most, const double *store,
    const double *gram, double *part) {
	SHARED(double, room);
	quad<128>(chunks, jobs, slab, most, store, gram, part, room);
}

// rows_gather copies rows index[0 … n) to consecutive rows: a mini-batch.
KERNEL(128) rows_gather(const long long *index, long long n, long long q, long long d, const double *x,
    const double *y, const double *gate, double *xs, double *ys, double *gates) {
	long long to = 128 * (long long)blockIdx.x + threadIdx.x;
	if (to >= n)
		return;
	long long from = index[to];
	for (long long i = 0; i < q; i++)
		xs[to * q + i] = x[from * q + i];
	for (long long i = 0; i < d; i++)
		ys[to * d + i] = y[from * d + i];
	if (gate)
		for (int i = 0; i < 2; i++)
			gates[2 * to + i] = gate[2 * from + i];
}
