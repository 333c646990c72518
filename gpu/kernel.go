package gpu

import (
	"strconv"
	"strings"
)

// A kernel is the arguments of a kernel in package kernels.
type kernel interface {
	Name() string
	Block() int
	Words() []uint64
}

// of returns the variant of a seven-digit kernel for the given number of digits. Their arguments
// are the same.
type of struct {
	kernel
	digits int
}

func (k of) Name() string { return strings.TrimSuffix(k.kernel.Name(), "7") + strconv.Itoa(k.digits) }
