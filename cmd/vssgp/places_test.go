package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/testkit"
)

// TestStdoutBesideFiles: the other outputs are written too where the prediction
// goes to stdout, and the plot is of all rows that it has room for.
func TestStdoutBesideFiles(t *testing.T) {
	dir := t.TempDir()
	model, recording := fittedWave(t, dir)
	plot, drawn := filepath.Join(dir, "p.svg"), filepath.Join(dir, "d.npy")
	o := vssgpRun(t, "predict", model, recording, "-o", "-", "--plot", plot, "--draws", "1", "--draws-file", drawn)
	if lines := strings.Count(o.stdout, "\n"); o.code != cli.ExitDone || lines != 401 {
		t.Fatalf("exit %d, %d lines, %q", o.code, lines, o.stderr)
	}
	if size := len(testkit.Read(t, drawn)); size != 128+8*2*400 {
		t.Errorf("the draws have %d bytes", size)
	}
	if points := strings.Count(string(testkit.Read(t, plot)), "L"); points < 4*400 { // of bands, means and draws of 400 rows and two outputs
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
		return testkit.Put(t, dir, name, b.String())
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
		if o.code != cli.ExitMistake || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: exit %d, %s", line, o.code, o.stderr)
		}
	}
}
