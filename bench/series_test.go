package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/bench/internal/forecasts"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/testkit"
)

// fakeForecaster is a shell script that replaces Python and forecasts one expected problem.
const fakeForecaster = `#!/bin/sh
test -s "$1" && grep -q '"y":\[3,1,4,1\],"at":\[4,5\]}' "$2" && test "$4 $5" = "ets theta" || exit 3
echo '{"set":"m4-weekly","series":"W1","origin":4,"method":"ets","version":"9","mean":[5,7],"sd":[1,1],"seconds":2,"status":"ok"}' >>"$3"
echo '{"set":"m4-weekly","series":"W1","origin":4,"method":"theta","status":"failed: no"}' >>"$3"
`

// TestSeries checks that methods and peers forecast the same problems, that a later run replaces their lines, and that
// -show prints them.
func TestSeries(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"python": fakeForecaster, "m4_weekly_dev.jsonl": `{"name":"W1","train":[3,1,4,1],"test":[5,9]}` + "\n",
	} {
		testkit.OK(t, os.WriteFile(in(name), []byte(text), 0o777))
	}
	common := []string{"-set", "m4-weekly", "-data", dir, "-out", in("lines.jsonl")}
	peers := []string{"-write", in("w"), "-python", in("python"), "-peers", "ets,theta"}
	testkit.OK(t, bench("series", slices.Concat(common, peers)...))
	if err := bench("series", append(common, "-method", "drift")...); err != nil { // its line replaces the line of the first run
		t.Fatal(err)
	}
	lines, err := jsonl.Read[forecasts.Line](in("lines.jsonl"), nil)
	if err != nil || len(lines) != len(forecasts.Methods())+2 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	at := slices.IndexFunc(lines, func(l forecasts.Line) bool { return l.Method == "ets" })
	if at < 0 || lines[at].Status != machine.OK || lines[at].MAE != 1 || lines[at].Version != "9" || lines[at].Seconds != 2 {
		t.Errorf("%+v, want the scores of errors 0 and 2", lines)
	}
	if l := lines[len(lines)-1]; l.Method != "theta" || !strings.Contains(l.Status, "failed: no") {
		t.Errorf("%+v, want a failed peer", l)
	}
	var drawn bytes.Buffer
	forecasts.Print(&drawn, lines, "naive", 0)
	if !strings.Contains(drawn.String(), "| ets |") || bench("series", append(common, "-show")...) != nil {
		t.Errorf("drawn:\n%s", drawn.String())
	}
	if err := bench("series", append(common, in("none.jsonl"))...); err == nil || !strings.Contains(err.Error(), "none.jsonl") {
		t.Errorf("missing file of forecasts: error %v", err)
	}
}
