package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestMain runs the test program as bench if its first argument is a subcommand, because `bench long` runs its own
// executable.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && commands[os.Args[1]] != nil {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestFitSlope(t *testing.T) {
	n := []float64{1e5, 1e6, 1e7}
	law := func(p float64, off ...float64) (y []float64) {
		for i := range n {
			y = append(y, 3*math.Pow(n[i], p)*math.Exp(off[i]))
		}
		return y
	}
	l := math.Log(10)
	for _, c := range []struct {
		name  string
		n, y  []float64
		p, se float64
	}{
		{"linear", n, law(1, 0, 0, 0), 1, 0},
		{"cube", n, law(3, 0, 0, 0), 3, 0},
		// Residuals (1, −2, 1)·e do not change the slope. Their sum of squares is 6e².
		{"bent", n, law(1, 0.1, -0.2, 0.1), 1, math.Sqrt(6 * 0.01 / 1 / (2 * l * l))},
		{"two points", n[:2], law(2, 0, 0, 0)[:2], 2, math.NaN()},
	} {
		s, ok := fitSlope(c.n, c.y)
		if !ok || math.Abs(s.p-c.p) > 1e-12 || math.Abs(s.se-c.se) > 1e-7 || math.IsNaN(s.se) != math.IsNaN(c.se) || s.points != len(c.n) {
			t.Errorf("%s: %+v, %v; want %v ± %v", c.name, s, ok, c.p, c.se)
		}
	}
	for _, few := range [][]float64{nil, {1e5}, {1e5, 1e5}} {
		if s, ok := fitSlope(few, few); ok {
			t.Errorf("slope %v for N = %v, want none", s, few)
		}
	}
}

func TestLengths(t *testing.T) {
	for _, c := range []struct {
		from, to float64
		per      int
		want     []int
	}{
		{1e4, 1e6, 1, []int{10000, 100000, 1000000}}, {1e4, 1e5, 2, []int{10000, 31623, 100000}},
		{1e4, 2e5, 1, []int{10000, 100000, 200000}}, {500, 500, 3, []int{500}},
	} {
		if got := (&longTask{from: c.from, to: c.to, per: c.per}).lengths(); !slices.Equal(got, c.want) {
			t.Errorf("%g to %g by %d: %v, want %v", c.from, c.to, c.per, got, c.want)
		}
	}
}

// TestTooMuch checks the limits of dense (time ∝ N·M², 16·M² bytes), tables and celerite (time ∝ N). Windows have no
// limit.
func TestTooMuch(t *testing.T) {
	r := &longTask{limit: 10}
	r.machine.Memory = 1 << 30
	line := func(method string, n, m, terms int, seconds float64) *longLine {
		l := &longLine{longKey: longKey{Method: method, N: n, Terms: terms}, M: m}
		l.Evaluation = seconds
		return l
	}
	for _, c := range []struct {
		l, before *longLine
		want      string
	}{
		{line(methodWindows, 1e7, 1e6, 0, 0), line(methodWindows, 1e6, 1e5, 0, 100), ""},
		{line(methodDense, 2000, 200, 0, 0), line(methodDense, 1000, 100, 0, 1.2), ""},
		{line(methodDense, 2000, 200, 0, 0), line(methodDense, 1000, 100, 0, 1.3), "an evaluation would take 10.4 s"},
		{line(methodDense, 1000, 7700, 0, 0), nil, ""},
		{line(methodDense, 1000, 7800, 0, 0), nil, "the arrays need 1 GiB"},
		{line(methodTables, 1e7, 400, 0, 0), line(methodTables, 1e6, 400, 0, 0.1), ""},
		{line(methodTables, 1e8, 400, 0, 0), line(methodTables, 1e7, 400, 0, 0.1), "the arrays need 6 GiB"},
		{line(methodValue, 1e6, 0, 10, 0), line(methodValue, 1e5, 0, 10, 1.1), "would take 11 s"},
		{line(methodValue, 1e6, 0, 10, 0), line(methodValue, 1e5, 0, 10, 0.9), ""},
		{line(methodGradient, 1e6, 0, 10, 0), nil, "the arrays need 4 GiB"},
		{line(methodGradient, 1e5, 0, 10, 0), nil, ""},
	} {
		if got := r.tooMuch(c.l, c.before); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s, N = %d, M = %d: %q, want %q", c.l.label(), c.l.N, c.l.M, got, c.want)
		}
	}
}

// fakeCelerite is a shell script that replaces Python. The time of values grows with N,
// and the library for gradients is missing.
const fakeCelerite = `#!/bin/sh
test -s "$1" && test "$2 $4 $6 $8" = "--n --terms --mode --repeats" || exit 3
case "$7" in
value) echo '{"peer":"celerite2","version":"9","n":'$3',"seconds_per_evaluation":0.'$3',"seconds_range":[0,1],"peak_bytes":1048576,"status":"ok"}' ;;
gradient) echo '{"peer":"celerite2","status":"missing: No module named celerite2"}' ;;
esac
`

