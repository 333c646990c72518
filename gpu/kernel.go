package gpu

import (
	"strconv"
	"strings"
)

// A kernel is one of package kernels with its arguments.
type kernel interface {
	Name() string
	Block() int
	Words() []uint64
}

// of is the kernel for so many digits, given that for seven: their arguments are the same.
type of struct {
	kernel
	digits int
}

func (k of) Name() string { return strings.TrimSuffix(k.kernel.Name(), "7") + strconv.Itoa(k.digits) }
