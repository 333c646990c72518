//go:build cudaemu

package gpu

import _ "github.com/vssgp/vssgp/gpu/internal/emu" // the kernels of the emulated GPUs
