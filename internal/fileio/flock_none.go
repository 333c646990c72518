//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package fileio

import (
	"errors"
	"os"
)

// locks is false because this system has no flock. Lock does not exclude other processes.
const locks = false

func flock(*os.File) (locked bool, err error) { return false, errors.ErrUnsupported }
