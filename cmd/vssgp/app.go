package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/simd"
)

// app holds what the commands share: the streams and the common flags.
type app struct {
	ctx            context.Context // a signal cancels it
	version        string
	stdout, stderr io.Writer
	stdin          io.Reader
	held           *os.File       // what came from stdin
	memory         *memory        // files of a call of serve; nil: there is none
	flags          *pflag.FlagSet // of the command
	files          files

	computer computer
	seed     uint64
	json     bool
	quiet    bool
	progress string

	aside   bool     // stdout is for an output: what is said goes to stderr
	results *[]any   // collects what --json prints of several recordings; nil: it is printed
	warned  []string // kinds of warnings given
	started bool     // the arguments were understood and the command's own work has begun
}

// command gives c its operands and its work. An error before the work begins is a mistake
// on the command line; after that, the error's sentinels decide.
func (a *app) command(c *cobra.Command, work func(ctx context.Context, args []string) error, operands ...operand) *cobra.Command {
	c.Args = func(cmd *cobra.Command, args []string) error {
		switch is, want := len(args), len(operands); {
		case is > want:
			return fmt.Errorf("unexpected argument %.60q; want: %s", args[want], cmd.UseLine())
		case is < want:
			return fmt.Errorf("%s is missing; want: %s", operands[is].name, cmd.UseLine())
		}
		return nil
	}
	c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if n := len(args); n < len(operands) {
			return operands[n].complete(c, args, typed)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		a.started, a.flags = true, cmd.Flags()
		if _, err := simd.Chosen(); err != nil {
			return mistake("%w", err)
		}
		if err := a.takeFiles(operands, args); err != nil {
			return err
		}
		err := work(cmd.Context(), args)
		if said := (*interruption)(nil); errors.Is(err, context.Canceled) && !errors.As(err, &said) {
			return cutShort(" before there was a result")
		}
		return err
	}
	return c
}

// note prints a remark on stderr.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintln(a.stderr, oneLine(fmt.Errorf(format, args...)))
	}
}

// warn prints a warning on stderr, unless one of the same kind was printed.
func (a *app) warn(kind, format string, args ...any) {
	if !slices.Contains(a.warned, kind) {
		a.warned = append(a.warned, kind)
		a.note("warning: "+format, args...)
	}
}

// takeFiles registers the files of a command line, and checks before the work whether
// the outputs can be written.
func (a *app) takeFiles(operands []operand, args []string) (err error) {
	f := &a.files
	f.stdout = a.stdout
	for i, o := range operands[:len(args)] {
		if args[i] == fromStdin && (slices.Contains(o.file.extensions, "csv") || slices.Contains(o.file.extensions, "wav")) {
			if a.memory != nil {
				return mistake("%s is stdin, which carries the calls of serve; want a file that comes with the call", o.name)
			}
		} else {
			f.add(namedFile{name: o.name, path: args[i]}, false)
		}
	}
	given := func(name string) bool {
		flag := a.flags.Lookup(name)
		return flag != nil && flag.Changed
	}
	without := given("dry-run") || given("out-dir") // -o
	a.flags.VisitAll(func(flag *pflag.Flag) {
		v, ok := flag.Value.(*value)
		if !ok || v.file == nil || slices.Contains(v.words, v.text) || err != nil {
			return
		}
		named := namedFile{name: "--" + flag.Name, path: v.text}
		if flag.Shorthand != "" {
			named.name = "-" + flag.Shorthand
		}
		if v.text != "" && a.memory != nil && (v.file.folder || v.file.atOnce) {
			err = mistake("%v: serve writes nothing to a disk; leave the flag out", named)
			return
		}
		if v.file.folder {
			return
		}
		if err = v.file.check(named, a.json, without); v.text != "" && !(given("out-dir") && strings.Contains(v.text, nameMark)) {
			f.add(named, v.file.written)
		}
	})
	if err = cmp.Or(f.apart(), err); err != nil {
		return err
	}
	return a.checkOutputs()
}

// checkOutputs checks, before long work, that the outputs can be written. made are further
// outputs, whose names the command has made.
func (a *app) checkOutputs(made ...string) error {
	for _, path := range made {
		a.files.add(namedFile{path: path}, true)
	}
	if err := a.files.apart(); err != nil || a.memory != nil {
		return err
	}
	var paths []string
	for _, out := range a.files.written {
		if out.path != toStdout {
			paths = append(paths, out.path)
		}
	}
	return fileio.Check(paths...)
}

// write writes files together or not at all. All files are written here, except checkpoints.
func (a *app) write(files ...fileio.File) error {
	if err := a.files.apart(); err != nil { // a file may have appeared since the check
		return err
	}
	for i, f := range files {
		files[i] = zipped(f)
	}
	if a.memory != nil {
		return a.memory.write(files)
	}
	err := fileio.WriteAll(a.ctx, files...)
	if errors.Is(err, context.Canceled) {
		return cutShort(": " + err.Error())
	}
	return err
}

// writeLast is write for files of which the last may be stdout. It calls done before it
// writes anything there.
func (a *app) writeLast(files []fileio.File, done func()) error {
	last := len(files) - 1
	if files[last].Path != toStdout {
		return a.write(files...)
	}
	s := &fileio.Spool{InMemory: a.memory != nil}
	defer s.Close()
	if err := files[last].Write(s); err != nil {
		return err
	}
	if err := a.write(files[:last]...); err != nil {
		return err
	}
	done()
	return s.CopyTo(a.stdout)
}
