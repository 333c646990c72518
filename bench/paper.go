package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/bench/internal/paper"
)

// paperTask is `bench paper`.
type paperTask struct {
	paper.Options
	sets, methods string
}

func (p *paperTask) flags(set *flag.FlagSet) {
	set.StringVar(&p.sets, "set", "", "experiments to run, separated by commas: "+strings.Join(paper.Sets(), ", ")+" (default: all)")
	set.StringVar(&p.methods, "method", "", "methods to run, separated by commas (default: all methods of the experiment)")
	set.StringVar(&p.Data, "data", "data", "folder of the data files")
	set.StringVar(&p.Out, "out", "", "folder for lines and figures (default: bench/results, or with -quick a temporary folder)")
	set.BoolVar(&p.Quick, "quick", false, "run a small version of everything on the data in testdata; its results are meaningless")
	set.IntVar(&p.Seeds, "seeds", 0, "number of repeats (default: depends on the experiment)")
	set.BoolVar(&p.Draw, "draw", false, "print tables and draw figures of the stored lines; run nothing")
	set.BoolVar(&p.Again, "again", false, "repeat fits that already have a line")
}

func (p *paperTask) check(files []string) error {
	p.Sets, p.Methods, p.Recordings = list(p.sets), list(p.methods), files
	return demand(!p.Draw || !p.Quick || p.Out != "", "-draw with -quick requires -out, the folder with the lines of an earlier run")
}

func (p *paperTask) run() (err error) {
	switch {
	case p.Out == "" && p.Quick:
		if p.Out, err = os.MkdirTemp("", "vssgp-paper-"); err != nil {
			return err
		}
	case p.Out == "":
		p.Out = "bench/results"
	}
	p.Machine = machine.This("")
	ctx, stop := interruptible()
	defer stop()
	err = paper.Run(ctx, p.Options, os.Stdout, os.Stderr)
	if errors.Is(err, paper.ErrOptions) {
		return &usage{fmt.Errorf("paper: %w", err)}
	}
	if err == nil {
		fmt.Fprintln(os.Stderr, "lines and figures are in", p.Out)
	}
	return err
}
