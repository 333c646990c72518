package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/fileio/safetensors"
)

const (
	// goldenBound, relative: float64 on both sides, sums of some hundred terms.
	goldenBound = 1e-9
	// goldenGradient, of the array's largest entry: one solve with A more.
	goldenGradient = 1e-7
	// goldenGradientHard: digits lost to x far from 0, or to Σ near 0.
	goldenGradientHard = 1e-5
)

// golden is a golden file as another program would read it.
type golden struct {
	Name       string
	Q, D       int
	X, Y       [][]float64
	Parameters map[string]any
	Exact      goldenResult
	Factorized goldenResult `json:"factorised"`
	Minibatch  *struct {
		Rows []int
		goldenResult
	}
}

type goldenResult struct {
	Bound    float64
	Gradient map[string]any
}

// flatten lays nested lists out row by row, with null as NaN, and says their
// shape.
func flatten(v any) (data []float64, shape []int) {
	switch v := v.(type) {
	case nil:
		return []float64{math.NaN()}, nil
	case float64:
		return []float64{v}, nil
	case []any:
		shape = []int{len(v)}
		for i, e := range v {
			d, s := flatten(e)
			data = append(data, d...)
			if i == 0 {
				shape = append(shape, s...)
			}
		}
	}
	return data, shape
}

func readGolden(t *testing.T, path string) *golden {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g := &golden{}
	if err := json.Unmarshal(text, g); err != nil {
		t.Fatal(err)
	}
	return g
}

// files writes the golden file's parameters as a model without metadata, and
// its data as CSV.
func (g *golden) files(t *testing.T, dir string, drop ...string) (model, data string) {
	t.Helper()
	f := &safetensors.File{Tensors: map[string]safetensors.Tensor{}}
	for name, v := range g.Parameters {
		if !slices.Contains(drop, name) {
			d, s := flatten(v)
			f.Tensors[name] = safetensors.Tensor{Shape: s, Data: d}
		}
	}
	model = filepath.Join(dir, "model.safetensors")
	w, err := os.Create(model)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := f.Write(w); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for q := range g.Q {
		fmt.Fprintf(&b, "a%d,", q)
	}
	for d := range g.D {
		fmt.Fprintf(&b, "b%d%s", d, map[bool]string{true: "\n", false: ","}[d == g.D-1])
	}
	for n := range g.X {
		fields := slices.Concat(g.X[n], g.Y[n])
		for i, v := range fields {
			fmt.Fprintf(&b, "%v%s", v, map[bool]string{true: "\n", false: ","}[i == len(fields)-1])
		}
	}
	return model, testkit.Put(t, dir, "data.csv", b.String())
}

// printed is what evaluate --json prints, as another program would read it.
type printed struct {
	Bound    float64
	Terms    map[string]float64
	Rows     int
	RMSE     *float64 `json:"rmse"`
	Density  *float64 `json:"mean_log_predictive_density"`
	Device   string
	Gradient map[string]any
}

