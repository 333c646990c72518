// Factorised in mixed precision: factorised.cu with the features φ̃ of digits.cuh.
//
// factorised_residual_mixed  parameters, jobs [J][3], res and value are
//                            factorised_residual's; a job's first row has to be a
//                            multiple of 32 from the first of its stretch, as gpu's
//                            are; block 256
//   shared memory            2304 bytes
//   sums                     over at most 16 features in float32, of these in
//                            float64
// factorised_gradient_mixed  parameters, jobs [J][3] and part [slot][128][4+3q+6]
//                            are factorised_gradient's; block 128
//   shared memory            1536 bytes
//   sums                     32 rows' in float32, of these in float64; Σ φ̄² and
//                            Σ E[φ²] as in moments_mixed.cu
//
// Operations for a row and feature on evenly spaced rows, estimated from the
// source: 50 float32 with decay and one float64 in the residual, 100 float32 and
// integer and one float64 in the gradient. Elsewhere 8 float64 operations more in
// each. Expected on the card of moments_mixed.cu and as there, not timed, N = 10^6,
// M = 4096, D = 1: 0.03 s; in float64, 47 operations by factorised.cu, 0.3 s.
//
// Against float64 in emulation residuals differed by 1e-7 and the sums by 1e-8 to
// 2e-7 of their norm, Σ‖res‖² by 3e-8.
#include "contract_mixed.cuh"
#include "rows.cuh"

// summed is how many features' terms a thread adds in float32.
constexpr int summed = 16;

// Blend is a thread's features' share of Σ_k φ̃_nk m_kd for ROWS rows from row lo +
// at of a job and 32/ROWS outputs from d0.
template <int ROWS>
DEVICE void blend(double (&acc)[32], const Rows &r, const Bank &b, const Stretch &s, const double *mean, long long d0, long long lo, int at, int count, const float *gates) {
	constexpr int columns = 32 / ROWS;
	long long row = lo + at, base = s.lo + (row - s.lo) / PIECE * PIECE;
	int n = (int)(s.hi - base < PIECE ? s.hi - base : PIECE), since = 0;
	float sum[32];
#pragma unroll
	for (int i = 0; i < 32; i++)
		sum[i] = 0;
#pragma unroll 1
	for (long long local = threadIdx.x; local < s.m; local += 256) {
		long long k = s.f0 + local;
		const float *own = gates + (local < s.split ? 0 : JOB_ROWS) + at;
		Course course;
		course.open(r, k, record_of(r, b, k));
		course.begin(r, b, base, n, (int)(row - base));
		float weight[columns];
#pragma unroll
		for (int c = 0; c < columns; c++)
			weight[c] = (float)(d0 + c < r.d ? b.amp[k] * mean[k * r.d + d0 + c] / UNIT : 0.0);
		bool bad = course.bad();
		if (course.even) {
#pragma unroll
			for (int i = 0; i < ROWS; i++) {
				float v = (float)fixed_at(course.glide(), i < count ? own[i] : 0.0f, bad);
				if (bad)
					v = (float)not_a_number();
#pragma unroll
				for (int c = 0; c < columns; c++)
					sum[i * columns + c] = fmaf(weight[c], v, sum[i * columns + c]);
			}
		} else {
			float kept[ROWS];
#pragma unroll 1
			for (int i = 0; i < count; i++) {
				bool odd = bad;
				kept[i] = (float)fixed_at(course.plain(r, b, row + i), own[i], odd);
				if (odd)
					kept[i] = (float)not_a_number();
			}
#pragma unroll
			for (int i = 0; i < ROWS; i++)
				if (i < count)
#pragma unroll
					for (int c = 0; c < columns; c++)
						sum[i * columns + c] = fmaf(weight[c], kept[i], sum[i * columns + c]);
		}
		if (++since % summed == 0 || local + 256 >= s.m)
#pragma unroll
			for (int i = 0; i < 32; i++) {
				acc[i] += sum[i];
				sum[i] = 0;
			}
	}
}

