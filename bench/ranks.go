package main

import (
	"cmp"
	"encoding/json"
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
	show         bool
	lines        []ranksLine
}

func (o *ranksTask) flags(set *flag.FlagSet) {
	o.sizes.flags(set, 1_000_000, 512, 0)
	set.IntVar(&o.Q, "inputs", 2, "inputs; with one input, rank 0 takes the sums from tables")
	set.StringVar(&o.list, "ranks", "1,2,4", "numbers of ranks, separated by commas")
	set.IntVar(&o.repeats, "repeats", 3, "timed evaluations after one that is not counted")
	set.StringVar(&o.mpirun, "mpirun", "mpirun", "Open MPI's launcher")
	set.StringVar(&o.out, "out", "", "append lines of JSON to this file")
	set.BoolVar(&o.show, "show", false, "print the tables of the stored lines; run nothing")
	commitFlag(set, &o.commit)
}

// maxRanks is the maximum of -ranks. All ranks run on this machine.
const maxRanks = 64

func (o *ranksTask) check(files []string) (err error) {
	o.ranks, err = counts("ranks", o.list, 1, maxRanks)
	err = cmp.Or(
		demandFiles(files, 0, ""),
		demand(o.repeats >= 1, "-repeats %d: must be at least 1", o.repeats),
		demand(!o.show || o.out != "", "-show requires -out, the file of lines"),
		err, o.sizes.check())
	if err != nil || !o.show {
		return err
	}
	o.lines, err = jsonl.Read(o.out, (*ranksLine).check)
	return cmp.Or(err, demand(len(o.lines) > 0, "-show: %s has no lines", o.out))
}

func (o *ranksTask) run() error {
	c, leave, err := ranks.World()
	switch {
	case err != nil:
		return err
	case c != nil:
		defer leave()
		return serveRank(c, o.sizes, o.repeats)
	case !o.show:
		if err := o.measure(); err != nil {
			return fmt.Errorf("ranks: %w", err)
		}
	}
	printRanks(os.Stdout, o.lines)
	return nil
}

// measure runs this program under mpirun, once for each number of ranks.
func (o *ranksTask) measure() error {
	if _, built := ranks.MPI(); !built {
		return &usage{ranks.ErrNotBuilt}
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	here := machine.This(o.commit)
	for _, n := range o.ranks {
		cmd := exec.Command(o.mpirun, append([]string{"-n", strconv.Itoa(n), exe}, os.Args[1:]...)...)
		out, stderr, err := output(cmd)
		if err != nil {
			return fmt.Errorf("%s: %w:\n%s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(stderr))
		}
		var line ranksLine
		if err := json.Unmarshal(lastLine(out), &line); err != nil {
			return fmt.Errorf("%d ranks printed no result: %w", n, err)
		}
		line.Machine, line.Time, line.Bench = here, machine.Now(), "ranks"
		fmt.Fprintf(os.Stderr, "%d ranks: %.4g s per evaluation\n", n, line.Evaluation)
		o.lines = append(o.lines, line)
		if err := jsonl.Append(o.out, line); err != nil {
			return err
		}
	}
	return nil
}

// printRanks prints the lines of each problem, with the times that the model predicts from the line of one rank.
func printRanks(w io.Writer, lines []ranksLine) {
	for _, of := range jsonl.Groups(lines, func(l ranksLine) [3]int { return [3]int{l.N, l.M, l.V} }) {
		fmt.Fprintf(w, "\nN = %d, M = %d, V = %d\n", of[0].N, of[0].M, of[0].V)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "ranks\tcores\tseconds\tsums\twaiting\tcommunication\thost\trank 0 CPU\tmodel\tMB\tMB once\tbound\t")
		one := jsonl.Where(of, func(l ranksLine) int { return l.Ranks }, 1)
		for _, l := range of {
			model := "–"
			if len(one) > 0 {
				model = fmt.Sprintf("%.4g", expected(&one[len(one)-1], &l))
			}
			share := func(s float64) string { return fmt.Sprintf("%.1f %%", 100*s/l.Evaluation) }
			fmt.Fprintf(t, "%d\t%d\t%.4g\t%s\t%s\t%s\t%s\t%.4g\t%s\t%.3g\t%.3g\t%.17g\t\n", l.Ranks, l.OnCores, l.Evaluation, share(l.Sums),
				share(l.Waiting), share(l.Communication), share(l.Host), l.Busy, model, float64(l.Bytes)/1e6, float64(l.OpenBytes)/1e6,
				l.Bound)
		}
		t.Flush()
	}
}
