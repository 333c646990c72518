package main

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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
	testkit.OK(t, bench("tables", "-splits", "2", "-features", "10", "-drawn", "20,0", "-out", out, file))
	lines, err := jsonl.Read[tableLine](out, nil)
	if err != nil || len(lines) != 8 {
		t.Fatalf("%d lines, %v, want 8", len(lines), err)
	}
	for i, l := range lines {
		if want := []int{2, 10, 20, 500}[i%4]; l.K != want || l.N != 54 || l.Split != i/4 {
			t.Errorf("line %d: K = %d, %d rows, split %d", i, l.K, l.N, l.Split)
		}
		if !(l.RMSE > 0 && l.RMSE < 3) || math.IsNaN(l.NLPD) || l.Coverage < 0.3 || l.Seconds <= 0 {
			t.Errorf("line %d: %+v", i, l)
		}
	}
	var shown strings.Builder
	if err := showTables(&shown, lines); err != nil || strings.Count(shown.String(), "\n") != 6 ||
		!strings.Contains(shown.String(), "| made | vssgp K=10 | 2 |") {
		t.Errorf("%v, table:\n%s", err, &shown)
	}
	testDump(t, dir, file)
	testOutputs(t, lines[0])
}

// TestChanges compares the differences of two methods with numbers computed by hand: errors of half, the same and twice
// the first method's have a ratio of 1 with a standard error of log 2/√3 = 0.40, and NLPDs that differ by −1, 0 and 4
// have a mean difference of 1 with a standard error of √(14/2/3) = 1.53.
func TestChanges(t *testing.T) {
	line := func(split int, method string, rmse, nlpd float64) tableLine {
		return tableLine{Table: "a", Split: split, Method: method, RMSE: rmse, NLPD: nlpd, Status: "ok"}
	}
	both := []tableLine{
		line(0, "first", 2, 1), line(1, "first", 4, 2), line(2, "first", 8, 3), line(3, "first", 100, 9),
		line(0, "other", 1, 0), line(1, "other", 4, 2), line(2, "other", 16, 7), line(4, "other", 100, 9),
	}
	both[4].K, both[5].K, both[6].K, both[7].K = 500, 300, 400, 500
	failed := line(3, "other", 0, 0)
	failed.Status = "failed"
	for name, c := range map[string]struct {
		lines []tableLine
		want  string
	}{
		"the same lines": {both[:4], "| a | first | 4 | 28.5 |  | 3.750 |  | 0.000 |"},
		"three common splits": {
			append(both, failed),
			"| a | other | 4 | 30.25 | +0.0 ± 40.0 % | 4.500 | +1.000 ± 1.528 | 0.000 | 0.00 | 300 to 500 |",
		},
		"one common split": {both[:5], "| a | other | 1 | 1 | -50.0 % | 0.000 | -1.000 | 0.000 | 0.00 | 500 |"},
		"no common split":  {[]tableLine{both[0], both[7]}, "| a | other | 1 | 100 |  | 9.000 |  | 0.000 |"},
		"the first has failed": {
			[]tableLine{failed, both[3]},
			"| a | other | failed |\n| a | first | 1 | 100 |  | 9.000 |  |",
		},
	} {
		var shown strings.Builder
		testkit.OK(t, showTables(&shown, c.lines))
		if !strings.Contains(shown.String(), c.want) {
			t.Errorf("%s: table\n%swant %s", name, &shown, c.want)
		}
	}
}

// TestSplitsOfFolder checks that the splits in a folder, with and without holes, are fitted like the splits that were
// written to it, and that invalid folders are rejected.
func TestSplitsOfFolder(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	file, dump, out := in("two.outputs.csv"), in("dump"), in("out.jsonl")
	var b strings.Builder
	b.WriteString("a,b,y,z\n")
	for i := range 60 {
		u, v := math.Mod(float64(i)*0.618034, 1), math.Mod(float64(i)*0.754878, 1)
		y, z := math.Sin(4*u)+0.1*math.Sin(float64(77*i)), u*v+0.1*math.Cos(float64(55*i))
		fmt.Fprintf(&b, "%g,%g,%g,%g\n", u, v, y, z)
	}
	testkit.OK(t, os.WriteFile(file, []byte(b.String()), 0o666))
	for _, holes := range []string{"0", "60"} {
		flags := []string{"-outputs", "2", "-splits", "2", "-holes", holes}
		testkit.OK(t, bench("tables", append(flags, "-out", out, file)...))
		testkit.OK(t, bench("tables", append(flags, "-dump", dump, file)...))
		testkit.OK(t, bench("tables", "-outputs", "2", "-out", out, dump))
	}
	lines := testkit.Must(jsonl.Read[tableLine](out, nil))(t)
	if len(lines) != 8 {
		t.Fatalf("%d lines, want 8", len(lines))
	}
	for i := range lines {
		lines[i].Time, lines[i].Seconds = "", 0
		if at := i - 2; i%4 >= 2 && !reflect.DeepEqual(lines[i], lines[at]) {
			t.Errorf("line of the folder\n%+v\nof the file\n%+v", lines[i], lines[at])
		}
	}
	l := lines[3]
	if l.Table != "two.outputs" || l.Split != 1 || len(l.Places) != 0 || len(lines[7].Places) != 2 {
		t.Errorf("%+v\n%+v", lines[3], lines[7])
	}
	testInvalidSplits(t)
}

