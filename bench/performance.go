package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
)

const (
	slowdownLimit = 1.15 // maximum ratio of the processor seconds, new build to old build
	firstRounds   = 5    // measurements of each command
	mostRounds    = 15   // measurements of a command whose ratio exceeds the limit
)

var (
	errSlower  = errors.New("slower than the old build")
	errRefused = errors.New("refused the command line") // exit code 2
)

// performanceTask is `bench performance`.
type performanceTask struct {
	base, head  string
	out, commit string
}

func (o *performanceTask) flags(set *flag.FlagSet) {
	set.StringVar(&o.base, "base", "", "old build of vssgp (required)")
	set.StringVar(&o.head, "head", "", "new build of vssgp (default: build ./cmd/vssgp)")
	set.StringVar(&o.out, "out", "", "append lines of JSON to this file")
	commitFlag(set, &o.commit)
}

func (o *performanceTask) check(files []string) error {
	return cmp.Or(demandFiles(files, 0, ""), demand(o.base != "", "-base, a build of vssgp to compare with, is required"))
}

// A performanceLine compares the processor seconds of a command of two builds. The seconds are the least of all rounds.
type performanceLine struct {
	machine.Machine
	Time    string  `json:"time"`
	Bench   string  `json:"bench"` // performance
	Command string  `json:"command"`
	Old     float64 `json:"old_seconds,omitempty"`
	New     float64 `json:"new_seconds"`
	Ratio   float64 `json:"ratio,omitempty"`
	Rounds  int     `json:"rounds"`
	Status  string  `json:"status"` // ok, slower, or new if the old build refuses the command line
}

// The values of performanceLine.Status except machine.OK.
const (
	statusSlower = "slower"
	statusNew    = "new"
)

// A commandTimer runs a command line of a build and returns its processor seconds. The error wraps errRefused if the
// build exits with code 2.
type commandTimer func(ctx context.Context, build, command string) (seconds float64, err error)

func (o *performanceTask) run() (err error) {
	ctx, stop := interruptible()
	defer stop()
	dir, err := os.MkdirTemp("", "vssgp-performance-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	base, head, err := o.builds(ctx, dir)
	if err != nil {
		return err
	}
	if err := performanceFiles(ctx, dir); err != nil {
		return err
	}
	lines, err := comparePerformance(ctx, timeIn(dir), base, head, performanceCommands)
	if err != nil {
		return err
	}
	for i := range lines {
		l := &lines[i]
		l.Machine, l.Time, l.Bench = machine.This(o.commit), machine.Now(), "performance"
		if err := jsonl.Append(o.out, l); err != nil {
			return err
		}
	}
	return errors.Join(showPerformance(os.Stdout, lines), slower(lines))
}

// builds returns the absolute paths of both builds. Without -head, it builds ./cmd/vssgp in dir.
func (o *performanceTask) builds(ctx context.Context, dir string) (base, head string, err error) {
	if base, err = lookUp("-base", o.base); err != nil {
		return "", "", err
	}
	if o.head == "" {
		head, err = buildCommand(ctx, dir)
	} else {
		head, err = lookUp("-head", o.head)
	}
	return base, head, err
}

// lookUp returns the absolute path of the program that a flag names.
func lookUp(flag, program string) (string, error) {
	path, err := exec.LookPath(program)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", &usage{fmt.Errorf("%s: %w", flag, err)}
	}
	return path, nil
}

// comparePerformance measures the commands with both builds, which alternate so that a change of the machine's speed
// affects both. Other programs on the machine can only increase the processor time of a command, by their use of caches
// and cores, so the least time of several rounds is the best estimate. While the ratio of a command exceeds the limit,
// it is measured again, up to mostRounds, because the times of a slower build remain above the limit and times that
// were increased by other programs do not.
func comparePerformance(
	ctx context.Context, run commandTimer, base, head string, commands []string,
) ([]performanceLine, error) {
	lines := make([]performanceLine, len(commands))
	for i, c := range commands {
		lines[i].Command = c
	}
	for round := range mostRounds {
		for i := range lines {
			l := &lines[i]
			if round >= firstRounds && l.Status != statusSlower || l.Status == statusNew {
				continue
			}
			if err := l.measure(ctx, run, base, head); err != nil {
				return nil, fmt.Errorf("vssgp %s: %w", l.Command, err)
			}
		}
	}
	return lines, nil
}

// measure measures the command once with each build, and updates the least times, the ratio and the status.
func (l *performanceLine) measure(ctx context.Context, run commandTimer, base, head string) error {
	l.Rounds++
	for turn := range 2 {
		build, least := base, &l.Old
		if (l.Rounds+turn)%2 == 0 { // neither build is always the first
			build, least = head, &l.New
		}
		seconds, err := run(ctx, build, l.Command)
		if errors.Is(err, errRefused) && least == &l.Old {
			l.Status = statusNew
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", build, err)
		}
		if *least == 0 || seconds < *least {
			*least = seconds
		}
	}
	if l.Status == statusNew {
		return nil
	}
	l.Ratio, l.Status = l.New/l.Old, machine.OK
	if l.Ratio > slowdownLimit {
		l.Status = statusSlower
	}
	return nil
}

// slower returns an error that wraps errSlower and names the commands that are slower, or nil.
func slower(lines []performanceLine) error {
	var names []string
	for _, l := range jsonl.Where(lines, func(l performanceLine) string { return l.Status }, statusSlower) {
		names = append(names, fmt.Sprintf("%s (%.2f)", l.Command, l.Ratio))
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d commands are %w by more than %.0f %%: %s",
		len(names), len(lines), errSlower, 100*(slowdownLimit-1), strings.Join(names, "; "))
}

// showPerformance prints a table of the lines.
func showPerformance(to io.Writer, lines []performanceLine) error {
	const format = "%7s %7s %6s %7v  %-6s  %s\n"
	_, err := fmt.Fprintf(to, format, "old s", "new s", "ratio", "rounds", "status", "command")
	for _, l := range lines {
		old, fresh, ratio := positive(l.Old, "%.3f"), positive(l.New, "%.3f"), positive(l.Ratio, "%.3f")
		_, failed := fmt.Fprintf(to, format, old, fresh, ratio, l.Rounds, l.Status, l.Command)
		err = errors.Join(err, failed)
	}
	return err
}

// timeIn returns a commandTimer that runs commands in dir on one core.
func timeIn(dir string) commandTimer {
	return func(ctx context.Context, build, command string) (float64, error) {
		c := exec.CommandContext(ctx, build, append(strings.Fields(command), performanceFlags...)...)
		c.Dir, c.Env = dir, append(os.Environ(), "GOMAXPROCS=1")
		var stderr bytes.Buffer
		c.Stderr = &stderr
		err := c.Run()
		if err != nil && ctx.Err() == nil {
			if c.ProcessState != nil && c.ProcessState.ExitCode() == 2 {
				err = errRefused
			}
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
		}
		if err != nil {
			return 0, cmp.Or(ctx.Err(), err)
		}
		return (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), nil
	}
}
