// Command vssgp fits variational sparse spectrum Gaussian processes, forecasts
// time series and fills gaps in recordings. `vssgp --help` lists the commands.
//
// Each group of commands is a package below internal: fit (fit, predict,
// evaluate, info), series (forecast, fill, backtest), audio (impute) and serve.
// They share the packages cli (flags, files, printing, device) and datafile
// (tables and recordings). Package page formats the pages of `vssgp help TOPIC`.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/series"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/serve"
	"github.com/vssgp/vssgp/internal/heap"
	"github.com/vssgp/vssgp/ranks"
)

func main() {
	log.SetOutput(io.Discard) // mewkiz/flac logs a line for each frame with an unusual sample rate
	if os.Getenv("GOGC") == "" {
		heap.Collect()
	}
	j, err := cli.JoinJob()
	if err != nil {
		if cli.FirstRank() {
			fmt.Fprintln(os.Stderr, cli.OneLine(err))
		}
		os.Exit(cli.ExitCode(err))
	}
	if j != nil {
		ranks.ShareCores()
		if j.Rank() != 0 {
			os.Exit(j.Serve(os.Stderr))
		}
	}
	ctx, _ := untilSignal(context.Background())
	work := func() int { return run(ctx, os.Args[1:], os.Stdout, os.Stderr, j) }
	if j != nil {
		os.Exit(j.Lead(ctx, os.Stderr, work))
	}
	os.Exit(work())
}

// untilSignal returns a context that SIGINT or SIGTERM cancels. The second signal
// ends the process immediately, which is the default behavior.
func untilSignal(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// run executes one command line and returns its exit code. j is nil or a job of which this
// process is rank 0. run writes only to stdout and stderr, not to the streams of the process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, j *cli.Job) int {
	env := cli.NewEnv(ctx, stdout, stderr)
	env.Device.Job = j
	err, panicked := dispatch(env, args)
	if err != nil {
		fmt.Fprintln(env.Stderr, cli.OneLine(err))
	}
	if panicked && j != nil { // otherwise the other ranks wait forever
		j.Abort(cli.ExitFailure)
	}
	return cli.ExitCode(err)
}

// dispatch executes one command line. The caller must print the error.
func dispatch(env *cli.Env, args []string) (err error, panicked bool) {
	root := newRoot(env)
	root.SetArgs(series.JoinRobust(args))
	if err := checkDashes(root, args); err != nil {
		return env.Close(err), false
	}
	if err, panicked = execute(env.Context, root); panicked && env.Device.Job != nil {
		return err, true
	}
	return env.Close(err), panicked
}

// answer executes a request to serve and returns the response.
func answer(ctx context.Context, call *serve.Frame, notes io.Writer) *serve.Frame {
	ctx, done := context.WithCancel(ctx)
	defer done()
	var stdout bytes.Buffer
	env := cli.NewEnv(ctx, &stdout, notes)
	env.Stdin = strings.NewReader("")
	env.Served = &cli.ServedFiles{In: map[string][]byte{}}
	for _, f := range call.Files {
		env.Served.In[f.Name] = f.Content
	}
	err := cli.Mistake(`the request has no command line; "args" must be a list of words`)
	if len(call.Args) > 0 { // without arguments, cobra would use the arguments of the process
		err, _ = dispatch(env, call.Args)
	}
	code := cli.ExitCode(err)
	f := &serve.Frame{Code: &code, Stdout: stdout.String(), Files: env.Served.Out}
	if err != nil {
		f.Error = strings.TrimPrefix(cli.OneLine(err), cli.Prefix)
	}
	return f
}

// execute runs the command. It converts a panic, which is a bug, into an error, so that
// users always see a single line.
func execute(ctx context.Context, root *cobra.Command) (err error, panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			err, panicked = cli.Broken(p), true
		}
	}()
	return root.ExecuteContext(ctx), false
}
