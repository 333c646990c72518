package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many symbolic links are followed before they are taken for a loop, as Linux does.
const maxLinks = 40

// plan looks at every path without changing anything.
func plan(files []File) ([]job, error) {
	jobs := make([]job, len(files))
	for i, f := range files {
		j := &jobs[i]
		j.path, j.fn = f.Path, f.Write
		if err := j.resolve(); err != nil {
			return nil, err
		}
		if err := j.replaceable(); err != nil {
			return nil, err
		}
		for k := range i {
			if jobs[k].Same(j.Place) {
				return nil, j.badTarget("%s is the same file; give each output a name of its own", jobs[k].path)
			}
		}
	}
	return jobs, nil
}

// resolve follows symbolic links to the target and finds out what it is.
func (j *job) resolve() error {
	p := j.path
	for range maxLinks {
		folder, base := filepath.Split(p)
		if base == "" || base == "." || base == ".." {
			return j.badTarget("this names no file; give a folder and the name of a file in it")
		}
		if folder == "" {
			folder = "."
		}
		// Links among the folders are the system's to follow: "a/../b" is not "b" where a is a link.
		real, err := filepath.EvalSymlinks(folder)
		if err != nil {
			return j.badTarget("no folder %s: %w; make it first or choose another", filepath.Clean(folder), cause(err))
		}
		if j.folder, err = os.Stat(real); err != nil {
			return j.badTarget("%w", cause(err))
		}
		j.target, j.base = filepath.Join(real, base), base
		if descriptor(real) {
			return j.throughDescriptor(real, base)
		}
		info, err := os.Lstat(j.target)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return j.badTarget("%w", cause(err))
		case info.Mode()&fs.ModeSymlink == 0:
			return j.existing(info)
		}
		link, err := os.Readlink(j.target)
		if err != nil {
			return j.badTarget("%w", cause(err))
		}
		if p = link; !filepath.IsAbs(link) {
			p = real + string(filepath.Separator) + link // not Join: see above
		}
	}
	return j.badTarget("more than %d symbolic links, one after the other", maxLinks)
}

// existing takes what is at the target into account.
func (j *job) existing(info fs.FileInfo) error {
	j.file = info
	switch mode := info.Mode(); {
	case mode.IsDir():
		return j.badTarget("it is a directory; give the name of a file in it")
	case mode&fs.ModeNamedPipe != 0, mode&fs.ModeCharDevice != 0:
		j.through = true
		return nil
	case !mode.IsRegular():
		return j.badTarget("it is %s; want a regular file, a pipe or a terminal", kind(mode))
	}
	j.exists, j.old = true, info.Mode().Perm()
	return nil
}

// replaceable reports a file that was made read-only to protect it, which a rename would replace: it asks as a plain write would.
func (j *job) replaceable() error {
	if !j.exists {
		return nil
	}
	f, err := os.OpenFile(j.target, os.O_WRONLY, 0)
	if err != nil {
		return j.badTarget("the file that is there cannot be replaced: %w", cause(err))
	}
	return f.Close()
}

// descriptor reports whether folder holds the descriptors of a process: /dev/fd or /proc/self/fd with links followed.
func descriptor(folder string) bool {
	return folder == "/dev/fd" || strings.HasPrefix(folder, "/proc/") && strings.HasSuffix(folder, "/fd")
}

// throughDescriptor writes to an open descriptor. For our own standard streams that is the stream itself: opening it by name would
// start at the beginning of a file that the shell has already written to.
func (j *job) throughDescriptor(folder, base string) error {
	j.through = true
	if own := folder == "/dev/fd" || folder == fmt.Sprintf("/proc/%d/fd", os.Getpid()); own {
		switch base {
		case "1":
			j.std = os.Stdout
		case "2":
			j.std = os.Stderr
		}
	}
	info, err := os.Stat(j.target)
	if err != nil {
		return j.badTarget("%w", cause(err))
	}
	j.file = info
	if info.IsDir() {
		return j.badTarget("it is a directory; give the name of a file in it")
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
