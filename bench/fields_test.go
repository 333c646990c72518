package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestFields checks the lines of fits to a made field, the table, and files that are rejected.
func TestFields(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "made.csv"), filepath.Join(dir, "out.jsonl")
	var b strings.Builder
	b.WriteString("a,b,z,f,part\n")
	for i := range 150 {
		u, v := math.Mod(float64(i)*0.618034, 1), math.Mod(float64(i)*0.754878, 1)
		f := math.Sin(4*u) * math.Cos(3*v)
		part := i % 2
		if math.Abs(u-0.5) < 0.1 && math.Abs(v-0.5) < 0.1 {
			part = 2
		}
		fmt.Fprintf(&b, "%g,%g,%g,%g,%d\n", u, v, f+0.1*math.Sin(float64(77*i*i)), f, part)
	}
	testkit.OK(t, os.WriteFile(file, []byte(b.String()), 0o666))
	testkit.OK(t, bench("fields", "-out", out, file))
	lines, err := jsonl.Read[fieldLine](out, nil)
	if err != nil || len(lines) != 4 {
		t.Fatalf("%d lines, %v, want 4", len(lines), err)
	}
	for i, l := range lines {
		if l.Part != fieldParts[1+i%2] || l.Method != fieldMethods[i/2].name || l.Field != "made" || l.N < 60 {
			t.Errorf("line %d: %+v", i, l)
		}
		if !(l.RMSE > 0.05 && l.RMSE < 0.5) || math.IsNaN(l.NLPD) || l.Coverage < 0.5 || l.Seconds <= 0 {
			t.Errorf("line %d: %+v", i, l)
		}
	}
	var shown strings.Builder
	testkit.OK(t, showFields(&shown, lines))
	if got := shown.String(); strings.Count(got, "\n") != 6 || strings.Count(got, "+0.0 ± 0.0 %") != 2 {
		t.Errorf("table\n%s", got)
	}
	testkit.OK(t, bench("fields", "-show", out))
	testkit.OK(t, bench("fields", "-method", "default", "-out", out, file))
	if lines, err := jsonl.Read[fieldLine](out, nil); err != nil || len(lines) != 6 {
		t.Errorf("%d lines after one more fit, %v, want 6", len(lines), err)
	}
	err = bench("fields", "-method", "none", file)
	if err == nil || !strings.Contains(err.Error(), "must be default or drawn") {
		t.Errorf("error %v of an unknown method", err)
	}
	for text, want := range map[string]string{"a,b\n1,2\n": "2 columns", "a,b,z,f,part\n1,2,3,3,4\n": "part 4"} {
		testkit.OK(t, os.WriteFile(file, []byte(text), 0o666))
		if err := bench("fields", file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}
