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
// the inputs' axes [2] and waves [2,M], the first wave of each of count runs of waves that differ only in phase, then M, and the features'
// amplitudes [M].
#define PLANE                                                                                                                 \
	const double *tables, const PlaneAxis *axes, long long entries, long long width, double digits, const FeatureWave *waves, \
		const double *runs, long long count, const double *amp, const double *power, const double *ripple, long long m, long long d
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

DEVICE Complex times(Complex a, Complex b) { return {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)}; }

// Moments are S_0, S_1 and S_2 along one input.
struct Moments {
	Complex zero, one, two;

	// turned returns the sums of the wave at the given phase in turns.
	DEVICE WaveSums turned(double turns) const {
		Complex turn;
		sincos_turns(turns, turn.im, turn.re);
		Complex s = times(turn, zero), t = times(turn, one);
		return {s.re, t.re, times(turn, two).re, s.im, t.im};
	}
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

// Weights are the numbers of the weights V or W of one input, −points ≤ k < points.
struct Weights {
	double alpha, turns, quad, scale, points;

	// of returns the weights of a lane of the warp.
	DEVICE Weights of(int lane) const {
		return {shuffle(alpha, lane), shuffle(turns, lane), shuffle(quad, lane), shuffle(scale, lane), shuffle(points, lane)};
	}

	// at returns the weight of a frequency at distance x from the wave's, whose phase at X = 0 is 0.
	DEVICE Complex at(double x) const {
		double size = scale * decayed(fma(alpha * x, x, quad)), sin, cos;
		sincos_turns(-turns * x, sin, cos);
		return {size * cos, size * sin};
	}
};

// A Patch is the envelope of waves over two inputs with the numbers that their sums share (rowspectrum.patch). Each lane of a warp computes
// the numbers of one input, lane % 2, and gets others by shuffles.
struct Patch {
	double a, delta, square, eta; // of the lane's input, as in Shape
	Weights rows, columns;        // V and W
	bool reached;                 // the wave is not negligible at all rows

	// set sets all members for the envelope e along the lane's input.
	DEVICE void set(const Plane &p, const Envelope &e) {
		Axis x = p.axis(threadIdx.x % 2);
		Shape s;
		s.e = e;
		s.about(x);
		double q = e.p + x.p0, root = sqrt(q);
		s.spread(x, root, 1 / q);
		a = s.a;
		delta = s.delta;
		square = s.square;
		eta = s.eta;
		Weights own = {s.alpha, s.turns, s.quad, s.scale, ceil(p.digits * root / x.angle + 0.5)};
		rows = own.of(0);
		columns = own.of(1);
		reached = p.digits * p.digits + 2 * (e.log + shuffle_xor(e.log, 1)) > 0;
	}

	// PatchSums are a lane's parts of the sums: with the factor 1, with x and x² along the rows and along the columns.
	struct PatchSums {
		Complex zero = {}, one[2] = {}, two[2] = {};

		// add adds a column with weight w at distance y from the wave's frequency.
		DEVICE void add(const Column &c, Complex w, double y) {
			Complex part = times(w, c.sum[0]);
			zero = {zero.re + part.re, zero.im + part.im};
			part = {y * part.re, y * part.im};
			one[1] = {one[1].re + part.re, one[1].im + part.im};
			two[1] = {fma(y, part.re, two[1].re), fma(y, part.im, two[1].im)};
			part = times(w, c.sum[1]);
			one[0] = {one[0].re + part.re, one[0].im + part.im};
			part = times(w, c.sum[2]);
			two[0] = {two[0].re + part.re, two[0].im + part.im};
		}

		// total adds the parts of all lanes. Each lane gets the sums along input q.
		DEVICE Moments total(int q) const {
			double v[16] = {one[0].re, one[1].re, one[0].im, one[1].im, two[0].re, two[1].re, two[0].im, two[1].im, zero.re, zero.im};
			fold<8>(v);
			fold<4>(v);
			fold<2>(v);
			fold<1>(v); // lane i has number i%16
			double sum = v[0] + shuffle_xor(v[0], 16);
			return {{shuffle(sum, 8), shuffle(sum, 9)}, {shuffle(sum, q), shuffle(sum, 2 + q)}, {shuffle(sum, 4 + q), shuffle(sum, 6 + q)}};
		}
	};

	// sums returns the sums of a wave with the vector v, along the lane's input; c is the carrier along it, without its phase. room has
	// space for PATCH_ROWS weights of the warp.
	DEVICE Moments sums(const Plane &p, const Carrier &c, long long v, Complex *room) const {
		int q = threadIdx.x % 2;
		Carrier near = aliased(p.axis(q), c);
		double first = near.cycles - (q == 0 ? rows : columns).points + p.axes[q].extent;
		double row = shuffle(first, 0), column = shuffle(first, 1), r0 = shuffle(near.part, 0), r1 = shuffle(near.part, 1);
		const double *corner = p.tables + v * p.entries + (long long)row * 2 * p.width + (long long)column;
		PatchSums own;
		if (reached) {
#pragma unroll 1
			for (int at = 0; at < 2 * (int)rows.points; at += PATCH_ROWS)
				strip(corner, p.width, at, r0, r1, room, own);
		}
		// S_1 = Σ EVWt and S_2 = Σ EVW(t² + 1/Q) with t = δ − iη(k − r)
		Moments of = own.total(q);
		Complex zero = of.zero, one = {eta * of.one.im, -eta * of.one.re};
		of.one = {fma(delta, zero.re, one.re), fma(delta, zero.im, one.im)};
		of.two = {square * zero.re + 2 * delta * one.re - eta * eta * of.two.re, square * zero.im + 2 * delta * one.im - eta * eta * of.two.im};
		return of;
	}

	// strip adds the terms of PATCH_ROWS rows of a patch. A lane adds the rows of one column, or if few columns are left, every 2nd, 4th,
	// … row.
	DEVICE void strip(const double *corner, long long apart, int row, double r0, double r1, Complex *room, PatchSums &own) const {
		int lane = threadIdx.x % 32, height = 2 * (int)rows.points - row, width = 2 * (int)columns.points;
		height = height < PATCH_ROWS ? height : PATCH_ROWS;
		double first = (double)row - rows.points - r0;
		warp_barrier(); // the lanes have read the last weights
		for (int i = lane; i < height; i += 32)
			room[i] = rows.at(first + i);
		warp_barrier();
#pragma unroll 1
		for (int column = 0; column < width; column += 32) {
			int left = width - column, across = 32;
			while (across / 2 >= left)
				across /= 2;
			int i = lane / across, j = lane % across, step = 32 / across;
			if (j >= left)
				continue;
			const double *e = corner + (row + i) * 2 * apart + column + j;
			double x = first + i;
			Column sum = {};
#pragma unroll 4
			for (; i < height; i += step) {
				sum.add(room[i], e[0], e[apart], x);
				x += step;
				e += 2 * apart * step;
			}
			double y = (double)(column + j) - columns.points - r1;
			own.add(sum, columns.at(y), y);
		}
	}
};
