package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/bench/internal/forecasts"
	"github.com/vssgp/vssgp/bench/internal/gift"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/fileio"
)

// giftTask is `bench gift`.
type giftTask struct {
	taskList, half, data, commandList, args string
	peerList, python, write                 string
	tasks, commands, peers                  []string
	series, parallel                        int
	out, csv, commit                        string
	show                                    bool
}

// giftPeers lists the methods of peers/series.py that need no specification by hand.
var giftPeers = []string{"autoarima", "autoets", "theta"}

func (o *giftTask) flags(set *flag.FlagSet) {
	set.StringVar(&o.taskList, "task", "", "tasks of bench/README.md, separated by commas (default: all)")
	set.StringVar(&o.half, "half", gift.Both, "half of each task: "+strings.Join(gift.Halves(), ", "))
	set.IntVar(&o.series, "series", 0, "maximum number of series, or of windows of a single series; 0: all")
	set.StringVar(&o.data, "data", "data", "folder of the data")
	set.StringVar(&o.commandList, "command", "",
		"builds of vssgp, separated by commas; all are compared with the first (default: ./cmd/vssgp)")
	set.StringVar(&o.args, "args", "", "additional flags of vssgp forecast, separated by spaces")
	set.IntVar(&o.parallel, "parallel", runtime.NumCPU(), "number of processes at a time, each with one thread")
	set.StringVar(&o.peerList, "peers", "", "peers to run, separated by commas: "+strings.Join(giftPeers, ", "))
	set.StringVar(&o.write, "write", "", "folder for the problems and for the peers' forecasts, which are computed once")
	set.StringVar(&o.python, "python", "python3", "Python interpreter with the peers' libraries")
	set.StringVar(&o.out, "out", "bench/results/gift.jsonl", "file for the lines")
	set.StringVar(&o.csv, "csv", "", "file for the scores of the first command in the leaderboard's format")
	set.BoolVar(&o.show, "show", false, "print the tables of the stored lines; run nothing")
	commitFlag(set, &o.commit)
}

func (o *giftTask) check(files []string) error {
	o.tasks, o.commands, o.peers = list(o.taskList), list(o.commandList), list(o.peerList)
	if o.taskList == "" {
		o.tasks = gift.Tasks()
	}
	names := jsonl.Distinct(o.commands, filepath.Base)
	return cmp.Or(
		demandFiles(files, 0, ""), known("task", o.tasks, gift.Tasks()), known("half", []string{o.half}, gift.Halves()),
		demand(len(names) == len(o.commands), "-command %q: the names of the files must differ", o.commandList),
		known("peers", o.peers, giftPeers),
		demand(len(o.peers) == 0 || o.write != "", "-peers requires -write, the folder for problems and forecasts"),
		demand(o.csv == "" || o.half == gift.Both && o.series == 0 && !o.show,
			"-csv requires a run with -half both and all series"),
		demand(o.series >= 0, "-series %d: must be 0 or more", o.series),
		demand(o.parallel >= 1, "-parallel %d: must be 1 or more", o.parallel),
		demand(o.out != "", "-out: a file name is required"))
}

func (o *giftTask) run() error {
	lines, err := jsonl.Read[gift.Line](o.out, nil)
	if err != nil {
		return err
	}
	if o.show {
		lines = slices.DeleteFunc(lines, func(l gift.Line) bool { return !slices.Contains(o.tasks, l.Task) })
		gift.Print(os.Stdout, lines)
		return nil
	}
	targets := []string{o.out}
	if o.csv != "" {
		targets = append(targets, o.csv)
	}
	if err := fileio.Check(targets...); err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	return o.withCommands(ctx, func(commands []gift.Command) error { return o.runTasks(ctx, commands, lines) })
}

// runTasks runs the tasks and adds their lines to the stored lines.
func (o *giftTask) runTasks(ctx context.Context, commands []gift.Command, lines []gift.Line) error {
	var scored []gift.Line
	for _, name := range o.tasks {
		fresh, err := o.measure(ctx, gift.TaskOf(name), commands)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(os.Stderr, "%s: skipped: %v\n", name, err)
			continue
		}
		if err != nil {
			return err
		}
		for _, l := range fresh {
			lines = jsonl.Put(lines, l, gift.Line.Key)
		}
		if err := jsonl.Write(o.out, lines); err != nil {
			return err
		}
		gift.Print(os.Stdout, fresh)
		scored = append(scored, fresh...)
	}
	if o.csv == "" || len(scored) == 0 {
		return nil
	}
	return gift.WriteLeaderboard(o.csv, scored, commands[0].Method())
}

// withCommands calls f with the builds of -command, or with a fresh build in a temporary folder.
func (o *giftTask) withCommands(ctx context.Context, f func([]gift.Command) error) (err error) {
	var commands []gift.Command
	for _, path := range o.commands {
		path, err := exec.LookPath(path)
		if err != nil {
			return &usage{fmt.Errorf("-command: %w", err)}
		}
		commands = append(commands, gift.Command{Name: filepath.Base(path), Path: path, Args: strings.Fields(o.args)})
	}
	if len(commands) > 0 {
		return f(commands)
	}
	dir, err := os.MkdirTemp("", "vssgp-build-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path, err := buildCommand(ctx, dir)
	if err != nil {
		return err
	}
	return f([]gift.Command{{Name: "vssgp", Path: path, Args: strings.Fields(o.args)}})
}

// buildCommand builds ./cmd/vssgp in dir and returns the path.
func buildCommand(ctx context.Context, dir string) (path string, err error) {
	path = filepath.Join(dir, "vssgp")
	build := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/vssgp")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("go build ./cmd/vssgp: %w", err)
	}
	return path, nil
}

// measure runs the commands, the seasonal naive forecast and the peers on a task, and scores them.
func (o *giftTask) measure(ctx context.Context, t *gift.Task, commands []gift.Command) ([]gift.Line, error) {
	problems, err := t.Problems(o.data, o.half, o.series)
	if err != nil {
		return nil, err
	}
	published, err := t.Published(o.data, problems)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "%s: %d forecasts\n", t.Name, len(problems))
	methods, err := gift.Run(ctx, t, problems, commands, o.parallel)
	if err != nil {
		return nil, err
	}
	methods = append(methods, gift.SeasonalNaive(t, problems))
	if len(o.peers) > 0 {
		path, err := seriesForecasts(ctx, o.python, o.write, gift.PeerProblems(t, problems), o.peers)
		if err != nil {
			return nil, err
		}
		all, err := forecasts.ReadForecasts(path)
		if err != nil {
			return nil, err
		}
		for _, name := range o.peers {
			methods = append(methods, gift.Peer(t, problems, all, name))
		}
	}
	return gift.Measure(t, o.half, problems, methods, published, machine.This(o.commit)), nil
}
