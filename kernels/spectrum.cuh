// Sums over rows from the tables of a row spectrum (DESIGN.md, section 18): internal/rowspectrum in one thread for a wave.
//
//	ψ(X) = exp(log − ½P(X − Z)²)·exp(2πi((cycles + part)·X/T + phase))      S_r = Σ_n v_n (X_n − a)^r ψ(X_n)
//
// A product of two features is two waves with one envelope and two carriers. A Shape is an envelope
// with the method for its sums: they are 0, have a closed form, or are added over the few rows that
// the envelope reaches or over the terms of a table.
#pragma once

#include "feature.cuh"

// A FeatureWave is a feature's wave, with log = 0, and the feature's index. The waves are sorted (byReach in
// gpu/spectrum.go); the sums of pairs and of single features are in the waves' order, all other arrays in the features'.
struct FeatureWave {
	double p, z, low, cycles, part, phase, index;

	DEVICE long long feature() const { return (long long)index; }

	// twice returns ψ⁴ at half its phase, exp(−4q + 2iθ).
	DEVICE FeatureWave twice() const { return {4 * p, z, low, 2 * cycles, 2 * part, 2 * phase, index}; }
};

struct alignas(16) Complex {
	double re, im;
};

// An UnevenRow is X and X/T of a row, each in two numbers.
struct UnevenRow {
	double x, low, turn, turn_low;
};

// SPECTRUM are the first parameters of the kernels of tables: the arrays and numbers of
// rowspectrum.Arrays and Grid, entries numbers of a table for each v, the waves [M], and the
// features' amplitudes [M].
#define SPECTRUM                                                                                                              \
	const Complex *tables, const double *values, const UnevenRow *places, const long long *irregular, long long entries,      \
		long long rows, long long first, long long length, long long margin, long long reach, long long irregulars,           \
		double period, double angle, double p0, double density, double span, double digits, double unit,                      \
		const FeatureWave *waves, const double *amp, const double *power, const double *ripple, long long m, long long d
#define SPECTRUM_OF_ARGUMENTS                                                                                                 \
	Spectrum{{length, period, angle, p0, density, span, digits}, tables, values, places, irregular, entries, rows, first,     \
		margin, reach, irregulars}

// An Axis contains the numbers of one input (rowspectrum.Axis).
struct Axis {
	long long length;
	double period, angle, p0, density, span, digits;
};

struct Spectrum : Axis {
	const Complex *tables;
	const double *values;
	const UnevenRow *places;
	const long long *irregular;
	long long entries, rows, first, margin, reach, irregulars;
};

// An Envelope is a wave's amplitude, Z = z + low.
struct Envelope {
	double p, z, low, log;
};

// A Carrier is a wave's phase.
struct Carrier {
	double cycles, part, phase;
};

// WaveSums are S_0, S_1, S_2, less the imaginary part of S_2.
struct WaveSums {
	double re0, re1, re2, im0, im1;
};

constexpr double shortest = 0.13; // maximum P for the closed form, as in internal/rowspectrum
constexpr double row_cost = 5;    // cost of a row, in terms of a table's sum
constexpr double per_turn = 0.15915494309189533577; // 1/2π
constexpr int max_terms = 40;    // on either side of the first term of a recurrence; maxPoints of internal/rowspectrum

DEVICE double rounded(double v) { return v + whole - whole; }

// aliased returns a carrier with an integer number of cycles, in the tables' period, and |part| ≤ ½.
DEVICE Carrier aliased(const Axis &x, Carrier c) {
	double more = rounded(c.part), g = c.cycles + more, length = (double)x.length;
	if (x.length > 0)
		g = 2 * g > length ? g - length : 2 * g < -length ? g + length : g;
	return {g, c.part - more, c.phase};
}

// product returns the envelope of ψ_aψ_b and of ψ_aψ_b*.
DEVICE Envelope product(FeatureWave a, FeatureWave b) {
	if (a.p < b.p) {
		FeatureWave c = a;
		a = b;
		b = c;
	}
	if (a.p == 0)
		return {0, 0, 0, 0};
	double apart = (b.z - a.z) + (b.low - a.low), share = b.p / (a.p + b.p), step = share * apart;
	double z = a.z + step, back = z - a.z; // two-sum
	return {a.p + b.p, z, ((a.z - (z - back)) + (step - back)) + a.low, -0.5 * a.p * share * apart * apart};
}

// combined returns the carrier of ψ_aψ_b, or of ψ_aψ_b* for the sign −1.
DEVICE Carrier combined(const FeatureWave &a, const FeatureWave &b, int sign) {
	return {a.cycles + sign * b.cycles, a.part + sign * b.part, a.phase + sign * b.phase};
}

