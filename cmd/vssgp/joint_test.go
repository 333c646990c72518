package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/table"
)

// readNPY reads an array that the command has written.
func readNPY(t *testing.T, path string, columns int) []float64 {
	t.Helper()
	at, err := table.At(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := table.OpenStream(t.Context(), at)
	if err == nil {
		err = s.Survey(t.Context(), nil)
	}
	if err != nil || s.Cols != columns {
		t.Fatalf("%s: %d columns, want %d; %v", path, s.Cols, columns, err)
	}
	var picks []table.Pick
	for i := range s.Cols {
		picks = append(picks, table.Pick{Col: i})
	}
	var all []float64
	for part, err := range s.Parts(t.Context(), picks) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, part...)
	}
	return all
}

// TestJoint: the joint covariance is symmetric, and has on its diagonal the squares of the standard deviations.
func TestJoint(t *testing.T) {
	dir := t.TempDir()
	x := func(name string) string { return filepath.Join(dir, name) }
	data := testkit.Put(t, dir, "d.csv", "t,u,v\n0,1,2\n1,2,1\n2,1,1\n3,0,2\n4,1,3\n5,2,2\n6,1,0\n7,0,1\n")
	at := testkit.Put(t, dir, "at.csv", "t\n0.5\n2\n9\n")
	succeed(t, "fit", data, "--method", "vssgp", "--x", "t", "--y", "u,v", "--window", "none", "--iterations", "3", "-o", x("f.safetensors"))
	for _, latent := range []bool{false, true} {
		args := []string{"predict", x("f.safetensors"), at, "-o", x("o.npy"), "--joint", x("j.npy")}
		if latent {
			args = append(args, "--latent")
		}
		succeed(t, args...)
		table, joint := readNPY(t, x("o.npy"), 5), readJoint(t, x("j.npy"), 6)
		for n := range 3 {
			for d := range 2 {
				i, sd := 2*n+d, table[5*n+2+2*d]
				if got := joint[6*i+i]; math.Abs(got-sd*sd) > 1e-9*sd*sd {
					t.Errorf("latent %v: variance %v, sd² %v", latent, got, sd*sd)
				}
			}
		}
		for i := range joint {
			if joint[i] != joint[i%6*6+i/6] {
				t.Fatal("not symmetric")
			}
		}
	}
	succeed(t, "fit", data, "--x", "t", "--y", "u,v", "-o", x("series.safetensors"))
	many := testkit.Put(t, dir, "many.csv", "t\n"+strings.Repeat("1\n", 8200))
	for _, c := range []struct{ args, want string }{
		{"f.safetensors " + at + " --joint " + x("no.npy") + " --posterior", "without --posterior"},
		{"series.safetensors " + at + " --joint " + x("no.npy"), "model of a series"},
		{"f.safetensors " + at + " --joint " + x("o.csv"), ".npy"},
		{"f.safetensors " + many + " --joint " + x("no.npy"), "8200 rows of 2 outputs; want at most 16384"},
	} {
		args, want := c.args, c.want
		o := vssgpRun(t, append([]string{"predict"}, strings.Fields(x(args)+" -o "+x("o.npy"))...)...)
		if o.code != cli.ExitMistake || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: exit %d, %q; want %q", args, o.code, o.stderr, want)
		}
	}
}

// readJoint reads an array [3,2,3,2] as one of n columns.
func readJoint(t *testing.T, path string, n int) []float64 {
	t.Helper()
	b := string(testkit.Read(t, path))
	const shape = "(3, 2, 3, 2)"
	if !strings.Contains(b[:128], shape) {
		t.Fatalf("%s: %q, want the shape %s", path, b[:128], shape)
	}
	flat := testkit.Put(t, t.TempDir(), "flat.npy", strings.Replace(b, shape, "(6, 6)      ", 1))
	return readNPY(t, flat, n)
}
