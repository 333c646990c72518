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

// checkpointFlags are those of the commands whose fits can be gone on with.
type checkpointFlags struct {
	file   string
	every  time.Duration
	resume bool
	set    *pflag.FlagSet
}

// defaultEvery is the flag's own default.
const defaultEvery = 30 * time.Second

func (c *checkpointFlags) add(f *pflag.FlagSet) {
	c.set = f
	f.StringVar(&c.file, "checkpoint", "", "keep where the fit stands in this `file`, to go on with --resume whatever stops it; it stays after the fit")
	f.DurationVar(&c.every, "every", defaultEvery, "least `time` between two checkpoints; longer where writing would take over a twentieth of the time")
	f.BoolVar(&c.resume, "resume", false, "go on from the checkpoint, to the same bits as without a break, or start if there is none yet")
}

// check looks at what the command line alone can tell.
func (c *checkpointFlags) check() error {
	switch {
	case c.file == toStdout:
		return mistake("--checkpoint -: a checkpoint is no text; want a file name")
	case c.resume && c.file == "":
		return mistake("--resume needs --checkpoint FILE, the file to go on from")
	case c.set.Changed("every") && c.file == "":
		return mistake("--every needs --checkpoint FILE, the file to write")
	case c.every <= 0:
		return mistake("--every %v; want a positive time such as 30s", c.every)
	}
	return nil
}

// apply gives a fit its checkpoint, and says where it starts anew.
func (a *app) apply(c *checkpointFlags, o *vssgp.Options) {
	o.Checkpoint, o.CheckpointEvery, o.Resume = c.file, c.every, c.resume
	o.Warn = func(err error) { a.note("%w", err) }
	if _, err := os.Lstat(c.file); c.resume && errors.Is(err, fs.ErrNotExist) {
		a.note("there is no checkpoint %s yet: the fit starts anew", c.file)
	}
}

// goOn says how to continue after an interruption. model, a file to start from
// where there is no checkpoint, may be empty.
func (c *checkpointFlags) goOn(model string, unsaved error) string {
	_, err := os.Lstat(c.file)
	switch {
	case c.file != "" && err == nil && unsaved == nil:
		return "run the same command with --resume, which goes on from " + c.file
	case c.file != "" && err == nil:
		return fmt.Sprintf("run the same command with --resume, which goes on from %s as it was earlier (%v)", c.file, unsaved)
	case model != "":
		return "run the same command with --overwrite --init " + model
	}
	return "run the same command again"
}

// hint adds to a failure that is not the caller's mistake how to go on, where
// there is something to go on from.
func (c *checkpointFlags) hint(err error) error {
	if _, none := os.Lstat(c.file); c.file == "" || none != nil || exitCode(err) != exitFailure {
		return err
	}
	return fmt.Errorf("%w; to go on, %s", err, c.goOn("", nil))
}
