// Command vssgp fits variational sparse spectrum Gaussian processes and fills
// gaps in recordings with them. `vssgp --help` lists the commands.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/heap"
	"github.com/vssgp/vssgp/ranks"
)

func main() {
	log.SetOutput(io.Discard) // we print nothing by it; mewkiz/flac prints a line for each frame of rates that it has no files of
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heap.GC)
	}
	j, err := joinJob()
	if err != nil {
		if firstRank() {
			fmt.Fprintln(os.Stderr, oneLine(err))
		}
		os.Exit(exitCode(err))
	}
	if j != nil {
		ranks.ShareCores()
		if j.Rank() != 0 {
			os.Exit(j.serve(os.Stderr))
		}
	}
	ctx, _ := untilSignal(context.Background())
	work := func() int { return run(ctx, os.Args[1:], os.Stdout, os.Stderr, j) }
	if j != nil {
		os.Exit(j.lead(ctx, os.Stderr, work))
	}
	os.Exit(work())
}

// untilSignal returns a context that SIGINT or SIGTERM cancels. The second signal
// ends the process at once, as it would by default.
func untilSignal(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// run executes one command line, by itself or on rank 0 of a job, and returns its exit code.
// It writes nothing to the process's own streams.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, j *job) int {
	a := newApp(ctx, stdout, stderr)
	a.computer.job = j
	err, panicked := a.run(args)
	if err != nil {
		fmt.Fprintln(a.stderr, oneLine(err))
	}
	if panicked && j != nil { // the other ranks wait for messages that will not come
		j.Abort(exitFailure)
	}
	return exitCode(err)
}

func newApp(ctx context.Context, stdout, stderr io.Writer) *app {
	a := &app{ctx: ctx, stdout: &stream{ctx: ctx, to: stdout}, stderr: &stream{ctx: ctx, to: stderr}, stdin: os.Stdin, progress: "auto"}
	a.computer = newComputer(a.note)
	return a
}

// run executes one command line. What has to be said of an error is left to the caller.
func (a *app) run(args []string) (err error, panicked bool) {
	defer func() {
		if a.held != nil {
			drop(a.held)
		}
	}()
	root := a.root()
	root.SetArgs(args)
	if err, panicked = execute(a.ctx, root); panicked && a.computer.job != nil {
		return err, true
	}
	if failed := a.computer.close(); err == nil {
		err = failed
	}
	if failed := a.stdout.(*stream).finish(); err == nil || errors.Is(err, failed) {
		err = failed
	} else if !a.started {
		err = mistake("%w", err)
	}
	return err, panicked
}

// answer executes a call of serve.
func answer(ctx context.Context, call *frame, notes io.Writer) *frame {
	ctx, done := context.WithCancel(ctx)
	defer done()
	var stdout bytes.Buffer
	a := newApp(ctx, &stdout, notes)
	a.stdin = strings.NewReader("")
	a.memory = &memory{in: map[string][]byte{}}
	for _, f := range call.Files {
		a.memory.in[f.Name] = f.Content.whole()
	}
	err := mistake(`the call has no command line; want "args", a list of words`)
	if len(call.Args) > 0 { // cobra would take the process' own
		err, _ = a.run(call.Args)
	}
	code := exitCode(err)
	f := &frame{Code: &code, Stdout: stdout.String(), Files: a.memory.out}
	if err != nil {
		f.Error = strings.TrimPrefix(oneLine(err), prefix)
	}
	return f
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

// serve runs all ranks but the first: they read nothing, print nothing and leave signals to
// rank 0, which decides when to end. An error here becomes rank 0's error.
func (j *job) serve(stderr io.Writer) int {
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	defer func() {
		if p := recover(); p != nil {
			j.fail(stderr, p)
		}
	}()
	if err := ranks.Serve(j, openDevice); err != nil {
		j.fail(stderr, err)
	}
	j.leave()
	return exitDone
}

// openDevice opens another rank's backend by what rank 0 was asked for (computer.spec).
func openDevice(spec string) (backend.Backend, error) {
	c := newComputer(func(string, ...any) {})
	if err := c.take(spec); err != nil {
		return nil, err
	}
	c.spread()
	return c.choose()
}

// fail says which rank has failed and ends them all.
func (j *job) fail(stderr io.Writer, why any) {
	fmt.Fprintln(stderr, oneLine(fmt.Errorf("rank %d of %d failed: %v; this ends the job; %s", j.Rank(), j.Size(), why, howToResume)))
	j.Abort(exitFailure)
}

// lead does the work of rank 0, and releases the other ranks.
func (j *job) lead(ctx context.Context, stderr io.Writer, work func() int) int {
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { j.watch(ctx, over, stderr) })
	code := work()
	close(over)
	watching.Wait()
	ranks.Quit(j)
	j.leave()
	return code
}

const (
	// After a signal, rank 0 looks for watchFor whether the others are still there, every
	// watchEvery: mpirun ends the others about a second after it has found one dead.
	watchFor   = 5 * time.Second
	watchEvery = 20 * time.Millisecond
)

// watch waits for the signal that ends the job. It may come from mpirun because a rank has
// died; rank 0 would wait for that rank for ever.
func (j *job) watch(ctx context.Context, over <-chan struct{}, stderr io.Writer) {
	select {
	case <-over:
		return
	case <-ctx.Done():
	}
	for until := time.Now().Add(watchFor); time.Now().Before(until); {
		for _, p := range j.peers {
			if gone(p.pid) {
				fmt.Fprintln(stderr, oneLine(fmt.Errorf("rank %d of %d (process %d) has died, so the job ends; %s",
					p.rank, j.Size(), p.pid, howToResume)))
				os.Exit(exitFailure)
			}
		}
		select {
		case <-over:
			return
		case <-time.After(watchEvery):
		}
	}
}

// gone reports whether a process of this machine has ended.
func gone(pid int) bool {
	p, err := os.FindProcess(pid)
	return err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
