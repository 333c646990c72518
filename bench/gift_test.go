package main

import (
	"encoding/csv"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/bench/internal/gift"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/testkit"
)

// fakeVSSGP is a shell script that replaces vssgp forecast. All quantiles are the last known value plus the value of a
// flag --add.
const fakeVSSGP = `#!/bin/sh
test "$1 $3 $5 $7 $8 $9" = "forecast --horizon -o --seed 1 --quiet" -a "$GOMAXPROCS" = 1 || exit 3
in=$2 rows=$4 out=$6
shift 9
test "$1 $2" = "--quantiles 0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,0.025,0.975" || exit 4
grep -q '^month,y$' "$in" && grep -q '^2000-12,' "$in" || { echo "a start of 2000 is required" >&2; exit 2; }
y=$(($(sed -n '/,./s/.*,//p' "$in" | tail -1) + ${4:-0}))
{
  echo month,y_mean,y_q0.025,y_q0.1,y_q0.2,y_q0.3,y_q0.4,y_q0.5,y_q0.6,y_q0.7,y_q0.8,y_q0.9,y_q0.975
  while test "$rows" -gt 0; do
    v=$y
    test "$rows" -le 2 || v=99 # in place of a missing value before the rows that are asked for
    echo "0,$v,$v,$v,$v,$v,$v,$v,$v,$v,$v,$v,$v"
    rows=$((rows - 1))
  done
} >"$out"
`

// fakePeer is a shell script that replaces Python and forecasts the first series.
const fakePeer = `#!/bin/sh
grep -q '"set":"hospital/M","series":"A","origin":13,"season":12,' "$2" && test "$4" = autoets || exit 3
echo '{"set":"hospital/M","series":"A","origin":13,"method":"autoets","mean":[5,7],"sd":[1,1],"status":"ok"}' >>"$3"
`

// giftFolder returns a folder with a data file, a build of vssgp under two names, and a peer.
func giftFolder(t *testing.T) (in func(name string) string) {
	dir := t.TempDir()
	in = func(name string) string { return filepath.Join(dir, name) }
	testkit.OK(t, os.Mkdir(in("benchmarks"), 0o777))
	past := `"start":"2000-01","train":[2,2,2,2,2,2,2,2,2,2,2,3,4]`
	for name, text := range map[string]string{
		"old": fakeVSSGP, "new": strings.Replace(fakeVSSGP, "${4:-0}", "1", 1), "python": fakePeer,
		"benchmarks/hospital.jsonl": `{"name":"A",` + past + `,"test":[6,6]}` + "\n" +
			`{"name":"B",` + strings.Replace(past, "4]", "4,null]", 1) + `,"test":[8,8]}` + "\n" +
			`{"name":"C",` + past + `,"test":[5,3]}` + "\n",
		"benchmarks/gift_published.csv": "hospital/M/short,best,0.1,0.01,1\n",
	} {
		testkit.OK(t, os.WriteFile(in(name), []byte(text), 0o777))
	}
	return in
}

