// Damped cosines in float64: the functions of internal/simd/feature.go for one thread.
//
//	d = x − z,  quad = Σ_q P_q d_q²,  turns = Σ_q (ω_q/2π) d_q + c/2π
//	cos = g·e·cos θ,  sin = g·e·sin θ,  e = exp(−quad/2),  θ = 2π·turns
//
// so that E[φ] = A1·cos and E[φ²] = A0·g² + A2·e²·(cos² − sin²). The phase is reduced in turns, in
// float64, before the cosine.
//
// A Wave evaluates one feature along consecutive rows. On evenly spaced rows it rotates the last
// value by a fixed angle: 7 multiplications instead of about 50 for the formula, with an error of a
// few units in the last place over at most sixty-four rows.
#pragma once

#include "device.cuh"
#include "shape.cuh"
#include "tables.cuh"

// Rows are the data: x [N,Q], y [N,D], gate [N,2] (null: no windows), even [N]
// (null: none): number of rows from this one on, including it, that are delta apart.
struct Rows {
	const double *x, *y, *gate;
	const int *even;
	double delta;
	long long q, d;
};

// FeatureParams are the features' parameters: center, decay, turn = ω/2π [M,Q], phase = c/2π, amp,
// power, ripple [M], and rot [M,ROTATIONS] as features_prepare leaves it.
struct FeatureParams {
	const double *center, *decay, *turn, *phase, *amp, *power, *ripple, *rot;
};

// Damped is a feature at a row, without its amplitudes.
struct Damped {
	double cos, sin, e2;
};

// Constants of the polynomials below, in constant memory where instructions can address them.
// Float64 constants in the code would be loaded again, in two halves, at each row.
CONSTANT double sine_terms[] = {1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
	-1.98412698298579493134e-04, 8.33333333332248946124e-03, -1.66666666666666324348e-01};
CONSTANT double cosine_terms[] = {-1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
	2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02};
CONSTANT double power_terms[] = {4.45667557101388228e-10, 7.07258618134636695e-09, 1.01780517273991863e-07, 1.32154425866128709e-06,
	1.52527338532823537e-05, 1.54035304417385137e-04, 1.33335581463960018e-03, 9.61812910760688651e-03, 5.55041086648216594e-02,
	2.40226506959100972e-01, 6.93147180559945286e-01};
CONSTANT double quarter_turn = 1.57079632679489661923, half_binary = -0.72134752044448170368; // π/2, −½·log₂e
constexpr double whole = 6755399441055744; // 1.5·2⁵²: v + whole ends in v, rounded, as an integer

// polynomial is Σ_i terms_i z^(N−1−i).
template <int N> DEVICE double polynomial(const double (&terms)[N], double z) {
	double p = terms[0];
#pragma unroll
	for (int i = 1; i < N; i++)
		p = fma(p, z, terms[i]);
	return p;
}

// sincos_turns computes sine and cosine of any number of turns. It first reduces to half a turn, so
// that the rest stays in range if a whole turn is less than an ulp, and then to octants (the
// polynomial coefficients are the C library's for sine and cosine on [−π/4, π/4]).
DEVICE void sincos_turns(double turns, double &s, double &c) {
	double r = turns - (turns + whole - whole), at = fma(4.0, r, whole);
	double a = quarter_turn * fma(4.0, r, whole - at), z = a * a;
	double p = fma(polynomial(sine_terms, z) * z, a, a);
	double w = fma(polynomial(cosine_terms, z) * z, z, fma(-0.5, z, 1.0));
	int n = (int)bits_of(at);
	double u = n & 1 ? w : p, v = n & 1 ? p : w;
	s = n & 2 ? -u : u;
	c = (n + 1) & 2 ? -v : v;
}

// decayed returns exp(−quad/2), quad ≥ 0; the result may be 0 if it is below float64's normal
// numbers. It is 2^n·2^f, 2^f = 1 + f·q(f), with the minimax q on [−½, ½], whose error is 2·10⁻¹⁷
// of 2^f.
DEVICE double decayed(double quad) {
	double y = half_binary * quad;
	y = y < -1100 ? -1100 : y; // NaN stays
	double at = y + whole, f = y - (at - whole);
	int n = (int)bits_of(at) + 1023;
	return fma(polynomial(power_terms, f), f, 1.0) * of_bits((long long)(n > 0 ? n : 0) << 52);
}

DEVICE double gate_at(const Rows &r, long long row, int column) { return r.gate ? r.gate[2 * row + column] : 1.0; }

