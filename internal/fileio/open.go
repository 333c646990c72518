package fileio

import (
	"fmt"
	"os"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// ErrNotRegular is wrapped by OpenRegular's error for a directory, a pipe or a device.
var ErrNotRegular = fault.New("not a regular file")

// OpenRegular opens a regular file for reading and returns its size in bytes, which bounds the memory of our readers. It rejects pipes
// and devices before opening them, because opening a pipe may block and a device may never end. Errors name the path and wrap a system
// error (fs.ErrNotExist, fs.ErrPermission) or ErrNotRegular.
func OpenRegular(path string) (f *os.File, size int64, err error) {
	defer func() {
		if err != nil {
			f.Close()
			f, err = nil, fmt.Errorf("read %q: %w", path, cause(err))
		}
	}()
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("it is %s, %w; give the name of a file", kind(info.Mode()), ErrNotRegular)
	}
	if err = fail("open", path); err != nil {
		return nil, 0, err
	}
	if f, err = os.Open(path); err != nil {
		return nil, 0, err
	}
	if info, err = f.Stat(); err != nil { // the file may have been replaced
		return f, 0, err
	}
	if fail("read", path) != nil {
		f.Close() // so that every read fails
	}
	return f, info.Size(), nil
}
