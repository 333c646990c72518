package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/cpu/simd"
	"github.com/vssgp/vssgp/internal/atomicfile"
	"github.com/vssgp/vssgp/ranks"
)

// app is what the commands share: the streams and the common flags.
type app struct {
	ctx            context.Context // ends with a signal
	stdout, stderr io.Writer
	flags          *pflag.FlagSet // of the command
	files          files

	computer computer
	seed     uint64
	json     bool
	quiet    bool
	progress string

	warned  []string // kinds of warnings given
	started bool     // the arguments were understood and the command's own work has begun
}

// command gives c its operands and its work. Once that has begun, a mistake is
// classified by what the error wraps, before it by having happened on the command
// line.
func (a *app) command(c *cobra.Command, work func(ctx context.Context, args []string) error, operands ...operand) *cobra.Command {
	c.Args = func(cmd *cobra.Command, args []string) error {
		if n := len(operands); len(args) > n {
			return fmt.Errorf("unexpected argument %.60q; want: %s", args[n], cmd.UseLine())
		}
		if n := len(args); n < len(operands) {
			return fmt.Errorf("%s is missing; want: %s", operands[n].name, cmd.UseLine())
		}
		return nil
	}
	c.ValidArgsFunction = completeOperands(operands)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		a.started, a.flags = true, cmd.Flags()
		if _, err := simd.Chosen(); err != nil {
			return &usageError{err}
		}
		if err := a.takeFiles(operands, args); err != nil {
			return err
		}
		err := work(cmd.Context(), args)
		if said := (*interruption)(nil); errors.Is(err, context.Canceled) && !errors.As(err, &said) {
			return &interruption{" before there was a result"}
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

// takeFiles registers the files of a command line, and checks before the work whether
// the outputs can be written.
func (a *app) takeFiles(operands []operand, args []string) (err error) {
	f := &a.files
	f.stdout = a.stdout
	for i, o := range operands {
		if o.choice == nil {
			f.add(namedFile{name: o.name, path: args[i]}, false)
		}
	}
	plan := a.flags.Lookup("plan")
	planned := plan != nil && plan.Value.String() == "true"
	a.flags.VisitAll(func(flag *pflag.Flag) {
		v, ok := flag.Value.(*value)
		if !ok || v.file == nil || slices.Contains(v.words, v.text) || err != nil {
			return
		}
		named := namedFile{name: "--" + flag.Name, path: v.text}
		if flag.Shorthand != "" {
			named.name = "-" + flag.Shorthand
		}
		if err = v.file.check(named, a.json, planned); v.text != "" {
			f.add(named, v.file.written)
		}
	})
	if clash := f.apart(f.written); clash != nil || err != nil {
		return cmp.Or(clash, err)
	}
	return a.checkOutputs()
}

// checkOutputs checks, before long work, that the outputs can be written: those of
// the command line, and others whose names the command makes.
func (a *app) checkOutputs(more ...string) error {
	all := append(slices.Clip(a.files.written), unnamed(more)...)
	if err := a.files.apart(all); err != nil {
		return err
	}
	var paths []string
	for _, out := range all {
		if out.path != toStdout {
			paths = append(paths, out.path)
		}
	}
	return atomicfile.Check(paths...)
}

// say prints a line of a result for people on stdout.
func (a *app) say(format string, args ...any) {
	if !a.quiet && !a.json {
		fmt.Fprintf(a.stdout, format+"\n", args...)
	}
}

// write writes files together or not at all. It is the one way to write files here, but for checkpoints.
func (a *app) write(files ...atomicfile.File) error {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	if err := a.files.apart(unnamed(paths)); err != nil { // names that were made since, and files
		return err
	}
	err := atomicfile.WriteAll(a.ctx, files...)
	if errors.Is(err, context.Canceled) {
		return &interruption{": " + err.Error()}
	}
	return err
}

// writeLast is write for files of which the last may be stdout; done is called
// before anything is written there.
func (a *app) writeLast(files []atomicfile.File, done func()) error {
	last := len(files) - 1
	if files[last].Path != toStdout {
		return a.write(files...)
	}
	s := &spool{}
	defer s.close()
	if err := files[last].Write(s); err != nil {
		return err
	}
	if err := a.write(files[:last]...); err != nil {
		return err
	}
	done()
	return s.copyTo(a.stdout)
}

// printJSON writes one object on stdout, whole or not at all.
func (a *app) printJSON(v any) error {
	_, err := a.stdout.Write(append(appendJSON(nil, reflect.ValueOf(v)), '\n'))
	return err
}

// rankTimes are those of a command that took so long; nil without ranks.
func (a *app) rankTimes(elapsed time.Duration) *rankTimes {
	b, ok := a.computer.backend.(*ranks.Backend)
	if !ok {
		return nil
	}
	t := b.Times()
	return &rankTimes{
		Size: a.computer.job.Size(), Open: t.Open, Cores: ranks.ShareCores(), Compute: t.Compute, Waiting: t.Waiting,
		Communication: t.Communication, Other: max(0, elapsed-t.Open-t.Compute-t.Waiting-t.Communication),
		Share: float64(t.Communication) / float64(max(elapsed, 1)), Bytes: t.Bytes,
	}
}
