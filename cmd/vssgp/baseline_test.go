package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/baseline"
	"github.com/vssgp/vssgp/internal/table"
)

// baselinePrinted is what baseline --json prints, as another program would
// read it.
type baselinePrinted struct {
	Method      string
	Bound       float64
	Iterations  int
	Ended       string
	Rows        int
	Components  []struct{ SD, Lengthscale, Period []*float64 }
	NoiseSD     []float64 `json:"noise_sd"`
	Predicted   int
	Columns     []string
	Interrupted bool
}

func TestBaseline(t *testing.T) {
	dir := t.TempDir()
	data := put(t, dir, "data.csv", waves(120))
	in := put(t, dir, "in.csv", "other,t\n7,3.05\n8,6.05\n")
	for _, method := range []string{"gp", "fitc", "vfe", "svgp"} {
		out := filepath.Join(dir, method+".csv")
		line := []string{"baseline", method, data, in, "-o", out, "--y", "y1,y2", "--lengthscales", "2", "--json", "--seed", "5"}
		if method != "gp" {
			line = append(line, "--inducing", "30")
		}
		if method == "svgp" {
			line = append(line, "--batch", "60", "--iterations", "600")
		}
		r := decode[baselinePrinted](t, succeed(t, line...).stdout)
		if r.Method != method || r.Rows != 120 || r.Predicted != 2 || r.Iterations < 1 || r.Ended == "" || r.Interrupted || len(r.NoiseSD) != 2 || len(r.Components) != 1 {
			t.Errorf("%s: result %+v", method, r)
		}
		tab, err := table.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		want := "t,y1_mean,y1_sd,y2_mean,y2_sd"
		if got := strings.Join(tab.Names, ","); got != want || strings.Join(r.Columns, ",") != want {
			t.Fatalf("%s: columns %s, printed %v; want %s", method, got, r.Columns, want)
		}
		for n, x := range column(t, tab, "t") {
			if got, want := column(t, tab, "y1_mean")[n], 3+math.Sin(2*x); math.Abs(got-want) > 0.05 {
				t.Errorf("%s: y1(%v) = %v, want about %v", method, x, got, want)
			}
			if got, want := column(t, tab, "y2_mean")[n], 100*math.Cos(2*x); math.Abs(got-want) > 5 {
				t.Errorf("%s: y2(%v) = %v, want about %v", method, x, got, want)
			}
			if sd := column(t, tab, "y1_sd")[n]; !(sd >= r.NoiseSD[0] && sd < 0.2) {
				t.Errorf("%s: sd %v of y1(%v), want at least the noise %v and little more", method, sd, x, r.NoiseSD[0])
			}
		}
	}
}

// The command's predictions are the library's, to the bit: each flag arrives.
func TestBaselineIsTheLibrarys(t *testing.T) {
	c := baseline.SE(2, 2, 5)
	c.Frequency[2], c.Frequency[3] = 1./3, 1./3
	o := baseline.Options{Covariance: c, NoisePrecision: 400, Iterations: 7, Seed: 5}
	for _, m := range []struct {
		name, flags string
		method      baseline.Method
	}{
		{"gp", "", baseline.GP{Options: o}},
		{"fitc", "--inducing 9", baseline.SPGP{Options: o, Inducing: 9, Bound: baseline.FITC}},
		{"vfe", "--inducing 9", baseline.SPGP{Options: o, Inducing: 9, Bound: baseline.VFE}},
		{"svgp", "--inducing 9 --batch 20", baseline.SVGP{Options: o, Inducing: 9, Batch: 20}},
	} {
		dir := t.TempDir()
		data := put(t, dir, "data.csv", waves(60))
		in := put(t, dir, "in.csv", "t,y1\n3.05,2\n20,3\n")
		line := "baseline " + m.name + " " + data + " " + in + " -o - --x t,y1 --y y2 --lengthscales 2,5 --periods 0,3 --noise-precision 400 --iterations 7 --seed 5 " + m.flags
		got, err := table.ReadCSV(strings.NewReader(succeed(t, strings.Fields(line)...).stdout), "stdout")
		if err != nil {
			t.Fatal(err)
		}
		tab, err := table.Open(data)
		if err != nil {
			t.Fatal(err)
		}
		var x []float64
		for n, v := range column(t, tab, "t") {
			x = append(x, v, column(t, tab, "y1")[n])
		}
		fit, err := m.method.Fit(t.Context(), &vssgp.Data{N: 60, Q: 2, D: 1, X: x, Y: column(t, tab, "y2")})
		if err != nil {
			t.Fatal(err)
		}
		want, err := fit.Model.Predict(mat.NewDense(2, 2, []float64{3.05, 2, 20, 3}))
		if err != nil {
			t.Fatal(err)
		}
		sd := want.SD(true)
		for n := range 2 {
			if v, s := column(t, got, "y2_mean")[n], column(t, got, "y2_sd")[n]; v != want.Mean[n] || s != sd[n] {
				t.Errorf("%s, row %d: %v ± %v, the library says %v ± %v", m.name, n, v, s, want.Mean[n], sd[n])
			}
		}
	}
}

