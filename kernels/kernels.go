package kernels

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"sync"
)

//go:embed ptx/sm_70.ptx.gz
var sm70 []byte

//go:embed ptx/sm_80.ptx.gz
var sm80 []byte

//go:embed ptx/sm_90.ptx.gz
var sm90 []byte

// Unpacking takes some milliseconds, once.
var ptx70, ptx80, ptx90 = unpack(sm70), unpack(sm80), unpack(sm90)

// Image is the PTX that suits a device's compute capability best: that of the
// highest architecture not above it, which the driver compiles for the device.
// It is shared: nobody may change it.
func Image(major, minor int) ([]byte, error) {
	switch {
	case major >= 9:
		return ptx90()
	case major >= 8:
		return ptx80()
	case major >= 7:
		return ptx70()
	}
	return nil, fmt.Errorf("kernels: no PTX for compute capability %d.%d: it should be 7.0 at least", major, minor)
}

func unpack(packed []byte) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) { return gunzip(packed) })
}

func gunzip(packed []byte) ([]byte, error) {
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
