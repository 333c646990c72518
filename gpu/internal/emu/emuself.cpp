//go:build cudaemu && cgo

// The emulator's test kernels, and moments.cu with the variant of the tensor-core instruction.
#undef _FORTIFY_SOURCE

#define VSSGP_ARCH 800
#define VSSGP_EMU
#define VSSGP_MMA_K 8

#include "runtime.h"

#include <stdexcept>

#include "../../../kernels/device.cuh"

namespace selftest {
#include "../../../kernels/moments.cu"
#include "selftest.cu"

const EmuKernel table[] = {
	EMU_KERNEL(self_sum, 128)
	EMU_KERNEL(self_shuffle, 64)
	EMU_KERNEL(self_gather, 64)
	EMU_KERNEL(self_early, 96)
	EMU_KERNEL(self_divergent, 64)
	EMU_KERNEL(self_mixed, 64)
	EMU_KERNEL(self_missing, 64)
	EMU_KERNEL(self_outside, 32)
	EMU_KERNEL(self_unset, 32)
	EMU_KERNEL(self_throws, 32)
	EMU_KERNEL(self_deep, 32)
	EMU_KERNEL(self_feature, 32)
	EMU_KERNEL(race_warps, 64)
	EMU_KERNEL(race_overwrites, 64)
	EMU_KERNEL(race_twice, 64)
	EMU_KERNEL(race_lanes, 32)
	EMU_KERNEL(race_other_warp, 64)
	EMU_KERNEL(race_blocks, 32)
	EMU_KERNEL(race_reads_blocks, 32)
	EMU_KERNEL(race_bytes, 64)
	EMU_KERNEL(race_copies, 64)
	EMU_KERNEL(moments_gram_64, 128)
	{nullptr, 0, 0, nullptr},
};
}

const EmuKernel *emu_selftest() { return selftest::table; }