// A Shape is an envelope and the numbers shared by all sums of its waves (rowspectrum.shape).
struct Shape {
	enum Kind { none, closed, few, table } kind;
	Envelope e;
	double a; // point of the moments
	long long from, to, half;
	double alpha, turns, quad, scale, delta, square, eta;
	double turn_cos, turn_sin, bend; // recurrence: exp(−2πi·turns), exp(−α)

	// within finds the positions or rows whose |X − z| is at most radius.
	DEVICE void within(const Spectrum &s, double radius) {
		if (s.length > 0) {
			double lo = ceil(e.z - radius) - (double)s.first, hi = floor(e.z + radius) - (double)s.first + 1, n = (double)s.rows;
			from = (long long)(lo < 0 ? 0 : lo > n ? n : lo);
			to = (long long)(hi < 0 ? 0 : hi > n ? n : hi);
			return;
		}
		from = search(s.rows, [&](long long i) { return s.places[i].x >= e.z - radius; });
		to = search(s.rows, [&](long long i) { return s.places[i].x > e.z + radius; });
	}

	// search returns the first i < n for which f(i) is true, or n.
	template <class F> DEVICE static long long search(long long n, F f) {
		long long lo = 0;
		while (lo < n) {
			long long i = (lo + n) / 2;
			if (f(i))
				n = i;
			else
				lo = i + 1;
		}
		return lo;
	}

	// complete reports whether each position with |X − z| ≤ radius has exactly one row.
	DEVICE bool complete(const Spectrum &s, double radius) const {
		if (s.length == 0 || e.z - radius < (double)s.first || e.z + radius > (double)(s.first + s.rows - 1))
			return false;
		long long i = search(s.irregulars, [&](long long i) { return (double)s.irregular[i] >= e.z - radius; });
		return i == s.irregulars || (double)s.irregular[i] > e.z + radius;
	}

	// choose sets all members for sums of v = 1 (ones) or of an output.
	DEVICE void choose(const Spectrum &s, bool ones) {
		kind = none;
		from = to = 0;
		a = 0;
		double width = s.digits * s.digits + 2 * e.log;
		if (!(width > 0))
			return;
		about(s);
		double q = e.p + s.p0, root = sqrt(q), inverse = 1 / q;
		half = (long long)(s.digits * root / s.angle + 0.5) + 1;
		if (e.p * s.span * s.span > width) {
			double radius = sqrt(width / e.p);
			within(s, radius);
			if (from >= to)
				return; // from_rows then adds none
			if (ones && e.p < shortest && complete(s, radius)) {
				kind = closed;
				a = e.z;
				return;
			}
			if ((double)(to - from) * row_cost < 2.0 * (double)half || half > s.reach) {
				kind = few;
				return;
			}
		}
		kind = table;
		spread(s, root, inverse);
		sincos_turns(-turns, turn_sin, turn_cos);
		bend = decayed(2 * alpha);
	}

	// about sets a to the point of the rows' range next to Z.
	DEVICE void about(const Axis &x) {
		a = 0;
		if (e.p > 0)
			a = e.z < -0.5 * x.span ? -0.5 * x.span : e.z > 0.5 * x.span ? 0.5 * x.span : e.z;
	}

	// spread sets the numbers of a sum over the frequencies of an axis, whose point a is known. root is √Q, inverse 1/Q.
	DEVICE void spread(const Axis &x, double root, double inverse) {
		eta = x.angle * inverse;
		alpha = x.angle * eta;
		turns = e.p * e.z * eta * per_turn;
		quad = e.p * x.p0 * inverse * e.z * e.z - 2 * e.log;
		scale = x.density * root * inverse;
		delta = (e.p * ((e.z - a) + e.low) - x.p0 * a) * inverse;
		square = fma(delta, delta, inverse);
	}

	// nearby reports whether the sums add NEAR_TERMS terms of a table on either side of one frequency, and no more than
	// max_terms.
	DEVICE bool nearby() const { return kind == table && half >= NEAR_TERMS && half < max_terms; }

	// sums returns the sums of a wave with an aliased carrier with the vector v: 0 for v = 1, 1 + o for output o. near
	// are 2·NEAR_TERMS terms around its frequency, or null.
	DEVICE WaveSums sums(const Spectrum &s, Carrier c, long long v, const Complex *near) const {
		switch (kind) {
		case closed: return from_formula(s, c.cycles, c.part, c.phase);
		case table: return from_table(s, c.cycles, c.part, c.phase, v, near);
		default: return from_rows(s, c.cycles, c.part, c.phase, v); // no rows if the sums are 0
		}
	}

