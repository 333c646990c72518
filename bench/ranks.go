package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/ranks"
)

// ranksFlags are what `bench ranks` is asked.
type ranksFlags struct {
	sizes
	ranks   []int
	repeats int
	mpirun  string
	out     string
	draw    bool
	plan    bool
	commit  string
}

func parseRanks(args []string, stderr io.Writer) (*ranksFlags, error) {
	o := &ranksFlags{sizes: sizes{Q: 1, D: 1}}
	set := flag.NewFlagSet("ranks", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.IntVar(&o.N, "n", 1_000_000, "rows")
	set.IntVar(&o.Features, "features", 512, "features, of each window where there are windows")
	set.Float64Var(&o.Window, "window", 0, "length of the windows in samples; 0: none")
	set.BoolVar(&o.Uneven, "uneven", false, "rows off the grid")
	set.Uint64Var(&o.Seed, "seed", 0, "seed of the made problem")
	list := set.String("ranks", "1,2,4", "how many ranks, with commas between")
	set.IntVar(&o.repeats, "repeats", 3, "timed evaluations after a first that is not counted")
	set.StringVar(&o.mpirun, "mpirun", "mpirun", "Open MPI's launcher")
	set.StringVar(&o.out, "out", "", "file to which the lines are added; none if empty")
	set.BoolVar(&o.draw, "draw", false, "print the tables of the file's lines; run nothing")
	set.BoolVar(&o.plan, "plan", false, "print what the model expects of larger machines; run nothing")
	set.StringVar(&o.commit, "commit", "", "commit, for the record, where this build does not know")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	if set.NArg() > 0 {
		return nil, fmt.Errorf("ranks: unexpected argument %q", set.Arg(0))
	}
	for _, s := range strings.Split(*list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > mostRanks {
			return nil, fmt.Errorf("ranks: -ranks %q: want counts of 1 to %d with commas between", *list, mostRanks)
		}
		o.ranks = append(o.ranks, n)
	}
	switch {
	case o.repeats < 1:
		return nil, fmt.Errorf("ranks: -repeats %d: want 1 or more", o.repeats)
	case o.draw && o.out == "":
		return nil, errors.New("ranks: -draw wants the file, -out")
	}
	if err := o.sizes.check(); err != nil {
		return nil, fmt.Errorf("ranks: %w", err)
	}
	return o, nil
}

// mostRanks bounds -ranks: they are all on this machine.
const mostRanks = 64

func runRanks(args []string) error {
	if ranks.Launched() {
		return ranksChild(args)
	}
	o, err := parseRanks(args, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return &usage{err}
	}
	if o.plan {
		printPlan(os.Stdout)
		return nil
	}
	var lines []ranksLine
	if o.draw {
		if lines, err = readRanks(o.out); err != nil {
			return &usage{err}
		}
	} else if lines, err = o.measure(args); err != nil {
		return err
	}
	printRanks(os.Stdout, lines)
	return nil
}

// measure runs this program under mpirun, once for each number of ranks.
func (o *ranksFlags) measure(args []string) (lines []ranksLine, err error) {
	if _, built := ranks.MPI(); !built {
		return nil, &usage{fmt.Errorf("ranks: %w", ranks.ErrNotBuilt)}
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	here := machine.This(o.commit)
	for _, n := range o.ranks {
		cmd := exec.Command(o.mpirun, append([]string{"-n", strconv.Itoa(n), exe, "ranks"}, args...)...)
		out, said, err := run(cmd)
		if err != nil {
			return nil, fmt.Errorf("ranks: %s: %w:\n%s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(said)) // mpirun explains itself in a paragraph
		}
		line := ranksLine{Machine: here, Time: time.Now().UTC().Format(time.RFC3339), Bench: "ranks"}
		if err := json.Unmarshal(lastBytes(out), &line.ranksRun); err != nil {
			return nil, fmt.Errorf("ranks: %d ranks printed no result: %w", n, err)
		}
		fmt.Fprintf(os.Stderr, "%d ranks: %.4g s an evaluation\n", n, line.Evaluation)
		lines = append(lines, line)
		if o.out == "" {
			continue
		}
		text, err := json.Marshal(line)
		if err != nil {
			return nil, err
		}
		if err := appendLine(o.out, text); err != nil {
			return nil, err
		}
	}
	return lines, nil
}
