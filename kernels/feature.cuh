// Damped cosines in float64: the functions of cpu/simd/feature.go for one thread.
//
//	d = x − z,  quad = Σ_q P_q d_q²,  turns = Σ_q (ω_q/2π) d_q + c/2π
//	cos = g·e·cos θ,  sin = g·e·sin θ,  e = exp(−quad/2),  θ = 2π·turns
//
// so that E[φ] = A1·cos and E[φ²] = A0·g² + A2·e²·(cos² − sin²). The phase is
// reduced in turns, in float64, before any cosine is taken.
//
// A Wave walks along rows for one feature. Where the rows are evenly spaced it
// turns the last value by a fixed angle instead of beginning anew: 7
// multiplications where the plain formula takes some 50, and exact to a few
// units in the last place for the sixty-four rows that it lasts at most.
#pragma once

#include "device.cuh"
#include "shape.cuh"

// Rows are the data: x [N,Q], y [N,D], gate [N,2] (null: no windows), even [N]
// (null: none): how many rows from this one on, itself included, are delta apart.
struct Rows {
	const double *x, *y, *gate;
	const int *even;
	double delta;
	long long q, d;
};

// Bank are the features: center, decay, turn = ω/2π [M,Q], phase = c/2π, amp,
// power, ripple [M], and rot [M,ROTATIONS] as features_prepare leaves it.
struct Bank {
	const double *center, *decay, *turn, *phase, *amp, *power, *ripple, *rot;
};

// Damped is a feature at a row, without its amplitudes.
struct Damped {
	double cos, sin, e2;
};

// Chunk is a row of the table of chunks: rows [lo, hi) of one run, its
// features f0 … f0+m−1, of which the first split are in its first window, and
// where the windows' blocks begin in the Gram array, and its features in the store.
struct Chunk {
	long long lo, hi, f0, m, split, diag0, below, diag1, store;
};

DEVICE Chunk chunk_at(const long long *table, long long i) {
	const long long *s = table + CHUNK_FIELDS * i;
	return {s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8]};
}

// sincos_turns takes r in [−½, ½] turns: an octant's polynomials (the
// coefficients are those of the C library's sine and cosine on [−π/4, π/4]).
DEVICE void sincos_turns(double r, double &s, double &c) {
	double k = rint(4 * r);
	double a = 6.283185307179586476925 * fma(-0.25, k, r), z = a * a;
	double p = 1.58969099521155010221e-10;
	p = fma(p, z, -2.50507602534068634195e-08);
	p = fma(p, z, 2.75573137070700676789e-06);
	p = fma(p, z, -1.98412698298579493134e-04);
	p = fma(p, z, 8.33333333332248946124e-03);
	p = fma(p, z, -1.66666666666666324348e-01);
	p = fma(p * z, a, a);
	double w = -1.13596475577881948265e-11;
	w = fma(w, z, 2.08757232129817482790e-09);
	w = fma(w, z, -2.75573143513906633035e-07);
	w = fma(w, z, 2.48015872894767294178e-05);
	w = fma(w, z, -1.38888888888741095749e-03);
	w = fma(w, z, 4.16666666666666019037e-02);
	w = fma(w * z, z, fma(-0.5, z, 1.0));
	int n = (int)k & 3;
	double u = n & 1 ? w : p, v = n & 1 ? p : w;
	s = n & 2 ? -u : u;
	c = (n + 1) & 2 ? -v : v;
}

// decayed is exp(−quad/2); 1 where there is no decay.
DEVICE double decayed(double quad) { return quad == 0 ? 1.0 : exp(-0.5 * quad); }

DEVICE double gate_at(const Rows &r, long long row, int column) { return r.gate ? r.gate[2 * row + column] : 1.0; }

// spun is a feature of this phase and decay.
DEVICE Damped spun(double turns, double quad, double &e) {
	Damped v;
	sincos_turns(turns - rint(turns), v.sin, v.cos);
	e = decayed(quad);
	v.cos *= e;
	v.sin *= e;
	v.e2 = e * e;
	return v;
}

