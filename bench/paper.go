package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/bench/paper"
	"github.com/vssgp/vssgp/internal/atomicfile"
)

// dataFolder is where `bench paper` looks for data files unless told.
const dataFolder = "data"

// parsePaper reads the flags and says what is wrong with them.
func parsePaper(args []string, stderr io.Writer) (paper.Options, error) {
	var o paper.Options
	set := flag.NewFlagSet("paper", flag.ContinueOnError)
	set.SetOutput(stderr)
	sets := set.String("set", "", "experiments to run, with commas between: "+strings.Join(paper.Sets(), ", ")+" (default: all)")
	methods := set.String("method", "", "methods to run, with commas between (default: all that an experiment has)")
	set.StringVar(&o.Data, "data", dataFolder, "folder of the data files")
	set.StringVar(&o.Out, "out", "", "folder for lines and figures (default: bench/results, or with -quick a temporary folder)")
	set.BoolVar(&o.Quick, "quick", false, "a small version of everything, on the data of testdata; its figures mean nothing")
	set.IntVar(&o.Seeds, "seeds", 0, "repeats (default: as many as each experiment has)")
	set.BoolVar(&o.Draw, "draw", false, "print tables and draw figures of the lines that there are; run nothing")
	set.BoolVar(&o.Again, "again", false, "run what there is a line of already, too")
	if err := set.Parse(args); err != nil {
		return o, err
	}
	if set.NArg() > 0 {
		return o, fmt.Errorf("paper: unexpected argument %q", set.Arg(0))
	}
	if o.Draw && o.Quick && o.Out == "" {
		return o, errors.New("paper: -draw -quick: want -out, the folder of an earlier run's lines")
	}
	o.Sets, o.Methods = list(*sets), list(*methods)
	return o, nil
}

// list splits at commas; nothing is no names.
func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

func runPaper(args []string) error {
	o, err := parsePaper(args, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return &usage{err}
	}
	if o.Out == "" {
		o.Out = "bench/results"
		if o.Quick {
			if o.Out, err = os.MkdirTemp("", "vssgp-paper-"); err != nil {
				return err
			}
		}
	}
	o.Machine = machine.This("")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	err = paper.Run(ctx, o, os.Stdout, os.Stderr)
	if errors.Is(err, paper.ErrOptions) || errors.Is(err, atomicfile.ErrTarget) {
		return &usage{fmt.Errorf("paper: %w", err)}
	}
	if err == nil {
		fmt.Fprintln(os.Stderr, "lines and figures are in", o.Out)
	}
	return err
}
