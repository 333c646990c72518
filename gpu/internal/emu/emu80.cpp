//go:build cudaemu && cgo

// The kernels compiled for sm_80.
#undef _FORTIFY_SOURCE

#define VSSGP_ARCH 800
#define VSSGP_EMU

#include "runtime.h"

#include "../../../kernels/device.cuh"

namespace arch80 {
#include "table.h"
}

const EmuKernel *emu_table80() { return arch80::table; }
