// Pullback: the sums over rows that the features' adjoint is made of, given Ḡ
// and C̄ (cpu/pullback.go):
//
//	∂/∂φ̄_nk = Σ_d y_nd C̄_kd + 2 Σ_{j≠k} Ḡ_kj φ̄_nj,   ∂/∂E[φ_nk²] = Ḡ_kk
//
// pullback_T   a block owns T features over one chunk and walks its rows T at
//              a time: product makes T×T numbers of 2·Ḡφ̄ on the tensor cores,
//              they pass through shared memory to one thread a feature (two
//              take turns at the rows), which contracts them with the
//              feature's derivatives and keeps its sums in registers.
//   shapes     part [slot][T][4+3q]; rows beyond m are zeros
//   precision  float64 throughout
//   operations 2·N·M² flops; a feature made for each T products: 17
//              instructions on evenly spaced rows, 50 elsewhere; and N·M
//              contractions of some 25 instructions
#include "contract.cuh"
#include "product.cuh"

template <int T, int INPUTS>
DEVICE void pullback(const Rows &r, const Bank &b, const long long *chunks, const long long *jobs, const double *gram, const double *cbar, double *part, double *shared) {
	const long long *job = jobs + 3 * (long long)blockIdx.x;
	Chunk s = chunk_at(chunks, job[0]);
	constexpr int rows = T / 4; // of a half tile, a thread's
	int at = threadIdx.x % T, side = threadIdx.x / T;
	long long local = T * job[1] + at, k = s.f0 + local;
	bool there = local < s.m;
	int column = local < s.split ? 0 : 1;
	double a1 = there ? b.amp[k] : 0, barSecond = there ? gram[gram_entry(s, local, local)] : 0;
	double a2 = there ? 4 * b.ripple[k] * barSecond : 0;
	Sums<INPUTS> sums;
	sums.clear();
	Tile<T> tile;
	for (long long base = s.lo; base < s.hi; base += T) {
		product<T>(tile, r, b, s, gram, T * job[1], base, s.hi, shared);
		for (int half = 0; half < 2; half++) {
			bars<T>(tile, half, 2, shared);
			barrier();
			long long lo = base + half * T / 2 + side * rows, hi = lo + rows < s.hi ? lo + rows : s.hi;
			if (there && lo < hi) {
				Wave<1> wave;
				wave.begin(r, b, lo, (int)(hi - lo), k, column);
				for (long long n = lo; n < hi; n++) {
					double bar = shared[(side * rows + n - lo) * half_ld<T> + at];
					for (long long o = 0; o < r.d; o++)
						bar = fma(r.y[n * r.d + o], cbar[k * r.d + o], bar);
					sums.add(r, b, n, k, wave.next(r, b), gate_at(r, n, column), bar, a1, a2);
				}
			}
			barrier();
		}
	}
	double *out = shared + at * width(r.q);
	if (side == 1)
		sums.store(out, r.q, barSecond, false);
	barrier();
	if (side == 0)
		sums.store(out, r.q, barSecond, true);
	barrier();
	for (long long e = threadIdx.x; e < T * width(r.q); e += 2 * T)
		part[job[2] * T * width(r.q) + e] = shared[e];
}

KERNEL(128) pullback_64(ROWS_BANK, const double *gram, const double *cbar, double *part) {
	SHARED(double, shared);
	if (q == 1)
		pullback<64, 1>(ROWS_OF_ARGUMENTS, BANK_OF_ARGUMENTS, chunks, jobs, gram, cbar, part, shared);
	else
		pullback<64, MAX_INPUTS>(ROWS_OF_ARGUMENTS, BANK_OF_ARGUMENTS, chunks, jobs, gram, cbar, part, shared);
}

KERNEL(256) pullback_128(ROWS_BANK, const double *gram, const double *cbar, double *part) {
	SHARED(double, shared);
	if (q == 1)
		pullback<128, 1>(ROWS_OF_ARGUMENTS, BANK_OF_ARGUMENTS, chunks, jobs, gram, cbar, part, shared);
	else
		pullback<128, MAX_INPUTS>(ROWS_OF_ARGUMENTS, BANK_OF_ARGUMENTS, chunks, jobs, gram, cbar, part, shared);
}
