package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrTarget is wrapped by every error that says that a path cannot be written to: its folder is missing or read-only, it is a
// directory, it may not be written, it is named twice. The caller chose a wrong path; the error is an fs.ErrInvalid for callers that
// do not know this package.
var ErrTarget = fmt.Errorf("atomicfile: not a place to write to: %w", fs.ErrInvalid)

// A Place is where a path leads, however it is spelled: symbolic links are followed.
type Place struct {
	folder fs.FileInfo // of the file, which need not exist
	base   string      // its name there
	file   fs.FileInfo // the file itself; nil: it does not exist
}

// PlaceOf is the place that a write to path goes to. Errors wrap ErrTarget.
func PlaceOf(path string) (Place, error) {
	t := target{path: path}
	err := t.resolve()
	return t.Place, err
}

// PlaceOfOpen is the place of an open file.
func PlaceOfOpen(f *os.File) (Place, error) {
	info, err := f.Stat()
	return Place{file: info}, err
}

// Same reports whether both are one file: by folder and name, or as hard links to it. A character device, such as /dev/null or a
// terminal, is shared by all and never the same.
func (p Place) Same(q Place) bool {
	if p.file != nil && q.file != nil {
		return os.SameFile(p.file, q.file) && p.file.Mode()&fs.ModeCharDevice == 0
	}
	return p.file == nil && q.file == nil && p.base == q.base && os.SameFile(p.folder, q.folder)
}

// A target is where an output is to go.
type target struct {
	Place
	path    string   // as the caller named it, for messages
	name    string   // path with symbolic links followed
	through bool     // written straight to, nothing to rename
	std     *os.File // the standard stream that it stands for, if any
}

// maxLinks is how many symbolic links are followed before they are taken for a loop, as Linux does.
const maxLinks = 40

// resolve follows symbolic links to the target and looks at it.
func (t *target) resolve() error {
	p := t.path
	for range maxLinks {
		folder, base := filepath.Split(p)
		if base == "" || base == "." || base == ".." {
			return t.badTarget("this names no file; give a folder and the name of a file in it")
		}
		if folder == "" {
			folder = "."
		}
		// Links among the folders are the system's to follow: "a/../b" is not "b" where a is a link.
		real, err := filepath.EvalSymlinks(folder)
		if err != nil {
			return t.badTarget("no folder %s: %w; make it first or choose another", filepath.Clean(folder), cause(err))
		}
		if t.folder, err = os.Stat(real); err != nil {
			return t.badTarget("%w", cause(err))
		}
		t.name, t.base = filepath.Join(real, base), base
		if descriptor(real) {
			return t.throughDescriptor(real, base)
		}
		info, err := os.Lstat(t.name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return t.badTarget("%w", cause(err))
		case info.Mode()&fs.ModeSymlink == 0:
			return t.existing(info)
		}
		link, err := os.Readlink(t.name)
		if err != nil {
			return t.badTarget("%w", cause(err))
		}
		if p = link; !filepath.IsAbs(link) {
			p = real + string(filepath.Separator) + link // not Join: see above
		}
	}
	return t.badTarget("more than %d symbolic links, one after the other", maxLinks)
}

// existing takes the file at the target into account.
func (t *target) existing(info fs.FileInfo) error {
	t.file = info
	switch mode := info.Mode(); {
	case mode.IsDir():
		return t.badTarget("it is a directory; give the name of a file in it")
	case mode&fs.ModeNamedPipe != 0, mode&fs.ModeCharDevice != 0:
		t.through = true
		return nil
	case !mode.IsRegular():
		return t.badTarget("it is %s; want a regular file, a pipe or a terminal", kind(mode))
	}
	return nil
}

// replaceable reports a file that was made read-only to protect it, which a rename would replace: it asks as a plain write would.
func (t *target) replaceable() error {
	if t.file == nil || t.through {
		return nil
	}
	f, err := os.OpenFile(t.name, os.O_WRONLY, 0)
	if err != nil {
		return t.badTarget("the file that is there cannot be replaced: %w", cause(err))
	}
	return f.Close()
}

// descriptor reports whether folder holds the descriptors of a process: /dev/fd or /proc/self/fd with links followed.
func descriptor(folder string) bool {
	return folder == "/dev/fd" || strings.HasPrefix(folder, "/proc/") && strings.HasSuffix(folder, "/fd")
}

// throughDescriptor writes to an open descriptor. For our own standard streams that is the stream itself: opening it by name would
// start at the beginning of a file that the shell has already written to.
func (t *target) throughDescriptor(folder, base string) error {
	t.through = true
	if own := folder == "/dev/fd" || folder == fmt.Sprintf("/proc/%d/fd", os.Getpid()); own {
		switch base {
		case "1":
			t.std = os.Stdout
		case "2":
			t.std = os.Stderr
		}
	}
	info, err := os.Stat(t.name)
	if err != nil {
		return t.badTarget("%w", cause(err))
	}
	t.file = info
	if info.IsDir() {
		return t.badTarget("it is a directory; give the name of a file in it")
	}
	return nil
}

// kind names a type of file.
func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// badTarget reports that the path cannot be written to; format may hold a %w.
func (t *target) badTarget(format string, args ...any) error {
	return &targetError{fmt.Errorf("write %q: "+format, append([]any{t.path}, args...)...)}
}

// targetError is ErrTarget in words of its own.
type targetError struct{ error }

func (e *targetError) Unwrap() []error { return []error{ErrTarget, e.error} }

// cause is the system's reason without the operation and the path, which our messages name themselves.
func cause(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		return pe.Err
	case errors.As(err, &le):
		return le.Err
	}
	return err
}
