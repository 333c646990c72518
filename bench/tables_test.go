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
	"github.com/vssgp/vssgp/internal/testkit/matrix"
)

// TestTables checks the lines of fits to splits, the table, and the written splits.
func TestTables(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "made.csv"), filepath.Join(dir, "out.jsonl")
	var b strings.Builder
	b.WriteString("a,b,y\n")
	for i := range 60 {
		x, z := math.Mod(float64(i)*0.618034, 1), math.Mod(float64(i)*0.414214, 1)*3
		fmt.Fprintf(&b, "%g,%g,%g\n", x, z+float64(i)/1e3, math.Sin(4*x)+z*z+0.1*math.Sin(float64(77*i)))
	}
	testkit.OK(t, os.WriteFile(file, []byte(b.String()), 0o666))
	testkit.OK(t, bench("tables", "-splits", "2", "-features", "10", "-drawn", "20", "-out", out, file))
	lines, err := jsonl.Read[tableLine](out, nil)
	if err != nil || len(lines) != 6 {
		t.Fatalf("%d lines, %v, want 6", len(lines), err)
	}
	for i, l := range lines {
		if want := []int{0, 10, 20}[i%3]; want > 0 && l.K != want || l.K == 0 || l.N != 54 || l.Split != i/3 {
			t.Errorf("line %d: K = %d, %d rows, split %d", i, l.K, l.N, l.Split)
		}
		if !(l.RMSE > 0 && l.RMSE < 3) || math.IsNaN(l.NLPD) || l.Coverage < 0.3 || l.Seconds <= 0 {
			t.Errorf("line %d: %+v", i, l)
		}
	}
	var shown strings.Builder
	if err := showTables(&shown, lines); err != nil || strings.Count(shown.String(), "\n") != 5 || !strings.Contains(shown.String(), "| made | vssgp K=10 | 2 |") {
		t.Errorf("%v, table:\n%s", err, &shown)
	}
	testDump(t, dir, file)
	testOutputs(t, lines[0])
}

// testOutputs checks that the table has a row for each output, with its own scores.
func testOutputs(t *testing.T, l tableLine) {
	mean, sd, y := []float64{0, 0, 0, 0}, []float64{1, 1, 1, 1}, []float64{1, 5, -1, 5}
	l.Table, l.Outputs = "two", []tableScore{scoreTable(mean, sd, y, 0, 2), scoreTable(mean, sd, y, 1, 2)}
	var shown strings.Builder
	testkit.OK(t, showTables(&shown, []tableLine{l}))
	testkit.Contains(t, shown.String(), "| two, output 1 | default | 1 | 1 | 1.419 | 1.000 |",
		"| two, output 2 | default | 1 | 5 | 13.419 | 0.000 |")
}

// testDump checks that the written parts are the parts that are fitted, that they contain every row once, and that
// splits differ.
func testDump(t *testing.T, dir, file string) {
	testkit.OK(t, bench("tables", "-splits", "1", "-dump", dir, file))
	whole := testkit.Must(matrix.ReadFull(file))(t)
	train, test, err := splitTable(whole, 1, 0)
	testkit.OK(t, err)
	seen := map[float64]int{}
	for part, n := range map[string]int{"train": train.N, "test": test.N} {
		p, err := matrix.ReadFull(filepath.Join(dir, "made.0."+part+".csv"))
		if err != nil || p.Rows != n || p.Names[2] != "y" {
			t.Fatalf("%s: %v, %+v", part, err, p)
		}
		for r := range p.Rows {
			seen[p.Data[3*r+1]]++
		}
	}
	if len(seen) != whole.Rows {
		t.Errorf("the parts have %d rows, want all %d once", len(seen), whole.Rows)
	}
	if other, _, _ := splitTable(whole, 1, 1); other.X[0] == train.X[0] && other.X[2] == train.X[2] {
		t.Error("two splits are equal")
	}
}
