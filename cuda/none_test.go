//go:build !cudaemu && !cuda

package cuda

import "testing"

// TestNone: a build without a driver says how to get one.
func TestNone(t *testing.T) {
	wants(t, second(Devices()), ErrNoDevice, "-tags cuda")
	wants(t, second(Open(0, 0)), ErrNoDevice, "-tags cuda")
}
