package fileio

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// ErrTarget is wrapped by every error about a path that cannot be written to: its folder is missing or read-only, it is a
// directory, it may not be written, it is named twice. It wraps fs.ErrInvalid for callers that do not know this package.
var ErrTarget = fmt.Errorf("fileio: not a place to write to: %w", fs.ErrInvalid)

// A Place is the file that a path refers to, with symbolic links resolved.
type Place struct {
	path    string      // as the caller named it, for messages
	name    string      // the path with symbolic links followed
	folder  fs.FileInfo // the folder; the file in it need not exist
	base    string      // the file's name there
	file    fs.FileInfo // the file itself; nil: it does not exist
	through bool        // a pipe, a terminal or a descriptor, which is written straight to instead of replaced
	std     *os.File    // the standard stream that the path refers to, if any
}

// PlaceOf returns the place that a write to path goes to. Errors wrap ErrTarget.
func PlaceOf(path string) (Place, error) {
	p := Place{path: path}
	err := p.resolve()
	return p, err
}

// PlaceOfOpen returns the place of an open file, for Same.
func PlaceOfOpen(f *os.File) (Place, error) {
	info, err := f.Stat()
	return Place{file: info}, err
}

// Same reports whether both are one file: by folder and name, or as hard links to it. A character device, such as /dev/null or a
// terminal, may be shared: it is never the same.
func (p Place) Same(q Place) bool {
	if p.file != nil && q.file != nil {
		return os.SameFile(p.file, q.file) && p.file.Mode()&fs.ModeCharDevice == 0
	}
	return p.file == nil && q.file == nil && p.base == q.base && os.SameFile(p.folder, q.folder)
}

// maxLinks is the number of symbolic links, as on Linux, after which they are taken for a loop.
const maxLinks = 40

// resolve follows symbolic links to the file and looks at it.
func (p *Place) resolve() error {
	next := p.path
	for range maxLinks {
		folder, base := filepath.Split(next)
		if base == "" || base == "." || base == ".." {
			return p.badTarget("this names no file; give a folder and the name of a file in it")
		}
		// The system follows the links among the folders: "a/../b" is not "b" where a is a link.
		real, err := filepath.EvalSymlinks(cmp.Or(folder, "."))
		if err != nil {
			return p.badTarget("no folder %s: %w; make it first or choose another", filepath.Clean(folder), cause(err))
		}
		if p.folder, err = os.Stat(real); err != nil {
			return p.badTarget("%w", cause(err))
		}
		p.name, p.base = filepath.Join(real, base), base
		info, err := os.Lstat(p.name)
		switch {
		case descriptor(real):
			return p.throughDescriptor(real)
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return p.badTarget("%w", cause(err))
		case info.Mode()&fs.ModeSymlink == 0:
			return p.existing(info)
		}
		if next, err = os.Readlink(p.name); err != nil {
			return p.badTarget("%w", cause(err))
		}
		if !filepath.IsAbs(next) {
			next = real + string(filepath.Separator) + next // filepath.Join would remove ".."
		}
	}
	return p.badTarget("more than %d symbolic links, one after the other", maxLinks)
}

// existing takes in the file that is there.
func (p *Place) existing(info fs.FileInfo) error {
	p.file = info
	p.through = p.through || info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0
	switch mode := info.Mode(); {
	case mode.IsDir():
		return p.badTarget("it is a directory; give the name of a file in it")
	case !mode.IsRegular() && !p.through:
		return p.badTarget("it is %s; must be a regular file, a pipe or a terminal", kind(mode))
	}
	return nil
}

// replaceable refuses a file that may not be written. A rename would replace it all the same, so we open it as a plain write would.
func (p *Place) replaceable() error {
	if p.file == nil || p.through {
		return nil
	}
	f, err := os.OpenFile(p.name, os.O_WRONLY, 0)
	if err != nil {
		return p.badTarget("the file that is there cannot be replaced: %w", cause(err))
	}
	return f.Close()
}

// descriptor reports whether folder contains the descriptors of a process: /dev/fd or /proc/self/fd with links followed.
func descriptor(folder string) bool {
	return folder == "/dev/fd" || strings.HasPrefix(folder, "/proc/") && strings.HasSuffix(folder, "/fd")
}

// throughDescriptor takes in an open descriptor. For our own standard streams it keeps the stream itself: opening a file anew by its
// descriptor's name would overwrite earlier output of the shell.
func (p *Place) throughDescriptor(folder string) error {
	p.through = true
	if folder == "/dev/fd" || folder == fmt.Sprintf("/proc/%d/fd", os.Getpid()) {
		p.std = map[string]*os.File{"1": os.Stdout, "2": os.Stderr}[p.base]
	}
	info, err := os.Stat(p.name)
	if err != nil {
		return p.badTarget("%w", cause(err))
	}
	return p.existing(info)
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

// badTarget reports that the path cannot be written to; format may contain %w.
func (p *Place) badTarget(format string, args ...any) error {
	return fault.Errorf(ErrTarget, "write %q: "+format, append([]any{p.path}, args...)...)
}

// cause returns the system's reason without the operation and the path, which our own messages name.
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