// spun returns a feature with this phase and decay.
DEVICE Damped spun(double turns, double quad, double &e) {
	Damped v;
	sincos_turns(turns, v.sin, v.cos);
	e = decayed(quad);
	v.cos *= e;
	v.sin *= e;
	v.e2 = e * e;
	return v;
}

// bare evaluates a feature at a row by the formula, without its gate.
DEVICE Damped bare(const Rows &r, const FeatureParams &params, long long row, long long k, double &e) {
	double turns = params.phase[k], quad = 0;
#pragma unroll 1
	for (long long i = 0; i < r.q; i++) {
		double d = r.x[row * r.q + i] - params.center[k * r.q + i];
		turns = fma(params.turn[k * r.q + i], d, turns);
		quad = fma(params.decay[k * r.q + i] * d, d, quad);
	}
	return spun(turns, quad, e);
}

// Lone is bare for one input, with the feature's parameters in registers.
struct Lone {
	double center, decay, turn, phase;

	DEVICE void open(const FeatureParams &params, long long k) {
		center = params.center[k];
		decay = params.decay[k];
		turn = params.turn[k];
		phase = params.phase[k];
	}

	DEVICE Damped at(double x) const {
		double d = x - center, e;
		return spun(fma(turn, d, phase), decay * d * d, e);
	}
};

DEVICE Damped gated(Damped v, double g) { return {v.cos * g, v.sin * g, v.e2}; }

// steepest is the maximum quad over the rows that a Wave may rotate through. Below it neither the
// exponential nor the ratio of two of them leaves the range of float64.
constexpr double steepest = 1200;

// A Wave is one feature along rows row, row+1, …
struct Wave {
	long long row, k;
	int column;
	bool turning;
	double cos, sin, e, ratio; // at row, without the gate
	double turncos, turnsin, bend;

	// begin moves to a row; steps is the maximum number of further steps.
	DEVICE void begin(const Rows &r, const FeatureParams &params, long long at, int steps, long long feature, int which) {
		row = at;
		k = feature;
		column = which;
		turning = false;
		if (!r.even || steps < 3 || r.even[row] < steps)
			return;
		double d = r.x[row] - params.center[k], p = params.decay[k];
		double far = fabs(d) + steps * fabs(r.delta);
		if (!(p * far * far <= steepest))
			return;
		const double *rot = params.rot + ROTATIONS * k;
		turncos = rot[0];
		turnsin = rot[1];
		bend = rot[2];
		Damped v = bare(r, params, row, k, e);
		cos = v.cos;
		sin = v.sin;
		ratio = p == 0 ? 1.0 : exp(-p * r.delta * (d + 0.5 * r.delta));
		turning = true;
	}

	// turned returns the feature at the current row of a rotating Wave, and moves to the next row.
	DEVICE Damped turned(double g) {
		Damped v = {cos, sin, e * e};
		double c = fma(cos, turncos, -(sin * turnsin)) * ratio;
		sin = fma(sin, turncos, cos * turnsin) * ratio;
		cos = c;
		e *= ratio;
		ratio *= bend;
		row++;
		return gated(v, g);
	}

	// walk calls f(value) once. value(i, g) is the feature i rows further, with gate g, and must be
	// called in this order. f is instantiated for each way to compute the value, so that no loop
	// contains the code of another. INPUTS is 1, larger, or 0 if only r.q is known.
	template <int INPUTS, class F> DEVICE void walk(const Rows &r, const FeatureParams &params, F f) {
		long long first = row;
		if (INPUTS <= 1 && turning)
			f([&](long long, double g) { return turned(g); });
		else if (INPUTS == 1 || (INPUTS == 0 && r.q == 1)) {
			Lone lone;
			lone.open(params, k);
			const double *x = r.x + first;
			f([&](long long i, double g) { return gated(lone.at(x[i]), g); });
		} else
			f([&](long long i, double g) {
				double e;
				return gated(bare(r, params, first + i, k, e), g);
			});
	}
};

// PASS_ARGS are the parameters that every pass begins with.
#define PASS_ARGS                                                                                                             \
	const double *x, const double *y, const double *gate, const int *even, double delta, long long q, long long d,            \
		const double *center, const double *decay, const double *turn, const double *phase, const double *amp,                \
		const double *power, const double *ripple, const double *rot, const Chunk *chunks, const Job *jobs
#define ROWS_OF_ARGS Rows{x, y, gate, even, delta, q, d}
#define FEATURE_PARAMS_OF_ARGS FeatureParams{center, decay, turn, phase, amp, power, ripple, rot}