// testInvalidSplits checks the errors of folders with invalid files.
func testInvalidSplits(t *testing.T) {
	const text = "a,y\n1,2\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"empty":     {nil, "no splits"},
		"no number": {map[string]string{"a.train.csv": text}, "must be named TABLE.NUMBER.train.csv"},
		"no test":   {map[string]string{"a.0.train.csv": text}, "a.0.test.csv"},
		"no inputs": {map[string]string{"a.0.train.csv": "y\n1\n"}, "1 outputs in 1 columns"},
		"empty cells": {
			map[string]string{"a.0.train.csv": text, "a.0.test.csv": text, "a.0.holes.csv": "a,y\n,1\n"},
			"a.0.holes.csv",
		},
	} {
		dir := t.TempDir()
		for file, text := range c.files {
			testkit.OK(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666))
		}
		if err := bench("tables", dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

// TestHoles compares the rows in holes with the rows that a search of the holes' limits finds, and checks their sizes,
// that splits differ, and that each row is in one part.
func TestHoles(t *testing.T) {
	const side, holes = 100, 12
	grid := &matrix.Matrix{Names: []string{"a", "b", "y"}, Rows: side * side, Cols: 3}
	for i := range side {
		for j := range side {
			grid.Data = append(grid.Data, 10*float64(i), float64(j)/100-5, float64(i*side+j))
		}
	}
	outside, inside := punch(grid, holes, 1)
	if outside.Rows+inside.Rows != grid.Rows || len(inside.Data) != 3*inside.Rows || inside.Cols != 3 {
		t.Fatalf("%d rows outside and %d inside of %d", outside.Rows, inside.Rows, grid.Rows)
	}
	// Each hole has 4² to 8² or, rounded to the grid, at most 9² points; they may overlap.
	if inside.Rows < 4*4*holes/2 || inside.Rows > 9*9*holes {
		t.Errorf("%d rows in %d holes", inside.Rows, holes)
	}
	checkHoleShapes(t, inside, side)
	if _, other := punch(grid, holes, 2); slices.Equal(other.Data, inside.Data) {
		t.Error("two splits have the same holes")
	}
	o := &tablesTask{outputs: 1, holes: holes}
	train, tests, err := o.parts(grid, 1)
	testkit.OK(t, err)
	points, hidden := tests[0], tests[1]
	if points.N != outside.Rows/10 || hidden.N != inside.Rows || train.N != outside.Rows-points.N ||
		hidden.place != holesPlace {
		t.Errorf("%d rows for training, %d points, %d in holes", train.N, points.N, hidden.N)
	}
	seen := map[float64]bool{}
	for _, y := range slices.Concat(train.Y, points.Y, hidden.Y) {
		seen[y] = true
	}
	if len(seen) != grid.Rows {
		t.Errorf("the parts have %d different rows, want %d", len(seen), grid.Rows)
	}
}

// checkHoleShapes checks that the connected parts of one hole alone are rectangles of 4 to 8 % of the range along both
// inputs. Parts of overlapping holes are larger or not rectangles.
func checkHoleShapes(t *testing.T, inside *matrix.Matrix, side int) {
	t.Helper()
	left := map[[2]int]bool{}
	for row := range slices.Chunk(inside.Data, 3) {
		left[[2]int{int(row[2]) / side, int(row[2]) % side}] = true
	}
	single := 0
	ascending := func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }
	for _, from := range slices.SortedFunc(maps.Keys(left), ascending) {
		low, high, count, open := from, from, 0, [][2]int{from}
		for len(open) > 0 {
			at := open[0]
			if open = open[1:]; !left[at] {
				continue
			}
			delete(left, at)
			count++
			for q := range at {
				low[q], high[q] = min(low[q], at[q]), max(high[q], at[q])
				up, down := at, at
				up[q]++
				down[q]--
				open = append(open, up, down)
			}
		}
		long := [2]int{high[0] - low[0] + 1, high[1] - low[1] + 1}
		if count == 0 || long[0]*long[1] != count || max(long[0], long[1]) > 9 {
			continue
		}
		single++
		if min(long[0], long[1]) < 3 || max(long[0], long[1])-min(long[0], long[1]) > 1 {
			t.Errorf("a hole of %v points, want a square of 4 to 8 %% of %d", long, side)
		}
	}
	if single < 4 {
		t.Errorf("%d single holes, want most of 12", single)
	}
}

