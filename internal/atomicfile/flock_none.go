//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package atomicfile

import (
	"errors"
	"os"
)

// locks says that this system has no locks here: nothing is swept, and Lock keeps nobody out.
const locks = false

func flock(*os.File) (held bool, err error) { return false, errors.ErrUnsupported }
