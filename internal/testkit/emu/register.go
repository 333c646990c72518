//go:build cudaemu && cgo

package emu

import "github.com/vssgp/vssgp/cuda"

// The emulated devices of package cuda run the kernels of their architecture.
func init() {
	for _, arch := range architectures {
		for name, k := range table(arch) {
			cuda.RegisterEmulated(arch, name, func(g cuda.Geometry, args []uint64) error {
				return k.launch(g.Grid, g.Block, g.Shared, args)
			})
		}
	}
}
