package atomicfile

import (
	"bufio"
	"context"
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

// A job is one output as it is written: to a temporary file, which is renamed to its target.
type job struct {
	target
	fn      func(io.Writer) error
	temp    string   // the temporary file, while it exists
	open    *os.File // the same, open and locked until the end so that no other process sweeps it away
	backup  string   // a second link to the replaced file, while a rename may have to be undone
	renamed bool
}

// create makes the temporary file, in the target's folder because a rename works only within one file system.
func (j *job) create() (*os.File, error) {
	folder, base := filepath.Split(j.name)
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
		if j.file != nil {
			if err := f.Chmod(j.file.Mode().Perm()); err != nil {
				return nil, j.failed(err)
			}
		}
		return f, nil
	}
}

// write fills the job's temporary file, or writes straight through.
func (j *job) write(ctx context.Context) (err error) {
	var f *os.File
	var w io.Writer
	if j.through {
		p := &patience{ctx: ctx}
		f, err = j.reach(p)
		w = &until{patience: p, w: f}
	} else {
		f, err = j.create()
		w = f
	}
	if err != nil {
		return err
	}
	defer func() {
		if j.through && f != os.Stdout && f != os.Stderr {
			if e := f.Close(); err == nil && e != nil {
				err = j.failed(e)
			}
		}
	}()
	b := bufio.NewWriterSize(w, 1<<16)
	if err = j.fn(b); err == nil {
		err = b.Flush()
	}
	if err == nil && !j.through {
		err = f.Sync()
	}
	if err != nil {
		err = j.failed(err)
	}
	return err
}

// reach opens a target that is written straight through. A standard stream is opened anew where it can be, because a write to os.Stdout
// whose reader has gone ends the process, and temporary files would stay; but not where it is a file, whose position must be kept.
func (j *job) reach(p *patience) (*os.File, error) {
	if j.std != nil {
		if info, err := j.std.Stat(); err == nil && info.Mode().IsRegular() {
			return j.std, nil
		}
	}
	f, err := await(p, func() (*os.File, error) { return os.OpenFile(j.name, os.O_WRONLY, 0) }, func(f *os.File) { f.Close() })
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

// rename moves the temporary file into place; with keep, the replaced file stays reachable until forgetOld.
func (j *job) rename(keep bool) error {
	if j.through {
		return nil
	}
	if keep && j.file != nil {
		backup := j.temp + backupEnd
		if os.Link(j.name, backup) == nil {
			j.backup = backup
		}
	}
	if !locks { // Windows renames no open file
		j.close()
	}
	if err := os.Rename(j.temp, j.name); err != nil {
		return j.failed(cause(err))
	}
	j.temp, j.renamed = "", true
	return nil
}

// undo reverts the job as far as possible: it removes the temporary file, and restores a replaced target or removes a new one.
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
		if os.Rename(j.backup, j.name) == nil {
			j.backup = ""
		}
	case j.renamed && j.file == nil:
		os.Remove(j.name)
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

// forgetOld drops the link to the replaced file.
func (j *job) forgetOld() {
	if j.backup != "" {
		os.Remove(j.backup)
		j.backup = ""
	}
}

// syncFolders makes the renames last through a loss of power. Some file systems cannot sync a folder, which is not an error.
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
			continue // a folder that may be written but not read
		}
		err = d.Sync()
		d.Close()
		if err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
			return fmt.Errorf("write %q: written, but its folder could not be synced: %w", j.path, err)
		}
	}
	return nil
}

// failed names the target. The system's errors name the temporary file, which means nothing to users: only their cause is kept.
func (j *job) failed(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) && j.temp != "" && pe.Path == j.temp {
		err = pe.Err
	}
	return fmt.Errorf("write %q: %w", j.path, err)
}
