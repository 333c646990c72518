package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// ErrLocked is wrapped by Lock's error where another process has the file.
var ErrLocked = errors.New("atomicfile: in use by another process")

// Lock keeps the file at path, which need not be there, to this process until unlock is called or the process ends, however it ends. The
// lock is on a hidden file ".NAME.lock" beside it, because the file itself is replaced; unlock removes that, and a killed process
// leaves it for the next to take. Errors wrap ErrLocked or ErrTarget. Where the file system or the operating system (Windows) has no flock,
// other processes are not kept out.
func Lock(path string) (unlock func(), err error) {
	t := target{path: path}
	if err := t.resolve(); err != nil {
		return nil, err
	}
	if !locks || t.through {
		return func() {}, nil
	}
	folder, base := filepath.Split(t.name)
	name := filepath.Join(folder, "."+short(base)+".lock")
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, t.badTarget("no lock can be made in folder %s: %w; choose a folder that takes new files", folder, cause(err))
		}
		held, _ := flock(f)
		if held {
			defer f.Close()
			return nil, fmt.Errorf("%q is in use%s: %w", path, owner(f), ErrLocked)
		}
		if !still(f, name) { // the one before us removed it between our opening and our lock
			f.Close()
			continue
		}
		if f.Truncate(0) == nil {
			fmt.Fprintf(f, "%d\n", os.Getpid()) // for owner's message; a full disk may keep it from it
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

// still reports whether name is the open file f, and not another or none.
func still(f *os.File, name string) bool {
	is, err1 := f.Stat()
	there, err2 := os.Lstat(name)
	return err1 == nil && err2 == nil && os.SameFile(is, there)
}

// short is a file's name cut so that more can be added: the whole may have 255 bytes.
func short(base string) string {
	if len(base) > 100 {
		return strings.ToValidUTF8(base[:100], "")
	}
	return base
}