// bare is a feature at a row by the formula, its gate left out.
DEVICE Damped bare(const Rows &r, const Bank &b, long long row, long long k, double &e) {
	double turns = b.phase[k], quad = 0;
#pragma unroll 1
	for (long long i = 0; i < r.q; i++) {
		double d = r.x[row * r.q + i] - b.center[k * r.q + i];
		turns = fma(b.turn[k * r.q + i], d, turns);
		quad = fma(b.decay[k * r.q + i] * d, d, quad);
	}
	return spun(turns, quad, e);
}

// Lone is bare of one input, the feature's numbers in registers.
struct Lone {
	double center, decay, turn, phase;

	DEVICE void open(const Bank &b, long long k) {
		center = b.center[k];
		decay = b.decay[k];
		turn = b.turn[k];
		phase = b.phase[k];
	}

	DEVICE Damped at(double x) const {
		double d = x - center, e;
		return spun(fma(turn, d, phase), decay * d * d, e);
	}
};

DEVICE Damped gated(Damped v, double g) { return {v.cos * g, v.sin * g, v.e2}; }

// damped is feature k at a row; column says which of the row's gates is its own.
DEVICE Damped damped(const Rows &r, const Bank &b, long long row, long long k, int column) {
	double e;
	return gated(bare(r, b, row, k, e), gate_at(r, row, column));
}

// second is E[φ²] of a feature with gate g.
DEVICE double second(const Bank &b, long long k, const Damped &v, double g) {
	return b.power[k] * g * g + b.ripple[k] * v.e2 * (v.cos * v.cos - v.sin * v.sin);
}

// steepest bounds quad over the rows that a Wave may turn through: within it
// neither the exponential nor the ratio of two of them leaves float64.
constexpr double steepest = 1200;

// A Wave is one feature along rows row, row+1, …
struct Wave {
	long long row, k;
	int column;
	bool turning;
	double cos, sin, e, ratio; // at row, without the gate
	double turncos, turnsin, bend;

	// begin stands on a row and says how many steps will be taken at most.
	DEVICE void begin(const Rows &r, const Bank &b, long long at, int steps, long long feature, int which) {
		row = at;
		k = feature;
		column = which;
		turning = false;
		if (!r.even || steps < 3 || r.even[row] < steps)
			return;
		double d = r.x[row] - b.center[k], p = b.decay[k];
		double far = fabs(d) + steps * fabs(r.delta);
		if (!(p * far * far <= steepest))
			return;
		const double *rot = b.rot + ROTATIONS * k;
		turncos = rot[0];
		turnsin = rot[1];
		bend = rot[2];
		Damped v = bare(r, b, row, k, e);
		cos = v.cos;
		sin = v.sin;
		ratio = p == 0 ? 1.0 : exp(-p * r.delta * (d + 0.5 * r.delta));
		turning = true;
	}

	// turned is the feature at the row, of a Wave that is turning, and moves on
	// to the next.
	DEVICE Damped turned(const Rows &r) {
		Damped v = {cos, sin, e * e};
		double g = gate_at(r, row, column), c = fma(cos, turncos, -(sin * turnsin)) * ratio;
		sin = fma(sin, turncos, cos * turnsin) * ratio;
		cos = c;
		e *= ratio;
		ratio *= bend;
		row++;
		return gated(v, g);
	}

	// next is the feature at the row, and moves on to the next.
	DEVICE Damped next(const Rows &r, const Bank &b) {
		if (turning)
			return turned(r);
		Damped v = damped(r, b, row, k, column);
		row++;
		return v;
	}
};

// ROWS_BANK are the parameters that every pass begins with.
#define ROWS_BANK                                                                                                             \
	const double *x, const double *y, const double *gate, const int *even, double delta, long long q, long long d,            \
		const double *center, const double *decay, const double *turn, const double *phase, const double *amp,                \
		const double *power, const double *ripple, const double *rot, const long long *chunks, const long long *jobs
#define ROWS_OF_ARGUMENTS Rows{x, y, gate, even, delta, q, d}
#define BANK_OF_ARGUMENTS Bank{center, decay, turn, phase, amp, power, ripple, rot}