template <int ROWS>
DEVICE void residual_mixed(const Rows &r, const Bank &b, const long long *stretches, const long long *jobs, const double *mean, double *res, double *value, double *room) {
	const long long *job = jobs + 3 * (long long)blockIdx.x;
	Stretch s = stretch_at(stretches, job[0]);
	long long lo = job[1];
	int n = (int)(job[2] - lo);
	float *gates = (float *)(room + 256);
	if (threadIdx.x < 2 * JOB_ROWS) {
		int row = threadIdx.x % JOB_ROWS;
		gates[threadIdx.x] = row < n ? (float)gate_at(r, lo + row, threadIdx.x / JOB_ROWS) : 0.0f;
	}
	barrier();
	residuals<ROWS, 256>(r, lo, n, res, value, room, [&](double(&acc)[32], long long d0, int at, int count) {
		blend<ROWS>(acc, r, b, s, mean, d0, lo, at, count, gates);
	});
}

KERNEL(256) factorised_residual_mixed(ROWS_BANK, const double *mean, double *res, double *value) {
	SHARED(double, room);
	if (d == 1)
		residual_mixed<32>(ROWS_OF_ARGUMENTS, BANK_OF_ARGUMENTS, stretches, jobs, mean, res, value, room);
	else if (d == 2)
		residual_mixed<16>(ROWS_OF_ARGUMENTS, BANK_OF_ARGUMENTS, stretches, jobs, mean, res, value, room);
	else
		residual_mixed<8>(ROWS_OF_ARGUMENTS, BANK_OF_ARGUMENTS, stretches, jobs, mean, res, value, room);
}

// Incline is what a thread of factorised_gradient_mixed keeps for its feature.
template <int INPUTS, int OUTPUTS> struct Incline {
	double total[4 + 3 * INPUTS], along[OUTPUTS], square, second, m2, barSecond;
	float m[OUTPUTS], a1, a2, back;
	bool bad;

	DEVICE void open(const Rows &r, const Bank &b, long long k, const double *mean, const double *var, long long d0) {
#pragma unroll 1
		for (int i = 0; i < 4 + 3 * (INPUTS == 1 ? 1 : r.q); i++)
			total[i] = 0;
		square = second = m2 = barSecond = 0;
		bad = false;
		for (long long o = 0; o < r.d; o++) {
			double v = mean[k * r.d + o];
			m2 = fma(v, v, m2);
			barSecond += var[k * r.d + o];
		}
		barSecond += m2;
#pragma unroll
		for (int o = 0; o < OUTPUTS; o++) {
			along[o] = 0;
			m[o] = d0 + o < r.d ? (float)mean[k * r.d + d0 + o] : 0.0f;
		}
		a1 = (float)b.amp[k];
		a2 = (float)(4 * b.ripple[k] * barSecond);
		back = (float)(m2 * b.amp[k]);
	}

	// rows walks along rows [first, end) of the piece that begins at base, of which
	// staged are the residuals; others are those of outputs that are not among m.
	DEVICE void rows(Course &course, const Rows &r, const Bank &b, long long base, int first, int end, long long d0, const float *gates, const float *staged, const double *mean, const double *res) {
		Slopes<INPUTS> slopes;
		Surplus surplus;
		float part[OUTPUTS];
		slopes.clear();
		surplus.clear();
#pragma unroll
		for (int o = 0; o < OUTPUTS; o++)
			part[o] = 0;
#pragma unroll 1
		for (int i = first; i < end; i++) {
			Spot spot = course.next(r, b, base + i);
			int v = fixed_at(spot, gates[i], bad);
			surplus.add(v, gates[i], spot);
			float c = (float)v, to = back * (c * (1.0f / UNIT));
#pragma unroll
			for (int o = 0; o < OUTPUTS; o++) {
				float e = staged[i * OUTPUTS + o];
				part[o] = fmaf(e, c, part[o]);
				to = fmaf(e, m[o], to);
			}
			if (OUTPUTS > 1 && r.d > OUTPUTS)
				for (long long o = 0; o < r.d; o++)
					if (o < d0 || o >= d0 + OUTPUTS)
						to = fmaf((float)res[(base + i) * r.d + o], (float)mean[course.k * r.d + o], to);
			slopes.add(r, b, base + i, course.k, spot, gates[i], -2 * to, a1, a2);
		}
		slopes.addTo(total, r.q);
#pragma unroll
		for (int o = 0; o < OUTPUTS; o++)
			along[o] += part[o];
		double own = b.amp[course.k];
		square += own * own * ((double)surplus.squares / ((double)UNIT * UNIT));
		second += surplus.second(b.power[course.k], own, b.ripple[course.k]);
	}

	DEVICE void store(double *out, const Rows &r, const Bank &b, long long k) const {
		long long w = width(r.q);
#pragma unroll 1
		for (int i = 0; i < w; i++)
			out[i] = bad ? not_a_number() : i == 2 || i == 3 ? barSecond * total[i] : total[i];
		out += w;
#pragma unroll
		for (int o = 0; o < 4; o++)
			out[o] = bad ? not_a_number() : o < OUTPUTS ? b.amp[k] / UNIT * along[o < OUTPUTS ? o : 0] : 0.0;
		out[4] = bad ? not_a_number() : square;
		out[5] = bad ? not_a_number() : second;
	}
};

