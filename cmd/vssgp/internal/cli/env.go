// Package cli contains the code that all commands share: environment, flags, files, printing, and selection of the device.
package cli

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/simd"
)

// Env is the environment of one command line: streams, files and common flags.
type Env struct {
	Context        context.Context // canceled by a signal
	Version        string
	Stdout, Stderr io.Writer
	Stdin          io.Reader
	spooled        *os.File       // a copy of stdin
	Served         *ServedFiles   // files of a request to serve; nil outside of serve
	Flags          *pflag.FlagSet // of the command
	Files          files

	Device   Device
	Seed     uint64
	JSON     bool
	Quiet    bool
	Progress string

	Aside    bool     // stdout carries data, so messages go to stderr
	warned   []string // kinds of printed warnings
	progress progress
	started  bool // the arguments are valid and the command runs
}

// NewEnv returns the environment of one command line with default flags.
func NewEnv(ctx context.Context, stdout, stderr io.Writer) *Env {
	env := &Env{Context: ctx, Stdout: &stream{to: stdout}, Stderr: &stream{to: stderr}, Stdin: os.Stdin, Progress: "auto"}
	env.Device = NewDevice(env.Note)
	return env
}

// Close closes the device, stdout and temporary files. It returns err or, if err is nil, the first error of closing.
func (env *Env) Close(err error) error {
	if env.spooled != nil {
		env.spooled.Close()
		os.Remove(env.spooled.Name()) // for systems that cannot remove an open file
	}
	if failed := env.Device.Close(); err == nil {
		err = failed
	}
	if failed := env.Stdout.(*stream).finish(); err == nil || errors.Is(err, failed) {
		return failed
	}
	if !env.started {
		return Mistake("%w", err)
	}
	return err
}

// Command sets the operands of c and the function that it runs, and returns c. The last operands may be optional. An
// error before work begins is a usage error. After that, the error's sentinels determine the exit code.
func (env *Env) Command(c *cobra.Command, work func(ctx context.Context, args []string) error, operands ...*Value) *cobra.Command {
	c.Args = func(cmd *cobra.Command, args []string) error {
		switch given, most := len(args), len(operands); {
		case given > most:
			return fmt.Errorf("unexpected argument %.60q; usage: %s", args[most], cmd.UseLine())
		case given < most && !operands[given].Optional:
			return fmt.Errorf("%s is missing; usage: %s", operands[given].Kind, cmd.UseLine())
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
		env.started, env.Flags = true, cmd.Flags()
		if _, err := simd.Chosen(); err != nil {
			return Mistake("%w", err)
		}
		if err := env.takeFiles(operands, args); err != nil {
			return err
		}
		defer env.ClearProgress()
		err := work(cmd.Context(), args)
		if own := (*interruption)(nil); errors.Is(err, context.Canceled) && !errors.As(err, &own) {
			return Interrupted(" before there was a result")
		}
		return err
	}
	return c
}

// Note prints a message on stderr, unless --quiet is given.
func (env *Env) Note(format string, args ...any) {
	if !env.Quiet {
		env.ClearProgress()
		fmt.Fprintln(env.Stderr, OneLine(fmt.Errorf(format, args...)))
	}
}

// Warn prints a warning on stderr, at most one of each kind.
func (env *Env) Warn(kind, format string, args ...any) {
	if !slices.Contains(env.warned, kind) {
		env.warned = append(env.warned, kind)
		env.Note("warning: "+format, args...)
	}
}

// takeFiles registers the files of a command line and checks that the outputs can be
// written.
func (env *Env) takeFiles(operands []*Value, args []string) (err error) {
	f := &env.Files
	f.stdout = env.Stdout
	for i, o := range operands[:len(args)] {
		if o.File.Folder {
			if env.Served != nil {
				return Mistake("%s %s cannot be used with serve, which writes no files", o.Kind, args[i])
			}
		} else if args[i] == FromStdin && (slices.Contains(o.File.Extensions, "csv") || slices.Contains(o.File.Extensions, "wav")) {
			if env.Served != nil {
				return Mistake("%s is stdin, which carries the requests to serve; must be a file sent with the request", o.Kind)
			}
		} else {
			f.Add(NamedFile{Name: o.Kind, Path: args[i]}, false)
		}
	}
	given := func(name string) bool {
		flag := env.Flags.Lookup(name)
		return flag != nil && flag.Changed
	}
	without := given("dry-run") || given("out-dir") // -o is not required
	env.Flags.VisitAll(func(flag *pflag.Flag) {
		v, ok := flag.Value.(*Value)
		if !ok || v.File == nil || slices.Contains(v.Words, v.Text) || err != nil {
			return
		}
		named := NamedFile{Name: "--" + flag.Name, Path: v.Text}
		if flag.Shorthand != "" {
			named.Name = "-" + flag.Shorthand
		}
		if v.Text != "" && env.Served != nil && (v.File.Folder || v.File.AtOnce) {
			err = Mistake("%v cannot be used with serve, which writes no files", named)
			return
		}
		if v.File.Folder {
			return
		}
		if err = v.File.check(named, env.JSON, without); v.Text != "" && !(without && strings.Contains(v.Text, NameMark)) {
			f.Add(named, v.File.Written)
		}
	})
	if err = cmp.Or(f.apart(), err); err != nil {
		return err
	}
	return env.CheckOutputs()
}

// CheckOutputs returns an error if an output cannot be written. Commands call it before long
// work. made are the paths of further outputs, which the command derived.
func (env *Env) CheckOutputs(made ...string) error {
	for _, path := range made {
		env.Files.Add(NamedFile{Path: path}, true)
	}
	if err := env.Files.apart(); err != nil || env.Served != nil {
		return err
	}
	var paths []string
	for _, out := range env.Files.Written {
		if out.Path != ToStdout {
			paths = append(paths, out.Path)
		}
	}
	return fileio.Check(paths...)
}

// Write writes all files or, if the content of one of them fails, none. One of the files may be stdout, which is written last. All
// outputs except checkpoints are written here.
func (env *Env) Write(files ...fileio.File) error {
	var aside fileio.Spool
	defer aside.Close()
	onDisk := slices.Clone(files)
	if i := slices.IndexFunc(files, func(f fileio.File) bool { return f.Path == ToStdout }); i >= 0 {
		aside.InMemory = env.Served != nil
		if err := files[i].Write(&aside); err != nil {
			return err
		}
		onDisk = slices.Delete(onDisk, i, i+1)
	}
	if err := env.write(onDisk); err != nil || len(onDisk) == len(files) {
		return err
	}
	env.ClearProgress()
	return aside.CopyTo(env.Stdout)
}

func (env *Env) write(files []fileio.File) error {
	if err := env.Files.apart(); err != nil { // a file may have appeared since the check
		return err
	}
	for i, f := range files {
		if strings.EqualFold(filepath.Ext(f.Path), ".gz") {
			files[i].Write = func(w io.Writer) error {
				z := gzip.NewWriter(w)
				if err := f.Write(z); err != nil {
					return err
				}
				return z.Close()
			}
		}
	}
	if env.Served != nil {
		return env.Served.write(files)
	}
	return fileio.WriteAll(files...)
}
