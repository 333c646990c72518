//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package fileio

import (
	"errors"
	"os"
	"syscall"
)

// locks is true: flock shows whether a process is alive, because the system releases its locks when it ends.
const locks = true

// flock locks an open file for this process. locked reports that another process has locked it. If the file system has no locks, it
// returns an error and the file is not protected.
func flock(f *os.File) (locked bool, err error) {
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return errors.Is(err, syscall.EWOULDBLOCK), err
		}
	}
}
