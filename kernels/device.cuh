// The machine interface of the kernels, the same under nvcc and under emulation. nvcc does not fuse
// multiplications and additions (--fmad=false) and neither does the host's compiler; the sources
// call fma() explicitly.
//
//	KERNEL(threads) name(…)   a kernel for blocks of that many threads; each
//	                          parameter is a pointer, a long long or a double.
//	                          KERNEL(threads, blocks) limits the registers so that
//	                          blocks of them fit on a multiprocessor
//	DEVICE                    a function that kernels call
//	CONSTANT                  before numbers that all threads read at once
//	SHARED(type, s)           type *s is the block's dynamic shared memory
//	barrier, warp_barrier     synchronizes all threads of the block or warp that have
//	                          not returned
//	shuffle_xor(v, mask)      v of the lane whose index is the exclusive or with mask
//	shuffle(v, lane)          v of that lane
//	inverse_root(d)           d^−½ within two units in the last place; NaN or Inf if it
//	                          does not exist
//	bits_of(d), of_bits(n)    the float64 as an integer, and back
//	copy_async(to, from, there)   starts a copy of 8 bytes from device memory to
//	copy_async16                  shared memory, or of 16 to a multiple of 16; zeros
//	                              if there is false (from is then not read)
//	shared_at(p)                  the SharedAt of an address in shared memory, to which bytes
//	                              can be added, for copies in a loop
//	copy_commit(), copy_wait<N>() end a group of the thread's copies; wait until all
//	                              but the last N groups are complete, for the thread
//	                              that started them: others need a barrier as well
//	VSSGP_ARCH                800 or 900
#pragma once

#if VSSGP_ARCH != 800 && VSSGP_ARCH != 900
#error "VSSGP_ARCH must be 800 or 900: compile with -DVSSGP_ARCH=800"
#endif

#ifdef VSSGP_EMU

#include "../gpu/internal/emu/runtime.h"

#else

#define KERNEL(...) extern "C" __global__ void __launch_bounds__(__VA_ARGS__)
#define DEVICE __device__ __forceinline__
#define CONSTANT __constant__
#define SHARED(type, s) type *s = reinterpret_cast<type *>(vssgp_shared)

extern __shared__ __align__(16) unsigned char vssgp_shared[];

DEVICE void barrier() { __syncthreads(); }
DEVICE void warp_barrier() { __syncwarp(); }
DEVICE double shuffle_xor(double v, int mask) { return __shfl_xor_sync(0xffffffffu, v, mask); }
DEVICE double shuffle(double v, int lane) { return __shfl_sync(0xffffffffu, v, lane); }
DEVICE long long bits_of(double v) { return __double_as_longlong(v); }
DEVICE double of_bits(long long v) { return __longlong_as_double(v); }

// A third-order step from 22 binary digits, without the branches of sqrt and division.
DEVICE double inverse_root(double d) {
	double y;
	asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(d));
	double e = fma(-(d * y), y, 1.0);
	return fma(fma(0.375, e, 0.5), y * e, y);
}

typedef unsigned SharedAt;
DEVICE SharedAt shared_at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
DEVICE void copy_async(SharedAt to, const void *from, bool there) {
	asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(there ? 8 : 0) : "memory");
}
DEVICE void copy_async16(SharedAt to, const void *from, bool there) {
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0) : "memory");
}
DEVICE void copy_async(void *to, const void *from, bool there) { copy_async(shared_at(to), from, there); }
DEVICE void copy_async16(void *to, const void *from, bool there) { copy_async16(shared_at(to), from, there); }
DEVICE void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> DEVICE void copy_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

#endif

// fold halves the sums of a lane: it keeps one half and exchanges the other for its partner's part
// of the kept half.
template <int HALF, int N> DEVICE void fold(double (&v)[N]) {
	bool upper = threadIdx.x & HALF;
#pragma unroll
	for (int i = 0; i < HALF; i++) {
		double keep = upper ? v[i + HALF] : v[i], give = upper ? v[i] : v[i + HALF];
		v[i] = keep + shuffle_xor(give, HALF);
	}
}
