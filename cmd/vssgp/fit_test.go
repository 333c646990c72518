package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/matrix"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/oracle"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// waves returns a CSV file with n rows t, y1, y2 on an even grid.
func waves(n int) string {
	var b strings.Builder
	b.WriteString("t,y1,y2\n")
	for i := range n {
		x := 0.1 * float64(i)
		fmt.Fprintf(&b, "%v,%v,%v\n", x, 3+math.Sin(2*x)+0.01*math.Cos(77*x), 100*math.Cos(2*x)+math.Sin(91*x))
	}
	return b.String()
}

// column returns a column of a table.
func column(t *testing.T, tab *matrix.Matrix, name string) []float64 {
	t.Helper()
	i := slices.Index(tab.Names, name)
	if i < 0 {
		t.Fatalf("no column %s among %v", name, tab.Names)
	}
	var data []float64
	for ; i < len(tab.Data); i += tab.Cols {
		data = append(data, tab.Data[i])
	}
	return data
}

func TestFitPredict(t *testing.T) {
	dir := t.TempDir()
	data := testkit.Put(t, dir, "data.csv", waves(120))
	model := filepath.Join(dir, "m.safetensors")
	r := decode[printed](t, succeed(t, "fit", data, "--y", "y1,y2", "-o", model, "--iterations", "40", "--json").stdout)
	sum := 0.0
	for _, term := range r.Terms {
		sum += term
	}
	if math.Abs(sum-r.Bound) > 1e-9*math.Abs(sum) || r.Rows != 120 || r.Device != "cpu" || r.Iterations < 1 || len(r.Starts) != 1 ||
		len(r.NoiseSD) != 2 {
		t.Errorf("result %+v: want terms that add up, 120 rows, cpu, one start, two noises", r)
	}
	in := testkit.Put(t, dir, "in.csv", "t\n3.05\n6.05\n")
	for _, name := range []string{"out.csv", "out.npy"} {
		out := filepath.Join(dir, name)
		succeed(t, "predict", model, in, "-o", out, "--full", "--draws", "3")
		tab := testkit.Must(matrix.ReadFull(out))(t)
		if name == "out.npy" {
			if tab.Rows != 2 || tab.Cols != 1+4+3+6 {
				t.Errorf("%d rows, %d columns, want 2 and 14", tab.Rows, tab.Cols)
			}
			continue
		}
		want := "t,y1_mean,y1_sd,y2_mean,y2_sd,y1_y1_cov,y1_y2_cov,y2_y2_cov,y1_draw1,y2_draw1,y1_draw2,y2_draw2,y1_draw3,y2_draw3"
		if got := strings.Join(tab.Names, ","); got != want {
			t.Fatalf("columns %s, want %s", got, want)
		}
		for n, x := range column(t, tab, "t") {
			if got, want := column(t, tab, "y1_mean")[n], 3+math.Sin(2*x); math.Abs(got-want) > 0.05 {
				t.Errorf("y1(%v) = %v, want about %v", x, got, want)
			}
			if got, want := column(t, tab, "y2_mean")[n], 100*math.Cos(2*x); math.Abs(got-want) > 5 {
				t.Errorf("y2(%v) = %v, want about %v", x, got, want)
			}
			sd, cov := column(t, tab, "y1_sd")[n], column(t, tab, "y1_y1_cov")[n]
			if math.Abs(sd*sd-cov) > 1e-12*cov {
				t.Errorf("sd %v, variance %v: want the square", sd, cov)
			}
		}
	}
	latent := succeed(t, "predict", model, in, "-o", "-", "--latent", "--full").stdout
	tab := testkit.Must(matrix.ReadFull(testkit.Put(t, dir, "latent.csv", latent)))(t)
	full := testkit.Must(matrix.ReadFull(filepath.Join(dir, "out.csv")))(t)
	noise := r.NoiseSD[0]
	if sd, cov := column(t, tab, "y1_sd")[0], column(t, tab, "y1_y1_cov")[0]; math.Abs(sd*sd-cov) > 1e-12*cov || cov == 0 {
		t.Errorf("latent sd %v, variance %v: want the square", sd, cov)
	}
	f, y := column(t, tab, "y1_sd")[0], column(t, full, "y1_sd")[0]
	if e := math.Abs(f*f + noise*noise - y*y); e > 1e-9*y*y {
		t.Errorf("latent variance %v and noise %v do not make the predictive variance %v", f*f, noise*noise, y*y)
	}
}

