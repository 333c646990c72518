//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package fileio

import (
	"errors"
	"os"
	"syscall"
)

// locks is true: flock shows whether a file's process is still alive, because the system drops a process's locks when it ends.
const locks = true

// flock takes an open file for this process alone. held reports that another process has locked it. A file system without locks gives an error, and no
// protection.
func flock(f *os.File) (held bool, err error) {
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return errors.Is(err, syscall.EWOULDBLOCK), err
		}
	}
}
