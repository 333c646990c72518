// Package atomicfile writes files that appear whole or not at all: each is written beside its place, synced and renamed.
//
// A reader sees the old content or the new, never a part, whatever happens to the writing program: an error, a panic, a full
// disk, a loss of power. An error or a panic leaves nothing behind. A killed process can leave a hidden file ".NAME.*.tmp": the next
// WriteAll or Check of the same target removes it, by a lock that tells it from one of a live process. A caller that wants nothing left
// after SIGINT turns the signal into a cancelled context (signal.NotifyContext) and returns ctx.Err() from the function that writes.
package atomicfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrTarget is wrapped by every error that says that a path is no place to write to: its folder is missing or read-only, it is a
// directory, it may not be written, it is named twice. It is the mistake of whoever chose the path, and an fs.ErrInvalid for those who
// do not know this package.
var ErrTarget = fmt.Errorf("atomicfile: not a place to write to: %w", fs.ErrInvalid)

// File is one output: where it goes and what writes its content.
type File struct {
	Path  string
	Write func(w io.Writer) error
}

// Write creates or replaces the file at path with what fn writes; see WriteAll.
func Write(path string, fn func(w io.Writer) error) error {
	return WriteAll(File{Path: path, Write: fn})
}

// WriteAll creates or replaces several files, together or not at all.
//
// Every path is checked before the first function is called. The functions then run in the order given, each writing, buffered,
// to a temporary file in its target's folder, which is synced; when all have succeeded the files are renamed into place and their
// folders synced. If a function fails or panics, no target changes and the temporary files are removed. If one of the
// renames fails, those before it are undone (where the file system has no hard links, a replaced file cannot be brought back, and
// its new content stays).
//
// An existing target keeps its permission bits, a new one gets 0666 less the umask. A symbolic link stays and what it points to is
// replaced. A pipe, a terminal, /dev/null, /dev/stdout or another of the process's descriptors is not renamed over but
// written straight through, after the temporary files are complete and before they are renamed.
//
// Errors name the path and wrap ErrTarget (the path is no place to write to), the function's own error or the system's.
func WriteAll(files ...File) error { return WriteAllContext(context.Background(), files...) }

// WriteAllContext is WriteAll that does not wait for a pipe's reader longer than Grace after ctx has ended. The error then wraps
// ctx's.
func WriteAllContext(ctx context.Context, files ...File) (err error) {
	jobs, err := plan(files)
	if err != nil {
		return err
	}
	sweep(jobs)
	done := false
	defer func() {
		// Runs on a panic too, which then goes on its way.
		for i := len(jobs) - 1; i >= 0; i-- {
			if done {
				jobs[i].forgetOld()
				jobs[i].close()
			} else {
				jobs[i].undo()
			}
		}
	}()
	for _, through := range []bool{false, true} {
		for i := range jobs {
			if jobs[i].through == through {
				if err := jobs[i].write(ctx); err != nil {
					return err
				}
			}
		}
	}
	for i := range jobs {
		if err := jobs[i].rename(len(jobs) > 1); err != nil {
			return err
		}
	}
	done = true
	return syncFolders(jobs)
}

// Check tells, before a long computation, whether WriteAll could write to these paths: the folder exists and takes new files, the
// target is no directory and may be written, no two are the same file. It leaves nothing behind, and removes what killed processes have left. Errors wrap ErrTarget.
func Check(paths ...string) error {
	files := make([]File, len(paths))
	for i, p := range paths {
		files[i].Path = p
	}
	jobs, err := plan(files)
	if err != nil {
		return err
	}
	sweep(jobs)
	for i := range jobs {
		if jobs[i].through {
			continue
		}
		_, err := jobs[i].create()
		jobs[i].undo()
		if err != nil {
			return err
		}
	}
	return nil
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
	if err := j.fn(b); err != nil {
		return j.failed(err)
	}
	if err := b.Flush(); err != nil {
		return j.failed(err)
	}
	if j.through {
		return nil
	}
	if err := f.Sync(); err != nil {
		return j.failed(err)
	}
	return nil
}

// failed names the target. The system's errors name the temporary file, which means nothing to the reader: only their cause is kept.
func (j *job) failed(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) && j.temp != "" && pe.Path == j.temp {
		err = pe.Err
	}
	return fmt.Errorf("write %q: %w", j.path, err)
}