// learned is part of the output of `info --json`.
type learned struct {
	Fitted          bool
	Inputs, Outputs []string
	Windows         *struct{ Length float64 }
}

// TestFitRecording checks a fit to a recording, whose input is seconds and whose outputs are channels.
func TestFitRecording(t *testing.T) {
	dir := t.TempDir()
	in := testkit.Put(t, dir, "in.wav", string(wav(8000, 1, tone(900, 8000))))
	model := filepath.Join(dir, "m.safetensors")
	succeed(t, "fit", in, "-o", model, "--iterations", "20", "--components", "10", "--window", "50ms", "--quiet")
	i := decode[learned](t, succeed(t, "info", model, "--json").stdout)
	if i.Inputs[0] != "seconds" || i.Outputs[0] != "channel1" || i.Windows == nil || math.Abs(i.Windows.Length-0.05) > 1e-12 {
		t.Errorf("info %+v: want windows of 0.05 s over seconds", i)
	}
	e := decode[printed](t, succeed(t, "evaluate", model, in, "--json").stdout)
	if e.Rows != 900 || !(*e.RMSE < 0.01) || !(*e.Density > 2) {
		t.Errorf("rows %d, RMSE %v, density %v; want 900 and a close fit", e.Rows, *e.RMSE, *e.Density)
	}
}

func TestQuietAndJSON(t *testing.T) {
	dir := t.TempDir()
	data := testkit.Put(t, dir, "data.csv", waves(60))
	model := filepath.Join(dir, "m.safetensors")
	if o := succeed(t, "fit", data, "--x", "t", "-o", model, "--iterations", "3", "--quiet"); o.stdout != "" || o.stderr != "" {
		t.Errorf("--quiet prints %q and %q", o.stdout, o.stderr)
	}
	for _, command := range []string{"devices", "version"} {
		if o := succeed(t, command); o.stdout == "" {
			t.Errorf("%s prints nothing", command)
		}
		if v := decode[map[string]any](t, succeed(t, command, "--json").stdout); len(v) == 0 {
			t.Errorf("%s --json prints an empty object", command)
		}
	}
	refuse(t, "cuda", "evaluate", model, data, "--x", "t", "--y", "y2", "--device", "cuda:99")
}

// goldenResult is a bound in a golden file.
type goldenResult struct {
	Bound    float64
	Gradient map[string]any
}

// flatten returns the numbers of nested lists row by row, with null as NaN, and their shape.
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

// TestEvaluateGolden checks that evaluate prints the bounds and gradients of the golden files and terms whose sum is the bound, and does
// not change the model file. For a file without coefficients, the data determine the number of outputs, and predictions are conditioned on
// the data. (The library's tests compare the numbers to more digits.)
func TestEvaluateGolden(t *testing.T) {
	for _, path := range testkit.Must(filepath.Glob("../../testdata/golden/*.json"))(t) {
		g := testkit.Must(oracle.LoadGolden(path))(t)
		var want struct {
			Exact      goldenResult
			Factorized goldenResult `json:"factorised"`
			Minibatch  *goldenResult
		}
		testkit.OK(t, json.Unmarshal(testkit.Read(t, path), &want))
		t.Run(g.Name, func(t *testing.T) {
			m := testkit.Must(vssgp.NewModel(modeltest.FromOracle(g.Params, g)))(t)
			fitted, bare := goldenFiles(t, m)
			data := &vssgp.Data{N: g.N, Q: g.Q, D: g.D, X: slices.Concat(g.X...), Y: slices.Concat(g.Y...)}
			var table strings.Builder
			for n := range g.N {
				fields := strings.Fields(strings.Trim(fmt.Sprint(slices.Concat(g.X[n], g.Y[n])), "[]"))
				table.WriteString(strings.Join(fields, ",") + "\n")
			}
			csv := testkit.Put(t, t.TempDir(), "data.csv", table.String())
			check := func(model string, want goldenResult, args ...string) printed {
				t.Helper()
				got := decode[printed](t, succeed(t, append([]string{"evaluate", model, csv, "--gradient", "--json"}, args...)...).stdout)
				compareGolden(t, g, got, want)
				return got
			}
			before := testkit.Read(t, fitted)
			check(fitted, want.Exact, "--inference", "exact")
			check(fitted, want.Factorized) // a model with coefficient.variance is factorized
			if b := g.Minibatch; b != nil {
				check(fitted, *want.Minibatch, "--rows", strings.Trim(strings.Join(strings.Fields(fmt.Sprint(b.Rows)), ","), "[]"))
			}
			if !slices.Equal(before, testkit.Read(t, fitted)) {
				t.Error("evaluate changed the model")
			}
			got := check(bare, want.Exact)
			refuse(t, "coefficient", "evaluate", bare, csv, "--inference", "factorized")
			testkit.Must(m.Condition(t.Context(), data))(t)
			p := testkit.Must(m.Predict(t.Context(), data.X))(t)
			if want := bayes.RMSE(p.Mean, data.Y); math.Abs(*got.RMSE-want) > 1e-9*want {
				t.Errorf("RMSE %v, want %v of the model that is conditioned on the data", *got.RMSE, want)
			}
		})
	}
}

