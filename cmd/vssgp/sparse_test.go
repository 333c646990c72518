package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/baseline"
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

// TestSparse: a model that baseline keeps predicts what baseline itself does, from the columns and dates that it has learnt.
func TestSparse(t *testing.T) {
	t.Chdir(t.TempDir())
	var csv strings.Builder
	csv.WriteString("day,depth,heat,salt\n")
	for i := range 60 {
		v := math.Sin(float64(i) / 5)
		line, _ := json.Marshal([]float64{float64(i * i % 7), v + float64(i%3)/50, 3 - v})
		csv.WriteString("2024-0" + string(rune('1'+i/20)) + "-" + string(rune('0'+(i%20+1)/10)) + string(rune('0'+(i%20+1)%10)) + "," + strings.Trim(string(line), "[]") + "\n")
	}
	put(t, ".", "d.csv", csv.String())
	put(t, ".", "many.csv", "depth,day\n"+strings.Repeat("1,2024-01-03\n", 8200))
	put(t, ".", "at.csv", "depth,day\n1,2024-01-03\n4,2024-02-20\n")
	for _, method := range []string{"vfe", "fitc", "svgp"} {
		common := []string{"baseline", method, "d.csv", "--x", "day,depth", "--y", "heat,salt", "--inducing", "9", "--iterations", "5"}
		succeed(t, append(common, "at.csv", "-o", "both.csv", "-m", "both.safetensors")...)
		o := succeed(t, append(common, "-m", "alone.safetensors", "--json")...)
		if model := decode[struct {
			Model     string
			Predicted int
		}](t, o.stdout); model.Model != "alone.safetensors" || model.Predicted != 0 {
			t.Errorf("%s: %s", method, o.stdout)
		}
		succeed(t, "predict", "alone.safetensors", "at.csv", "-o", "kept.csv", "--joint", "joint.npy")
		if both, kept := content(t, "both.csv"), content(t, "kept.csv"); !bytes.Equal(both, kept) {
			t.Errorf("%s:\n%s predicted at once, and from the file\n%s", method, both, kept)
		}
		if !bytes.Equal(content(t, "both.safetensors"), content(t, "alone.safetensors")) {
			t.Errorf("%s: with and without predictions, the model differs", method)
		}
		if o := succeed(t, "info", "alone.safetensors", "--json"); !strings.Contains(o.stdout, `"inducing":9`) || !strings.Contains(o.stdout, `"outputs":["heat","salt"]`) {
			t.Errorf("%s: %s", method, o.stdout)
		}
		if o := succeed(t, "info", "alone.safetensors"); !strings.Contains(o.stdout, "9 inducing inputs") {
			t.Errorf("%s: %s", method, o.stdout)
		}
	}
	for args, want := range map[string]string{
		"baseline gp d.csv -m m.safetensors":                            "matrix of all rows",
		"baseline vfe d.csv":                                            "INPUTS",
		"baseline vfe d.csv -o o.csv -m m.safetensors":                  "INPUTS",
		"baseline vfe d.csv at.csv -m m.safetensors":                    "-o OUT.csv",
		"predict alone.safetensors at.csv -o o.csv --draws 2":           "--draws",
		"predict alone.safetensors at.csv -o o.csv --full":              "--full",
		"predict alone.safetensors at.csv -o o.csv --posterior":         "--posterior",
		"predict alone.safetensors at.csv -o o.csv --plot o.png":        "--plot",
		"predict alone.safetensors at.csv -o o.csv --joint o.csv":       ".npy",
		"evaluate alone.safetensors d.csv":                              "baseline",
		"info alone.safetensors --plot o.png":                           "--plot",
		"predict alone.safetensors at.csv --plan":                       "--plan",
		"predict alone.safetensors at.csv -o o.wav":                     "-o o.wav",
		"predict alone.safetensors many.csv -o o.csv --joint o.npy":     "8200 rows of 2 outputs; want at most 16384",
		"fit d.csv --x depth --init alone.safetensors -o m.safetensors": baseline.FileFormat,
	} {
		if o := vssgpRun(t, strings.Fields(args)...); o.code != exitMistake || !strings.Contains(o.stderr, want) {
			t.Errorf("vssgp %s: exit %d, %q; want %q", args, o.code, o.stderr, want)
		}
	}
}

