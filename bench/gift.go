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

	"github.com/vssgp/vssgp/bench/internal/gift"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
)

// giftTask is `bench gift`.
type giftTask struct {
	taskList, half, data, commandList, args string
	tasks, commands                         []string
	series, parallel                        int
	out, commit                             string
	show                                    bool
}

func (o *giftTask) flags(set *flag.FlagSet) {
	set.StringVar(&o.taskList, "task", "", "tasks, separated by commas: "+strings.Join(gift.Tasks(), ", ")+" (default: all)")
	set.StringVar(&o.half, "half", gift.Both, "half of each task: "+strings.Join(gift.Halves(), ", "))
	set.IntVar(&o.series, "series", 0, "maximum number of series of a task, or of windows of a single series, evenly spread; 0: all")
	set.StringVar(&o.data, "data", "data", "folder of the data")
	set.StringVar(&o.commandList, "command", "", "builds of vssgp, separated by commas; each is compared with the first (default: ./cmd/vssgp)")
	set.StringVar(&o.args, "args", "", "additional flags of vssgp forecast, separated by spaces")
	set.IntVar(&o.parallel, "parallel", runtime.NumCPU(), "number of processes at a time, each with one thread")
	set.StringVar(&o.out, "out", "bench/results/gift.jsonl", "file for the lines")
	set.BoolVar(&o.show, "show", false, "print the tables of the stored lines; run nothing")
	commitFlag(set, &o.commit)
}

func (o *giftTask) check(files []string) error {
	o.tasks, o.commands = list(o.taskList), list(o.commandList)
	if o.taskList == "" {
		o.tasks = gift.Tasks()
	}
	names := jsonl.Distinct(o.commands, filepath.Base)
	return cmp.Or(
		demandFiles(files, 0, ""), known("task", o.tasks, gift.Tasks()), known("half", []string{o.half}, gift.Halves()),
		demand(len(names) == len(o.commands), "-command %q: the names of the files must differ", o.commandList),
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
	ctx, stop := interruptible()
	defer stop()
	return o.withCommands(ctx, func(commands []gift.Command) error {
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
		}
		return nil
	})
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
	path := filepath.Join(dir, "vssgp")
	build := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/vssgp")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build ./cmd/vssgp: %w", err)
	}
	return f([]gift.Command{{Name: "vssgp", Path: path, Args: strings.Fields(o.args)}})
}

// measure runs the commands and the seasonal naive forecast on a task, and scores them.
func (o *giftTask) measure(ctx context.Context, t *gift.Task, commands []gift.Command) ([]gift.Line, error) {
	problems, err := t.Problems(o.data, o.half, o.series)
	if err != nil {
		return nil, err
	}
	published, err := t.Published(o.data, problems)
	if err != nil {
		return nil, err
	}
	all, err := gift.Run(ctx, t, problems, commands, o.parallel)
	if err != nil {
		return nil, err
	}
	var methods []gift.Method
	for i, c := range commands {
		methods = append(methods, gift.Method{Name: c.Name, Args: o.args, Forecasts: all[i]})
	}
	methods = append(methods, gift.SeasonalNaive(t, problems))
	return gift.Measure(t, o.half, problems, methods, len(commands), published, machine.This(o.commit)), nil
}
