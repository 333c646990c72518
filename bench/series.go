package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/bench/internal/forecasts"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
)

// seriesTask is `bench series`.
type seriesTask struct {
	setList, methodList, peerList string
	sets, methods, peers          []string
	data, write, python           string
	base, out, commit             string
	show                          bool
	worst                         int
	files                         []string
}

// seriesPeers lists the methods of bench/peers/series.py.
var seriesPeers = []string{"ucm", "sarimax", "gp", "ets", "theta", "autoets", "autoarima", "mstl", "prophet"}

func (o *seriesTask) flags(set *flag.FlagSet) {
	set.StringVar(&o.setList, "set", "", "sets of problems, separated by commas: "+strings.Join(forecasts.Sets(), ", ")+" (default: all)")
	set.StringVar(&o.methodList, "method", "", "methods of this program, separated by commas: "+strings.Join(forecasts.Methods(), ", ")+
		", or none (default: all)")
	set.StringVar(&o.data, "data", "data", "folder of the series that are not in the repository")
	set.StringVar(&o.write, "write", "", "folder for the problems, which peers read, and for the peers' forecasts, which are computed once")
	set.StringVar(&o.peerList, "peers", "", "peers to run, separated by commas: "+strings.Join(seriesPeers, ", "))
	set.StringVar(&o.python, "python", "python3", "Python interpreter with the peers' libraries")
	set.StringVar(&o.base, "relative", "seasonal_naive", "reference method of relative scores")
	set.IntVar(&o.worst, "worst", 0, "series to print for each method: those with the largest CRPS relative to -relative")
	set.StringVar(&o.out, "out", "bench/results/series.jsonl", "file for the lines")
	set.BoolVar(&o.show, "show", false, "print the tables of the stored lines; run nothing")
	commitFlag(set, &o.commit)
}

func (o *seriesTask) check(files []string) error {
	o.sets, o.methods, o.peers, o.files = list(o.setList), list(o.methodList), list(o.peerList), files
	if o.setList == "" {
		o.sets = forecasts.Sets()
	}
	switch o.methodList {
	case "":
		o.methods = forecasts.Methods()
	case "none":
		o.methods = nil
	}
	return cmp.Or(
		known("set", o.sets, forecasts.Sets()), known("method", o.methods, forecasts.Methods()), known("peers", o.peers, seriesPeers),
		demand(len(o.peers) == 0 || o.write != "", "-peers requires -write, the folder for problems and forecasts"),
		demand(o.worst >= 0, "-worst %d: must be 0 or more", o.worst),
		demand(o.out != "", "-out: a file name is required"))
}

func (o *seriesTask) run() error {
	lines, err := jsonl.Read[forecasts.Line](o.out, nil)
	if err != nil {
		return err
	}
	if !o.show {
		fresh, err := o.measure()
		if err != nil {
			return err
		}
		for _, l := range fresh {
			lines = jsonl.Put(lines, l, func(l forecasts.Line) [3]string { return [3]string{l.Set, l.Series, l.Method} })
		}
		if err := jsonl.Write(o.out, lines); err != nil {
			return err
		}
	}
	lines = slices.DeleteFunc(lines, func(l forecasts.Line) bool { return !slices.Contains(o.sets, l.Set) })
	forecasts.Print(os.Stdout, lines, o.base, o.worst)
	return nil
}

// measure builds the problems, runs every method and the peers, and scores all forecasts.
func (o *seriesTask) measure() ([]forecasts.Line, error) {
	ctx, stop := interruptible()
	defer stop()
	problems, err := forecasts.Problems(o.sets, o.data, func(err error) { fmt.Fprintln(os.Stderr, err) })
	if err != nil {
		return nil, err
	}
	all, err := forecasts.Run(ctx, problems, o.methods, os.Stderr)
	if err != nil {
		return nil, err
	}
	if o.write != "" {
		path, err := seriesForecasts(ctx, o.python, o.write, problems, o.peers)
		if err != nil {
			return nil, err
		}
		if len(o.peers) > 0 {
			o.files = append(o.files, path)
		}
	}
	for _, path := range o.files {
		more, err := forecasts.ReadForecasts(path)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return forecasts.Score(problems, all, machine.This(o.commit)), nil
}

// seriesForecasts writes problems to a folder and forecasts them with peers in peers/series.py. It returns the path of
// the forecasts in the same folder, which the script does not compute again.
func seriesForecasts(
	ctx context.Context, python, dir string, problems []forecasts.Problem, peers []string,
) (path string, err error) {
	in, path := filepath.Join(dir, "problems.jsonl"), filepath.Join(dir, "forecasts.jsonl")
	if err := errors.Join(os.MkdirAll(dir, 0o777), jsonl.Write(in, problems)); err != nil || len(peers) == 0 {
		return path, err
	}
	err = withScript("series.py", func(_, script string) error {
		cmd := exec.CommandContext(ctx, python, append([]string{script, in, path}, peers...)...)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		return cmd.Run()
	})
	if err != nil {
		return "", fmt.Errorf("-peers: %w", err)
	}
	return path, nil
}
