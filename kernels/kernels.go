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

//go:embed ptx/sm_80.ptx.gz
var sm80 []byte

//go:embed ptx/sm_90.ptx.gz
var sm90 []byte

// Unpacking takes some milliseconds, once.
var ptx80, ptx90 = unpack(sm80), unpack(sm90)

// PTX returns all kernels for the highest architecture that does not exceed a device's compute
// capability. The bytes are shared and must not be changed.
func PTX(major, minor int) ([]byte, error) {
	switch {
	case major >= 9:
		return ptx90()
	case major >= 8:
		return ptx80()
	}
	return nil, fmt.Errorf("kernels: no PTX for compute capability %d.%d: the minimum is 8.0", major, minor)
}

// entry begins a kernel in PTX. All functions are inlined, so the text before the first one, with
// the constants, and a kernel's own text are complete.
const entry = ".visible .entry "

// Image returns the PTX of one kernel. The driver compiles it for the device when it is loaded,
// which takes seconds for all kernels.
func Image(major, minor int, kernel string) ([]byte, error) {
	all, err := PTX(major, minor)
	if err != nil {
		return nil, err
	}
	head, _, _ := bytes.Cut(all, []byte(entry))
	_, own, found := bytes.Cut(all, []byte(entry+kernel+"("))
	if !found {
		return nil, fmt.Errorf("kernels: no kernel %q", kernel)
	}
	own, _, _ = bytes.Cut(own, []byte(entry))
	return slices.Concat(head, []byte(entry+kernel+"("), own), nil
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
