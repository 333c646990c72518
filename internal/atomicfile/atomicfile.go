// Package atomicfile writes files that appear whole or not at all: each is written beside its place, synced and renamed.
//
// A reader sees the old content or the new, never a part, whatever happens to the writing program: an error, a panic, a full
// disk, a loss of power. An error or a panic leaves nothing behind. A killed process can leave a hidden file ".NAME.*.tmp": the next
// WriteAll or Check of the same target removes it, unless a live process holds its lock. To leave nothing behind after
// SIGINT, turn the signal into a cancelled context (signal.NotifyContext) and return ctx.Err() from the function that writes.
package atomicfile

import (
	"context"
	"io"
	"slices"
)

// File is one output: its place and the function that writes its content.
type File struct {
	Path  string
	Write func(w io.Writer) error
}

// Write creates or replaces the file at path with what fn writes; see WriteAll.
func Write(path string, fn func(w io.Writer) error) error {
	return WriteAll(context.Background(), File{Path: path, Write: fn})
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
// Errors name the path and wrap ErrTarget (the path cannot be written to), the function's own error or the system's. Once ctx has
// ended, a write to a pipe waits for its reader no longer than Grace; the error then wraps ctx's.
func WriteAll(ctx context.Context, files ...File) (err error) {
	jobs, err := plan(files)
	if err != nil {
		return err
	}
	done := false
	defer func() {
		// Runs on a panic too, which then continues.
		for _, j := range slices.Backward(jobs) {
			if done {
				j.forgetOld()
				j.close()
			} else {
				j.undo()
			}
		}
	}()
	for _, through := range []bool{false, true} {
		for _, j := range jobs {
			if j.through == through {
				if err := j.write(ctx); err != nil {
					return err
				}
			}
		}
	}
	for _, j := range jobs {
		if err := j.rename(len(jobs) > 1); err != nil {
			return err
		}
	}
	done = true
	return syncFolders(jobs)
}

// Check says, before a long computation, whether WriteAll could write to these paths: the folder exists and takes new files, the
// target is not a directory and may be written, and all are different files. It leaves nothing behind, and removes the temporary files
// of killed processes. Errors wrap ErrTarget.
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
		_, err := j.create()
		j.undo()
		if err != nil {
			return err
		}
	}
	return nil
}

// plan resolves every path, and removes what killed processes left beside the targets.
func plan(files []File) ([]*job, error) {
	var jobs []*job
	var renamed []string // targets
	for _, f := range files {
		j := &job{target: target{path: f.Path}, fn: f.Write}
		if err := j.resolve(); err != nil {
			return nil, err
		}
		if err := j.replaceable(); err != nil {
			return nil, err
		}
		for _, k := range jobs {
			if k.Same(j.Place) {
				return nil, j.badTarget("%s is the same file; give each output a name of its own", k.path)
			}
		}
		jobs = append(jobs, j)
		if !j.through {
			renamed = append(renamed, j.name)
		}
	}
	sweep(renamed)
	return jobs, nil
}
