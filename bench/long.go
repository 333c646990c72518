package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/fileio"
)

func (o *longTask) flags(set *flag.FlagSet) {
	set.Float64Var(&o.from, "from", 1e4, "rows of the shortest recording")
	set.Float64Var(&o.to, "to", 1e7, "rows of the longest")
	set.IntVar(&o.per, "per", 2, "number of lengths per decade")
	set.IntVar(&o.features, "features", 40, "features in each window")
	set.Float64Var(&o.window, "window", 512, "length of the windows in samples")
	set.BoolVar(&o.dense, "dense", true, "also without windows, with as many features, until time or memory is exceeded")
	set.IntVar(&o.tables, "tables", 400, "features of the exact bound without windows, with sums from tables; 0: not run")
	set.BoolVar(&o.celerite, "celerite", true, "also run celerite2")
	set.StringVar(&o.termList, "terms", "2,10", "numbers of oscillators in celerite's covariance (J is twice as many), separated by commas")
	set.StringVar(&o.python, "python", "python3", "Python interpreter with celerite2")
	set.Float64Var(&o.limit, "limit", 60, "maximum seconds of an evaluation, predicted from the previous size, except with windows")
	set.IntVar(&o.fit, "fit", 0, "iterations of a fit with windows, from the synthetic model; 0: no fit")
	set.IntVar(&o.repeats, "repeats", 1, "timed evaluations after one that is not counted")
	set.StringVar(&o.out, "out", "bench/results/long.jsonl", "file for the lines")
	set.BoolVar(&o.show, "show", false, "print the table of the stored lines; run nothing")
	commitFlag(set, &o.commit)
}

// Upper limits of the flags. They follow from the precision of float64 and the memory of one machine.
const (
	maxRows  = 1e9
	maxPer   = 100
	maxTerms = 1000
)

func (o *longTask) check(files []string) (err error) {
	o.terms, err = counts("terms", o.termList, 1, maxTerms)
	err = cmp.Or(
		demandFiles(files, 0, ""),
		demand(o.from >= 1 && o.from <= o.to && o.to <= maxRows, "-from %g -to %g: must satisfy 1 ≤ from ≤ to ≤ %g rows", o.from, o.to, maxRows),
		demand(o.per >= 1 && o.per <= maxPer, "-per %d: must be from 1 to %d", o.per, maxPer),
		demand(o.features >= 1, "-features %d: must be at least 1", o.features),
		demand(o.window >= minWindow && o.window <= o.from, "-window %g: must be from %d samples to -from, which is %g", o.window,
			minWindow, o.from),
		demand(o.tables >= 0, "-tables %d: must be a number of features, or 0 for none", o.tables),
		demand(o.limit > 0 && !math.IsInf(o.limit, 0), "-limit %g: must be a positive number of seconds", o.limit),
		demand(o.fit >= 0, "-fit %d: must be a number of iterations, or 0 for no fit", o.fit),
		demand(o.repeats >= 1, "-repeats %d: must be at least 1", o.repeats),
		demand(o.out != "", "-out: a file name is required"),
		err)
	if err != nil {
		return err
	}
	if err := fileio.Check(o.out); err != nil {
		return err
	}
	o.lines, err = jsonl.Read(o.out, (*longLine).check)
	return cmp.Or(err, demand(!o.show || len(o.lines) > 0, "-show: %s has no lines", o.out))
}

// lengths returns the numbers of rows from -from to -to, in geometric progression except for the last.
func (o *longTask) lengths() (all []int) {
	steps := int(math.Ceil(float64(o.per)*math.Log10(o.to/o.from) - 1e-9))
	for i := range steps {
		all = append(all, int(math.Round(o.from*math.Pow(10, float64(i)/float64(o.per)))))
	}
	return append(all, int(math.Round(o.to)))
}

func (o *longTask) run() error {
	if !o.show {
		ctx, stop := interruptible()
		defer stop()
		err := withScript("celerite.py", func(_, script string) error {
			o.script = script
			return o.measure(ctx, os.Stderr)
		})
		if err != nil {
			return err
		}
	}
	printLong(os.Stdout, o.lines)
	return nil
}

// measure runs every method at every length. A line is stored as soon as it is complete, and replaces an earlier one
// with the same key.
func (o *longTask) measure(ctx context.Context, log io.Writer) (err error) {
	if o.exe, err = os.Executable(); err != nil {
		return err
	}
	o.machine = machine.This(o.commit)
	for _, m := range o.methods() {
		var before *longLine // the previous size, if it was timed
		for _, n := range o.lengths() {
			line := o.one(ctx, m, n, before)
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("long: interrupted: %w", err)
			}
			fmt.Fprintf(log, "%s, N = %d: %s s, %s MiB: %s\n",
				line.label(), line.N, positive(line.Evaluation, "%.4g"), mebibytes(line.HostBytes), firstLine(line.Status))
			o.lines = jsonl.Put(o.lines, line, func(l longLine) longKey { return l.longKey })
			if err := jsonl.Write(o.out, o.lines); err != nil {
				return err
			}
			if line.Status != machine.OK {
				break // longer ones would fail as well
			}
			before = &line
		}
	}
	return nil
}
