//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package fileio

import (
	"errors"
	"os"
)

// locks is false: this system has no flock. Nothing is swept, and Lock does not keep other processes out.
const locks = false

func flock(*os.File) (held bool, err error) { return false, errors.ErrUnsupported }
