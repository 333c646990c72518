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
	set.StringVar(&p.sets, "set", "", "experiments to run, with commas between: "+strings.Join(paper.Sets(), ", ")+" (default: all)")
	set.StringVar(&p.methods, "method", "", "methods to run, with commas between (default: all that an experiment has)")
	set.StringVar(&p.Data, "data", "data", "folder of the data files")
	set.StringVar(&p.Out, "out", "", "folder for lines and figures (default: bench/results, or with -quick a temporary folder)")
	set.BoolVar(&p.Quick, "quick", false, "a small version of everything, on the data of testdata; its figures mean nothing")
	set.IntVar(&p.Seeds, "seeds", 0, "repeats (default: as many as each experiment has)")
	set.BoolVar(&p.Draw, "draw", false, "print tables and draw figures of the lines that there are; run nothing")
	set.BoolVar(&p.Again, "again", false, "repeat fits that already have a line")
}

func (p *paperTask) check(files []string) error {
	p.Sets, p.Methods, p.Recordings = list(p.sets), list(p.methods), files
	return demand(!p.Draw || !p.Quick || p.Out != "", "-draw -quick: -out is required, the folder of an earlier run's lines")
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
