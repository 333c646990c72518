package atomicfile

import (
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

// A job is one output on its way: planned, written to temp, then renamed.
type job struct {
	Place
	path    string // as the caller named it, for messages
	fn      func(io.Writer) error
	target  string      // path with symbolic links followed
	through bool        // written straight to target, nothing to rename
	std     *os.File    // the standard stream that target stands for, if any
	old     fs.FileMode // permission bits of an existing target; 0 where there is none
	exists  bool
	temp    string   // the temporary file, while it exists
	open    *os.File // the same, open and locked until the end so that nobody sweeps it away
	backup  string   // a second link to what target was, while a rename may have to be undone
	renamed bool
}

// create makes the temporary file, in the target's folder because a rename works only within one file system.
func (j *job) create() (*os.File, error) {
	folder, base := filepath.Split(j.target)
	for try := 0; ; try++ {
		name := fmt.Sprintf("%s.%s.%0*x%s", folder, short(base), idDigits, rand.Uint64(), tempEnd)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) && try < 100 {
			continue
		}
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EROFS) {
			return nil, j.badTarget("no file can be made in folder %s: %w; choose a folder that takes new files", folder, cause(err))
		}
		if err != nil {
			return nil, j.failed(cause(err))
		}
		if held, _ := flock(f); (held || !still(f, name)) && try < 100 { // another process is just sweeping
			f.Close()
			continue
		}
		j.temp, j.open = name, f
		if j.exists {
			if err := f.Chmod(j.old); err != nil {
				return nil, j.failed(err)
			}
		}
		return f, nil
	}
}

// reach opens a target that is written straight through. A standard stream is opened anew where it can be, because a write to os.Stdout
// whose reader has gone ends the process, and temporary files would stay; but not where it is a file: that has a position to keep.
func (j *job) reach(p *patience) (*os.File, error) {
	if j.std != nil {
		if info, err := j.std.Stat(); err == nil && info.Mode().IsRegular() {
			return j.std, nil
		}
	}
	f, err := await(p, func() (*os.File, error) { return os.OpenFile(j.target, os.O_WRONLY, 0) }, func(f *os.File) { f.Close() })
	var late *unread
	switch {
	case errors.As(err, &late):
		return nil, j.failed(err)
	case err == nil:
		return f, nil
	case j.std != nil: // a socket, or a terminal that was another user's
		return j.std, nil
	}
	return nil, j.badTarget("%w", cause(err))
}

// rename moves the temporary file into place; with keep, what it replaces stays reachable until forgetOld.
func (j *job) rename(keep bool) error {
	if j.through {
		return nil
	}
	if keep && j.exists {
		backup := j.temp + backupEnd
		if os.Link(j.target, backup) == nil {
			j.backup = backup
		}
	}
	if !locks { // Windows renames no open file
		j.close()
	}
	if err := os.Rename(j.temp, j.target); err != nil {
		return j.failed(cause(err))
	}
	j.temp, j.renamed = "", true
	return nil
}

// undo takes the job back as far as it can be: the temporary file goes, a replaced target comes back, a new one goes.
func (j *job) undo() {
	if !locks {
		j.close()
	}
	defer j.close()
	if j.temp != "" {
		os.Remove(j.temp)
		j.temp = ""
	}
	switch {
	case j.renamed && j.backup != "":
		if os.Rename(j.backup, j.target) == nil {
			j.backup = ""
		}
	case j.renamed && !j.exists:
		os.Remove(j.target)
	case j.backup != "":
		j.forgetOld()
	}
	j.renamed = false
}

// close ends the use of the temporary file, which may have its target's name by now.
func (j *job) close() {
	if j.open != nil {
		j.open.Close()
		j.open = nil
	}
}

// forgetOld drops the link to what target was.
func (j *job) forgetOld() {
	if j.backup != "" {
		os.Remove(j.backup)
		j.backup = ""
	}
}

// syncFolders makes the renames last through a loss of power. Some file systems cannot sync a folder; that is no failure.
func syncFolders(jobs []job) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	synced := map[string]bool{}
	for i := range jobs {
		folder := filepath.Dir(jobs[i].target)
		if jobs[i].through || synced[folder] {
			continue
		}
		synced[folder] = true
		d, err := os.Open(folder)
		if err != nil {
			continue // a folder that may be written but not read
		}
		err = d.Sync()
		d.Close()
		if err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
			return fmt.Errorf("write %q: written, but its folder could not be synced: %w", jobs[i].path, err)
		}
	}
	return nil
}

// badTarget reports that the job's path is no place to write to; format may hold a %w.
func (j *job) badTarget(format string, args ...any) error {
	return &targetError{fmt.Errorf("write %q: "+format, append([]any{j.path}, args...)...)}
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