// goldenFiles writes a model as files without metadata, and one of them without coefficients.
func goldenFiles(t *testing.T, m *vssgp.Model) (fitted, bare string) {
	t.Helper()
	write := func(name string, drop bool) string {
		var b, out bytes.Buffer
		testkit.OK(t, m.Write(&b))
		f := testkit.Must(safetensors.Read(bytes.NewReader(b.Bytes()), int64(b.Len())))(t)
		f.Metadata = nil
		maps.DeleteFunc(f.Tensors, func(name string, _ safetensors.Tensor) bool { return drop && strings.HasPrefix(name, "coefficient.") })
		testkit.OK(t, f.Write(&out))
		return testkit.Put(t, t.TempDir(), name, out.String())
	}
	return write("fitted.safetensors", false), write("bare.safetensors", true)
}

func compareGolden(t *testing.T, g *oracle.Golden, got printed, want goldenResult) {
	t.Helper()
	sum := 0.0
	for _, v := range got.Terms {
		sum += v
	}
	modeltest.Near(t, "bound", []float64{got.Bound, sum}, []float64{want.Bound, want.Bound}, 1e-9)
	if got.Rows != g.N || got.Device != "cpu" || got.RMSE == nil || got.Density == nil {
		t.Errorf("rows %d, device %q, rmse %v, density %v; want %d rows on cpu and numbers", got.Rows, got.Device, got.RMSE, got.Density, g.N)
	}
	for name, w := range want.Gradient {
		wantData, wantShape := flatten(w)
		gotData, gotShape := flatten(got.Gradient[name])
		if !slices.Equal(wantShape, gotShape) {
			t.Errorf("gradient with respect to %s has shape %v, want %v", name, gotShape, wantShape)
			continue
		}
		modeltest.Near(t, "gradient by "+name, gotData, wantData, 1e-5)
	}
	for name := range got.Gradient {
		if _, ok := want.Gradient[name]; !ok {
			t.Errorf("gradient with respect to %s, for which the golden file has none", name)
		}
	}
}

