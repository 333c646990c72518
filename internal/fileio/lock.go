package fileio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// ErrLocked is wrapped by Lock's error if another process has locked the file.
var ErrLocked = errors.New("fileio: in use by another process")

// Lock locks the file at path, which need not exist, for this process until unlock is called or the process ends. It locks a hidden file
// ".NAME.lock" in the same folder, because the file itself is replaced. unlock removes the hidden file; the one of a killed process is
// reused. Errors wrap ErrLocked or ErrTarget. Without flock in the file system or the operating system (Windows), Lock does not exclude
// other processes.
func Lock(path string) (unlock func(), err error) {
	p, err := TargetOf(path)
	if err != nil {
		return nil, err
	}
	if !locks || p.through {
		return func() {}, nil
	}
	folder := filepath.Dir(p.name)
	name := filepath.Join(folder, "."+short(p.base)+".lock")
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, p.badTarget("cannot create a lock file in folder %s: %w; choose a writable folder", folder, cause(err))
		}
		locked, _ := flock(f)
		if locked {
			defer f.Close()
			return nil, fmt.Errorf("%q is in use%s: %w", path, owner(f), ErrLocked)
		}
		if !still(f, name) { // the previous process removed it after we opened it and before we locked it
			f.Close()
			continue
		}
		if f.Truncate(0) == nil {
			fmt.Fprintf(f, "%d\n", os.Getpid()) // for owner's message; a full disk may prevent it
		}
		return func() {
			os.Remove(name)
			f.Close()
		}, nil
	}
}

// owner returns " by process ID" from a lock file, or "" if the file is empty.
func owner(f *os.File) string {
	text, _ := io.ReadAll(io.LimitReader(f, 20))
	if id := strings.TrimSpace(string(text)); id != "" {
		return " by process " + id
	}
	return ""
}

// still reports whether name is still the name of the open file f.
func still(f *os.File, name string) bool {
	is, err1 := f.Stat()
	there, err2 := os.Lstat(name)
	return err1 == nil && err2 == nil && os.SameFile(is, there)
}

// short shortens a file's name so that a suffix can be added: a name may have 255 bytes.
func short(base string) string {
	if len(base) > 100 {
		return strings.ToValidUTF8(base[:100], "")
	}
	return base
}
