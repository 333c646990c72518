package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/atomicfile"
)

// longFlags are what `bench long` is asked.
type longFlags struct {
	from, to        float64 // rows
	per             int     // sizes in a decade
	features        int     // of a window
	window          float64 // samples
	dense, celerite bool
	terms           []int // of celerite's covariance
	python          string
	limit           float64 // seconds of an evaluation
	fit             int     // iterations
	repeats         int
	out             string
	draw            bool
	commit          string
}

// parseLong reads the flags and says what is wrong with them.
func parseLong(args []string, stderr io.Writer) (*longFlags, error) {
	o := &longFlags{}
	set := flag.NewFlagSet("long", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Float64Var(&o.from, "from", 1e4, "rows of the shortest recording")
	set.Float64Var(&o.to, "to", 1e7, "rows of the longest")
	set.IntVar(&o.per, "per", 2, "lengths in a decade")
	set.IntVar(&o.features, "features", 40, "features in each window")
	set.Float64Var(&o.window, "window", 512, "length of the windows in samples")
	set.BoolVar(&o.dense, "dense", true, "the same without windows, with as many features, until it no longer fits")
	set.BoolVar(&o.celerite, "celerite", true, "celerite2's solver beside it")
	terms := set.String("terms", "2,10", "oscillators of celerite's covariance, with commas between; J is twice as many")
	set.StringVar(&o.python, "python", "python3", "the Python that has celerite2")
	set.Float64Var(&o.limit, "limit", 60, "seconds that an evaluation may take by what the size before took, of all but windows")
	set.IntVar(&o.fit, "fit", 0, "iterations of a fit from the made model, with windows; 0: no fit")
	set.IntVar(&o.repeats, "repeats", 1, "timed evaluations after a first that is not counted")
	set.StringVar(&o.out, "out", "bench/results/long.jsonl", "file of the lines; long.png and long.svg go beside it")
	set.BoolVar(&o.draw, "draw", false, "print the table and draw the figure of the lines that there are; run nothing")
	set.StringVar(&o.commit, "commit", "", "commit, for the record, where this build does not know")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	if set.NArg() > 0 {
		return nil, fmt.Errorf("long: unexpected argument %q", set.Arg(0))
	}
	if err := o.check(*terms); err != nil {
		return nil, fmt.Errorf("long: %w", err)
	}
	return o, nil
}

// Bounds of the flags: what float64 rows and one machine allow.
const (
	mostRows  = 1e9
	mostPer   = 100
	mostTerms = 1000
)

func (o *longFlags) check(terms string) error {
	switch {
	case !(o.from >= 1 && o.from <= o.to && o.to <= mostRows):
		return fmt.Errorf("-from %g -to %g: want 1 ≤ from ≤ to ≤ %g rows", o.from, o.to, float64(mostRows))
	case o.per < 1 || o.per > mostPer:
		return fmt.Errorf("-per %d: want 1 to %d", o.per, mostPer)
	case o.features < 1:
		return fmt.Errorf("-features %d: want 1 or more", o.features)
	case !(o.window >= leastWindow && o.window <= o.from):
		return fmt.Errorf("-window %g: want %d samples to the %g of -from", o.window, leastWindow, o.from)
	case !(o.limit > 0) || math.IsInf(o.limit, 0):
		return fmt.Errorf("-limit %g: want seconds", o.limit)
	case o.fit < 0:
		return fmt.Errorf("-fit %d: want iterations, or 0 for no fit", o.fit)
	case o.repeats < 1:
		return fmt.Errorf("-repeats %d: want 1 or more", o.repeats)
	case o.out == "":
		return errors.New("-out: want a file")
	}
	for _, t := range strings.Split(terms, ",") {
		n, err := strconv.Atoi(t)
		if err != nil || n < 1 || n > mostTerms {
			return fmt.Errorf("-terms %q: want counts of 1 to %d with commas between", terms, mostTerms)
		}
		o.terms = append(o.terms, n)
	}
	return nil
}

// lengths are the sizes: from, and on by equal ratios to the last.
func (o *longFlags) lengths() (all []int) {
	steps := int(math.Ceil(float64(o.per)*math.Log10(o.to/o.from) - 1e-9))
	for i := range steps {
		all = append(all, int(math.Round(o.from*math.Pow(10, float64(i)/float64(o.per)))))
	}
	return append(all, int(math.Round(o.to)))
}

func runLong(args []string) error {
	o, err := parseLong(args, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return &usage{err}
	}
	figure := strings.TrimSuffix(o.out, filepath.Ext(o.out))
	if err := atomicfile.Check(o.out, figure+".png", figure+".svg"); err != nil {
		return &usage{err}
	}
	lines, err := readLong(o.out)
	if err != nil {
		return &usage{err}
	}
	if o.draw && len(lines) == 0 {
		return &usage{fmt.Errorf("long: -draw: %s has no lines", o.out)}
	}
	if !o.draw {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		if lines, err = o.measure(ctx, lines, os.Stderr); err != nil {
			return err
		}
	}
	printLong(os.Stdout, lines)
	return drawLong(figure, lines)
}

// measure runs every method at every length. A line is kept as soon as it is
// there, in place of an earlier one of the same key.
func (o *longFlags) measure(ctx context.Context, lines []longLine, log io.Writer) ([]longLine, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	l := &longRun{longFlags: o, exe: exe, machine: machine.This(o.commit)}
	if o.celerite {
		script, remove, err := celeriteFile()
		if err != nil {
			return nil, err
		}
		defer remove()
		l.script = script
	}
	for _, m := range l.methods() {
		var before *longLine // the size before, if it was timed
		for _, n := range o.lengths() {
			line := l.one(ctx, m, n, before)
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("long: interrupted: %w", err)
			}
			fmt.Fprintln(log, line.String())
			lines = replaceLong(lines, line)
			if err := writeLong(o.out, lines); err != nil {
				return nil, err
			}
			if line.Status != statusOK {
				break // a longer one would fare no better
			}
			before = &line
		}
	}
	return lines, nil
}
