//go:build cudaemu

package gpu

import _ "github.com/vssgp/vssgp/kernels/emu" // the kernels of the emulated cards
