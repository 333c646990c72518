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
	"text/tabwriter"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/ranks"
)

// ranksTask is `bench ranks`.
type ranksTask struct {
	sizes
	list, mpirun string
	ranks        []int
	repeats      int
	out, commit  string
	draw, plan   bool
}

func (o *ranksTask) flags(set *flag.FlagSet) {
	o.sizes.flags(set, 1_000_000, 512, 0)
	set.StringVar(&o.list, "ranks", "1,2,4", "how many ranks, with commas between")
	set.IntVar(&o.repeats, "repeats", 3, "timed evaluations after a first that is not counted")
	set.StringVar(&o.mpirun, "mpirun", "mpirun", "Open MPI's launcher")
	set.StringVar(&o.out, "out", "", "file to which the lines are added; none if empty")
	set.BoolVar(&o.draw, "draw", false, "print the tables of the file's lines; run nothing")
	set.BoolVar(&o.plan, "plan", false, "print what the model expects of larger machines; run nothing")
	commitFlag(set, &o.commit)
}

// mostRanks bounds -ranks: they are all on this machine.
const mostRanks = 64

func (o *ranksTask) check(files []string) (err error) {
	switch {
	case len(files) > 0:
		return want(files, 0, "")
	case o.repeats < 1:
		return fmt.Errorf("-repeats %d: want 1 or more", o.repeats)
	case o.draw && o.out == "":
		return errors.New("-draw wants the file, -out")
	}
	if o.ranks, err = counts("ranks", o.list, mostRanks); err != nil {
		return err
	}
	return o.sizes.check()
}

func (o *ranksTask) run() (err error) {
	c, leave, err := ranks.World()
	if err != nil {
		return err
	}
	var lines []ranksLine
	switch {
	case c != nil:
		defer leave()
		return serveRank(c, o.sizes, o.repeats)
	case o.plan:
		printPlan(os.Stdout)
		return nil
	case o.draw:
		if lines, err = jsonl.Read(o.out, (*ranksLine).check); err == nil && len(lines) == 0 {
			err = fmt.Errorf("ranks: -draw: %s has no lines", o.out)
		}
		if err != nil {
			return &usage{err}
		}
	default:
		if lines, err = o.measure(); err != nil {
			return fmt.Errorf("ranks: %w", err)
		}
	}
	printRanks(os.Stdout, lines)
	return nil
}

// measure runs this program under mpirun, once for each number of ranks.
func (o *ranksTask) measure() (lines []ranksLine, err error) {
	if _, built := ranks.MPI(); !built {
		return nil, &usage{ranks.ErrNotBuilt}
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	here := machine.This(o.commit)
	for _, n := range o.ranks {
		cmd := exec.Command(o.mpirun, append([]string{"-n", strconv.Itoa(n), exe}, os.Args[1:]...)...)
		out, said, err := output(cmd)
		if err != nil {
			return nil, fmt.Errorf("%s: %w:\n%s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(said)) // mpirun explains itself in a paragraph
		}
		line := ranksLine{Machine: here, Time: machine.Now(), Bench: "ranks"}
		if err := json.Unmarshal(lastLine(out), &line.ranksRun); err != nil {
			return nil, fmt.Errorf("%d ranks printed no result: %w", n, err)
		}
		fmt.Fprintf(os.Stderr, "%d ranks: %.4g s an evaluation\n", n, line.Evaluation)
		lines = append(lines, line)
		if o.out == "" {
			continue
		}
		if err := jsonl.Append(o.out, line); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// printRanks prints each problem's lines, with what the model expects of them by its line of one rank.
func printRanks(w io.Writer, lines []ranksLine) {
	for _, of := range jsonl.Groups(lines, func(l ranksLine) [3]int { return [3]int{l.N, l.M, l.V} }) {
		fmt.Fprintf(w, "\nN = %d, M = %d, V = %d\n", of[0].N, of[0].M, of[0].V)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "ranks\tcores\tseconds\tsums\twaiting\tcommunication\thost\trank 0's processor\tmodel\tMB\tMB once\tbound\t")
		one := jsonl.Where(of, func(l ranksLine) int { return l.Ranks }, 1)
		for _, l := range of {
			model := "–"
			if len(one) > 0 {
				model = fmt.Sprintf("%.4g", expected(&one[len(one)-1], &l))
			}
			share := func(s float64) string { return fmt.Sprintf("%.1f %%", 100*s/l.Evaluation) }
			fmt.Fprintf(t, "%d\t%d\t%.4g\t%s\t%s\t%s\t%s\t%.4g\t%s\t%.3g\t%.3g\t%.17g\t\n", l.Ranks, l.OnCores, l.Evaluation, share(l.Sums),
				share(l.Waiting), share(l.Communication), share(l.Host), l.Busy, model, float64(l.Bytes)/1e6, float64(l.OpenBytes)/1e6, l.Bound)
		}
		t.Flush()
	}
}
