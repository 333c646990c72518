// The contraction of internal/simd/contract.go: from ∂/∂E[φ_n] and ∂/∂E[φ_n²] to the sums
// over rows that the adjoint of one feature is made of.
#pragma once

#include "feature.cuh"

// width is how many sums a feature has: Σθ̄, Ā1, Ā0, Ā2, then Σθ̄·d, Σq̄·d and
// Σq̄·d² for each input.
DEVICE long long width(long long q) { return 4 + 3 * q; }

// Sums are one feature's, INPUTS of them at most for each kind; Ā0 and Ā2 lack
// their common factor barSecond until stored.
template <int INPUTS> struct Sums {
	double theta, amp, gate2, ripple, thetaD[INPUTS], quadD[INPUTS], quadD2[INPUTS];

	DEVICE void clear() {
		theta = amp = gate2 = ripple = 0;
#pragma unroll 1
		for (int i = 0; i < INPUTS; i++)
			thetaD[i] = quadD[i] = quadD2[i] = 0;
	}

	// add is one row's share: v the feature there, g its gate, bar = ∂/∂E[φ],
	//	θ̄ = −A1·bar·sin − 4·A2·barSecond·e2·cos·sin
	//	q̄ = −A1·bar·cos − 4·A2·barSecond·e2·(cos² − sin²)
	// a1 = A1 and a2 = 4·A2·barSecond.
	DEVICE void add(const Rows &r, const Bank &b, long long row, long long k, const Damped &v, double g, double bar, double a1, double a2) {
		double both = v.e2 * fma(v.cos, v.cos, -(v.sin * v.sin)), u = -a1 * bar;
		double th = v.sin * fma(-(a2 * v.e2), v.cos, u), qu = fma(u, v.cos, -(a2 * both));
		amp = fma(bar, v.cos, amp);
		ripple += both;
		theta += th;
		gate2 = fma(g, g, gate2);
#pragma unroll 1
		for (int i = 0; i < (INPUTS == 1 ? 1 : (int)r.q); i++) {
			double d = INPUTS == 1 ? r.x[row] - b.center[k] : r.x[row * r.q + i] - b.center[k * r.q + i];
			thetaD[i] = fma(th, d, thetaD[i]);
			quadD[i] = fma(qu, d, quadD[i]);
			quadD2[i] = fma(qu * d, d, quadD2[i]);
		}
	}

	// store writes the feature's width(q) sums, those of Ā0 and Ā2 times scale; load
	// reads what store has written with scale 1.
	DEVICE void store(double *out, long long q, double scale) const {
		out[0] = theta;
		out[1] = amp;
		out[2] = scale * gate2;
		out[3] = scale * ripple;
#pragma unroll 1
		for (int i = 0; i < (INPUTS == 1 ? 1 : (int)q); i++) {
			out[4 + i] = thetaD[i];
			out[4 + q + i] = quadD[i];
			out[4 + 2 * q + i] = quadD2[i];
		}
	}

	DEVICE void load(const double *in, long long q) {
		theta = in[0];
		amp = in[1];
		gate2 = in[2];
		ripple = in[3];
#pragma unroll 1
		for (int i = 0; i < (INPUTS == 1 ? 1 : (int)q); i++) {
			thetaD[i] = in[4 + i];
			quadD[i] = in[4 + q + i];
			quadD2[i] = in[4 + 2 * q + i];
		}
	}
};
