//go:build cudaemu

package gpu

import _ "github.com/vssgp/vssgp/internal/testkit/emu" // the kernels of the emulated GPUs
