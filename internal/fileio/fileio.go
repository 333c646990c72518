// Package fileio writes files atomically: each is written to a temporary file in the same folder, synced and renamed.
//
// A reader sees the old content or the new content, never a part, even after an error, a panic, a full disk or a power failure of the
// writer. After an error or a panic no temporary files remain. A killed process can leave a hidden file ".NAME.*.tmp". To clean up after
// SIGINT, convert the signal to a canceled context (signal.NotifyContext) and return ctx.Err() from the function that writes.
package fileio

import (
	"io"
)

// File is one output: its path and the function that writes its content.
type File struct {
	Path  string
	Write func(w io.Writer) error
}

// Write creates or replaces the file at path with the output of fn; see WriteAll.
func Write(path string, fn func(w io.Writer) error) error {
	return WriteAll(File{Path: path, Write: fn})
}

// WriteAll creates or replaces several files, none of them before all are complete.
//
// Every path is checked before the first function is called. The functions then run in the given order. Each writes, through a buffer, to
// a temporary file in the output's folder, which is synced. When all have succeeded, the files are renamed and their folders synced. If a
// function fails or panics, no output changes and the temporary files are removed. If a rename fails, the previous outputs are new and the
// others are unchanged.
//
// An existing file keeps its permission bits; a new one gets 0666 minus the umask. A symbolic link is kept, and its target is replaced. A
// pipe, a terminal, /dev/null, /dev/stdout or another descriptor of the process is not replaced but written directly, after the temporary
// files are complete and before they are renamed.
//
// Errors name the path and wrap ErrTarget (the path cannot be written to), the function's error or a system error.
func WriteAll(files ...File) (err error) {
	jobs, err := plan(files)
	if err != nil {
		return err
	}
	defer func() { // also after a panic, which then continues
		for _, j := range jobs {
			j.discard()
		}
	}()
	for _, through := range []bool{false, true} {
		for _, j := range jobs {
			if j.through == through {
				if err := j.write(); err != nil {
					return err
				}
			}
		}
	}
	for _, j := range jobs {
		if err := j.rename(); err != nil {
			return err
		}
	}
	return syncFolders(jobs)
}

// Check reports, before a long computation, whether WriteAll can write to these paths: each folder exists and is writable, no path is a
// directory or protected, and all files are different. Errors wrap ErrTarget.
func Check(paths ...string) error {
	files := make([]File, len(paths))
	for i, p := range paths {
		files[i].Path = p
	}
	jobs, err := plan(files)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if j.through {
			continue
		}
		f, err := j.create()
		f.Close()
		j.discard()
		if err != nil {
			return err
		}
	}
	return nil
}

// plan resolves every path.
func plan(files []File) ([]*job, error) {
	var jobs []*job
	for _, f := range files {
		p, err := TargetOf(f.Path)
		if err == nil {
			err = p.replaceable()
		}
		if err != nil {
			return nil, err
		}
		j := &job{Target: p, fn: f.Write}
		for _, k := range jobs {
			if k.Same(j.Target) {
				return nil, j.badTarget("%s is the same file; give each output a different name", k.path)
			}
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}
