package cuda

import (
	"errors"
	"fmt"
)

// Devices lists the GPUs. A GPU that cannot be used has a Reason. If there are none, the error
// wraps ErrNoDevice and states why.
func Devices() ([]Device, error) {
	devices, err := newDriver().devices()
	if err == nil && len(devices) == 0 {
		err = errors.New("cuda: the driver lists no GPU")
	}
	if err != nil && !errors.Is(err, ErrNoDevice) {
		err = fmt.Errorf("%w: %w", err, ErrNoDevice)
	}
	return devices, err
}

// usable returns the GPU with this number if it can be used.
func usable(ordinal int) (Device, error) {
	devices, err := Devices()
	if err != nil {
		return Device{}, err
	}
	if ordinal < 0 || ordinal >= len(devices) {
		return Device{}, fmt.Errorf("cuda: open device %d: must be 0 to %d: %w", ordinal, len(devices)-1, ErrNoDevice)
	}
	d := devices[ordinal]
	if d.Reason != "" {
		return Device{}, fmt.Errorf("cuda: open device %v: %s: %w", d, d.Reason, ErrNoDevice)
	}
	return d, nil
}