// TestGift checks the lines of two builds, the seasonal naive forecast, a peer and a published entry, that more
// processes at a time change nothing, and that a task without a file is skipped.
func TestGift(t *testing.T) {
	in := giftFolder(t)
	common := []string{"-data", in("."), "-task", "hospital/M,nn5/D", "-out", in("lines.jsonl")}
	run := func(args ...string) []gift.Line {
		t.Helper()
		testkit.OK(t, bench("gift", slices.Concat(common, args)...))
		lines := testkit.Must(jsonl.Read[gift.Line](in("lines.jsonl"), nil))(t)
		for i := range lines {
			lines[i].Time, lines[i].Seconds, lines[i].Machine = "", 0, machine.Machine{}
			if r := lines[i].Ratios; r != nil {
				if lines[i].Base != "old" || !(r.MASE < -0.3 && r.CRPS < -0.3 && r.MASESE > 0.1) {
					t.Errorf("%s relative to %s: %+v", lines[i].Method, lines[i].Base, *r)
				}
				lines[i].Ratios = nil
			}
		}
		return lines
	}
	commands := in("old") + "," + in("new")
	lines := run("-command", commands, "-parallel", "1", "-csv", in("all_results.csv"))
	for i, want := range []gift.Line{
		{Method: "old", Rank: 2, Entries: 2, Rows: 6, Scores: gift.Scores{MASE: (2.0 + 4 + 1) / 3 / 2, MAE: 7.0 / 3}},
		{Method: "new", Rank: 2, Entries: 2, Rows: 6, Scores: gift.Scores{MASE: (1.0 + 3 + 1) / 3 / 2, MAE: 5.0 / 3,
			Coverage: 1.0 / 6}},
		{Method: "seasonal_naive", Rank: 2, Entries: 2, Rows: 6},
		{Method: "best", Published: true, Scores: gift.Scores{MASE: 0.1, CRPS: 0.01, MSIS: 1}},
	} {
		got := lines[i]
		if got.Method != want.Method || got.Rank != want.Rank || got.Entries != want.Entries || got.Rows != want.Rows ||
			got.Published != want.Published || got.Forecasts != 3 || got.Half != gift.Both || got.Status != machine.OK ||
			i != 2 && (math.Abs(got.MASE-want.MASE) > 1e-12 || math.Abs(got.MAE-want.MAE) > 1e-12 ||
				math.Abs(got.Coverage-want.Coverage) > 1e-12) {
			t.Errorf("line %d: %+v, want %+v", i, got, want)
		}
	}
	if again := run("-command", commands, "-parallel", "3"); !slices.Equal(again, lines) {
		t.Errorf("three at a time: %+v, want %+v", again, lines)
	}
	rows := testkit.Must(csv.NewReader(testkit.Must(os.Open(in("all_results.csv")))(t)).ReadAll())(t)
	if len(rows) != 2 || rows[1][0] != "hospital/M/short" || rows[1][1] != "old" ||
		rows[0][11] != "eval_metrics/ND[0.5]" || !strings.HasPrefix(rows[1][11], "0.38888888") {
		t.Errorf("leaderboard: %q, want an ND of 7/18", rows)
	}
	lines = run("-command", in("old"), "-half", "development", "-series", "1", "-peers", "autoets", "-write", in("w"),
		"-python", in("python"), "-args", "--x 1")
	peer := lines[slices.IndexFunc(lines, func(l gift.Line) bool { return l.Method == "autoets" })]
	if peer.Status != machine.OK || peer.MASE != 0.5 || peer.Forecasts != 1 || peer.Half != "development" {
		t.Errorf("peer: %+v, want the scores of errors of 1", peer)
	}
	if flagged := lines[4]; flagged.Method != "old --x 1" || flagged.MASE != 0.5 {
		t.Errorf("-args: %+v, want the flags in the name and in effect", flagged)
	}
	testkit.OK(t, bench("gift", append(common, "-show")...))
}

// TestGiftFails checks that a failed forecast is the status of its method, and that wrong flags are usage errors.
func TestGiftFails(t *testing.T) {
	in := giftFolder(t)
	text := strings.ReplaceAll(string(testkit.Must(os.ReadFile(in("benchmarks/hospital.jsonl")))(t)), "2000-01", "2001-01")
	testkit.OK(t, os.WriteFile(in("benchmarks/hospital.jsonl"), []byte(text), 0o666))
	common := []string{"-data", in("."), "-task", "hospital/M", "-out", in("lines.jsonl")}
	testkit.OK(t, bench("gift", append(common, "-command", in("old"))...))
	lines := testkit.Must(jsonl.Read[gift.Line](in("lines.jsonl"), nil))(t)
	want := "3 of 3 forecasts failed; first, A: exit status 2: a start of 2000 is required"
	if lines[0].Status != want || lines[0].MASE != 0 || lines[1].Status != machine.OK {
		t.Errorf("status %q, want %q", lines[0].Status, want)
	}
	for _, args := range [][]string{
		{"-task", "x"}, {"-half", "x"}, {"-series", "-1"}, {"-parallel", "0"}, {"-peers", "ucm"}, {"-peers", "theta"}, {"x"},
		{"-csv", in("a.csv"), "-series", "1"}, {"-command", in("old") + "," + in("w/old")}, {"-command", in("none")},
		{"-command", in("old"), "-csv", in("none/a.csv")},
	} {
		err := bench("gift", append(common, args...)...)
		if err == nil || exitCode(err) != 2 {
			t.Errorf("%q: error %v, want a usage error", args, err)
		}
	}
	err := bench("gift", append(common, "-command", in("old"), "-csv", in("a.csv"))...)
	if err == nil || !strings.Contains(err.Error(), "no scores of old") {
		t.Errorf("-csv without scores: error %v", err)
	}
	if _, err := os.Stat(in("a.csv")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty file was written")
	}
}
