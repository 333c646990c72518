package fileio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// ErrLocked is wrapped by Lock's error where another process has the file.
var ErrLocked = errors.New("fileio: in use by another process")

// Lock keeps the file at path, which need not exist, to this process until unlock is called or the process ends in any way. It locks a
// hidden file ".NAME.lock" in the same folder, because the file itself is replaced. unlock removes the hidden file; after a killed process the
// next one takes it over. Errors wrap ErrLocked or ErrTarget. Without flock in the file system or in the operating system (Windows),
// Lock does not keep other processes out.
func Lock(path string) (unlock func(), err error) {
	p, err := PlaceOf(path)
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
			return nil, p.badTarget("no lock can be made in folder %s: %w; choose a folder that takes new files", folder, cause(err))
		}
		held, _ := flock(f)
		if held {
			defer f.Close()
			return nil, fmt.Errorf("%q is in use%s: %w", path, owner(f), ErrLocked)
		}
		if !still(f, name) { // the process before us removed it between our opening and our lock
			f.Close()
			continue
		}
		if f.Truncate(0) == nil {
			fmt.Fprintf(f, "%d\n", os.Getpid()) // for owner's message, which a full disk may prevent
		}
		return func() {
			os.Remove(name)
			f.Close()
		}, nil
	}
}

// owner names the process that has a lock.
func owner(f *os.File) string {
	text, _ := io.ReadAll(io.LimitReader(f, 20))
	if id := strings.TrimSpace(string(text)); id != "" {
		return " by process " + id
	}
	return ""
}

// still reports whether name is the open file f, rather than another file or none.
func still(f *os.File, name string) bool {
	is, err1 := f.Stat()
	there, err2 := os.Lstat(name)
	return err1 == nil && err2 == nil && os.SameFile(is, there)
}

// short cuts a file's name so that more can be added: a name may have 255 bytes.
func short(base string) string {
	if len(base) > 100 {
		return strings.ToValidUTF8(base[:100], "")
	}
	return base
}