	// even_turns is (g + r)·x/T less whole turns.
	DEVICE static double even_turns(const Spectrum &s, double g, double r, long long x) {
		return fma(r, (double)x, (double)((long long)g * x % s.length)) / s.period;
	}

	// from_formula returns the sum over all integers of a wave that reaches positions with one row
	// each (Poisson's formula): S_0 = √(2π/P)·exp(log − ω²/2P)·exp(iωZ + iφ), S_1/S_0 = iω/P,
	// S_2/S_0 = 1/P − ω²/P² around Z.
	DEVICE WaveSums from_formula(const Spectrum &s, double g, double r, double phase) const {
		double omega = (g + r) * s.angle, quad = omega * omega / e.p - 2 * e.log;
		if (quad > s.digits * s.digits)
			return {0, 0, 0, 0, 0};
		double place = rounded(e.z), off = (e.z - place) + e.low, sin, cos;
		sincos_turns(phase + even_turns(s, g, r, (long long)place) + (g + r) * off / s.period, sin, cos);
		double amplitude = sqrt(1 / (per_turn * e.p)) * decayed(quad), re = amplitude * cos, im = amplitude * sin;
		double mean = omega / e.p, low = e.low, square = 1 / e.p + (low - mean) * (low + mean);
		return {re, re * low - im * mean, re * square - 2 * im * low * mean, im, re * mean + im * low};
	}

	// from_rows returns the sum over the rows that the wave reaches.
	DEVICE WaveSums from_rows(const Spectrum &s, double g, double r, double phase, long long v) const {
		WaveSums sum = {0, 0, 0, 0, 0};
		const double *values = s.values + v * s.rows;
#pragma unroll 1
		for (long long i = from; i < to; i++) {
			UnevenRow x = {(double)(s.first + i), 0, 0, 0};
			double turns = phase;
			if (s.length > 0)
				turns += even_turns(s, g, r, s.first + i);
			else {
				x = s.places[i];
				double high = g * x.turn;
				turns += (high - rounded(high)) + (fma(g, x.turn, -high) + fma(g, x.turn_low, r * x.turn));
			}
			double d = (x.x - e.z) + (x.low - e.low), sin, cos, b = (x.x - a) + x.low;
			sincos_turns(turns, sin, cos);
			double amplitude = values[i] * decayed(fma(e.p * d, d, -2 * e.log)), re = amplitude * cos, im = amplitude * sin;
			sum.re0 += re;
			sum.re1 = fma(b, re, sum.re1);
			sum.re2 = fma(b * b, re, sum.re2);
			sum.im0 += im;
			sum.im1 = fma(b, im, sum.im1);
		}
		return sum;
	}

	// A Chain is V_k = A·exp(−½α(k − r)² + 2πi(phase − turns·k)) from one k to the next, and its sums with the table: p_0 and
	// p_1 in both parts, p_2 in the real one, p_i = Σ_k (η(k − r))^i·E_k·V_k.
	struct Chain {
		double re, im, step_re, step_im, weight, p0 = 0, q0 = 0, p1 = 0, q1 = 0, p2 = 0;

		DEVICE void next(double bend) {
			double c = fma(re, step_re, -(im * step_im));
			im = fma(re, step_im, im * step_re);
			re = c;
			step_re *= bend;
			step_im *= bend;
		}

		DEVICE void add(Complex t, double bend, double eta) {
			double a = fma(re, t.re, -(im * t.im)), b = fma(re, t.im, im * t.re);
			p0 += a;
			q0 += b;
			a *= weight;
			p1 += a;
			q1 = fma(weight, b, q1);
			p2 = fma(weight, a, p2);
			weight += eta;
			next(bend);
		}
	};

