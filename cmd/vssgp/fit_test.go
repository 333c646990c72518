package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/table"
)

// waves is a CSV file of n rows t, y1, y2: two outputs on an even grid.
func waves(n int) string {
	var b strings.Builder
	b.WriteString("t,y1,y2\n")
	for i := range n {
		x := 0.1 * float64(i)
		fmt.Fprintf(&b, "%v,%v,%v\n", x, 3+math.Sin(2*x)+0.01*math.Cos(77*x), 100*math.Cos(2*x)+math.Sin(91*x))
	}
	return b.String()
}

// fitPrinted is what fit --json prints, as another program would read it.
type fitPrinted struct {
	Bound       float64
	Terms       map[string]float64
	Iterations  int
	Starts      []struct{ Ended string }
	Device      string
	Rows        int
	NoiseSD     []float64 `json:"noise_sd"`
	Model       string
	Interrupted bool
	Resumed     *int
}

// column is a table's column by name.
func column(t *testing.T, tab *table.Table, name string) []float64 {
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
	r := decode[fitPrinted](t, succeed(t, "fit", data, "--y", "y1,y2", "-o", model, "--iterations", "40", "--json").stdout)
	sum := 0.0
	for _, term := range r.Terms {
		sum += term
	}
	if math.Abs(sum-r.Bound) > 1e-9*math.Abs(sum) || r.Rows != 120 || r.Device != "cpu" || r.Iterations < 1 || len(r.Starts) != 1 || len(r.NoiseSD) != 2 {
		t.Errorf("result %+v: want terms that add up, 120 rows, cpu, one start, two noises", r)
	}
	in := testkit.Put(t, dir, "in.csv", "t\n3.05\n6.05\n")
	for _, name := range []string{"out.csv", "out.npy"} {
		out := filepath.Join(dir, name)
		succeed(t, "predict", model, in, "-o", out, "--full", "--draws", "3")
		tab, err := table.Open(out)
		if err != nil {
			t.Fatal(err)
		}
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
	tab, err := table.ReadCSV(strings.NewReader(latent), "stdout")
	if err != nil {
		t.Fatal(err)
	}
	full, err := table.Open(filepath.Join(dir, "out.csv"))
	if err != nil {
		t.Fatal(err)
	}
	noise := r.NoiseSD[0]
	if sd, cov := column(t, tab, "y1_sd")[0], column(t, tab, "y1_y1_cov")[0]; math.Abs(sd*sd-cov) > 1e-12*cov || cov == 0 {
		t.Errorf("latent sd %v, variance %v: want the square", sd, cov)
	}
	f, y := column(t, tab, "y1_sd")[0], column(t, full, "y1_sd")[0]
	if e := math.Abs(f*f + noise*noise - y*y); e > 1e-9*y*y {
		t.Errorf("latent variance %v and noise %v do not make the predictive variance %v", f*f, noise*noise, y*y)
	}
}

// learnt is part of the output of `info --json`.
type learnt struct {
	Fitted          bool
	Inputs, Outputs []string
	Windows         *struct{ Length float64 }
	Frequencies     []struct{ Amplitude, Period []float64 }
}

func TestInfo(t *testing.T) {
	dir := t.TempDir()
	data := testkit.Put(t, dir, "data.csv", waves(120))
	model := filepath.Join(dir, "m.safetensors")
	succeed(t, "fit", data, "--x", "0", "--y", "y2", "-o", model, "--iterations", "40")
	i := decode[learnt](t, succeed(t, "info", model, "--json").stdout)
	if !i.Fitted || len(i.Inputs) != 1 || i.Inputs[0] != "t" || i.Outputs[0] != "y2" || len(i.Frequencies) == 0 {
		t.Fatalf("info %+v: want a fitted model of y2 over t", i)
	}
	// The strongest of the confident frequencies is the wave itself: period π.
	best := i.Frequencies[0]
	for _, f := range i.Frequencies {
		if f.Amplitude[0] > best.Amplitude[0] {
			best = f
		}
	}
	if p := best.Period[0]; math.Abs(p-math.Pi) > 0.3 {
		t.Errorf("period %v, want about %v", p, math.Pi)
	}
	text := succeed(t, "info", model).stdout
	for _, word := range []string{"noise sd", "components", "period", "reach"} {
		if !strings.Contains(text, word) {
			t.Errorf("info says nothing of %s:\n%s", word, text)
		}
	}
}

// The components of a model in the data's units: one whose maps are not the
// identity.
func TestInfoUnits(t *testing.T) {
	p := vssgp.NewParams(1, 1, 1, 1)
	p.Variance[0], p.Lengthscale[0], p.Frequency[0] = 4, 3, 0.5
	p.FreqMean[0], p.FreqVar[0], p.Location[0], p.NoisePrecision[0] = 0, 9, 2, 25
	p.CoefVar[0] = 1
	m, err := vssgp.NewModel(p)
	if err != nil {
		t.Fatal(err)
	}
	m.X, m.Y = vssgp.Affine{Offset: []float64{1}, Scale: []float64{10}}, vssgp.Affine{Offset: []float64{0}, Scale: []float64{100}}
	c, f := m.Components()[0], m.Frequencies()[0]
	for _, v := range []struct {
		name      string
		got, want float64
	}{
		{"sd", c.SD[0], 200}, {"length-scale", c.Lengthscale[0], 30}, {"period", c.Period[0], 20},
		{"noise", m.NoiseSD()[0], 20}, {"location", f.Location[0], 21}, {"frequency", f.Mean[0], 0.05},
		{"frequency's spread", f.Spread[0], 3 / (2 * math.Pi * 30)}, {"reach", f.Reach[0], 10},
	} {
		if math.Abs(v.got-v.want) > 1e-12*v.want {
			t.Errorf("%s %v, want %v", v.name, v.got, v.want)
		}
	}
}

// The same seed gives the same bytes, whatever the number of threads.
func TestFitSameBytes(t *testing.T) {
	dir := t.TempDir()
	data := testkit.Put(t, dir, "data.csv", waves(200))
	for _, inference := range []string{"exact", "factorised", "stochastic"} {
		var files [2]string
		for i, threads := range []int{1, 4} {
			old := runtime.GOMAXPROCS(threads)
			model := filepath.Join(dir, fmt.Sprintf("%s-%d.safetensors", inference, threads))
			o := vssgpRun(t, "fit", data, "-o", model, "--iterations", "15", "--window", "5", "--seed", "7", "--inference", inference)
			runtime.GOMAXPROCS(old)
			if o.code != cli.ExitDone {
				t.Fatalf("%s: exit %d: %s", inference, o.code, o.stderr)
			}
			b, err := os.ReadFile(model)
			if err != nil {
				t.Fatal(err)
			}
			files[i] = string(b)
		}
		if files[0] != files[1] {
			t.Errorf("%s: 1 and 4 threads give different models", inference)
		}
	}
}

// A recording is data too: x in seconds, a channel an output.
func TestFitRecording(t *testing.T) {
	dir := t.TempDir()
	in := testkit.Put(t, dir, "in.wav", string(wav(8000, 1, tone(900, 8000))))
	model := filepath.Join(dir, "m.safetensors")
	succeed(t, "fit", in, "-o", model, "--iterations", "20", "--components", "10", "--window", "50ms", "--quiet")
	i := decode[learnt](t, succeed(t, "info", model, "--json").stdout)
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
	for _, line := range []string{"devices", "version", "info " + model, "evaluate " + model + " " + data + " --x t --y y2"} {
		args := strings.Fields(line)
		if o := succeed(t, args...); o.stdout == "" {
			t.Errorf("%s prints nothing", args[0])
		}
		o := succeed(t, append(args, "--json", "--progress", "always")...)
		if v := decode[map[string]any](t, o.stdout); len(v) == 0 {
			t.Errorf("%s --json prints an empty object", args[0])
		}
	}
	if o := vssgpRun(t, "evaluate", model, data, "--x", "t", "--y", "y2", "--device", "cuda:99"); o.code != cli.ExitMistake || !strings.Contains(o.stderr, "cuda") || strings.Count(o.stderr, "\n") != 1 {
		t.Errorf("--device cuda:99 without it: exit %d, %q; want %d and the reason on one line", o.code, o.stderr, cli.ExitMistake)
	}
	for _, c := range []string{"", "impute", "forecast", "fill", "backtest", "fit", "predict", "evaluate", "info", "devices", "version"} {
		o := succeed(t, append(strings.Fields(c), "--help")...)
		if !strings.Contains(o.stdout, "Examples:") || o.stderr != "" {
			t.Errorf("%s --help has no example, or prints %q on stderr", c, o.stderr)
		}
	}
}
