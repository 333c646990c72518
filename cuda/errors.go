package cuda

import (
	"errors"
	"fmt"
)

// Errors of the package, for errors.Is.
var (
	// ErrNoDevice: this build, machine or ordinal has no card to use.
	ErrNoDevice = errors.New("no CUDA device")
	// ErrOutOfMemory: the driver has no memory left.
	ErrOutOfMemory = errors.New("out of device memory")
	// ErrBudget: the memory would pass the context's budget. The driver is not
	// asked.
	ErrBudget = errors.New("over the memory budget")
	// ErrLost: a kernel faulted, and no context on the card can do anything more.
	// Close them all and open another.
	ErrLost = errors.New("the CUDA context is lost")

	// This package finds these, not the driver.
	errClosed   = errors.New("closed")
	errFreed    = errors.New("it is freed already")
	errGeometry = errors.New("a geometry that the device does not have")
	errRange    = errors.New("outside the memory")
)

// code is a driver's answer to a call that failed.
type code struct {
	name   string // CUDA_ERROR_ILLEGAL_ADDRESS
	number int    // 700
	detail string // more, "" if the driver has no more
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

// fault says whether err is one that a context does not outlive.
func fault(err error) bool {
	var c *code
	return errors.As(err, &c) && c.fault
}

// unlessFault is err, but nil for a fault: what a lost card says to every call.
func unlessFault(err error) error {
	if fault(err) {
		return nil
	}
	return err
}