// TestPosteriorCommands checks fit, info and predict with and without a posterior of the hyper-parameters.
func TestPosteriorCommands(t *testing.T) {
	t.Chdir(t.TempDir())
	testkit.Put(t, ".", "d.csv", waves(200))
	line := strings.Fields("--x t --y y1 --components 1 --features 2 --window none -o")
	fit := func(model string, more ...string) outcome {
		return succeed(t, append(append(append([]string{"fit", "d.csv"}, line...), model), more...)...)
	}
	fit("with.st", "--posterior", "4")
	fit("without.st", "--iterations", "1", "--init", "paper")
	var summary struct {
		Posterior string   `json:"posterior"`
		LogPrior  *float64 `json:"log_prior"`
	}
	for _, c := range []struct {
		flags string
		prior bool
	}{{"", true}, {"--prior none", false}, {"--prior noise=0.1,1 --prior lengthscale=none", true}} {
		o := fit("again.st", append(strings.Fields(c.flags), "--json", "--quiet", "--overwrite")...)
		testkit.OK(t, json.Unmarshal([]byte(o.stdout), &summary))
		if summary.Posterior != "computed" || summary.LogPrior == nil || (*summary.LogPrior != 0) != c.prior {
			t.Errorf("fit %s: %s", c.flags, o.stdout)
		}
	}
	testkit.Contains(t, succeed(t, "info", "with.st").stdout, "noise sd", "components", "most confident", "period", "reach", "+-")
	if text := succeed(t, "info", "without.st").stdout; !strings.Contains(text, "without a posterior") || strings.Contains(text, "+-") {
		t.Errorf("info of a model without a posterior:\n%s", text)
	}
	testkit.Contains(t, succeed(t, "info", "without.st", "--json").stdout, `"frequency_sd":[]`)
	out := succeed(t, "predict", "with.st", "d.csv", "--x", "t", "--posterior", "--draws", "2", "-o", "-").stdout
	tab := testkit.Must(matrix.ReadFull(testkit.Put(t, t.TempDir(), "out.csv", out)))(t)
	testkit.Equal(t, strings.Join(tab.Names, ","), "t,y1_mean,y1_sd,y1_lower,y1_upper,y1_draw1,y1_draw2", "columns")
	for v := range slices.Chunk(tab.Data, tab.Cols) {
		if width := (v[4] - v[3]) / v[2]; !(v[3] < v[1] && v[1] < v[4]) || math.Abs(width-2*1.96) > 0.5 {
			t.Fatalf("mean, sd, lower and upper %v", v[1:5])
		}
	}
	refuse(t, "has no draws", "predict", "without.st", "d.csv", "--x", "t", "--posterior", "-o", "-")
	for _, flags := range []string{"--prior noise=1e-300,1", "--posterior 100000", "--init spectrum --lengthscales 3"} {
		refuse(t, "", append(strings.Fields("fit d.csv -o m.st"), strings.Fields(flags)...)...)
	}
}

const (
	co2      = "../../testdata/co2_monthly.csv"
	sunspots = "../../testdata/sunspots.csv"
	gapped   = "../../testdata/speech_gapped.wav"
	gapsCSV  = "../../testdata/speech_gaps.csv"
)