// TestJoint: the joint covariance is symmetric, and has on its diagonal the squares of the standard deviations.
func TestJoint(t *testing.T) {
	dir := t.TempDir()
	x := func(name string) string { return filepath.Join(dir, name) }
	data := put(t, dir, "d.csv", "t,u,v\n0,1,2\n1,2,1\n2,1,1\n3,0,2\n4,1,3\n5,2,2\n6,1,0\n7,0,1\n")
	at := put(t, dir, "at.csv", "t\n0.5\n2\n9\n")
	succeed(t, "fit", data, "--method", "vssgp", "--x", "t", "--y", "u,v", "--window", "none", "--iterations", "3", "-o", x("f.safetensors"))
	succeed(t, "baseline", "vfe", data, "--x", "t", "--y", "u,v", "--inducing", "4", "-m", x("s.safetensors"))
	for _, model := range []string{"f.safetensors", "s.safetensors"} {
		for _, latent := range []bool{false, true} {
			args := []string{"predict", x(model), at, "-o", x("o.npy"), "--joint", x("j.npy")}
			if latent {
				args = append(args, "--latent")
			}
			succeed(t, args...)
			table, joint := readNPY(t, x("o.npy"), 5), readJoint(t, x("j.npy"), 6)
			for n := range 3 {
				for d := range 2 {
					i, sd := 2*n+d, table[5*n+2+2*d]
					if got := joint[6*i+i]; math.Abs(got-sd*sd) > 1e-9*sd*sd {
						t.Errorf("%s, latent %v: variance %v, sd² %v", model, latent, got, sd*sd)
					}
				}
			}
			for i := range joint {
				if joint[i] != joint[i%6*6+i/6] {
					t.Fatalf("%s: not symmetric", model)
				}
			}
		}
	}
	succeed(t, "fit", data, "--x", "t", "--y", "u,v", "-o", x("series.safetensors"))
	for args, want := range map[string]string{
		"f.safetensors --posterior": "without --posterior",
		"series.safetensors":        "model of a series",
	} {
		args := strings.Fields(args)
		o := vssgpRun(t, append([]string{"predict", x(args[0]), at, "-o", x("o.npy"), "--joint", x("no.npy")}, args[1:]...)...)
		if o.code != exitMistake || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: exit %d, %q; want %q", args, o.code, o.stderr, want)
		}
	}
	plan := func(extra ...string) plannedPrediction {
		args := append([]string{"predict", x("f.safetensors"), at, "-o", x("o.npy"), "--plan", "--json"}, extra...)
		return decode[plannedPrediction](t, succeed(t, args...).stdout)
	}
	const size = 8 * 6 * 6
	with, without := plan("--joint", x("no.npy")), plan()
	if last := with.Files[len(with.Files)-1]; last.Path != x("no.npy") || last.Bytes != size || with.Bytes.Peak != without.Bytes.Peak+size {
		t.Errorf("planned %+v, and without the joint covariance %+v", with, without)
	}
}

// TestBatches: predictions in batches are those at once, and end with the context.
func TestBatches(t *testing.T) {
	data := &vssgp.Data{N: 20, Q: 1, D: 1}
	for i := range data.N {
		data.X, data.Y = append(data.X, float64(i)), append(data.Y, math.Sin(float64(i)))
	}
	fit, err := baseline.SPGP{Inducing: 5}.Fit(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 2*batchRows+3)
	for i := range x {
		x[i] = float64(i) / 100
	}
	want, err := fit.Model.Predict(mat.NewDense(len(x), 1, x))
	if err != nil {
		t.Fatal(err)
	}
	cut := func(yield func([]float64, error) bool) { _ = yield(x[:7], nil) && yield(x[7:], nil) }
	all, mean := batches(fit.Model, 1), []float64(nil)
	for p, err := range all(t.Context(), cut) {
		if err != nil || p.First != len(mean) || p.N > batchRows || p.X[0] != x[p.First] {
			t.Fatalf("%v: a part of %d rows from %d on, after %d", err, p.N, p.First, len(mean))
		}
		mean = append(mean, p.Mean...)
	}
	if !slices.Equal(mean, want.Mean) {
		t.Error("other predictions in batches")
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	parts := 0
	for _, err = range all(ctx, cut) {
		parts++
		stop()
	}
	if parts != 2 || !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted in part 1: %d parts, error %v", parts, err)
	}
	broken := errors.New("broken")
	for _, err = range all(t.Context(), func(yield func([]float64, error) bool) { yield(nil, broken) }) {
	}
	if !errors.Is(err, broken) {
		t.Errorf("error %v of the rows, want %v", err, broken)
	}
}

// readJoint reads an array [3,2,3,2] as one of n columns.
func readJoint(t *testing.T, path string, n int) []float64 {
	t.Helper()
	b := string(content(t, path))
	const shape = "(3, 2, 3, 2)"
	if !strings.Contains(b[:128], shape) {
		t.Fatalf("%s: %q, want the shape %s", path, b[:128], shape)
	}
	flat := put(t, t.TempDir(), "flat.npy", strings.Replace(b, shape, "(6, 6)      ", 1))
	return readNPY(t, flat, n)
}
