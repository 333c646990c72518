//go:build !cudaemu && !cuda

package cuda

import "testing"

// TestNone checks that the error of a build without a driver names the build tag.
func TestNone(t *testing.T) {
	wants(t, second(Devices()), ErrNoDevice, "-tags cuda")
	wants(t, second(Open(0, 0)), ErrNoDevice, "-tags cuda")
}
