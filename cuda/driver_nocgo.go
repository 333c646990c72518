//go:build (cudaemu || (cuda && linux && (amd64 || arm64))) && !cgo

package cuda

// The compiler's error contains the missing setting.
var _ = set_CGO_ENABLED_1_for_the_build_tags_cuda_and_cudaemu
