package atomicfile

import (
	"errors"
	"fmt"
	"os"
)

// ErrNotRegular is wrapped by OpenRegular's error for a directory, a pipe or a device.
var ErrNotRegular = errors.New("not a regular file")

// OpenRegular opens a regular file for reading and returns its size in bytes, for the readers of this project whose memory is bounded
// by it. A pipe or a device is refused before it is opened: opening a pipe waits, and a device need not end. Errors
// name the path and wrap the system's (fs.ErrNotExist, fs.ErrPermission) or ErrNotRegular.
func OpenRegular(path string) (f *os.File, size int64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, fmt.Errorf("read %q: %w", path, cause(err))
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("read %q: it is %s, %w; give the name of a file", path, kind(info.Mode()), ErrNotRegular)
	}
	f, err = os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("read %q: %w", path, cause(err))
	}
	if info, err = f.Stat(); err != nil {
		f.Close()
		return nil, 0, fmt.Errorf("read %q: %w", path, cause(err))
	}
	return f, info.Size(), nil
}
