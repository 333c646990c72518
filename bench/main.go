package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/internal/fileio"
)

// commands maps the name of each subcommand to the constructor of its task.
var commands = map[string]func() task{
	"clipped":     func() task { return &clippedTask{} },
	"gift":        func() task { return &giftTask{} },
	"long":        func() task { return &longTask{} },
	"mma":         func() task { return &mmaTask{} },
	"paper":       func() task { return &paperTask{} },
	"performance": func() task { return &performanceTask{} },
	"ranks":       func() task { return &ranksTask{} },
	"regression":  func() task { return &regressionTask{} },
	"repair":      func() task { return &repairTask{} },
	"series":      func() task { return &seriesTask{} },
	"speed":       func() task { return &speedTask{} },
	"tables":      func() task { return &tablesTask{} },
}

func main() {
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "bench: a subcommand is required:", strings.Join(slices.Sorted(maps.Keys(commands)), ", "))
		os.Exit(2)
	}
	if err := bench(os.Args[1], os.Args[2:]...); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(exitCode(err))
	}
}

// bench runs a subcommand.
func bench(name string, args ...string) error {
	t, err := parse(name, args, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return &usage{err}
	}
	return t.run()
}

// parse reads and checks a subcommand's flags.
func parse(name string, args []string, stderr io.Writer) (task, error) {
	t := commands[name]()
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(stderr)
	t.flags(set)
	err := set.Parse(args)
	if err == nil {
		err = t.check(set.Args())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// exitCode returns 2 for a usage error, which includes an unwritable file and a missing GPU, and 1 otherwise.
func exitCode(err error) int {
	var u *usage
	if errors.As(err, &u) || errors.Is(err, cuda.ErrNoDevice) || errors.Is(err, fileio.ErrTarget) {
		return 2
	}
	return 1
}
