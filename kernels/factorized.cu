// On the CPU: cpu/factorized.go.
//
// The factorized bound's sums: a pass with residuals r_n = y_n − Σ_k φ̄_nk m_k, then one with the
// gradient of Σ‖r_n‖² and of the rest.
//
// factorized_residual  a block owns one job, up to 32 rows of one chunk, and
//                      all features over them; rows.cuh defines the order of sums.
//   shapes     res [N,D]; value [job] = Σ‖r_n‖² over the job's rows
//   precision  float64 throughout
//   shared     256 + 32·(q + 2) + 256·8 numbers
// factorized_gradient  a thread owns one feature over one chunk and its sums
//                      (contract.cuh); 64 rows at a time (x, gates, residuals) pass
//                      through shared memory, 16 if there are several inputs.
//   shapes     part [slot][128][4+3q+6]: the sums of contract.cuh, then
//              Σ r·φ̄ for outputs d0 … d0+3, Σ φ̄², Σ E[φ²]; zeros beyond m and D.
//              More than four outputs need a launch for each four; all but
//              Σ r·φ̄ are the same sums in each.
//   precision  float64 throughout, each sum in the order of the rows
//   shared     64·(q + 6) numbers, or 16·(q + 6) and 2048 RowAdjoints
//
// Operations, float64 instructions for each row and feature as counted in the
// machine code for sm_90, one input and one output:
//
//	             evenly spaced      elsewhere
//	residual     9 + 84/32 = 12     56
//	gradient     34 + 84/64 = 35    74
//
// A new Wave costs 84. At N = 10⁶, M = 4096 that is 3.2 + 9.8 = 13 ms on
// an H200 (132 · 64 a clock, 1.75 GHz), 36 ms if rows are not evenly spaced,
// counting only float64 arithmetic. These are estimates.
#include "contract.cuh"
#include "rows.cuh"

// Fit sums Σ_k φ̄_nk m_kd for outputs d0 … d0+COLUMNS−1.
template <int COLUMNS> struct Fit {
	const double *mean;
	long long d, d0;
	double weight[COLUMNS];

	typedef double Kept;

	DEVICE void open(const FeatureParams &params, long long k) {
#pragma unroll
		for (int c = 0; c < COLUMNS; c++)
			weight[c] = d0 + c < d ? params.amp[k] * mean[k * d + d0 + c] : 0.0;
	}

	DEVICE double keep(const Damped &v, double) const { return v.cos; }

	DEVICE void add(double *acc, double cos) const {
#pragma unroll
		for (int c = 0; c < COLUMNS; c++)
			acc[c] = fma(weight[c], cos, acc[c]);
	}
};

constexpr int residual_threads = 256;

template <int ROWS, int INPUTS>
DEVICE void residual(const Rows &r, const FeatureParams &params, const Chunk *chunks, const Job *jobs, const double *mean,
    double *res, double *value, double *room) {
	const Job &job = jobs[blockIdx.x];
	Chunk s = chunks[job.chunk];
	long long lo = s.lo + JOB_ROWS * job.block;
	int n = (int)(s.hi - lo < JOB_ROWS ? s.hi - lo : JOB_ROWS);
	double *staged = room + residual_threads, *kept = staged + JOB_ROWS * (r.q + 2);
	Rows view = stage<INPUTS>(r, lo, n, JOB_ROWS, residual_threads, staged);
	barrier();
	residuals<ROWS, residual_threads>(r, lo, n, res, value, room, [&](double(&acc)[32], long long d0, int at, int count) {
		Fit<32 / ROWS> fit;
		fit.mean = mean;
		fit.d = r.d;
		fit.d0 = d0;
		walk<ROWS, residual_threads, INPUTS>(acc, fit, view, params, s, at, count, kept);
	});
}

#ifndef VSSGP_EMU
// Two blocks per multiprocessor; by default the compiler uses registers for one.
extern "C" __global__ void __launch_bounds__(residual_threads, 2) factorized_residual(PASS_ARGS, const double *mean,
    double *res, double *value);
#endif

KERNEL(256) factorized_residual(PASS_ARGS, const double *mean, double *res, double *value) {
	SHARED(double, room);
	if (q > 1)
		residual<8, MAX_INPUTS>(ROWS_OF_ARGS, FEATURE_PARAMS_OF_ARGS, chunks, jobs, mean, res, value, room);
	else if (d == 1)
		residual<32, 1>(ROWS_OF_ARGS, FEATURE_PARAMS_OF_ARGS, chunks, jobs, mean, res, value, room);
	else if (d == 2)
		residual<16, 1>(ROWS_OF_ARGS, FEATURE_PARAMS_OF_ARGS, chunks, jobs, mean, res, value, room);
	else
		residual<8, 1>(ROWS_OF_ARGS, FEATURE_PARAMS_OF_ARGS, chunks, jobs, mean, res, value, room);
}

// GRADIENT_ROWS is the number of rows in shared memory at a time, and the number of rows after
// which a Wave restarts.
constexpr int gradient_threads = 128;

