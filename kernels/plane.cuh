// Sums over rows of waves over two inputs, from tables (DESIGN.md, section 18): internal/rowspectrum/patch.go with a warp for a wave.
//
//	S_0 = Σ_ij V_i E_ij W_j      S_r along input 0: factors t_i, t_i² + 1/Q, along input 1: of j
//
// E is a patch of the table: rows are frequencies of input 0, columns of input 1. A wave is a product of one wave per input, so its weights
// are products, too.
#pragma once

#include "spectrum.cuh"

// A PlaneAxis is an Axis in device memory. The tables contain the frequencies −extent, …, extent of the input.
struct PlaneAxis {
	double length, period, angle, p0, density, span, extent;
};

// PLANE are the first parameters of the kernels of tables for two inputs: entries numbers of a table for each v, [2·extent_0+1, 2, width],
// the inputs' axes [2] and waves [2,M], and the features' amplitudes [M].
#define PLANE                                                                                                                 \
	const double *tables, const PlaneAxis *axes, long long entries, long long width, double digits, const FeatureWave *waves, \
		const double *amp, const double *power, const double *ripple, long long m, long long d
#define PLANE_OF_ARGUMENTS Plane{tables, axes, entries, width, digits}

struct Plane {
	const double *tables;
	const PlaneAxis *axes;
	long long entries, width;
	double digits;

	DEVICE Axis axis(int q) const {
		const PlaneAxis &x = axes[q];
		return {(long long)x.length, x.period, x.angle, x.p0, x.density, x.span, digits};
	}
};

// warp_total adds a number over the lanes of a warp, for all of them.
DEVICE double warp_total(double v) {
#pragma unroll
	for (int half = 16; half > 0; half /= 2)
		v += shuffle_xor(v, half);
	return v;
}

// Moments are sums with the factors 1, x and x², less the imaginary part of the last one.
struct Moments {
	double re1, im1, re2;
};

// A Column contains Σ_i V_i E_ij x_i^r of one column.
struct Column {
	Complex sum[3];

	DEVICE void add(Complex v, double re, double im, double x) {
		double a = fma(v.re, re, -(v.im * im)), b = fma(v.re, im, v.im * re);
		sum[0] = {sum[0].re + a, sum[0].im + b};
		a *= x;
		b *= x;
		sum[1] = {sum[1].re + a, sum[1].im + b};
		sum[2] = {fma(x, a, sum[2].re), fma(x, b, sum[2].im)};
	}
};

DEVICE Complex times(Complex a, Complex b) { return {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)}; }

// A Patch is the envelope of waves over two inputs with the numbers that their sums share (rowspectrum.patch).
struct Patch {
	Shape along[2];
	int points[2]; // the terms are −points ≤ k < points
	bool reached;  // the wave is not negligible at all rows

	// set sets all members for the envelope in along[].e.
	DEVICE void set(const Plane &p) {
		reached = p.digits * p.digits + 2 * (along[0].e.log + along[1].e.log) > 0;
#pragma unroll
		for (int q = 0; q < 2; q++) {
			Axis x = p.axis(q);
			Shape &s = along[q];
			double square = s.e.p + x.p0, root = sqrt(square);
			s.about(x);
			s.spread(x, root, 1 / square);
			points[q] = (int)ceil(p.digits * root / x.angle + 0.5);
		}
	}

	// PatchSums are the sums of a wave, and their parts of one lane.
	struct PatchSums {
		double re0 = 0, im0 = 0;
		Moments along[2] = {};

		// add adds a column with weight w at distance y from the wave's frequency.
		DEVICE void add(const Column &c, Complex w, double y) {
			Complex zero = times(w, c.sum[0]), one = times(w, c.sum[1]), two = times(w, c.sum[2]);
			re0 += zero.re;
			im0 += zero.im;
			Moments &rows = along[0], &columns = along[1];
			rows = {rows.re1 + one.re, rows.im1 + one.im, rows.re2 + two.re};
			columns = {fma(y, zero.re, columns.re1), fma(y, zero.im, columns.im1), fma(y * y, zero.re, columns.re2)};
		}

		// total adds the parts of all lanes.
		DEVICE void total() {
			re0 = warp_total(re0);
			im0 = warp_total(im0);
#pragma unroll
			for (int q = 0; q < 2; q++)
				along[q] = {warp_total(along[q].re1), warp_total(along[q].im1), warp_total(along[q].re2)};
		}
	};

	// sums computes the sums of a wave with these carriers and the vector v, on all lanes of a warp: of[q] with the moments along input q.
	// room has space for PATCH_ROWS weights.
	DEVICE void sums(const Plane &p, const Carrier (&c)[2], long long v, Complex *room, WaveSums (&of)[2]) const {
		double r[2];
		const double *corner = p.tables + v * p.entries;
#pragma unroll
		for (int q = 0; q < 2; q++) {
			Carrier near = aliased(p.axis(q), c[q]);
			r[q] = near.part;
			corner += ((long long)near.cycles - points[q] + (long long)p.axes[q].extent) * (q == 0 ? 2 * p.width : 1);
		}
		PatchSums all;
		if (reached) {
#pragma unroll 1
			for (int row = 0; row < 2 * points[0]; row += PATCH_ROWS)
				strip(p, corner, row, r, c[0].phase + c[1].phase, room, all);
			all.total();
		}
#pragma unroll
		for (int q = 0; q < 2; q++) {
			const Shape &s = along[q];
			const Moments &m = all.along[q];
			of[q].re0 = all.re0;
			of[q].im0 = all.im0;
			of[q].re1 = fma(s.delta, all.re0, s.eta * m.im1);
			of[q].im1 = fma(s.delta, all.im0, -(s.eta * m.re1));
			of[q].re2 = s.square * all.re0 + 2 * s.delta * (s.eta * m.im1) - s.eta * s.eta * m.re2;
		}
	}

	// strip adds the terms of PATCH_ROWS rows. A lane adds the rows of one column, or if few columns are left, every 2nd, 4th, … row.
	DEVICE void strip(const Plane &p, const double *corner, int row, const double (&r)[2], double phase, Complex *room, PatchSums &all) const {
		int lane = threadIdx.x % 32, rows = 2 * points[0] - row, columns = 2 * points[1];
		rows = rows < PATCH_ROWS ? rows : PATCH_ROWS;
		double first = (double)(row - points[0]) - r[0];
		warp_barrier(); // the lanes have read the last weights
		for (int i = lane; i < rows; i += 32)
			room[i] = along[0].weight(first + i, 0);
		warp_barrier();
#pragma unroll 1
		for (int column = 0; column < columns; column += 32) {
			int left = columns - column, across = 32;
			while (across / 2 >= left)
				across /= 2;
			int i = lane / across, j = lane % across, step = 32 / across;
			if (j >= left)
				continue;
			const double *e = corner + (row + i) * 2 * p.width + column + j;
			Column sum = {};
#pragma unroll 4
			for (; i < rows; i += step) {
				sum.add(room[i], e[0], e[p.width], first + i);
				e += 2 * p.width * step;
			}
			double y = (double)(column + j - points[1]) - r[1];
			all.add(sum, along[1].weight(y, phase), y);
		}
	}
};