// What was learnt, for people: a wave's period, from a start nearby, and none
// for the component without.
func TestBaselineReport(t *testing.T) {
	dir := t.TempDir()
	data := put(t, dir, "data.csv", waves(100))
	out := filepath.Join(dir, "out.npy")
	line := []string{"baseline", "gp", data, data, "--x", "t", "--y", "y1", "-o", out, "--lengthscales", "50,2", "--periods", "2.9,0", "--noise-precision", "1000"}
	text := succeed(t, line...).stdout
	for _, word := range []string{"gp: bound", "iterations", "noise sd", "length-scale", "period", "100 predictions in " + out} {
		if !strings.Contains(text, word) {
			t.Errorf("says nothing of %q:\n%s", word, text)
		}
	}
	r := decode[baselinePrinted](t, succeed(t, append(line, "--json")...).stdout)
	wave, other := r.Components[0], r.Components[1]
	if wave.Period[0] == nil || math.Abs(*wave.Period[0]-math.Pi) > 0.05 || other.Period[0] != nil {
		t.Errorf("periods %v and %v, want about π and none", wave.Period[0], other.Period[0])
	}
	if sd := *wave.SD[0]; !(sd > 0.3 && sd < 3) || len(wave.SD) != 1 || *wave.Lengthscale[0] < 20 {
		t.Errorf("the wave's sd %v, length-scale %v; want about the amplitude 1 and more than a few periods", sd, *wave.Lengthscale[0])
	}
	if tab, err := table.Open(out); err != nil || tab.Rows != 100 || tab.Cols != 3 {
		t.Errorf("table %+v, error %v; want 100 rows of 3 columns", tab, err)
	}
	if o := succeed(t, append(line, "--quiet")...); o.stdout != "" || o.stderr != "" {
		t.Errorf("--quiet prints %q and %q", o.stdout, o.stderr)
	}
}

func TestBaselineInterrupted(t *testing.T) {
	dir := t.TempDir()
	data := put(t, dir, "data.csv", waves(200))
	out, model := filepath.Join(dir, "out.csv"), filepath.Join(dir, "m.safetensors")
	fit := []string{"baseline", "svgp", data, "--x", "t", "--y", "y1", "--iterations", "100000000", "--inducing", "10", "--json", "-m", model}
	if o, line := interrupted(t, fit...); o.code != exitInterrupted || !strings.HasSuffix(line, ": the best model so far is in "+model+"\n") {
		t.Fatalf("exit %d, want %d; stderr ends %q", o.code, exitInterrupted, line)
	}
	succeed(t, "predict", model, data, "--x", "t", "-o", "-")
	o, line := interrupted(t, append(fit, data, "-o", out)...)
	if o.code != exitInterrupted || !strings.Contains(line, prefix+"interrupted") || !strings.HasSuffix(line, "are in "+out+", the model in "+model+"\n") {
		t.Fatalf("exit %d, want %d; stderr ends %q", o.code, exitInterrupted, line)
	}
	if r := decode[baselinePrinted](t, o.stdout); !r.Interrupted || r.Predicted != 200 {
		t.Errorf("result %+v, want an interrupted one with its predictions", r)
	}
	if tab, err := table.Open(out); err != nil || tab.Rows != 200 {
		t.Errorf("table %v, error %v; want 200 rows", tab, err)
	}
}
