package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestRanksExpected checks that only the time of the sums is divided by the number of ranks, and that the cost of
// messages is added.
func TestRanksExpected(t *testing.T) {
	one := &ranksLine{Ranks: 1, Evaluation: 10, Busy: 9, Host: 1}
	four := &ranksLine{Ranks: 4, Latency: 0.001, Bandwidth: 1e6, Bytes: 2e6}
	if got, want := expected(one, four), (9-0.9)/4+0.9+10*0.001+2; math.Abs(got-want) > 1e-12 {
		t.Errorf("four ranks: %v s, want %v", got, want)
	}
	if got := expected(one, one); got != 9 {
		t.Errorf("one rank: %v s, want its CPU time 9", got)
	}
}

// TestRanksShow checks that the tables contain every line and that lines of other commands are rejected.
func TestRanksShow(t *testing.T) {
	var out bytes.Buffer
	line := func(ranks int, seconds float64) ranksLine {
		return ranksLine{Bench: "ranks", N: 1000, M: 8, V: 1, Ranks: ranks, Evaluation: seconds, Busy: seconds, Bandwidth: 1e9, Bound: -12.5}
	}
	printRanks(&out, []ranksLine{line(1, 8), line(2, 4.125)})
	testkit.Contains(t, out.String(), "N = 1000, M = 8, V = 1", "4.125", "-12.5")
	for text, ok := range map[string]bool{"": false, `{"bench":"ranks","ranks":2,"seconds_per_evaluation":1}`: true, `{"bench":"long"}`: false, "{": false} {
		path := filepath.Join(t.TempDir(), "lines.jsonl")
		testkit.OK(t, os.WriteFile(path, []byte(text+"\n"), 0o666))
		if err := bench("ranks", "-show", "-out", path); (err == nil) != ok || !ok && exitCode(err) != 2 {
			t.Errorf("%q: error %v", text, err)
		}
	}
}
