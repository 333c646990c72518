//go:build !cudaemu && !cuda

package cuda

import "testing"

// TestNone: a build without a driver says how to get one.
func TestNone(t *testing.T) {
	_, err := Devices()
	wants(t, err, ErrNoDevice, "-tags cuda")
	_, err = Open(0, 0)
	wants(t, err, ErrNoDevice, "-tags cuda")
}
