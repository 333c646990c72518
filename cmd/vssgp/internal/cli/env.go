// Package cli has what the commands share: the environment of a command line, flags, files, printing, and the choice of a device.
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

// Env is what the commands share: the streams, the files and the common flags.
type Env struct {
	Context        context.Context // a signal cancels it
	Version        string
	Stdout, Stderr io.Writer
	Stdin          io.Reader
	spooled        *os.File       // what came from stdin
	Served         *ServedFiles   // files of a call of serve; nil: there is none
	Flags          *pflag.FlagSet // of the command
	Files          files

	Device   Device
	Seed     uint64
	JSON     bool
	Quiet    bool
	Progress string

	Aside    bool     // stdout is an output, so messages go to stderr
	warned   []string // kinds of warnings given
	progress progress
	started  bool // the arguments were understood and the command's own work has begun
}

// NewEnv returns the environment of one command line.
func NewEnv(ctx context.Context, stdout, stderr io.Writer) *Env {
	env := &Env{Context: ctx, Stdout: &stream{ctx: ctx, to: stdout}, Stderr: &stream{ctx: ctx, to: stderr}, Stdin: os.Stdin,
		Progress: "auto"}
	env.Device = NewDevice(env.Note)
	return env
}

// Close ends a command line: it closes what has been opened, and returns err, if there is one, or else what has failed now.
func (env *Env) Close(err error) error {
	if env.spooled != nil {
		env.spooled.Close()
		os.Remove(env.spooled.Name()) // if the system did not allow it while the file was open
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

// Command gives c its operands and its work. An error before the work begins is a mistake
// on the command line; after that, the error's sentinels decide.
func (env *Env) Command(c *cobra.Command, work func(ctx context.Context, args []string) error, operands ...*Value) *cobra.Command {
	c.Args = func(cmd *cobra.Command, args []string) error {
		switch given, needed := len(args), len(operands); {
		case given > needed:
			return fmt.Errorf("unexpected argument %.60q; usage: %s", args[needed], cmd.UseLine())
		case given < needed:
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
		if said := (*interruption)(nil); errors.Is(err, context.Canceled) && !errors.As(err, &said) {
			return Interrupted(" before there was a result")
		}
		return err
	}
	return c
}

// Note prints a remark on stderr.
func (env *Env) Note(format string, args ...any) {
	if !env.Quiet {
		env.ClearProgress()
		fmt.Fprintln(env.Stderr, OneLine(fmt.Errorf(format, args...)))
	}
}

// Warn prints a warning on stderr, unless one of the same kind was printed.
func (env *Env) Warn(kind, format string, args ...any) {
	if !slices.Contains(env.warned, kind) {
		env.warned = append(env.warned, kind)
		env.Note("warning: "+format, args...)
	}
}

// takeFiles registers the files of a command line, and checks before the work whether
// the outputs can be written.
func (env *Env) takeFiles(operands []*Value, args []string) (err error) {
	f := &env.Files
	f.stdout = env.Stdout
	for i, o := range operands[:len(args)] {
		if args[i] == FromStdin && (slices.Contains(o.File.Extensions, "csv") || slices.Contains(o.File.Extensions, "wav")) {
			if env.Served != nil {
				return Mistake("%s is stdin, which carries the calls of serve; must be a file that comes with the call", o.Kind)
			}
		} else {
			f.Add(NamedFile{Name: o.Kind, Path: args[i]}, false)
		}
	}
	given := func(name string) bool {
		flag := env.Flags.Lookup(name)
		return flag != nil && flag.Changed
	}
	without := given("dry-run") || given("out-dir") // -o
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
			err = Mistake("%v: serve writes nothing to a disk; leave the flag out", named)
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

// CheckOutputs checks, before long work, that the outputs can be written. made are further
// outputs, whose names the command has made.
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

// Write writes files together or not at all, except that one of them may be stdout, which comes last. All files are written here,
// except checkpoints.
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
	err := fileio.WriteAll(env.Context, files...)
	if errors.Is(err, context.Canceled) {
		return Interrupted(": " + err.Error())
	}
	return err
}