// TestLongMeasuresInProcesses checks a small run with separate processes, a second run with another Python,
// which replaces lines, and the table of the lines.
func TestLongMeasuresInProcesses(t *testing.T) {
	dir := t.TempDir()
	python, out := filepath.Join(dir, "python"), filepath.Join(dir, "small.jsonl")
	testkit.OK(t, os.WriteFile(python, []byte(fakeCelerite), 0o777))
	args := []string{"-from", "1000", "-to", "4000", "-per", "2", "-features", "4", "-window", "64", "-terms", "3", "-tables", "40", "-fit", "1", "-limit", "1000", "-out", out}
	testkit.OK(t, bench("long", append(args, "-python", python)...))
	lines := testkit.Must(jsonl.Read(out, (*longLine).check))(t)
	checkLong(t, lines)
	testkit.OK(t, bench("long", append(args, "-dense=false", "-to", "1000", "-python", filepath.Join(dir, "none"))...))
	again, err := jsonl.Read(out, (*longLine).check)
	if err != nil || len(again) != len(lines) {
		t.Fatalf("%d lines after %d, %v: want no additional lines", len(again), len(lines), err)
	}
	if i := slices.IndexFunc(again, func(l longLine) bool { return l.Method == methodValue }); !strings.HasPrefix(again[i].Status, "missing: ") {
		t.Errorf("%+v, want the new line with Python missing", again[i])
	}
	testkit.OK(t, bench("long", "-show", "-out", out))
}

// checkLong checks the lines of TestLongMeasuresInProcesses: three lengths of windows, dense, tables and values, and one of gradients.
func checkLong(t *testing.T, lines []longLine) {
	t.Helper()
	count := map[string]int{}
	for _, l := range lines {
		count[l.Method]++
		timed := l.Status == machine.OK
		windows := (l.N-1+31)/32 + 1 // centers 0, 32, … up to the last row or after it
		switch {
		case timed != (l.Method != methodGradient) || timed != (l.Evaluation > 0) || l.Time == "" || l.Go == "":
			t.Errorf("%+v", l)
		case l.Method == methodGradient && l.Status != "missing: No module named celerite2":
			t.Errorf("%s: status %q", l.label(), l.Status)
		case l.Method == methodValue && (l.Version != "9" || l.Evaluation != digitsOf(l.N) || l.HostBytes != 1<<20 || l.Terms != 3):
			t.Errorf("%+v", l)
		case l.Method == methodTables && (l.M != 40 || l.V != 0 || l.Sums != fromTables || l.Tables == nil):
			t.Errorf("%+v", l)
		case l.Window > 0 && (l.M != 4*windows || l.Bound == nil):
			t.Errorf("%s, N = %d: %d features, want 4 in each of %d windows", l.label(), l.N, l.M, windows)
		case (l.Method == methodWindows) != (l.Fit != nil) || l.Fit != nil && (l.Fit.Iterations != 1 || !(l.Fit.Bound > *l.Bound) || l.Fit.Seconds <= 0):
			t.Errorf("%s, N = %d: fit %+v", l.label(), l.N, l.Fit)
		}
	}
	if want := map[string]int{methodWindows: 3, methodDense: 3, methodTables: 3, methodValue: 3, methodGradient: 1}; !reflect.DeepEqual(count, want) {
		t.Errorf("lines %v, want %v", count, want)
	}
	var table bytes.Buffer
	printLong(&table, lines)
	testkit.Contains(t, table.String(), "windows of 64, 4 features", "dense", "exact, by tables, M = 40", "J = 6, value", "missing: No module",
		" 3162 ", " (1)")
}

// digitsOf returns the time that fakeCelerite prints.
func digitsOf(n int) (v float64) {
	fmt.Sscanf(fmt.Sprintf("0.%d", n), "%g", &v)
	return v
}

// TestLongSlopes checks that slopes use only lines with at least slopeFrom rows.
func TestLongSlopes(t *testing.T) {
	var lines []longLine
	for _, n := range []int{1e4, 1e5, 1e6, 1e7} {
		l := longLine{Bench: "long", longKey: longKey{Method: methodWindows, N: n, Features: 4, Window: 64}, timing: timing{Evaluation: 1e-6 * float64(n), HostBytes: int64(n) << 10, Status: machine.OK}}
		if n == 1e4 {
			l.Evaluation = 1 // an outlier that must be ignored
		}
		lines = append(lines, l)
	}
	lines = append(lines, longLine{longKey: longKey{Method: methodDense, N: 1e5, Features: 4, Window: 64}, timing: timing{Status: "not run"}})
	var out bytes.Buffer
	printLong(&out, lines)
	if text := out.String(); strings.Count(text, "1.000 ± 0.000, 3 lengths") != 2 {
		t.Error(text)
	}
}

// TestLongInterrupted checks that an interrupted measurement writes no line.
func TestLongInterrupted(t *testing.T) {
	out := filepath.Join(t.TempDir(), "o.jsonl")
	o := parsed[*longTask](t, "long", "-from 2000 -to 2000 -window 64 -out "+out)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := o.measure(ctx, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("the file of lines exists")
	}
}
