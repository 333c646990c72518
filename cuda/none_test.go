//go:build !cudaemu && !cuda

package cuda

import (
	"errors"
	"strings"
	"testing"
)

// TestNone: a build without a driver says how to get one.
func TestNone(t *testing.T) {
	_, err := Devices()
	_, open := Open(0, 0)
	for what, err := range map[string]error{"Devices": err, "Open": open} {
		if !errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), "-tags cuda") {
			t.Errorf("%s: %v: want ErrNoDevice and how to build", what, err)
		}
	}
}
