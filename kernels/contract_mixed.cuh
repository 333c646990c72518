// What passes in mixed precision sum along the rows of one feature: the contraction
// in float32, and what E[φ²] is beyond E[φ]² in whole numbers.
#pragma once

#include "contract.cuh"
#include "digits.cuh"

// Slopes are the sums of contract.cuh over a few rows, in float32; like there
// Ā0 and Ā2 lack barSecond.
template <int INPUTS> struct Slopes {
	float theta, amp, gate2, ripple, thetaD[INPUTS], quadD[INPUTS], quadD2[INPUTS];

	DEVICE void clear() {
		theta = amp = gate2 = ripple = 0;
#pragma unroll 1
		for (int i = 0; i < INPUTS; i++)
			thetaD[i] = quadD[i] = quadD2[i] = 0;
	}

	DEVICE void add(const Rows &r, const Bank &b, long long row, long long k, const Spot &spot, float g, float bar, float a1, float a2) {
		float ge = g * spot.e, cos = ge * cosine(spot.turns), sin = ge * sine(spot.turns), e2 = spot.e * spot.e;
		float both = e2 * fmaf(cos, cos, -(sin * sin)), u = -a1 * bar;
		float th = fmaf(u, sin, -(a2 * e2 * cos * sin)), qu = fmaf(u, cos, -(a2 * both));
		amp = fmaf(bar, cos, amp);
		ripple += both;
		theta += th;
		gate2 = fmaf(g, g, gate2);
#pragma unroll 1
		for (int i = 0; i < (INPUTS == 1 ? 1 : (int)r.q); i++) {
			float d = INPUTS == 1 ? spot.d : (float)(r.x[row * r.q + i] - b.center[k * r.q + i]);
			thetaD[i] = fmaf(th, d, thetaD[i]);
			quadD[i] = fmaf(qu, d, quadD[i]);
			quadD2[i] = fmaf(qu * d, d, quadD2[i]);
		}
	}

	// addTo adds to float64 sums [4+3q].
	DEVICE void addTo(double *total, long long q) const {
		total[0] += theta;
		total[1] += amp;
		total[2] += gate2;
		total[3] += ripple;
#pragma unroll 1
		for (int i = 0; i < (INPUTS == 1 ? 1 : (int)q); i++) {
			total[4 + i] += thetaD[i];
			total[4 + q + i] += quadD[i];
			total[4 + 2 * q + i] += quadD2[i];
		}
	}
};

// Surplus is what E[φ²] of one feature is beyond E[φ]², over a few rows (2^15 at
// most), with c = v/UNIT:
//
//	(A0 − A2)·g² + (2·A2 − A1²)·c² + A2·(1 − e²)·(g² + (g·e)² − 2·c²)
//
// The first two sums are those of whole numbers, so that they are 0 where they
// should be, and the terms of the third are not negative. But v's last place can
// leave less where there is no spread, −1.9e-13·A0 a row at the worst of 2·10^7
// features tried: as little as that, up to 1e-12·A0 a row, counts as 0. More than
// that is below zero because A0, A1 and A2 are no feature's, as when one of them is
// moved by itself to see a derivative. It stays, as in float64: cut off, Moments
// would not be what Pullback is the adjoint of.
struct Surplus {
	long long gates, squares; // Σ g², Σ v²
	float bent, lost;         // the third, in units of 2^22/UNIT², and what adding has lost
	int rows;

	DEVICE void clear() {
		gates = squares = 0;
		bent = lost = 0;
		rows = 0;
	}

	DEVICE void add(int v, float g, const Spot &s) {
		int whole = nearest(g * UNIT), ge = nearest(g * s.e * UNIT);
		long long square = (long long)v * v, gate = (long long)whole * whole;
		squares += square;
		gates += gate;
		int rest = (int)((gate + (long long)ge * ge - 2 * square + (1 << 21)) >> 22);
		float term = fmaf(s.less * (1 + s.e), (float)rest, -lost), sum = bent + term;
		lost = (sum - bent) - term;
		bent = sum;
		rows++;
	}

	// second is Σ E[φ²]; not less than Σ φ̃² for what is a feature.
	DEVICE double second(double a0, double a1, double a2) const {
		double v2 = (double)squares, own = a1 * a1;
		double spread = fma(2 * a2 - own, v2, fma(a0 - a2, (double)gates, a2 * (0x1p22 * bent)));
		bool rounded = spread < 0 && spread >= -1e-12 * (a0 * rows) * ((double)UNIT * UNIT);
		return (own * v2 + (rounded ? 0.0 : spread)) / ((double)UNIT * UNIT);
	}
};
