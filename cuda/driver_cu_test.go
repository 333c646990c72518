//go:build cuda && linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"testing"
)

// TestNoDriver: where there is no driver, or none with a card, the program has
// started all the same, and the error says why.
func TestNoDriver(t *testing.T) {
	devices, err := Devices()
	if err == nil {
		t.Skipf("this machine has %d cards", len(devices))
	}
	t.Log(err)
	if !errors.Is(err, ErrNoDevice) {
		t.Errorf("Devices: %v does not wrap ErrNoDevice", err)
	}
	if _, err := Open(0, 0); !errors.Is(err, ErrNoDevice) {
		t.Errorf("Open: %v does not wrap ErrNoDevice", err)
	}
}