// TestWarnings checks the warnings of runs, on real data where available.
func TestWarnings(t *testing.T) {
	dir := t.TempDir()
	smooth := testkit.Put(t, dir, "smooth.csv", evenSeries(400, func(n int) float64 { return math.Sin(0.05 * float64(n)) }))
	rng := rand.New(rand.NewPCG(1, 2))
	hiss := testkit.Put(t, dir, "hiss.csv", evenSeries(300, func(n int) float64 { return rng.NormFloat64() + 0.25*math.Sin(float64(n)/4) }))
	week := evenSeries(21, func(n int) float64 { return float64(n%7) + 1.5 })
	weeks := testkit.Put(t, dir, "weeks.csv", week)
	shops := testkit.Put(t, dir, "shops.csv", strings.ReplaceAll(week, "\n", ",shop\n")+
		strings.ReplaceAll(strings.TrimPrefix(week, "t,y\n"), "\n", ",b\n"))
	few := testkit.Put(t, dir, "few.csv", "t,y\n0,1\n1,3\n2,2\n")
	out := func(name string) string { return filepath.Join(dir, name) }
	rows := func(name, second string) string { // with the second input as a function of the first one
		all := "a,b,y\n"
		for i := range 40 {
			a := float64(i*7%40) / 4
			b := map[string]float64{"constant": 5, "same": a, "line": 1e6 - 3*a, "curve": a * a}[second]
			all += fmt.Sprintf("%v,%v,%v\n", a, b, math.Sin(a)+0.1*rng.NormFloat64())
		}
		return testkit.Put(t, dir, name, all)
	}
	noisy, scatter := "a,b,y\n", rand.New(rand.NewPCG(3, 4))
	for range 60 {
		noisy += fmt.Sprintf("%.3f,%.3f,%.3f\n", scatter.Float64(), scatter.Float64(), scatter.Float64())
	}
	for name, c := range map[string]struct {
		args []string
		want []string // part of each warning, in order
	}{
		"no season": {[]string{"forecast", weeks, "--trend", "line", "-o", out("k.csv")},
			[]string{"repeating the last period of 7"}},
		"a season": {[]string{"forecast", weeks, "--season", "7", "--trend", "none", "-o", out("l.csv")}, nil},
		"shops": {[]string{"forecast", shops, "--by", "shop", "--trend", "line", "-o", out("n.csv")},
			[]string{"predicts y better than the model"}},
		"good fit": {[]string{"fit", co2, "--method", "vssgp", "-o", out("a")}, nil},
		"default":  {[]string{"fit", sunspots, "--method", "vssgp", "-o", out("d")}, nil},
		"no noise": {[]string{"fit", smooth, "--method", "vssgp", "-o", out("f")}, []string{"decreased to the resolution of float64"}},
		"few rows": {[]string{"fit", few, "--method", "vssgp", "-o", out("q")}, []string{"3 rows hardly determine the noise"}},
		"one value": {[]string{"fit", rows("1.csv", "constant"), "-o", out("r")},
			[]string{"all rows have the same value of the input b, so the model cannot learn its effect; try --x a"}},
		"one value of one input": {
			[]string{"fit", rows("2.csv", "constant"), "--x", "b", "--method", "vssgp", "-o", out("s")},
			[]string{"the input b, so the model cannot learn its effect; try --x with another column",
				"the noise explains 100 %"},
		},
		"equal inputs": {[]string{"fit", rows("3.csv", "same"), "-o", out("t")},
			[]string{"all rows are on one line in the plane of the inputs a and b"}},
		"a line": {[]string{"fit", rows("4.csv", "line"), "-o", out("u")},
			[]string{"all rows are on one line in the plane of the inputs a and b"}},
		"a curve": {[]string{"fit", rows("5.csv", "curve"), "-o", out("v")}, nil},
		"noise everywhere": {[]string{"fit", hiss, "--components", "1", "--features", "2", "-o", out("g")},
			[]string{"% of the variance"}},
		"noise of two inputs": {
			[]string{"fit", testkit.Put(t, dir, "noisy.csv", noisy), "--iterations", "3", "-o", out("w")},
			[]string{"try --restarts 3 or other --lengthscales"}},
		"long gaps, no model": {[]string{"impute", gapped, "--gap", "4950:5110", "--gap", "6500:7700", "-o", out("m.wav")}, nil},
		"good fill": {[]string{"impute", gapped, "--method", "vssgp", "--gap", "4950:5110", "--gap", "6500:6740", "-o", out("i.wav")},
			nil},
		"a long gap": {[]string{"impute", gapped, "--method", "vssgp", "--gap", "6500:7700", "-o", out("j.wav")},
			[]string{"--context 150ms", "--window 113ms"}},
		"two long gaps": {[]string{"impute", gapped, "--gap", "6500:6740", "--gap", "20000:20240", "--context", "10ms", "--window", "32ms", "-o",
			out("o.wav")}, []string{"--context"}},
		"all is context": {[]string{"impute", gapped, "--gap", "4950:5110", "--context", "all", "--window", "8ms", "--components", "4",
			"--features", "2", "-o", out("k.wav")}, []string{"windows are only 8 ms"}},
	} {
		if !slow.Tests && slices.Contains([]string{"default", "good fill", "all is context"}, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := warnings(succeed(t, c.args...).stderr)
			if len(got) != len(c.want) {
				t.Fatalf("%d warnings, want %d:\n%s", len(got), len(c.want), strings.Join(got, "\n"))
			}
			for i, w := range c.want {
				if !strings.Contains(got[i], w) {
					t.Errorf("warning %q, want one with %q", got[i], w)
				}
				if !strings.Contains(got[i], "try ") {
					t.Errorf("%q has no remedy", got[i])
				}
			}
			if len(c.want) > 0 && (slow.Tests || name == "noise everywhere") {
				if quiet := succeed(t, append(c.args, "--quiet")...).stderr; quiet != "" {
					t.Errorf("--quiet: %q on stderr", quiet)
				}
			}
		})
	}
}

func warnings(stderr string) (all []string) {
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "vssgp: warning: ") {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

func evenSeries(n int, y func(n int) float64) string {
	var b strings.Builder
	b.WriteString("t,y\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,%.9g\n", i, y(i))
	}
	return b.String()
}