// Slope contains a thread's sums for its feature in factorized_gradient.
template <int INPUTS, int OUTPUTS> struct Slope {
	Sums<INPUTS> sums;
	double m[OUTPUTS], along[OUTPUTS], square; // −2·mean, Σ r·cos, Σ cos²
	double a1, a2, m2, barSecond;
	const double *mean, *res; // of the outputs not in m

	DEVICE void open(const Rows &r, const FeatureParams &params, long long k, const double *allMean, const double *var,
	    long long d0, double *out) {
		sums.clear();
		for (int i = 0; INPUTS > 1 && i < 3 * r.q; i++)
			out[4 + i] = 0;
		square = m2 = barSecond = 0;
		mean = allMean + k * r.d;
		for (long long o = 0; o < r.d; o++) {
			m2 = fma(mean[o], mean[o], m2);
			barSecond += var[k * r.d + o];
		}
		barSecond += m2;
#pragma unroll
		for (int o = 0; o < OUTPUTS; o++) {
			along[o] = 0;
			m[o] = d0 + o < r.d ? -2 * mean[d0 + o] : 0.0;
		}
		a1 = params.amp[k];
		a2 = 4 * params.ripple[k] * barSecond;
	}

	// rows processes the n rows of a tile that begins at row base; value(i, g) is the feature.
	template <class Value>
	DEVICE void rows(Value value, const Rows &view, const FeatureParams &params, long long k, int column, long long base, int n,
	    long long d0, const double *staged, RowAdjoint *of_rows) {
		double back = -2 * m2 * a1;
#pragma unroll(OUTPUTS == 1 ? 2 : 1)
		for (int i = 0; i < n; i++) {
			double g = gate_at(view, i, column);
			Damped v = value(i, g);
			double bar = back * v.cos;
#pragma unroll
			for (int o = 0; o < OUTPUTS; o++) {
				double e = staged[i * OUTPUTS + o];
				along[o] = fma(e, v.cos, along[o]);
				bar = fma(e, m[o], bar);
			}
			if (OUTPUTS > 1 && view.d > OUTPUTS)
				for (long long o = 0; o < view.d; o++)
					if (o < d0 || o >= d0 + OUTPUTS)
						bar = fma(-2 * res[(base + i) * view.d + o], mean[o], bar);
			square = fma(v.cos, v.cos, square);
			sums.add(view, params, i, k, v, g, bar, a1, a2, of_rows + i * gradient_threads);
		}
	}

	DEVICE void store(double *out, const Rows &r, const FeatureParams &params, long long k, long long d0) {
		sums.store(out, barSecond);
		out += width(r.q);
#pragma unroll
		for (int o = 0; o < 4; o++)
			out[o] = o < OUTPUTS && d0 + o < r.d ? a1 * along[o < OUTPUTS ? o : 0] : 0.0;
		out[4] = a1 * a1 * square;
		out[5] = params.power[k] * sums.gate2 + params.ripple[k] * sums.ripple;
	}
};

template <int INPUTS, int OUTPUTS>
DEVICE void gradient(const Rows &r, const FeatureParams &params, const Chunk *chunks, const Job *jobs, const double *mean,
    const double *var, const double *res, long long d0, double *part, double *room) {
	const Job &job = jobs[blockIdx.x];
	Chunk s = chunks[job.chunk];
	long long local = gradient_threads * job.block + threadIdx.x, k = s.f0 + local;
	bool there = local < s.m;
	int column = local < s.split ? 0 : 1;
	constexpr int rows = INPUTS == 1 ? GRADIENT_ROWS : ADJOINTS / gradient_threads;
	double *staged = room + rows * (r.q + 2);
	RowAdjoint *of_rows = (RowAdjoint *)(staged + rows * OUTPUTS) + threadIdx.x;
	auto out = [&] { return part + (job.slot * gradient_threads + threadIdx.x) * (width(r.q) + OUTPUT_GROUP + 2); };
	Slope<INPUTS, OUTPUTS> slope;
	slope.res = res;
	if (there)
		slope.open(r, params, k, mean, var, d0, out());
	for (long long base = s.lo; base < s.hi; base += rows) {
		int n = (int)(s.hi - base < rows ? s.hi - base : rows);
		Rows view = stage<INPUTS>(r, base, n, rows, gradient_threads, room);
		for (int e = threadIdx.x; e < n * OUTPUTS; e += gradient_threads) {
			long long o = d0 + e % OUTPUTS;
			staged[e] = o < r.d ? res[(base + e / OUTPUTS) * r.d + o] : 0.0;
		}
		barrier();
		if (there) {
			Wave wave;
			wave.begin(view, params, 0, n, k, column);
			wave.walk<INPUTS>(view, params, [&](auto value) { slope.rows(value, view, params, k, column, base, n, d0, staged, of_rows); });
			if (INPUTS > 1)
				slope.sums.add_inputs(view, params, 0, n, k, of_rows, gradient_threads, {out() + 4, 1});
		}
		barrier();
	}
	if (there)
		slope.store(out(), r, params, k, d0);
	else
		for (long long w = 0; w < width(r.q) + OUTPUT_GROUP + 2; w++)
			out()[w] = 0;
}

KERNEL(128) factorized_gradient(PASS_ARGS, const double *mean, const double *var, const double *res, long long d0, double *part) {
	SHARED(double, room);
	if (q == 1 && d == 1)
		gradient<1, 1>(ROWS_OF_ARGS, FEATURE_PARAMS_OF_ARGS, chunks, jobs, mean, var, res, d0, part, room);
	else if (q == 1)
		gradient<1, OUTPUT_GROUP>(ROWS_OF_ARGS, FEATURE_PARAMS_OF_ARGS, chunks, jobs, mean, var, res, d0, part, room);
	else
		gradient<MAX_INPUTS, OUTPUT_GROUP>(ROWS_OF_ARGS, FEATURE_PARAMS_OF_ARGS, chunks, jobs, mean, var, res, d0, part, room);
}
