package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/vssgp/vssgp/ranks"
	"github.com/vssgp/vssgp/spectral"
)

// serve is what all ranks but the first do: they read nothing, say nothing and
// leave signals to rank 0, which decides when to end. What fails on the way
// becomes its error.
func (j *job) serve(stderr io.Writer) (code int) {
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

// fail says which rank has failed and ends them all.
func (j *job) fail(stderr io.Writer, why any) {
	fmt.Fprintln(stderr, oneLine(fmt.Errorf("rank %d of %d failed: %v; this ends the job; %s", j.Rank(), j.Size(), why, howToResume)))
	j.Abort(exitFailure)
}

// lead runs a command line on rank 0, and releases the others.
func (j *job) lead(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	watched := make(chan struct{})
	over := make(chan struct{})
	go func() {
		defer close(watched)
		j.watch(ctx, over, stderr)
	}()
	code := runOn(ctx, args, stdout, stderr, j)
	close(over)
	<-watched
	ranks.Quit(j)
	j.leave()
	return code
}

const (
	// watchFor is how long after a signal rank 0 looks whether the others are
	// still there, and watchEvery how often: mpirun ends the others about a
	// second after it has found one dead.
	watchFor   = 5 * time.Second
	watchEvery = 20 * time.Millisecond
)

// watch waits for the signal that ends the job: it may come from mpirun because
// a rank has died, for which rank 0 would wait for ever.
func (j *job) watch(ctx context.Context, over <-chan struct{}, stderr io.Writer) {
	select {
	case <-over:
		return
	case <-ctx.Done():
	}
	until := time.Now().Add(watchFor)
	for time.Now().Before(until) {
		for _, p := range j.peers {
			if p.here && gone(p.pid) {
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
	if err != nil {
		return true
	}
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// openDevice opens another rank's backend by rank 0's --device.
func openDevice(device string) (spectral.Backend, error) {
	c := newComputer(func(string, ...any) {})
	if err := c.device.Set(device); err != nil {
		return nil, fmt.Errorf("--device %s: %w", device, err)
	}
	c.spread()
	return c.choose()
}
