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

// ErrTarget is wrapped by every error about a path that cannot be written to: its folder is missing or read-only, it is a directory or
// write-protected, or it is given twice. It wraps fs.ErrInvalid for callers that do not know this package.
var ErrTarget = fault.New("path cannot be written to", fs.ErrInvalid)

// A Target identifies the file that a path refers to, after resolving symbolic links.
type Target struct {
	path    string      // as given by the caller, for messages
	name    string      // the path with symbolic links followed
	folder  fs.FileInfo // the file's folder; the file need not exist
	base    string      // the file's name in folder
	file    fs.FileInfo // nil if the file does not exist
	through bool        // a pipe, a terminal or a descriptor, which is written directly instead of replaced
	std     *os.File    // the standard stream that the path refers to, if any
}

// TargetOf returns the Target that a write to path refers to. Errors wrap ErrTarget.
func TargetOf(path string) (Target, error) {
	p := Target{path: path}
	err := p.resolve()
	return p, err
}

// TargetOfOpen returns the Target of an open file, for Same.
func TargetOfOpen(f *os.File) (Target, error) {
	info, err := f.Stat()
	return Target{file: info}, err
}

// Same reports whether p and q are one file, by folder and name or as hard links. It returns false for a character device, such as
// /dev/null or a terminal, because it may be shared.
func (p Target) Same(q Target) bool {
	if p.file != nil && q.file != nil {
		return os.SameFile(p.file, q.file) && p.file.Mode()&fs.ModeCharDevice == 0
	}
	return p.file == nil && q.file == nil && p.base == q.base && os.SameFile(p.folder, q.folder)
}

// maxLinks is the number of symbolic links after which they are considered a loop, as on Linux.
const maxLinks = 40

// resolve follows symbolic links to the file and sets its properties.
func (p *Target) resolve() error {
	next := p.path
	for range maxLinks {
		folder, base := filepath.Split(next)
		if base == "" || base == "." || base == ".." {
			return p.badTarget("it does not name a file; give a folder and the name of a file in it")
		}
		// The system resolves links of folders: "a/../b" is not "b" if a is a link.
		real, err := filepath.EvalSymlinks(cmp.Or(folder, "."))
		if err != nil {
			return p.badTarget("cannot use folder %s: %w; create it or choose another", filepath.Clean(folder), cause(err))
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
	return p.badTarget("more than %d successive symbolic links", maxLinks)
}

// existing sets the properties of a file that exists.
func (p *Target) existing(info fs.FileInfo) error {
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

// replaceable returns an error if the existing file is write-protected. A rename would replace it anyway, so it is opened for writing.
func (p *Target) replaceable() error {
	if p.file == nil || p.through {
		return nil
	}
	f, err := os.OpenFile(p.name, os.O_WRONLY, 0)
	if err != nil {
		return p.badTarget("the existing file cannot be replaced: %w", cause(err))
	}
	return f.Close()
}

// descriptor reports whether folder contains the descriptors of a process, such as /dev/fd or /proc/self/fd with links resolved.
func descriptor(folder string) bool {
	return folder == "/dev/fd" || strings.HasPrefix(folder, "/proc/") && strings.HasSuffix(folder, "/fd")
}

// throughDescriptor sets the properties of an open descriptor. Our standard streams are used directly, because reopening a file by its
// descriptor's name would overwrite earlier output of the shell.
func (p *Target) throughDescriptor(folder string) error {
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

// kind returns the name of a file type.
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

// badTarget returns an error that wraps ErrTarget; format may contain %w.
func (p *Target) badTarget(format string, args ...any) error {
	return fault.Errorf(ErrTarget, "write %q: "+format, append([]any{p.path}, args...)...)
}

// cause returns the reason of a system error without the operation and the path, which our messages contain.
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
