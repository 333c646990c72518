// What the kernels need of a machine, the same under nvcc and under emulation.
// All arithmetic is written out: nvcc does not fuse (--fmad=false) and neither
// does the host's compiler, so fma() stands where one is wanted.
//
//	KERNEL(threads) name(…)   a kernel for blocks of that many threads; each
//	                          parameter is a pointer, a long long or a double
//	DEVICE                    a function that kernels call
//	SHARED(type, s)           type *s is the block's dynamic shared memory
//	barrier, warp_barrier     all threads of the block or warp that have not
//	                          returned meet at the same place in the source
//	shuffle_xor(v, mask)      v of the lane with that exclusive or
//	VSSGP_ARCH                800 or 900
#pragma once

#if VSSGP_ARCH != 800 && VSSGP_ARCH != 900
#error "VSSGP_ARCH has to be 800 or 900: compile with -DVSSGP_ARCH=800"
#endif

#ifdef VSSGP_EMU

#include "emu/runtime.h"

#else

#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
#define DEVICE __device__ __forceinline__
#define SHARED(type, s) type *s = reinterpret_cast<type *>(vssgp_shared)

extern __shared__ __align__(16) unsigned char vssgp_shared[];

DEVICE void barrier() { __syncthreads(); }
DEVICE void warp_barrier() { __syncwarp(); }
DEVICE double shuffle_xor(double v, int mask) { return __shfl_xor_sync(0xffffffffu, v, mask); }

#endif