	// from_table adds over the terms around frequency g. Each block of max_terms on either side
	// restarts the recurrence from its middle, because the recurrence's error grows.
	DEVICE WaveSums from_table(const Spectrum &s, double g, double r, double phase, long long v, const Complex *near) const {
		double imaginary = scale;
		if (g < 0) { // E_−g is conj(E_g)
			g = -g;
			r = -r;
			phase = -phase;
			imaginary = -imaginary;
		}
		WaveSums sum = {0, 0, 0, 0, 0};
		long long blocks = half / max_terms + 1, points = half + 1 < max_terms ? half + 1 : max_terms;
#pragma unroll 1
		for (long long block = 0; block < blocks; block++) {
			long long k = (2 * block + 1 - blocks) * max_terms;
			const Complex *up = s.tables + v * s.entries + s.margin + (long long)g + k, *down = up - 1;
			double from = r - (double)k, sin, cos; // from the middle to the wave's frequency
			sincos_turns(fma(turns, from, phase), sin, cos);
			double amplitude = decayed(fma(alpha * from, from, quad));
			double rise = decayed(alpha * (1 - 2 * from)), fall = decayed(alpha * (1 + 2 * from));
			Chain above = {amplitude * cos, amplitude * sin, rise * turn_cos, rise * turn_sin, -from * eta};
			Chain below = {amplitude * cos, amplitude * sin, fall * turn_cos, -fall * turn_sin, -from * eta - eta};
			below.next(bend);
			long long i = 0;
#pragma unroll 2
			for (; near && i < NEAR_TERMS; i++) {
				above.add(near[NEAR_TERMS + i], bend, eta);
				below.add(near[NEAR_TERMS - 1 - i], bend, -eta);
			}
#pragma unroll 2
			for (; i < points; i++) {
				above.add(up[i], bend, eta);
				below.add(down[-i], bend, -eta);
			}
			double p0 = above.p0 + below.p0, q0 = above.q0 + below.q0, p1 = above.p1 + below.p1, q1 = above.q1 + below.q1;
			sum.re0 = fma(scale, p0, sum.re0);
			sum.re1 = fma(scale, fma(delta, p0, q1), sum.re1);
			sum.re2 = fma(scale, square * p0 + 2 * delta * q1 - (above.p2 + below.p2), sum.re2);
			sum.im0 = fma(imaginary, q0, sum.im0);
			sum.im1 = fma(imaginary, fma(delta, q0, -p1), sum.im1);
		}
		return sum;
	}
};

constexpr int TILE = SPECTRUM_TILE, AREA = TILE * TILE;

// pair_at returns the index of the first number of a pair j > k, and pair_numbers the number of all pairs' numbers.
DEVICE long long pair_at(long long j, long long k) {
	long long row = j / TILE, tile = row * (row + 1) / 2 + k / TILE;
	return (tile * PAIR_SUMS * TILE + j % TILE) * TILE + k % TILE;
}
DEVICE long long pair_numbers(long long m) { return pair_at((m + TILE - 1) / TILE * TILE, 0); }

// PairSums are the sums of a pair. With S⁺ the sums of ψ_jψ_k and S⁻ of ψ_jψ_k*, the eight numbers, AREA apart, are
// Re(S_r⁺ + S_r⁻) for r = 0, 1, 2, Im(S_r⁺ + S_r⁻) for r = 0, 1, Im(S_r⁺ − S_r⁻) for r = 0, 1, and the point a.
struct PairSums {
	WaveSums both;
	double minus0, minus1;

	DEVICE void clear() {
		both = {0, 0, 0, 0, 0};
		minus0 = minus1 = 0;
	}

	DEVICE void add(const WaveSums &of, int sign) {
		both.re0 += of.re0;
		both.re1 += of.re1;
		both.re2 += of.re2;
		both.im0 += of.im0;
		both.im1 += of.im1;
		minus0 += sign * of.im0;
		minus1 += sign * of.im1;
	}

	DEVICE void store(double *to, double a) const {
		const double all[PAIR_SUMS] = {both.re0, both.re1, both.re2, both.im0, both.im1, minus0, minus1, a};
#pragma unroll
		for (int i = 0; i < PAIR_SUMS; i++)
			to[i * AREA] = all[i];
	}
};

// A Single contains the sums of one wave, about the point a.
struct Single {
	WaveSums of;
	double a;
};

// store_entry writes G_ab = ½A1_aA1_b·re0 to the lower triangle.
DEVICE void store_entry(double *gram, long long m, const double *amp, long long a, long long b, double re0) {
	gram[a > b ? a * m + b : b * m + a] = 0.5 * amp[a] * amp[b] * re0;
}

// store_column writes E[φ²] of a feature (v = 0) or its sum with an output (v − 1), as moments_columns does.
DEVICE void store_column(double *sums, long long feature, long long v, long long m, double re0, const double *amp,
    const double *power, const double *ripple, long long n) {
	if (v == 0)
		sums[feature * (OUTPUT_GROUP + 1) + OUTPUT_GROUP] = fma(ripple[feature], re0, power[feature] * (double)n);
	else
		sums[((v - 1) / OUTPUT_GROUP * m + feature) * (OUTPUT_GROUP + 1) + (v - 1) % OUTPUT_GROUP] = amp[feature] * re0;
}
