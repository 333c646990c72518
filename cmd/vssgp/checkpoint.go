package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
)

// checkpointFlags are those of the commands whose fits can be resumed.
type checkpointFlags struct {
	file   string
	every  time.Duration
	resume bool
	set    *pflag.FlagSet
}

// defaultEvery is the default of --every.
const defaultEvery = 30 * time.Second

func (c *checkpointFlags) add(f *pflag.FlagSet) {
	c.set = f
	f.Var(fileName(&c.file, file{written: true}), "checkpoint",
		"save the state of the fit in this `file`, so that --resume can continue whatever stopped it; the file stays after the fit")
	f.DurationVar(&c.every, "every", defaultEvery, "least `time` between two checkpoints; longer if writing would take more than a twentieth of the time")
	f.BoolVar(&c.resume, "resume", false, "continue from the checkpoint, to the same bits as an uninterrupted fit; start from the beginning if there is none yet")
}

// check checks the flags against each other.
func (c *checkpointFlags) check() error {
	switch {
	case c.resume && c.file == "":
		return mistake("--resume needs --checkpoint FILE, the file to resume from")
	case c.set.Changed("every") && c.file == "":
		return mistake("--every needs --checkpoint FILE, the file to write")
	case c.every <= 0:
		return mistake("--every %v; want a positive time such as 30s", c.every)
	}
	return nil
}

// apply gives a fit its checkpoint, and says where there is none yet.
func (a *app) apply(c *checkpointFlags, o *vssgp.Options) {
	o.Checkpoint, o.CheckpointEvery, o.Resume = c.file, c.every, c.resume
	o.Warn = func(err error) { a.note("%w", err) }
	if _, err := os.Lstat(c.file); c.resume && errors.Is(err, fs.ErrNotExist) {
		a.note("no checkpoint %s yet: starting the fit from the beginning", c.file)
	}
}

// goOn says how to continue after an interruption. model, a file to start from
// where there is no checkpoint, may be empty.
func (c *checkpointFlags) goOn(model string, unsaved error) string {
	_, err := os.Lstat(c.file)
	switch {
	case c.file != "" && err == nil && unsaved == nil:
		return "run the same command with --resume, which resumes from " + c.file
	case c.file != "" && err == nil:
		return fmt.Sprintf("run the same command with --resume, which resumes from %s as it was earlier (%v)", c.file, unsaved)
	case model != "":
		return "run the same command with --overwrite --init " + model
	}
	return "run the same command again"
}

// hint adds to a failure that is not the caller's mistake how to resume, where
// there is a checkpoint to resume from.
func (c *checkpointFlags) hint(err error) error {
	if _, none := os.Lstat(c.file); c.file == "" || none != nil || exitCode(err) != exitFailure {
		return err
	}
	return fmt.Errorf("%w; to resume, %s", err, c.goOn("", nil))
}