// TestMapTable checks the lines of a map: scores by place, which are in the table, the peers that have only a mean, and
// the written splits.
func TestMapTable(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "map.csv"), filepath.Join(dir, "out.jsonl")
	var b strings.Builder
	b.WriteString("a,b,y\n")
	for i := range 400 {
		y, x := float64(i/20), float64(i%20)
		fmt.Fprintf(&b, "%g,%g,%g\n", y, x, math.Sin(y/5)+math.Cos(x/4)+0.1*math.Sin(float64(77*i)))
	}
	testkit.OK(t, os.WriteFile(file, []byte(b.String()), 0o666))
	testkit.OK(t, bench("tables", "-splits", "1", "-holes", "12", "-out", out, file))
	lines := testkit.Must(jsonl.Read[tableLine](out, nil))(t)
	l := lines[0]
	if len(lines) != 1 || len(l.Places) != 2 || l.RMSE <= 0 || l.RMSE > 0.5 {
		t.Fatalf("%+v", lines)
	}
	a, c := l.Places["points"].RMSE, l.Places["holes"].RMSE
	if !(min(a, c) > 0 && min(a, c) <= l.RMSE && l.RMSE <= max(a, c)) {
		t.Errorf("RMSE %v of all rows, %+v by place", l.RMSE, l.Places)
	}
	peer := l
	peer.Method, peer.MeanOnly = "linear", true
	peer.Places = tablePlaces{"holes": {RMSE: 2 * c}, "points": {RMSE: a}}
	var shown strings.Builder
	testkit.OK(t, showTables(&shown, []tableLine{l, peer}))
	testkit.Contains(t, shown.String(), "| map, holes | default | 1 |", "| map, points | default | 1 |",
		fmt.Sprintf("| map, holes | linear | 1 | %.4g | +100.0 %% | – | – | – |", 2*c),
		fmt.Sprintf("| map, points | linear | 1 | %.4g | +0.0 %% | – | – | – |", a))

	dump := filepath.Join(dir, "dump")
	testkit.OK(t, bench("tables", "-splits", "1", "-holes", "12", "-dump", dump, file))
	rows := 0
	for _, part := range []string{"train", "test", "holes"} {
		rows += testkit.Must(matrix.ReadFull(filepath.Join(dump, "map.0."+part+".csv")))(t).Rows
	}
	if rows != 400 {
		t.Errorf("the written parts have %d rows, want 400", rows)
	}
	one := filepath.Join(dir, "one.csv")
	testkit.OK(t, os.WriteFile(one, []byte("a,y\n1,2\n"), 0o666))
	if err := bench("tables", "-holes", "2", one); err == nil || !strings.Contains(err.Error(), "two inputs") {
		t.Errorf("holes of one input: %v", err)
	}
}

// testOutputs checks that the table has a row for each output, with its own scores.
func testOutputs(t *testing.T, l tableLine) {
	mean, sd, y := []float64{0, 0, 0, 0}, []float64{1, 1, 1, 1}, []float64{1, 5, -1, 5}
	l.Table, l.Outputs = "two", []tableScore{scoreTable(mean, sd, y, 0, 2), scoreTable(mean, sd, y, 1, 2)}
	var shown strings.Builder
	testkit.OK(t, showTables(&shown, []tableLine{l}))
	testkit.Contains(t, shown.String(), "| two, output 1 | default | 1 | 1 |  | 1.419 |  | 1.000 |",
		"| two, output 2 | default | 1 | 5 |  | 13.419 |  | 0.000 |")
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
