package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/table"
)

// visited is what places have, visited part by part, each of which is to say where
// its first row stands.
func visited(t *testing.T, p *places) []float64 {
	t.Helper()
	var all []float64
	parts := 0
	err := p.each(t.Context(), func(n int, x []float64) error {
		if n != len(all)/len(p.names) {
			t.Errorf("a part's first row is said to be %d, after %d", n, len(all)/len(p.names))
		}
		all = append(all, x...)
		parts++
		return nil
	})
	if err != nil || parts < 2 {
		t.Fatalf("%d parts, %v; want several", parts, err)
	}
	return all
}

// TestPlaces: a recording's samples and a table's columns, in the model's order,
// come whole from many parts, and end with the context.
func TestPlaces(t *testing.T) {
	const rows = 30_000 // of three columns, more than a part has
	var text strings.Builder
	text.WriteString("a,b,c\n")
	var pairs, whole, seconds []float64
	for i := range rows {
		fmt.Fprintf(&text, "%d,%d,%d\n", i, 2*i, 3*i)
		pairs = append(pairs, float64(3*i), float64(i))
		whole = append(whole, float64(i), float64(2*i), float64(3*i))
	}
	for i := range 70_000 {
		seconds = append(seconds, float64(i)/1000)
	}
	path := put(t, t.TempDir(), "t.csv", text.String())
	s, err := (&app{}).openTable(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	two, err := tablePlaces(t.Context(), s, path, columns{}, 2, []string{"c", "a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := tablePlaces(t.Context(), s, path, columns{}, 3, []string{"a", "b", "c"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		at   *places
		want []float64
	}{"two columns": {two, pairs}, "all columns": {all, whole}, "a recording": {secondsOf(70_000, 1000), seconds}} {
		if got := visited(t, c.at); !slices.Equal(got, c.want) || c.at.rows*len(c.at.names) != len(got) {
			t.Errorf("%s: %d numbers of %d rows, want %d", name, len(got), c.at.rows, len(c.want))
		}
		ctx, cancel := context.WithCancel(t.Context())
		visits := 0
		err := c.at.each(ctx, func(int, []float64) error { visits++; cancel(); return nil })
		if !errors.Is(err, context.Canceled) || visits != 1 {
			t.Errorf("%s: %d parts and %v once the context has ended", name, visits, err)
		}
	}
}

// TestDrawsInTables: where so many draws are asked for that their rows are made a
// few at a time, they are those of all rows at once.
func TestDrawsInTables(t *testing.T) {
	const n, draws = 1200, 2000
	data := &vssgp.Data{N: n, Q: 1, D: 1, X: make([]float64, n), Y: make([]float64, n)}
	for i := range data.X {
		data.X[i], data.Y[i] = float64(i), float64(i%7)
	}
	m, _, err := vssgp.Fit(t.Context(), data, vssgp.Options{Iterations: vssgp.NoIterations, Window: vssgp.WindowNone, Components: 1})
	if err != nil {
		t.Fatal(err)
	}
	made, err := m.Draws(1)
	if err != nil {
		t.Fatal(err)
	}
	r := &prediction{ctx: t.Context(), outputs: []string{"y"}, draws: made, at: &places{names: []string{"x"}, rows: n}}
	want := map[int][]float64{}
	for _, i := range []int{0, 1, draws - 1} {
		if want[i], err = made.At(t.Context(), i, data.X); err != nil {
			t.Fatal(err)
		}
	}
	parts, next := 0, 0
	err = r.tabulate(data.X, nil, draws, func(rows []float64) error {
		for ; len(rows) > 0; rows = rows[1+draws:] {
			if rows[0] != data.X[next] {
				t.Errorf("input %v at row %d, want %v", rows[0], next, data.X[next])
			}
			for i, y := range want {
				if rows[1+i] != y[next] {
					t.Errorf("draw %d at row %d: %v, want %v", i, next, rows[1+i], y[next])
				}
			}
			next++
		}
		parts++
		return nil
	})
	if err != nil || parts < 2 || next != n {
		t.Errorf("%d parts up to row %d, %v", parts, next, err)
	}
	var b bytes.Buffer
	few := &prediction{ctx: t.Context(), outputs: []string{"y"}, draws: made, at: &places{names: []string{"x"}, rows: n, parts: secondsOf(n, 1).parts}, o: &predictFlags{seriesPredictFlags: seriesPredictFlags{output: "o.csv", draws: 2}, drawsFile: "d.csv"}}
	files, _, err := few.files()
	if err != nil {
		t.Fatal(err)
	}
	if err := few.file(files[0]).Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := table.ReadCSV(&b, "drawn")
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if row := []float64{data.X[i], want[0][i], want[1][i]}; !slices.Equal(got.Data[3*i:3*i+3], row) {
			t.Fatalf("row %d of the table is %v, want %v", i, got.Data[3*i:3*i+3], row)
		}
	}
}

// TestStdoutBesideFiles: the other outputs are written too where the prediction
// goes to stdout, and the plot is of all rows that it has room for.
func TestStdoutBesideFiles(t *testing.T) {
	dir := t.TempDir()
	model, recording := fittedWave(t, dir)
	plot, drawn := filepath.Join(dir, "p.svg"), filepath.Join(dir, "d.npy")
	o := vssgpRun(t, "predict", model, recording, "-o", "-", "--plot", plot, "--draws", "1", "--draws-file", drawn)
	if lines := strings.Count(o.stdout, "\n"); o.code != exitDone || lines != 401 {
		t.Fatalf("exit %d, %d lines, %q", o.code, lines, o.stderr)
	}
	if size := len(readFile(t, drawn)); size != 128+8*2*400 {
		t.Errorf("the draws have %d bytes", size)
	}
	if points := strings.Count(string(readFile(t, plot)), "L"); points < 4*400 { // of bands, means and draws of 400 rows and two outputs
		t.Errorf("the plot has lines to %d points", points)
	}
}

// TestForecastHorizonIrregular: the default horizon is a tenth of the number of rows, however far apart they are, and no more than the model
// reaches; a horizon that was asked for is refused beyond that, before the fit.
func TestForecastHorizonIrregular(t *testing.T) {
	dir := t.TempDir()
	table := func(name string, x func(n int) float64) string {
		var b strings.Builder
		b.WriteString("t,y\n")
		for n := range 120 {
			fmt.Fprintf(&b, "%v,%.4f\n", x(n), math.Sin(1.7*float64(n*n)))
		}
		return put(t, dir, name, b.String())
	}
	for _, c := range []struct {
		name string
		x    func(n int) float64
		rows int
	}{
		{"even.csv", func(n int) float64 { return float64(n) }, 12},
		{"hole.csv", func(n int) float64 { return float64(n) + 1e12*float64(n/60) }, 12},
		{"clusters.csv", func(n int) float64 { return float64(n%12 + 10_000*(n/12)) }, 12},
		{"twotimes.csv", func(n int) float64 { return float64(n / 118) }, 10},
	} {
		o := succeed(t, "forecast", table(c.name, c.x), "--x", "t", "--season", "none", "-o", "-")
		if rows := strings.Count(o.stdout, "\n") - 1; rows != c.rows {
			t.Errorf("%s: %d rows, want %d", c.name, rows, c.rows)
		}
	}
	for line, want := range map[string]string{
		"--horizon 2000": "--horizon 2000 exceeds the maximum of 1190 rows, 10 times the range of the data",
		"--until 2000":   "--until 2000 is beyond 1309, 10 times the range of the data after their end",
	} {
		o := vssgpRun(t, append([]string{"forecast", filepath.Join(dir, "even.csv"), "-o", "-"}, strings.Fields(line)...)...)
		if o.code != exitMistake || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: exit %d, %s", line, o.code, o.stderr)
		}
	}
}
