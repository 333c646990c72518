// Products of features in digits (digits.cuh), instead of moments_gram_T and of product in
// pullback_T.
//
// digits_rows       a thread owns a feature over RESYNC rows of a slab, as in
//                   features_store, and writes its cosines' digits for sums over the
//                   rows: own is the feature
// digits_features   the same for sums over the features: own is the slab's row. Values
//                   stored beyond the last feature are ignored: Ḡ's are zeros
// digits_gram_S     a block owns one tile of a run's Gram matrix over a chunk's rows of a
//                   slab: part [slot][T][T] of Whole
// digits_gram_reduce  adds the chunks' integers and rounds the sum to float64 once
// digits_adjoint    a thread owns a row k of a run's Ḡ: the digits of Ḡ_kj·A1_j·2^−e, the
//                   power of two above the row's largest, 0 on the diagonal; and
//                   2·2^e·unit. A run has these scales, 8 bytes per row, then the
//                   digits.
// digits_product_S  a block owns T features by T rows: stored [row][feature] = 2·Σ_j Ḡ_kj φ̄_nj,
//                   which digits_contract (pullback.cu) reads
//   precision  sums are exact; digits.cuh bounds the truncation error
//   shared     DIGIT_RING stages of two panels, s·2 KiB each
//   operations s(s+1)/2 int8 products for one in float64; digits_rows and
//              digits_features 11 float64 instructions a feature on evenly spaced rows
//              and 84 for each RESYNC of them, 49 elsewhere; s bytes written
#include "digits.cuh"

// cosines calls put(f) once. f(i), i < n, returns a feature's cosine without its amplitude at row
// lo+i, and must be called in the order of i.
template <class Put> DEVICE void cosines(const Rows &r, const Bank &b, long long lo, int n, long long k, int column, Put put) {
	Wave wave;
	wave.begin(r, b, lo, n, k, column);
	wave.walk<0>(r, b, [&](auto value) { put([&](int i) { return value(i, gate_at(r, lo + i, column)).cos; }); });
}

KERNEL(128, 4) digits_rows(ROWS_BANK, long long slab, long long most, Digit *store, long long digits) {
	Rows r = ROWS_OF_ARGUMENTS;
	Bank b = BANK_OF_ARGUMENTS;
	const Job &job = jobs[blockIdx.x];
	Chunk s = slab_at(chunks, job.chunk, slab, most);
	long long local = 128 * job.block + threadIdx.x, first = RESYNC * (long long)blockIdx.y, lo = s.lo + first;
	int n = (int)(s.hi - lo < RESYNC ? s.hi - lo : RESYNC);
	if (local >= s.m || n <= 0)
		return;
	cosines(r, b, lo, n, s.f0 + local, local < s.split ? 0 : 1, [&](auto cosine) {
#pragma unroll 1
		for (int at = 0; at < (n + DIGIT_STAGE - 1) / DIGIT_STAGE * DIGIT_STAGE; at += 16)
			put_digits(store + s.store * digits, digits, first + at, local, s.m, n - at, [&](int i) { return cosine(at + i); });
	});
}

KERNEL(128, 4) digits_features(ROWS_BANK, long long slab, long long most, Digit *store, long long digits) {
	Rows r = ROWS_OF_ARGUMENTS;
	Bank b = BANK_OF_ARGUMENTS;
	const Job &job = jobs[blockIdx.x];
	Chunk s = slab_at(chunks, job.chunk, slab, most);
	long long local = 128 * job.block + threadIdx.x, first = RESYNC * (long long)blockIdx.y, lo = s.lo + first, rows = s.hi - s.lo;
	int n = (int)(s.hi - lo < RESYNC ? s.hi - lo : RESYNC);
	if (local >= s.m || n <= 0)
		return;
	Digit *out = store + s.store * digits + digit_at(digits, local, first, rows);
	cosines(r, b, lo, n, s.f0 + local, local < s.split ? 0 : 1, [&](auto cosine) {
#pragma unroll 1
		for (int i = 0; i < n; i++) {
			unsigned long long d = digits_of(cosine(i), digits);
#pragma unroll
			for (int p = 0; p < MAX_DIGITS; p++)
				if (p < digits)
					out[(p * rows + i) * DIGIT_STAGE] = (Digit)(d >> 8 * p);
		}
	});
}

template <int S>
DEVICE void digits_gram(const Chunk *chunks, const Job *jobs, long long slab, long long most, const Digit *store,
    Whole *part, Digit *shared) {
	const Job &job = jobs[blockIdx.x];
	Chunk s = slab_at(chunks, job.chunk, slab, most);
	if (s.lo == s.hi)
		return;
	store += s.store * S;
	DigitTile<S> tile;
	tile.clear();
	DigitPanels<S> rows(store, DIGIT_TILE * job.block, s.m), columns(store, DIGIT_TILE * job.other, s.m);
	digit_products<S>(tile, rows, columns, (int)((s.hi - s.lo + DIGIT_STAGE - 1) / DIGIT_STAGE), job.block == job.other, shared);
	Whole *own = part + job.slot * DIGIT_TILE * DIGIT_TILE;
	tile.each([&](int i, int j, Whole w) {
		Whole &sum = own[i * DIGIT_TILE + j];
		if (slab > 0) {
			w.high += sum.high;
			w.low += sum.low;
		}
		sum = w;
	});
}

