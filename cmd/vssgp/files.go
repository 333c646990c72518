package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/internal/atomicfile"
)

// files are those of a command line. They decide, before any work and again before anything is written, that no output is an input.
type files struct {
	read, written []namedFile
	overwrite     bool
	stdout        io.Writer
}

// A namedFile is a file as the command line has it.
type namedFile struct {
	name  string // the flag or argument, "" for a name that the command has made
	path  string
	place atomicfile.Place
}

// String is "--sd FILE".
func (f namedFile) String() string { return strings.TrimSpace(f.name + " " + f.path) }

// unnamed are paths that the command has made.
func unnamed(paths []string) []namedFile {
	list := make([]namedFile, len(paths))
	for i, p := range paths {
		list[i].path = p
	}
	return list
}

// check reports a file that cannot be what it is for.
func (f *file) check(named namedFile, json, plan bool) error {
	stdout := named.path == toStdout
	switch {
	case named.path == "" && f.needed != "" && !plan:
		return mistake("the output file is missing; want %s", f.needed)
	case !f.written || named.path == "":
		return nil
	case stdout && f.stdout && json:
		return mistake("%v and --json both write to stdout; want %s", named, f.needed)
	case stdout && !f.stdout && !f.only:
		return mistake("%v: this output cannot go to stdout; want a file name", named)
	case !f.only || slices.Contains(f.extensions, formatOf(named.path)) && (f.stdout || !stdout):
		return nil
	}
	want := "." + strings.Join(f.extensions, ", .")
	if f.stdout {
		want += ", - for stdout"
	}
	if last := strings.LastIndex(want, ", "); last > 0 {
		want = want[:last] + " or" + want[last+1:]
	}
	return mistake("%v: unknown format; want %s", named, want)
}

// add takes a file in. A missing input is reported when it is read.
func (f *files) add(named namedFile, written bool) {
	if written {
		f.written = append(f.written, named)
	} else if p, err := atomicfile.PlaceOf(named.path); err == nil {
		named.place = p
		f.read = append(f.read, named)
	}
}

// apart reports an output that is an input. A path that cannot be written to is reported when it is checked.
func (f *files) apart(outputs []namedFile) error {
	if f.overwrite || len(f.read) == 0 {
		return nil
	}
	for _, out := range outputs {
		at, err := f.placeOf(out.path)
		if err != nil {
			continue
		}
		for _, in := range f.read {
			if at.Same(in.place) {
				return mistake("%v is the same file as %v, which this command reads; want another name, or --overwrite to replace it", out, in)
			}
		}
	}
	return nil
}

// placeOf is an output's place; stdout may be a file, too.
func (f *files) placeOf(path string) (atomicfile.Place, error) {
	if path != toStdout {
		return atomicfile.PlaceOf(path)
	}
	if s, ok := f.stdout.(*stream); ok {
		if file, ok := s.to.(*os.File); ok {
			return atomicfile.PlaceOfOpen(file)
		}
	}
	return atomicfile.Place{}, nil
}

// formatOf is what a path's extension asks for, in small letters and without its
// dot: csv for stdout, wav for .wave.
func formatOf(path string) string {
	if path == toStdout {
		return "csv"
	}
	extension := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	if extension == "wave" {
		return "wav"
	}
	return extension
}

// numberedFiles are n files with -1 to -n before the path's extension.
func numberedFiles(path string, n int) []string {
	files, ext := make([]string, n), filepath.Ext(path)
	for i := range files {
		files[i] = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(path, ext), i+1, ext)
	}
	return files
}
