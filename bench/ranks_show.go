package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

// readRanks reads a file of lines.
func readRanks(path string) (lines []ranksLine, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	in := bufio.NewScanner(bytes.NewReader(text))
	in.Buffer(nil, len(text)+1)
	for n := 1; in.Scan(); n++ {
		var l ranksLine
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, n, err)
		}
		if l.Bench != "ranks" || l.Ranks < 1 || !(l.Evaluation > 0) {
			return nil, fmt.Errorf("%s: line %d is none of bench ranks: want bench, ranks and seconds_per_evaluation", path, n)
		}
		lines = append(lines, l)
	}
	return lines, in.Err()
}

// printRanks prints each problem's lines, with what the model expects of them
// by its line of one rank.
func printRanks(w io.Writer, lines []ranksLine) {
	type key struct {
		n, m, v int
	}
	var order []key
	of := map[key][]ranksLine{}
	for _, l := range lines {
		k := key{l.N, l.M, l.V}
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], l)
	}
	for _, k := range order {
		fmt.Fprintf(w, "\nN = %d, M = %d, V = %d\n", k.n, k.m, k.v)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "ranks\tcores\tseconds\tsums\twaiting\tcommunication\thost\trank 0's processor\tmodel\tMB\tMB once\tbound\t")
		var one *ranksLine
		for i := range of[k] {
			if of[k][i].Ranks == 1 {
				one = &of[k][i]
			}
		}
		for i := range of[k] {
			l := &of[k][i]
			model := "–"
			if one != nil {
				model = fmt.Sprintf("%.4g", expected(one, l))
			}
			share := func(s float64) string { return fmt.Sprintf("%.1f %%", 100*s/l.Evaluation) }
			fmt.Fprintf(t, "%d\t%d\t%.4g\t%s\t%s\t%s\t%s\t%.4g\t%s\t%.3g\t%.3g\t%.17g\t\n", l.Ranks, l.OnCores, l.Evaluation,
				share(l.Sums), share(l.Waiting), share(l.Communication), share(l.Host), l.Busy, model, float64(l.Bytes)/1e6, float64(l.OpenBytes)/1e6, l.Bound)
		}
		t.Flush()
	}
}