KERNEL(256) digits_gram_3(const Chunk *chunks, const Job *jobs, long long slab, long long most, const Digit *store, Whole *part) {
	SHARED(Digit, shared);
	digits_gram<3>(chunks, jobs, slab, most, store, part, shared);
}

KERNEL(256) digits_gram_7(const Chunk *chunks, const Job *jobs, long long slab, long long most, const Digit *store, Whole *part) {
	SHARED(Digit, shared);
	digits_gram<7>(chunks, jobs, slab, most, store, part, shared);
}

// Integer sums do not depend on their order, so a result has the same bits for any cut of the rows,
// except for the order of the two runs that meet a window.
KERNEL(256) digits_gram_reduce(const Chunk *chunks, const Reduction *reductions, const Whole *part, double *gram,
    const double *amp, long long digits) {
	double unit = digit_unit(digits);
	lower_triangle(chunks, reductions, DIGIT_TILE, [&](const Chunk &s, long long i, long long j, long long first,
	    long long next, long long slots) {
		Whole sum = {0, 0};
		for (long long t = 0; t < slots; t++) {
			sum.high += part[first + t * next].high;
			sum.low += part[first + t * next].low;
		}
		gram[gram_entry(s, i, j)] += amp[s.f0 + i] * amp[s.f0 + j] * (unit * sum.value());
	});
}

KERNEL(128) digits_adjoint(const Chunk *chunks, const Job *jobs, const double *gram, const double *amp, Digit *adjoint, long long digits) {
	const Job &job = jobs[blockIdx.x];
	Chunk s = chunks[job.chunk];
	long long k = 128 * job.block + threadIdx.x;
	if (k >= s.m)
		return;
	GramColumn column = gram_column(s, k);
	auto entry = [&](long long j) { return j == k ? 0 : gram[column.entry(j)] * amp[s.f0 + j]; };
	double largest = 0;
	bool finite = true;
#pragma unroll 4
	for (long long j = 0; j < s.m; j++) {
		double v = fabs(entry(j));
		finite = finite && v <= 1.7976931348623157e308;
		largest = fmax(largest, v);
	}
	int e = 0;
	frexp(finite ? largest : 0, &e);
	e = e < -900 ? -900 : e; // keeps the power below in range
	double scale = ldexp(1.0, -e);
	double *scales = (double *)(adjoint + s.adjoint);
	scales[k] = finite ? ldexp(2 * digit_unit(digits), e) : NAN;
	for (long long j0 = 0; j0 < s.m; j0 += 16)
		put_digits(adjoint + s.adjoint + adjoint_scales(s.m), digits, j0, k, s.m, (int)(s.m - j0 < 16 ? s.m - j0 : 16),
				   [&](int i) { return entry(j0 + i) * scale; });
	if ((s.m + 15) / 16 % 2 != 0) // the other half of the last stage
		put_digits(adjoint + s.adjoint + adjoint_scales(s.m), digits, (s.m + 15) / 16 * 16, k, s.m, 0, [](int) { return 0.0; });
}

template <int S>
DEVICE void digits_product(const Chunk *chunks, const Job *jobs, long long slab, long long most, const Digit *store,
    const Digit *adjoint, double *stored, Digit *shared) {
	const Job &job = jobs[blockIdx.x];
	Chunk s = slab_at(chunks, job.chunk, slab, most);
	long long k0 = DIGIT_TILE * job.block, n0 = DIGIT_TILE * (long long)blockIdx.y, rows = s.hi - s.lo;
	if (n0 >= rows)
		return;
	adjoint += s.adjoint;
	const double *scales = (const double *)adjoint;
	DigitTile<S> tile;
	tile.clear();
	DigitPanels<S> a(adjoint + adjoint_scales(s.m), k0, s.m), b(store + s.store * S, n0, rows);
	digit_products<S>(tile, a, b, (int)((s.m + DIGIT_STAGE - 1) / DIGIT_STAGE), false, shared);
	tile.each([&](int k, int n, Whole w) {
		if (k0 + k < s.m && n0 + n < rows)
			stored[s.store + (n0 + n) * s.m + k0 + k] = scales[k0 + k] * w.value();
	});
}

KERNEL(256) digits_product_3(const Chunk *chunks, const Job *jobs, long long slab, long long most, const Digit *store,
    const Digit *adjoint, double *stored) {
	SHARED(Digit, shared);
	digits_product<3>(chunks, jobs, slab, most, store, adjoint, stored, shared);
}

KERNEL(256) digits_product_7(const Chunk *chunks, const Job *jobs, long long slab, long long most, const Digit *store,
    const Digit *adjoint, double *stored) {
	SHARED(Digit, shared);
	digits_product<7>(chunks, jobs, slab, most, store, adjoint, stored, shared);
}
