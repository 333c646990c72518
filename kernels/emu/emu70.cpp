//go:build cudaemu && cgo

// The kernels as compiled for sm_70.
#undef _FORTIFY_SOURCE

#define VSSGP_ARCH 700
#define VSSGP_EMU

#include "engine.h"

#include "../device.cuh"

namespace arch70 {
#include "table.h"
}

const EmuKernel *emu_table70() { return arch70::table; }
