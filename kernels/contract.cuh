// The contraction of internal/simd/contract.go: from ∂/∂E[φ_n] and ∂/∂E[φ_n²] to the sums over rows
// for the adjoint of one feature.
#pragma once

#include "feature.cuh"

// width returns the number of sums of a feature: Σθ̄, Ā1, Ā0, Ā2, then Σθ̄·d, Σq̄·d and Σq̄·d² for
// each input.
DEVICE long long width(long long q) { return 4 + 3 * q; }

// A RowAdjoint is the contribution of one row to θ̄ and q̄ of a feature.
struct alignas(16) RowAdjoint {
	double theta, quad;
};

// InputSums are the sums by input of one feature, Σθ̄·d, Σq̄·d and Σq̄·d² of all inputs, in shared or
// device memory: number i is at[i·apart].
struct InputSums {
	double *at;
	int apart;
};

// Sums are the sums of one feature; Ā0 and Ā2 lack the common factor barSecond until stored. Sums
// are in registers, except that with several inputs the sums by input are InputSums. add then
// writes the row's RowAdjoint, and add_inputs processes the rows again, once for each input.
template <int INPUTS> struct Sums {
	double theta, amp, gate2, ripple, thetaD, quadD, quadD2; // the last three for one input only

	DEVICE void clear() { theta = amp = gate2 = ripple = thetaD = quadD = quadD2 = 0; }

	// add is one row's share: v the feature there, g its gate, bar = ∂/∂E[φ],
	//	θ̄ = −A1·bar·sin − 4·A2·barSecond·e2·cos·sin
	//	q̄ = −A1·bar·cos − 4·A2·barSecond·e2·(cos² − sin²)
	// a1 = A1 and a2 = 4·A2·barSecond.
	DEVICE void add(const Rows &r, const FeatureParams &params, long long row, long long k, const Damped &v, double g, double bar,
	    double a1, double a2, RowAdjoint *of_row) {
		double both = v.e2 * fma(v.cos, v.cos, -(v.sin * v.sin)), u = -a1 * bar;
		double th = v.sin * fma(-(a2 * v.e2), v.cos, u), qu = fma(u, v.cos, -(a2 * both));
		amp = fma(bar, v.cos, amp);
		ripple += both;
		theta += th;
		gate2 = fma(g, g, gate2);
		if (INPUTS == 1)
			add_input({th, qu}, r.x[row] - params.center[k]);
		else
			*of_row = {th, qu};
	}

	DEVICE void add_input(const RowAdjoint &a, double d) {
		thetaD = fma(a.theta, d, thetaD);
		quadD = fma(a.quad, d, quadD);
		quadD2 = fma(a.quad * d, d, quadD2);
	}

	// add_inputs adds the contributions by input of n rows from row on, whose RowAdjoints are pitch
	// apart.
	DEVICE void add_inputs(const Rows &r, const FeatureParams &params, long long row, int n, long long k, const RowAdjoint *of_rows,
	    int pitch, InputSums to) {
#pragma unroll 1
		for (int i = 0; i < r.q; i++) {
			double center = params.center[k * r.q + i];
			load_input(to, (int)r.q, i);
#pragma unroll 2
			for (int j = 0; j < n; j++)
				add_input(of_rows[j * pitch], r.x[(row + j) * r.q + i] - center);
			store_input(to, (int)r.q, i);
		}
	}

	// store writes the feature's width(q) sums, with Ā0 and Ā2 multiplied by scale, except the
	// InputSums. load reads the sums written by store with scale 1.
	DEVICE void store(double *out, double scale) const {
		out[0] = theta;
		out[1] = amp;
		out[2] = scale * gate2;
		out[3] = scale * ripple;
		if (INPUTS == 1)
			store_input({out + 4, 1}, 1, 0);
	}

	DEVICE void load(double *in) {
		theta = in[0];
		amp = in[1];
		gate2 = in[2];
		ripple = in[3];
		if (INPUTS == 1)
			load_input({in + 4, 1}, 1, 0);
	}

	DEVICE void store_input(InputSums to, int q, int i) const {
		to.at[i * to.apart] = thetaD;
		to.at[(q + i) * to.apart] = quadD;
		to.at[(2 * q + i) * to.apart] = quadD2;
	}

	DEVICE void load_input(InputSums from, int q, int i) {
		thetaD = from.at[i * from.apart];
		quadD = from.at[(q + i) * from.apart];
		quadD2 = from.at[(2 * q + i) * from.apart];
	}
};