template <int INPUTS, int OUTPUTS>
DEVICE void gradient_mixed(const Rows &r, const Bank &b, const long long *stretches, const long long *jobs, const double *mean, const double *var, const double *res, long long d0, double *part, float *gates) {
	const long long *job = jobs + 3 * (long long)blockIdx.x;
	Stretch s = stretch_at(stretches, job[0]);
	long long local = 128 * job[1] + threadIdx.x, k = s.f0 + local;
	bool there = local < s.m;
	const float *own = gates + (local < s.split ? 0 : PIECE);
	float *staged = gates + 2 * PIECE;
	Incline<INPUTS, OUTPUTS> incline;
	Course course;
	if (there) {
		incline.open(r, b, k, mean, var, d0);
		course.open(r, k, record_of(r, b, k));
	}
	for (long long base = s.lo; base < s.hi; base += PIECE) {
		int n = (int)(s.hi - base < PIECE ? s.hi - base : PIECE);
		barrier();
		stage_gates(r, base, n, gates);
		for (int e = threadIdx.x; e < n * OUTPUTS; e += 128) {
			long long o = d0 + e % OUTPUTS;
			staged[e] = o < r.d ? (float)res[(base + e / OUTPUTS) * r.d + o] : 0.0f;
		}
		barrier();
		if (!there)
			continue;
		course.begin(r, b, base, n, 0);
#pragma unroll 1
		for (int first = 0; first < n; first += 32)
			incline.rows(course, r, b, base, first, first + 32 < n ? first + 32 : n, d0, own, staged, mean, res);
		incline.bad |= course.bad();
	}
	double *out = part + (job[2] * 128 + threadIdx.x) * (width(r.q) + 6);
	if (there)
		incline.store(out, r, b, k);
	else
		for (long long w = 0; w < width(r.q) + 6; w++)
			out[w] = 0;
}

KERNEL(128) factorised_gradient_mixed(ROWS_BANK, const double *mean, const double *var, const double *res, long long d0, double *part) {
	SHARED(float, gates);
	if (q == 1 && d == 1)
		gradient_mixed<1, 1>(ROWS_OF_ARGUMENTS, BANK_OF_ARGUMENTS, stretches, jobs, mean, var, res, d0, part, gates);
	else if (q == 1)
		gradient_mixed<1, 4>(ROWS_OF_ARGUMENTS, BANK_OF_ARGUMENTS, stretches, jobs, mean, var, res, d0, part, gates);
	else
		gradient_mixed<MAX_INPUTS, 4>(ROWS_OF_ARGUMENTS, BANK_OF_ARGUMENTS, stretches, jobs, mean, var, res, d0, part, gates);
}
