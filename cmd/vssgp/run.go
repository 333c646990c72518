package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// run executes one command line and returns its exit code. Nothing is written
// to the process's own streams.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return runOn(ctx, args, stdout, stderr, nil)
}

// runOn is run on rank 0 of a job, or by itself.
func runOn(ctx context.Context, args []string, stdout, stderr io.Writer, j *job) int {
	out, notes := &stream{ctx: ctx, to: stdout}, &stream{ctx: ctx, to: stderr}
	a := &app{ctx: ctx, stdout: out, stderr: notes, progress: "auto"}
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

// execute runs the command and turns a panic, which is a bug, into an error: users
// get one line whatever happens.
func execute(ctx context.Context, root *cobra.Command) (err error, panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			err, panicked = broken(p), true
		}
	}()
	return root.ExecuteContext(ctx), false
}
