package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestComparePerformance checks the ratio of the least seconds, the number of rounds, and which errors end the
// comparison. The last of the seconds of a build is repeated.
func TestComparePerformance(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		old, new           []float64
		oldError, newError error
		status             string
		ratio              float64
		rounds             int
		wantError          error
	}{
		"as fast": {old: []float64{2}, new: []float64{2}, status: machine.OK, ratio: 1, rounds: firstRounds},
		"faster":  {old: []float64{2}, new: []float64{1}, status: machine.OK, ratio: 0.5, rounds: firstRounds},
		"just within the limit": {
			old: []float64{100}, new: []float64{114}, status: machine.OK, ratio: 1.14, rounds: firstRounds,
		},
		"slower": {old: []float64{2}, new: []float64{2.4}, status: statusSlower, ratio: 1.2, rounds: mostRounds},
		"the least seconds count": {
			old: []float64{3, 2, 5}, new: []float64{4, 5, 2.2, 6}, status: machine.OK, ratio: 1.1, rounds: firstRounds,
		},
		"a slow round of the old build": {
			old: []float64{2, 9}, new: []float64{9, 2.4, 9}, status: statusSlower, ratio: 1.2, rounds: mostRounds,
		},
		"fast in the seventh round": {
			old: []float64{2}, new: []float64{3, 3, 3, 3, 3, 3, 2}, status: machine.OK, ratio: 1, rounds: 7,
		},
		"refused by the old build": {oldError: errRefused, new: []float64{2}, status: statusNew, rounds: 1},
		"refused by the new build": {old: []float64{2}, newError: errRefused, wantError: errRefused},
		"refused by both builds":   {oldError: errRefused, newError: errRefused, wantError: errRefused},
		"failure of the old build": {oldError: broken, new: []float64{2}, wantError: broken},
		"failure of the new build": {old: []float64{2}, newError: broken, wantError: broken},
	} {
		runs := map[string]int{}
		lines, err := comparePerformance(t.Context(), func(_ context.Context, build, command string) (float64, error) {
			if command != "forecast a.csv" {
				return 1, nil
			}
			seconds, err := c.old, c.oldError
			if build == "new" {
				seconds, err = c.new, c.newError
			}
			if err != nil {
				return 0, fmt.Errorf("one line: %w", err)
			}
			runs[build]++
			return seconds[min(runs[build], len(seconds))-1], nil
		}, "old", "new", []string{"info b", "forecast a.csv"})
		if c.wantError != nil {
			if !errors.Is(err, c.wantError) || !strings.Contains(err.Error(), "forecast a.csv") {
				t.Errorf("%s: error %v, want %v", name, err, c.wantError)
			}
			continue
		}
		if err != nil || len(lines) != 2 {
			t.Errorf("%s: %d lines, %v", name, len(lines), err)
			continue
		}
		l := lines[1]
		if l.Status != c.status || math.Abs(l.Ratio-c.ratio) > 1e-12 || l.Rounds != c.rounds {
			t.Errorf("%s: %+v, want status %s, ratio %v, %d rounds", name, l, c.status, c.ratio, c.rounds)
		}
		if runs["new"] != c.rounds || c.oldError == nil && runs["old"] != c.rounds {
			t.Errorf("%s: runs of the builds: %v, want %d of each", name, runs, c.rounds)
		}
		if lines[0].Rounds != firstRounds || lines[0].Ratio != 1 {
			t.Errorf("%s: other command: %+v", name, lines[0])
		}
		if c.status != statusSlower {
			testkit.OK(t, slower(lines), name)
			continue
		}
		testkit.Fails(t, slower(lines), errSlower, "1 of 2 commands", name)
	}
}

// TestPerformance runs bench performance with shell scripts as builds. The old build refuses every command, because the
// processor time of a script would depend on the machine. The new build checks that the input files exist.
func TestPerformance(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, script := range map[string]string{
		"old":    "echo unknown flag >&2; exit 2",
		"new":    `test -s "$2" && case "$3" in --*) ;; *) test -s "$3" ;; esac && test "$GOMAXPROCS" = 1 || exit 3`,
		"broken": "echo no memory >&2; exit 1",
	} {
		testkit.OK(t, os.WriteFile(in(name), []byte("#!/bin/sh\n"+script+"\n"), 0o777))
	}
	t.Chdir("..")
	out := in("lines.jsonl")
	testkit.OK(t, bench("performance", "-base", in("old"), "-head", in("new"), "-out", out, "-commit", "abc"))
	lines := testkit.Must(jsonl.Read[performanceLine](out, nil))(t)
	for i, l := range lines {
		want := performanceLine{
			Machine: l.Machine, Time: l.Time, Bench: "performance", Command: performanceCommands[i],
			New: l.New, Rounds: 1, Status: statusNew,
		}
		if l != want || l.Commit != "abc" || l.New <= 0 {
			t.Errorf("%+v, want %+v", l, want)
		}
	}
	if len(lines) != 10 {
		t.Errorf("%d lines, want 10", len(lines))
	}
	for _, c := range []struct {
		args string
		code int
		text string
	}{
		{"-base old -head broken", 1, "broken: exit status 1: no memory"},
		{"-base broken -head new", 1, "broken: exit status 1: no memory"},
		{"-base old -head old", 1, "old: refused the command line: unknown flag"},
		{"-base none -head new", 2, "-base: "},
		{"-base old -head none", 2, "-head: "},
		{"-head new", 2, "-base"},
		{"-base old more", 2, "unexpected"},
	} {
		args := strings.Fields(c.args)
		for i, a := range args {
			if !strings.HasPrefix(a, "-") && a != "more" {
				args[i] = in(a)
			}
		}
		err := bench("performance", args...)
		if err == nil || exitCode(err) != c.code || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: error %v, want exit code %d and %q", c.args, err, c.code, c.text)
		}
	}
}
