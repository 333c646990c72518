package main

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/atomicfile"
)

// Flags that name files, of all commands: those that are read, and those that are written, beside what --draws and several models
// make of their names. A checkpoint is both, and nothing else may be it.
var (
	readFlags    = []string{"gaps", "reference", "init"}
	writtenFlags = []string{"output", "report", "sd", "model", "draws-file", "plot", "checkpoint"}
)

// files are those of a command line. They decide, before any work and again before anything is written, that no output is an input.
type files struct {
	inputs    []namedFile
	overwrite bool
	stdout    io.Writer
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

// add gives a command that writes files its --overwrite.
func (f *files) add(c *cobra.Command) {
	if slices.ContainsFunc(writtenFlags, func(name string) bool { return c.Flags().Lookup(name) != nil }) {
		c.Flags().BoolVar(&f.overwrite, "overwrite", false, "let an output replace a file that is read; without it that is a mistake")
	}
}

// take takes the files of a command line in.
func (f *files) take(cmd *cobra.Command, args []string, stdout io.Writer) error {
	f.stdout = stdout
	names := strings.Fields(cmd.Use)[1:]
	for i, kinds := range argumentFiles[cmd.Name()] {
		if kinds != nil {
			f.read(names[i], args[i])
		}
	}
	var outputs []namedFile
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		name, path := "--"+flag.Name, flag.Value.String()
		if flag.Shorthand != "" {
			name = "-" + flag.Shorthand
		}
		switch {
		case path == "", flag.Name == "init" && (path == string(vssgp.InitPaper) || path == string(vssgp.InitSpectrum)):
		case slices.Contains(readFlags, flag.Name):
			f.read(name, path)
		case slices.Contains(writtenFlags, flag.Name):
			outputs = append(outputs, namedFile{name: name, path: path})
		}
	})
	return f.apart(outputs)
}

// read takes an input in. One that is not there says so when it is read.
func (f *files) read(name, path string) {
	if p, err := atomicfile.PlaceOf(path); err == nil {
		f.inputs = append(f.inputs, namedFile{name, path, p})
	}
}

// apart reports an output that is an input. One that is no place to write to says so when it is checked.
func (f *files) apart(outputs []namedFile) error {
	if f.overwrite || len(f.inputs) == 0 {
		return nil
	}
	for _, out := range outputs {
		at, err := f.placeOf(out.path)
		if err != nil {
			continue
		}
		for _, in := range f.inputs {
			if at.Same(in.place) {
				return mistake("%v is the same file as %v, which is read; want another name, or --overwrite to replace it", out, in)
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
