//go:build cudaemu && cgo

// The kernels compiled for sm_90.
#undef _FORTIFY_SOURCE

#define VSSGP_ARCH 900
#define VSSGP_EMU

#include "runtime.h"

#include "../../../kernels/device.cuh"

namespace arch90 {
#include "table.h"
}

const EmuKernel *emu_table90() { return arch90::table; }
