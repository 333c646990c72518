package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/cpu/simd"
)

// app is what the commands share: the streams and the common flags.
type app struct {
	ctx            context.Context // ends with a signal
	stdout, stderr io.Writer
	files          files

	computer computer
	seed     uint64
	json     bool
	quiet    bool
	progress choice

	warned  []string // kinds of warnings given
	started bool     // the arguments were understood and the command's own work has begun
}

// run executes one command line and returns its exit code. Nothing is written
// to the process's own streams.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return runOn(ctx, args, stdout, stderr, nil)
}

// runOn is run on rank 0 of a job, or by itself.
func runOn(ctx context.Context, args []string, stdout, stderr io.Writer, j *job) int {
	out, notes := &stream{ctx: ctx, to: stdout}, &stream{ctx: ctx, to: stderr}
	a := &app{ctx: ctx, stdout: out, stderr: notes, progress: choice{allowed: []string{"auto", "always", "never"}, value: "auto"}}
	a.computer = newComputer(a.note)
	a.computer.job = j
	root := a.root()
	root.SetArgs(args)
	err, panicked := execute(ctx, root)
	if panicked && j != nil { // the others wait for what does not come
		fmt.Fprintln(notes, oneLine(err))
		j.Abort(exitFailure)
		return exitFailure
	}
	if failed := a.computer.close(); err == nil {
		err = failed
	}
	if failed := out.finish(); err == nil || errors.Is(err, failed) {
		err = failed
	} else if !a.started {
		err = &usageError{err}
	}
	if err != nil {
		fmt.Fprintln(notes, oneLine(err))
	}
	return exitCode(err)
}

// execute runs the command and turns a panic, which is a mistake in this
// program, into an error: users get one line whatever happens.
func execute(ctx context.Context, root *cobra.Command) (err error, panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			err, panicked = broken(p), true
		}
	}()
	return root.ExecuteContext(ctx), false
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "vssgp",
		Short: "Variational sparse spectrum Gaussian processes",
		Long: `vssgp fits variational sparse spectrum Gaussian processes (Gal & Turner 2015):
a spectral-mixture covariance approximated by random Fourier features whose
frequencies have a posterior. Its main job is to fill gaps in recordings, with
error bars.

In builds with -tags mpi, fit and evaluate spread their rows over the ranks of
mpirun -n R vssgp …; rank 0 reads, reports and writes.`,
		Example: `  vssgp impute clicks.wav --detect zeros -o repaired.wav
  vssgp fit co2.csv -o co2.safetensors
  vssgp predict co2.safetensors months.csv -o forecast.csv`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("no command; want one of %s (vssgp --help says what they do)", commandNames(cmd))
			}
			return unknownCommand(cmd, args[0])
		},
		Version:       readVersion().String(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", inWords(err), cmd.CommandPath())
	})
	f := root.PersistentFlags()
	f.Var(&a.computer.device, "device", "where to compute: auto, cpu, or cuda[:n] for the n-th GPU, cuda:n,m for several")
	f.Var(&a.computer.precision, "precision", "of a GPU: float64, or mixed for faster and rounder features")
	f.Uint64Var(&a.seed, "seed", 0, "seed of everything random; the same seed gives the same output")
	f.BoolVar(&a.json, "json", false, "print one JSON object on stdout and nothing else there")
	f.BoolVar(&a.quiet, "quiet", false, "print nothing but errors, and JSON where it is asked for")
	f.Var(&a.progress, "progress", "progress on stderr: auto (on a terminal), always or never")
	root.AddCommand(a.imputeCommand(), a.fitCommand(), a.predictCommand(), a.baselineCommand(), a.evaluateCommand(), a.infoCommand(), a.devicesCommand(), a.versionCommand())
	root.SetHelpCommand(helpCommand())
	for _, c := range root.Commands() {
		a.files.add(c)
	}
	completions(root)
	return root
}

// helpCommand is cobra's own, but for a word that is no command.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Say how a command is used",
		RunE: func(cmd *cobra.Command, args []string) error {
			at, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd, strings.Join(args, " "))
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
	}
}

func unknownCommand(cmd *cobra.Command, name string) error {
	return fmt.Errorf("unknown command %.60q; want one of %s", name, commandNames(cmd))
}

// commandNames lists the commands that help shows.
func commandNames(cmd *cobra.Command) string {
	var names []string
	for _, c := range cmd.Root().Commands() {
		if c.IsAvailableCommand() && c.Name() != "completion" {
			names = append(names, c.Name())
		}
	}
	return strings.Join(names, ", ")
}

// do wraps a command's work: from here on a mistake is classified by what the
// error wraps, before it by having happened on the command line.
func (a *app) do(work func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.started = true
		if _, err := simd.Chosen(); err != nil {
			return &usageError{err}
		}
		if err := a.files.take(cmd, args, a.stdout); err != nil {
			return err
		}
		return work(cmd.Context(), args)
	}
}

// arguments checks a command's positional arguments, named for the message.
func arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		if len(args) > len(names) {
			return fmt.Errorf("unexpected argument %.60q; want: %s", args[len(names)], cmd.UseLine())
		}
		return fmt.Errorf("%s is missing; want: %s", names[len(args)], cmd.UseLine())
	}
}

// note prints a remark on stderr.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintln(a.stderr, oneLine(fmt.Errorf(format, args...)))
	}
}

// wanted says what a flag of the standard kinds takes.
var wanted = map[string]string{
	"int": "a whole number", "uint64": "a whole number, 0 or more", "float64": "a number", "duration": "a time such as 30s or 5m", "bool": "true or false",
}

// inWords is an error about a flag's argument as the other errors are.
func inWords(err error) error {
	var e *pflag.InvalidValueError
	if !errors.As(err, &e) {
		return err
	}
	name, cause := e.GetFlag().Name, errors.Unwrap(e).Error()
	if want := wanted[e.GetFlag().Value.Type()]; want != "" {
		cause = "want " + want
	}
	return mistake("--%s %.40q: %s", name, e.GetValue(), cause)
}
