package kernels

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"slices"
)

//go:embed ptx/sm_70.ptx.gz
var sm70 []byte

//go:embed ptx/sm_80.ptx.gz
var sm80 []byte

//go:embed ptx/sm_90.ptx.gz
var sm90 []byte

// Image is the PTX that suits a device's compute capability best: that of the
// highest architecture not above it, which the driver compiles for the device.
func Image(major, minor int) ([]byte, error) {
	switch {
	case major >= 9:
		return unpack(sm90)
	case major >= 8:
		return unpack(sm80)
	case major >= 7:
		return unpack(sm70)
	}
	return nil, fmt.Errorf("kernels: no PTX for compute capability %d.%d: it should be 7.0 at least", major, minor)
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("kernels: the embedded PTX is damaged: %w", err)
	}
	image, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("kernels: the embedded PTX is damaged: %w", err)
	}
	return image, nil
}

// Names lists the kernels that every image holds, sorted.
func Names() []string { return slices.Clone(names) }
