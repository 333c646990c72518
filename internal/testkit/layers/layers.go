// Package layers assigns each folder of the module to a layer. A package imports nothing from higher layers.
package layers

import "strings"

// Names lists the layers from the lowest to the highest.
var Names = []string{"core", "lib", "app", "dev"}

// folders lists the folders of each layer. They include the folders below them, except "." (the root package).
// The longest entry decides.
var folders = map[string]string{
	"core": `. backend variational cpu gpu cuda kernels ranks tensors internal/simd internal/rowspectrum internal/nufft
		internal/fft internal/double internal/parallel internal/linalg internal/initialize internal/optimize
		internal/bayes internal/fileio internal/heap internal/mpi internal/spectral internal/markov
		internal/version`,
	"lib": `series audio`,
	"app": `cmd/vssgp docs`,
	"dev": `bench python .ci internal/testkit kernels/internal internal/simd/asm backend/backendtest audio/internal/clicks/train`,
}

// Of returns the layer of a folder, relative to the root and with slashes, or "" if it has none.
func Of(folder string) (layer string) {
	longest := -1
	for name, list := range folders {
		for _, f := range strings.Fields(list) {
			if len(f) > longest && (folder == f || f != "." && strings.HasPrefix(folder, f+"/")) {
				layer, longest = name, len(f)
			}
		}
	}
	return layer
}
