package cli

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/table"
)

// Files holds the files of a command line. It refuses an output that is an input, before any
// work and again before anything is written.
type files struct {
	Read, Written []NamedFile
	Overwrite     bool
	stdout        io.Writer
}

// A NamedFile is a file as the command line names it.
type NamedFile struct {
	Name  string // the flag or argument; "" if the command has made the path
	Path  string
	place fileio.Place // of an input
}

// String is "--sd FILE".
func (f NamedFile) String() string { return strings.TrimSpace(f.Name + " " + f.Path) }

// check refuses a path that the flag cannot take. If optional is set, the path may be missing.
func (f *FileUse) check(named NamedFile, json, optional bool) error {
	stdout := named.Path == ToStdout
	switch {
	case named.Path == "" && f.Needed != "" && !optional:
		return Mistake("the output file is missing; want %s", f.Needed)
	case !f.Written || named.Path == "":
		return nil
	case stdout && f.Stdout && json:
		return Mistake("%v and --json both write to stdout; want %s", named, f.Needed)
	case stdout && !f.Stdout && !f.Only:
		return Mistake("%v: this output cannot go to stdout; want a file name", named)
	case !f.Only || slices.Contains(f.Extensions, FormatOf(named.Path)) && (f.Stdout || !stdout):
		return nil
	}
	want := "." + strings.Join(f.Extensions, ", .")
	if f.Stdout {
		want += ", - for stdout"
	}
	if last := strings.LastIndex(want, ", "); last > 0 {
		want = want[:last] + " or" + want[last+1:]
	}
	return Mistake("%v: unknown format; want %s", named, want)
}

// Add registers a file. A missing input is reported when it is read.
func (f *files) Add(named NamedFile, written bool) {
	if written {
		f.Written = append(f.Written, named)
	} else if p, err := fileio.PlaceOf(named.Path); err == nil {
		named.place = p
		f.Read = append(f.Read, named)
	}
}

// apart refuses an output that is an input. It passes over a path that cannot be written to:
// fileio.Check reports that.
func (f *files) apart() error {
	if f.Overwrite || len(f.Read) == 0 {
		return nil
	}
	for _, out := range f.Written {
		at, err := f.placeOf(out.Path)
		if err != nil {
			continue
		}
		for _, in := range f.Read {
			if at.Same(in.place) {
				return Mistake("%v is the same file as %v, which this command reads; want another name, or --overwrite to replace it", out, in)
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
	if s, ok := f.stdout.(*Stream); ok {
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

// NameMark stands for a recording's name, without its extension, in the names of other files.
const NameMark = "{}"

// NumberedFiles returns n paths with -1 to -n before the extension.
func NumberedFiles(path string, n int) []string {
	files, ext := make([]string, n), filepath.Ext(path)
	for i := range files {
		files[i] = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(path, ext), i+1, ext)
	}
	return files
}

// zipped packs what a file writes if its name ends in .gz.
func zipped(f fileio.File) fileio.File {
	if !strings.EqualFold(filepath.Ext(f.Path), ".gz") {
		return f
	}
	write := f.Write
	f.Write = func(w io.Writer) error {
		z := gzip.NewWriter(w)
		if err := write(z); err != nil {
			return err
		}
		return z.Close()
	}
	return f
}
