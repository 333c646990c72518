//go:build !cudaemu && !cuda

package cuda

import "testing"

// TestNoDriverNamesBuildTag checks that the error of a build without a driver names the build tag.
func TestNoDriverNamesBuildTag(t *testing.T) {
	wants(t, second(Devices()), ErrNoDevice, "-tags cuda")
	wants(t, second(Open(0, 0)), ErrNoDevice, "-tags cuda")
}
