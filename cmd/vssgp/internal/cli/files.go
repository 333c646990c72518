package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
	"github.com/vssgp/vssgp/internal/fileio"
)

// files are the files of a command line. An output that is also an input is refused before the
// work and again before anything is written.
type files struct {
	Read, Written []NamedFile
	Overwrite     bool
	stdout        io.Writer
}

// A NamedFile is a file of the command line.
type NamedFile struct {
	Name string // flag or argument; "" if the command derived the path
	Path string
}

// String returns the name and the path, such as "--sd FILE".
func (f NamedFile) String() string { return strings.TrimSpace(f.Name + " " + f.Path) }

// check returns an error if the flag cannot accept the path. If optional is set, the path may be missing.
func (f *FileUse) check(named NamedFile, json, optional bool) error {
	stdout := named.Path == ToStdout
	switch {
	case named.Path == "" && f.Needed != "" && !optional:
		return Mistake("the output file is missing; give %s", f.Needed)
	case !f.Written || named.Path == "":
		return nil
	case stdout && f.Stdout && json:
		return Mistake("%v and --json both write to stdout; %s must be a file", named, named.Name)
	case stdout && !f.Stdout && !f.Only:
		return Mistake("%v: this output cannot be written to stdout; must be a file name", named)
	case !f.Only || slices.Contains(f.Extensions, FormatOf(named.Path)) && (f.Stdout || !stdout):
		return nil
	}
	problem := "unknown format"
	if stdout {
		problem = "this output cannot be written to stdout"
	}
	formats := "." + strings.Join(f.Extensions, ", .")
	if f.Stdout {
		formats += ", - for stdout"
	}
	if last := strings.LastIndex(formats, ", "); last > 0 {
		formats = formats[:last] + " or" + formats[last+1:]
	}
	return Mistake("%v: %s; must be %s", named, problem, formats)
}

// Add registers a file.
func (f *files) Add(named NamedFile, written bool) {
	if written {
		f.Written = append(f.Written, named)
	} else {
		f.Read = append(f.Read, named)
	}
}

// apart returns an error if an output is also an input. It ignores paths that it cannot resolve: the command reports a missing input,
// and fileio.Check reports an invalid output.
func (f *files) apart() error {
	if f.Overwrite {
		return nil
	}
	for _, in := range f.Read {
		from, err := fileio.TargetOf(in.Path)
		if err != nil {
			continue
		}
		for _, out := range f.Written {
			if to, err := f.targetOf(out.Path); err == nil && to.Same(from) {
				return Mistake("%v is the same file as %v, which this command reads; use another name, or --overwrite to replace it", out, in)
			}
		}
	}
	return nil
}

// targetOf returns the identity of an output's file. Stdout may be redirected to a file.
func (f *files) targetOf(path string) (fileio.Target, error) {
	if path != ToStdout {
		return fileio.TargetOf(path)
	}
	if s, ok := f.stdout.(*stream); ok {
		if file, ok := s.to.(*os.File); ok {
			return fileio.TargetOfOpen(file)
		}
	}
	return fileio.Target{}, nil
}

// FormatOf returns the extension of a path in lower case without its dot. It returns csv for
// stdin, stdout and compressed CSV, and wav for .wave.
func FormatOf(path string) string {
	if path == ToStdout {
		return "csv"
	}
	extension := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	switch packed := table.Format(path); {
	case extension == "wave":
		return "wav"
	case extension == "gz" && slices.Contains(TableFiles, packed) && packed != "npy":
		return packed
	}
	return extension
}

// NameMark stands for a recording's name without extension in the paths of outputs.
const NameMark = "{}"

// NumberedFiles returns n paths with -1 to -n before the extension.
func NumberedFiles(path string, n int) []string {
	files, ext := make([]string, n), filepath.Ext(path)
	for i := range files {
		files[i] = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(path, ext), i+1, ext)
	}
	return files
}

// ToStdout is the output path that means stdout.
const ToStdout = "-"

// A stream is stdout or stderr. After the first error every write fails.
type stream struct {
	to  io.Writer
	err error // the first
	any bool  // something was written
}

// Write writes b. After an error, it returns the same error again.
func (s *stream) Write(b []byte) (n int, err error) {
	if s.err != nil {
		return 0, s.err
	}
	s.any = true
	n, err = s.to.Write(b)
	if err != nil {
		s.err = onStdout(err)
	}
	return n, s.err
}

// finish closes the stream and returns its first error. Some file systems report a full disk
// only on close, and not every print, here or in cobra, checks for errors.
func (s *stream) finish() error {
	if f, ok := s.to.(*os.File); ok && s.any && s.err == nil {
		if err := f.Close(); err != nil {
			s.err = onStdout(err)
		}
	}
	return s.err
}

// onStdout wraps an error of stdout. It drops the path in the system's error, which the user did not give.
func onStdout(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		err = e.Err
	}
	return fmt.Errorf("write to stdout: %w", err)
}

// FromStdin is the input path that means stdin.
const FromStdin = "-"

// InputName returns the name of an input in messages.
func InputName(path string) string {
	if path == FromStdin {
		return "stdin"
	}
	return path
}

// StdinFile copies stdin to a temporary file, because tables are read more than once. It returns the file and its size.
func (env *Env) StdinFile(ctx context.Context) (f *os.File, size int64, err error) {
	if f = env.spooled; f == nil {
		if f, err = os.CreateTemp("", "vssgp-*"); err != nil {
			return nil, 0, fmt.Errorf("copy stdin to a file: %w", err)
		}
		os.Remove(f.Name()) // fails on systems that cannot remove an open file
		done := make(chan error, 1)
		go func() { // a read from a terminal or a pipe may block
			_, err := io.Copy(f, env.Stdin)
			done <- err
		}()
		select {
		case err = <-done:
			env.spooled = f // Close closes it
		case <-ctx.Done():
			return nil, 0, Interrupted(" while reading stdin") // the goroutine still writes to f until the process ends
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read stdin: %w", err)
		}
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}
