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

	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/table"
)

// files are the files of a command line. They refuse an output that is an input, before any
// work and again before anything is written.
type files struct {
	Read, Written []NamedFile
	Overwrite     bool
	stdout        io.Writer
}

// A NamedFile is a file as the command line names it.
type NamedFile struct {
	Name string // the flag or argument; "" if the command has made the path
	Path string
}

// String is "--sd FILE".
func (f NamedFile) String() string { return strings.TrimSpace(f.Name + " " + f.Path) }

// check refuses a path that the flag cannot take. If optional is set, the path may be missing.
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
		return Mistake("%v: this output cannot go to stdout; must be a file name", named)
	case !f.Only || slices.Contains(f.Extensions, FormatOf(named.Path)) && (f.Stdout || !stdout):
		return nil
	}
	formats := "." + strings.Join(f.Extensions, ", .")
	if f.Stdout {
		formats += ", - for stdout"
	}
	if last := strings.LastIndex(formats, ", "); last > 0 {
		formats = formats[:last] + " or" + formats[last+1:]
	}
	return Mistake("%v: unknown format; must be %s", named, formats)
}

// Add registers a file.
func (f *files) Add(named NamedFile, written bool) {
	if written {
		f.Written = append(f.Written, named)
	} else {
		f.Read = append(f.Read, named)
	}
}

// apart refuses an output that is an input. It passes over a path that cannot be read or written to: the command reports a missing
// input, and fileio.Check the output.
func (f *files) apart() error {
	if f.Overwrite {
		return nil
	}
	for _, in := range f.Read {
		from, err := fileio.PlaceOf(in.Path)
		if err != nil {
			continue
		}
		for _, out := range f.Written {
			if to, err := f.placeOf(out.Path); err == nil && to.Same(from) {
				return Mistake("%v is the same file as %v, which this command reads; use another name, or --overwrite to replace it", out, in)
			}
		}
	}
	return nil
}

// placeOf returns the place of an output. Stdout may be a file, too.
func (f *files) placeOf(path string) (fileio.Place, error) {
	if path != ToStdout {
		return fileio.PlaceOf(path)
	}
	if s, ok := f.stdout.(*stream); ok {
		if file, ok := s.to.(*os.File); ok {
			return fileio.PlaceOfOpen(file)
		}
	}
	return fileio.Place{}, nil
}

// FormatOf returns the extension of a path, in small letters and without its dot: csv for
// stdin, stdout and packed CSV, wav for .wave.
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

// NameMark is replaced by a recording's name, without its extension, in the names of other files.
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

// A stream is stdout or stderr. The context ends a write that waits for a reader, and after
// a first error every write fails.
type stream struct {
	ctx context.Context
	to  io.Writer
	err error // the first
	any bool  // something was written
}

// Write returns the first error again after it.
func (s *stream) Write(b []byte) (n int, err error) {
	if s.err != nil {
		return 0, s.err
	}
	s.any = true
	n, err = fileio.Until(s.ctx, s.to).Write(b)
	if err != nil {
		s.err = onStdout(err)
	}
	return n, s.err
}

// finish closes the stream and returns the first error: some file systems report a full disk
// only on closing, and not every print, by us or by cobra, checks for errors.
func (s *stream) finish() error {
	if f, ok := s.to.(*os.File); ok && s.any && s.err == nil {
		if err := f.Close(); err != nil {
			s.err = onStdout(err)
		}
	}
	return s.err
}

// onStdout words an error of stdout. It drops the path that the system reports, which no user gave.
func onStdout(err error) error {
	if errors.Is(err, context.Canceled) {
		return Interrupted(": stdout: " + err.Error())
	}
	var e *fs.PathError
	if errors.As(err, &e) {
		err = e.Err
	}
	return fmt.Errorf("write to stdout: %w", err)
}

// FromStdin is the input path that means stdin.
const FromStdin = "-"

// InputName is what messages call an input.
func InputName(path string) string {
	if path == FromStdin {
		return "stdin"
	}
	return path
}

// StdinFile returns a file with what comes from stdin, and its size, because tables are read more than once.
func (env *Env) StdinFile(ctx context.Context) (f *os.File, size int64, err error) {
	if f = env.spooled; f == nil {
		if f, err = os.CreateTemp("", "vssgp-*"); err != nil {
			return nil, 0, fmt.Errorf("copy stdin to a file: %w", err)
		}
		os.Remove(f.Name()) // if the system allows that while it is open
		done := make(chan error, 1)
		go func() { // a read from a terminal or a pipe waits as long as nobody writes
			_, err := io.Copy(f, env.Stdin)
			done <- err
		}()
		select {
		case err = <-done:
			env.spooled = f // Close closes it
		case <-ctx.Done():
			return nil, 0, Interrupted(" while reading stdin") // f stays open for the copying, until the process ends
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
