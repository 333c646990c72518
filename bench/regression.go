package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/bench/internal/regression"
)

// regressionTask is `bench regression`.
type regressionTask struct {
	kindList, methodList string
	kinds, methods       []string
	half                 string
	seeds                int
	long                 bool
	limit                time.Duration
	data, dump           string
	out, commit          string
	show, compare        bool
	files                []string
}

func (o *regressionTask) flags(set *flag.FlagSet) {
	set.StringVar(&o.kindList, "kind", "", "kinds of problems, separated by commas (default: all that are not long): "+
		strings.Join(regression.Names(), ", "))
	set.StringVar(&o.half, "half", regression.Dev, "half of the seeds: dev (even, for tuning) or judge (odd)")
	set.IntVar(&o.seeds, "seeds", 4, "number of seeds of each kind")
	set.StringVar(&o.methodList, "method", strings.Join(regression.Methods, ","), "methods, separated by commas")
	set.BoolVar(&o.long, "long", false, "also run the kinds with 1e5 rows and more")
	set.DurationVar(&o.limit, "limit", 10*time.Minute, "maximum time of a fit")
	set.StringVar(&o.data, "data", "data", "folder of data that are not in the repository; missing kinds are skipped")
	set.StringVar(&o.dump, "dump", "", "write the problems to this folder, for peers/regression.py, instead of fitting")
	set.StringVar(&o.out, "out", "", "append lines of JSON to this file")
	set.BoolVar(&o.show, "show", false, "print the tables of the lines in the given files instead of fitting")
	set.BoolVar(&o.compare, "compare", false, "print the differences between the lines in two given files, OLD NEW")
	commitFlag(set, &o.commit)
}

func (o *regressionTask) check(files []string) error {
	o.kinds, o.methods, o.files = list(o.kindList), list(o.methodList), files
	if o.kindList == "" {
		for _, k := range regression.Kinds() {
			if o.long || !k.Long {
				o.kinds = append(o.kinds, k.Name)
			}
		}
	}
	arguments := demandFiles(files, 0, "")
	switch {
	case o.compare:
		arguments = demandFiles(files, 2, "two files of lines, OLD NEW")
	case o.show:
		arguments = demand(len(files) > 0, "no files given; with -show files of lines are required")
	}
	return cmp.Or(
		known("kind", o.kinds, regression.Names()), known("method", o.methods, regression.Methods),
		known("half", []string{o.half}, regression.Halves),
		demand(o.seeds >= 1, "-seeds %d: must be positive", o.seeds),
		demand(o.limit > 0, "-limit %v: must be positive", o.limit),
		demand(!o.show || !o.compare, "-show cannot be combined with -compare"), arguments)
}

func (o *regressionTask) run() error {
	switch {
	case o.compare:
		older, err := regression.Read(o.files[0])
		newer, failed := regression.Read(o.files[1])
		if err := cmp.Or(err, failed); err != nil {
			return err
		}
		return regression.Compare(os.Stdout, older, newer)
	case o.show:
		lines, err := regression.Read(o.files...)
		if err != nil {
			return err
		}
		regression.Show(os.Stdout, lines)
		return nil
	}
	ctx, stop := interruptible()
	defer stop()
	problems, err := o.problems()
	if err != nil {
		return err
	}
	if o.dump != "" {
		return regression.Dump(o.dump, problems, machine.This(o.commit))
	}
	lines, err := o.measure(ctx, problems)
	if err != nil {
		return err
	}
	regression.Show(os.Stdout, lines)
	return nil
}

// problems builds the problems. It leaves out kinds whose data are missing, with a message.
func (o *regressionTask) problems() (all []*regression.Problem, err error) {
	for _, k := range regression.Select(o.kinds) {
		for i := range o.seeds {
			p, err := k.Problem(regression.Seed(o.half, i), o.data)
			if errors.Is(err, regression.ErrMissing) {
				fmt.Fprintln(os.Stderr, "skipped:", err)
				break
			}
			if err != nil {
				return nil, err
			}
			all = append(all, p)
		}
	}
	return all, nil
}

// measure runs every method on the problems and stores each line at once.
func (o *regressionTask) measure(ctx context.Context, problems []*regression.Problem) ([]regression.Line, error) {
	var lines []regression.Line
	m := machine.This(o.commit)
	for i, p := range problems {
		for _, method := range o.methods {
			l, err := regression.Run(ctx, p, method, o.limit)
			if err != nil {
				return nil, err
			}
			l.Machine = m
			if err := jsonl.Append(o.out, l); err != nil {
				return nil, err
			}
			fmt.Fprintf(os.Stderr, "%d of %d: %s, seed %d, %s: %s, %.1f s\n", i+1, len(problems), p.Kind, p.Seed, method,
				l.Status, l.Seconds)
			lines = append(lines, *l)
		}
	}
	return lines, nil
}
