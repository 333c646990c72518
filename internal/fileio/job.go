package fileio

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// A job is an output being written, either to a temporary file that is renamed to the target or directly.
type job struct {
	Target
	fn   func(io.Writer) error
	temp string // the temporary file, or ""
}

// create creates the temporary file. It is in the output's folder because a rename works only within one file system.
func (j *job) create() (*os.File, error) {
	folder, base := filepath.Split(j.name)
	for try := 0; ; try++ {
		name := fmt.Sprintf("%s.%s.%016x.tmp", folder, short(base), rand.Uint64())
		if err := fail("create", j.path); err != nil {
			return nil, j.failed(err)
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) && try < 100 {
			continue
		}
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EROFS) {
			return nil, j.badTarget("cannot create a file in folder %s: %w; choose a writable folder", folder, cause(err))
		}
		if err != nil {
			return nil, j.failed(cause(err))
		}
		j.temp = name
		if j.file != nil {
			if err := f.Chmod(j.file.Mode().Perm()); err != nil {
				f.Close()
				return nil, j.failed(err)
			}
		}
		return f, nil
	}
}

// write writes the job's temporary file or writes directly.
func (j *job) write() error {
	if j.through {
		return j.writeThrough()
	}
	f, err := j.create()
	if err != nil {
		return err
	}
	defer f.Close() // after a panic; a second Close has no effect
	if err = j.fill(failingWriter{f, j.path}); err == nil {
		err = cmp.Or(fail("sync", j.path), f.Sync())
	}
	return j.failed(cmp.Or(err, f.Close()))
}

func (j *job) writeThrough() (err error) {
	f := j.std
	if f == nil {
		if f, err = os.OpenFile(j.name, os.O_WRONLY, 0); err != nil {
			return j.badTarget("%w", cause(err))
		}
		defer func() { err = cmp.Or(err, j.failed(f.Close())) }()
	}
	return j.failed(j.fill(f))
}

// fill writes the content through a buffer.
func (j *job) fill(w io.Writer) error {
	b := bufio.NewWriterSize(w, 1<<16)
	if err := j.fn(b); err != nil {
		return err
	}
	return b.Flush()
}

// rename renames the temporary file to the target.
func (j *job) rename() error {
	if j.through {
		return nil
	}
	if err := fail("rename", j.path); err != nil {
		return j.failed(err)
	}
	if err := os.Rename(j.temp, j.name); err != nil {
		return j.failed(cause(err))
	}
	j.temp = ""
	return nil
}

// discard removes the temporary file, if there is one.
func (j *job) discard() {
	if j.temp != "" {
		os.Remove(j.temp)
	}
}

// syncFolders syncs the folders, so that the renames survive a power failure. It ignores file systems that cannot sync a folder.
func syncFolders(jobs []*job) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	synced := map[string]bool{}
	for _, j := range jobs {
		folder := filepath.Dir(j.name)
		if j.through || synced[folder] {
			continue
		}
		synced[folder] = true
		d, err := os.Open(folder)
		if err != nil {
			continue // the folder may be writable but not readable
		}
		err = cmp.Or(fail("sync folder", j.path), d.Sync())
		d.Close()
		if err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
			return fmt.Errorf("write %q: written, but its folder could not be synced: %w", j.path, err)
		}
	}
	return nil
}

// failed adds the path to an error. It removes the name of the temporary file from system errors, because users do not know it.
func (j *job) failed(err error) error {
	var pe *fs.PathError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &pe) && j.temp != "" && pe.Path == j.temp:
		err = pe.Err
	}
	return fmt.Errorf("write %q: %w", j.path, err)
}
