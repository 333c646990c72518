package cuda

import (
	"errors"
	"fmt"
)

// Errors of the package for errors.Is.
var (
	// ErrNoDevice is returned if this build, machine or ordinal has no usable GPU.
	ErrNoDevice = errors.New("no CUDA device")
	// ErrOutOfMemory is returned if the driver has no memory left.
	ErrOutOfMemory = errors.New("out of device memory")
	// ErrBudget is returned, without calling the driver, if an allocation would exceed the
	// context's budget.
	ErrBudget = errors.New("over the memory budget")
	// ErrLost is returned after a kernel fault, which makes all contexts on the GPU unusable. Close
	// them all and open another.
	ErrLost = errors.New("the CUDA context is lost")

	// The package detects these errors before calling the driver.
	errClosed   = errors.New("closed")
	errFreed    = errors.New("already freed")
	errGeometry = errors.New("geometry not supported by the device")
	errRange    = errors.New("outside the memory")
)

// code is the driver's error code of a failed call.
type code struct {
	name   string // CUDA_ERROR_ILLEGAL_ADDRESS
	number int    // 700
	detail string // details, or ""
	kind   error  // one of the package's errors, or nil
	fault  bool   // the context cannot be used any more
}

func (c *code) Error() string {
	text := fmt.Sprintf("%s (%d)", c.name, c.number)
	if c.detail != "" {
		text += ": " + c.detail
	}
	return text
}

func (c *code) Unwrap() error { return c.kind }

// fault reports whether err makes a context unusable.
func fault(err error) bool {
	var c *code
	return errors.As(err, &c) && c.fault
}

// unlessFault returns err, or nil for a fault, which a lost GPU returns from every call.
func unlessFault(err error) error {
	if fault(err) {
		return nil
	}
	return err
}
