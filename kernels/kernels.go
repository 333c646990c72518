package kernels

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"sync"
)

//go:embed ptx/sm_80.ptx.gz
var sm80 []byte

//go:embed ptx/sm_90.ptx.gz
var sm90 []byte

// Unpacking takes some milliseconds, once.
var ptx80, ptx90 = unpack(sm80), unpack(sm90)

// Image returns the PTX for the highest architecture that does not exceed a device's compute
// capability. The driver compiles it for the device. The bytes are shared and must not be changed.
func Image(major, minor int) ([]byte, error) {
	switch {
	case major >= 9:
		return ptx90()
	case major >= 8:
		return ptx80()
	}
	return nil, fmt.Errorf("kernels: no PTX for compute capability %d.%d: the minimum is 8.0", major, minor)
}

func unpack(packed []byte) func() ([]byte, error) {
	return sync.OnceValues(func() (image []byte, err error) {
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err == nil {
			image, err = io.ReadAll(r)
		}
		if err != nil {
			return nil, fmt.Errorf("kernels: the embedded PTX is damaged: %w", err)
		}
		return image, nil
	})
}