func goldenPaths(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/golden/*.json")
	if err != nil || len(paths) < 7 {
		t.Fatalf("%d golden files, want 7 at least: %v", len(paths), err)
	}
	return paths
}

func TestEvaluateGolden(t *testing.T) {
	for _, path := range goldenPaths(t) {
		g := readGolden(t, path)
		t.Run(g.Name, func(t *testing.T) {
			model, data := g.files(t, t.TempDir())
			before, err := os.ReadFile(model)
			if err != nil {
				t.Fatal(err)
			}
			check := func(want goldenResult, args ...string) {
				t.Helper()
				out := succeed(t, append([]string{"evaluate", model, data, "--gradient", "--json"}, args...)...)
				g.compare(t, decode[printed](t, out.stdout), want)
			}
			check(g.Exact, "--inference", "exact")
			check(g.Factorized, "--inference", "factorised")
			check(g.Factorized) // coefficient.variance makes the model a factorised one
			if b := g.Minibatch; b != nil {
				check(b.goldenResult, "--rows", strings.Trim(strings.Join(strings.Fields(fmt.Sprint(b.Rows)), ","), "[]"))
			}
			if after, err := os.ReadFile(model); err != nil || !slices.Equal(before, after) {
				t.Errorf("evaluate changed the model: %v", err)
			}
		})
	}
}

func (g *golden) compare(t *testing.T, got printed, want goldenResult) {
	t.Helper()
	if e := math.Abs(got.Bound - want.Bound); !(e <= goldenBound*math.Abs(want.Bound)) {
		t.Errorf("bound %.15g, want %.15g", got.Bound, want.Bound)
	}
	sum := 0.0
	for _, v := range got.Terms {
		sum += v
	}
	if e := math.Abs(sum - got.Bound); !(e <= 1e-12*math.Abs(got.Bound)) {
		t.Errorf("the terms add up to %.15g, the bound is %.15g", sum, got.Bound)
	}
	if got.Rows != len(g.X) || got.Device != "cpu" || got.RMSE == nil || got.Density == nil {
		t.Errorf("rows %d, device %q, rmse %v, density %v; want %d rows on cpu and numbers", got.Rows, got.Device, got.RMSE, got.Density, len(g.X))
	}
	tolerance := goldenGradient
	if strings.Contains(g.Name, "far_from_origin") || strings.Contains(g.Name, "confident") {
		tolerance = goldenGradientHard
	}
	for name, w := range want.Gradient {
		wantData, wantShape := flatten(w)
		gotData, gotShape := flatten(got.Gradient[name])
		if !slices.Equal(wantShape, gotShape) {
			t.Errorf("gradient by %s has shape %v, want %v", name, gotShape, wantShape)
			continue
		}
		scale, worst := 0.0, 0.0
		for i, v := range wantData {
			scale = max(scale, math.Abs(v))
			worst = max(worst, math.Abs(gotData[i]-v))
		}
		if !(worst <= tolerance*scale) {
			t.Errorf("gradient by %s is off by %.2g of its largest entry, want %.0g", name, worst/scale, tolerance)
		}
	}
	for name := range got.Gradient {
		if _, ok := want.Gradient[name]; !ok {
			t.Errorf("gradient by %s, for which the golden file has none", name)
		}
	}
}

// A model file without coefficients does not say how many outputs it has: the
// data do. Its predictions come from conditioning on the data.
func TestEvaluateUnfitted(t *testing.T) {
	for _, path := range goldenPaths(t) {
		g := readGolden(t, path)
		t.Run(g.Name, func(t *testing.T) {
			model, data := g.files(t, t.TempDir(), "coefficient.mean", "coefficient.variance")
			out := decode[printed](t, succeed(t, "evaluate", model, data, "--gradient", "--json").stdout)
			g.compare(t, out, g.Exact)
			whole, _ := g.files(t, t.TempDir())
			m, err := vssgp.Load(whole)
			if err != nil {
				t.Fatal(err)
			}
			x := slices.Concat(g.X...)
			y := slices.Concat(g.Y...)
			if _, err := m.Condition(t.Context(), &vssgp.Data{N: len(g.X), Q: g.Q, D: g.D, X: x, Y: y}); err != nil {
				t.Fatal(err)
			}
			p, err := m.Predict(t.Context(), x)
			if err != nil {
				t.Fatal(err)
			}
			if want := bayes.RMSE(p.Mean, y); math.Abs(*out.RMSE-want) > 1e-9*want {
				t.Errorf("RMSE %v, want %v of the model that is conditioned on the data", *out.RMSE, want)
			}
			if o := vssgpRun(t, "evaluate", model, data, "--inference", "factorised"); o.code != cli.ExitMistake {
				t.Errorf("factorised bound without coefficients: exit %d, %s", o.code, o.stderr)
			}
		})
	}
}
