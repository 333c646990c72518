package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/table"
)

func TestParseSpeed(t *testing.T) {
	for _, c := range []struct{ args, err string }{
		{"", ""},
		{"-n 100 -features 8 -inputs 3 -outputs 2 -window 20 -device cuda:1 -repeats 1 -peak 60 -uneven", ""},
		{"-inference predict", ""},
		{"-inference stochastic", "-inference"},
		{"-precision mixed", "-precision"}, {"-device cuda -precision digits=9", "digits=3 or digits=7"}, {"-precision digits", "the CPU computes in float64"}, {"-device cuda:0,1", "mpirun -n 2"},
		{"-device auto", "-device"}, {"-device cpu:1", "-device"}, {"-device cuda:0,0", "-device"}, {"-device cuda:", "-device"}, {"-device cuda:-1", "-device"},
		{"-n 0", "rows"}, {"-features -1", "features"}, {"-outputs 0", "outputs"},
		{"-window 2", "-window"}, {"-window NaN", "-window"}, {"-n 100 -window 101", "-window"}, {"-window -5", "-window"},
		{"-repeats 0", "-repeats"}, {"-peak -1", "-peak"}, {"-peak Inf", "-peak"},
		{"-dump d -inference predict", "-dump"}, {"-check -inference predict", "-check"},
		{"-peers numpy", ""}, {"-peers torch,jax,numpy -device cuda:1 -python /bin/python3", ""},
		{"-peers scipy", "-peers"}, {"-peers numpy,", "-peers"}, {"-peers numpy -inference factorised", "-inference exact"},
		{"-peers numpy -window 20", "-window"}, {"-peers numpy -peer-time 0s", "-peer-time"},
		{"-peers jax -dump d", "-dump"}, {"-peers celerite4,celerite20", ""},
		{"-fitted -direct", ""}, {"-direct -device cuda", "-direct"},
		{"-data a.csv -fit 5 -peers celerite4", ""}, {"-data a.csv", "-fit"}, {"-data a.csv -fit 5 -features 7", "even number"},
		{"-data a.csv -fit 5 -window 20", "-window"}, {"-data a.csv -fit 5 -inference factorised", "-inference"}, {"-data a.csv -fit 5 -peers numpy", "celerite4"},
		{"more", "unexpected"}, {"-nonsense", "nonsense"},
	} {
		o, err := parse("speed", strings.Fields(c.args), io.Discard)
		switch {
		case c.err == "" && (err != nil || o.(*speedTask).name == ""):
			t.Errorf("%q: %v", c.args, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%q: error %v, want one that names %s", c.args, err, c.err)
		}
	}
}

// parsed is the task of a subcommand.
func parsed[T task](t *testing.T, name, args string) T {
	t.Helper()
	o, err := parse(name, strings.Fields(args), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return o.(T)
}

// TestProblem: the same seed makes the same problem, another one another; what
// is asked for is what there is.
func TestProblem(t *testing.T) {
	s := sizes{N: 200, Q: 2, D: 3, Features: 12, Window: 50, Seed: 4}
	a, err := s.build()
	if err != nil {
		t.Fatal(err)
	}
	b, _ := s.build()
	s.Seed = 5
	c, _ := s.build()
	if a.data.Y[10] != b.data.Y[10] || a.model.Params.FreqMean[3] != b.model.Params.FreqMean[3] || a.data.Y[10] == c.data.Y[10] {
		t.Error("the seed does not decide the problem")
	}
	p := a.model.Params
	if v := p.Windows.Count(); v != 9 || p.M() != 9*12 || p.Q != 2 || p.D != 3 {
		t.Errorf("%d windows, %d features, %d inputs, %d outputs", v, p.M(), p.Q, p.D)
	}
	for n := range a.N {
		if a.data.X[n*2] != float64(n) {
			t.Fatalf("row %d lies at %v", n, a.data.X[n*2])
		}
	}
	s.Uneven, s.Window = true, 0
	u, _ := s.build()
	if u.data.X[2] == 1 || math.Abs(u.data.X[2]-1) > jitter || u.model.Params.M() != 12 {
		t.Errorf("uneven: second row at %v, %d features", u.data.X[2], u.model.Params.M())
	}
}

// TestWork: counts by hand.
func TestWork(t *testing.T) {
	dense, err := sizes{N: 100, Q: 1, D: 2, Features: 10, Seed: 1}.build()
	if err != nil {
		t.Fatal(err)
	}
	if w := dense.work("exact"); w[moments] != 100*10*10+2*100*10*2 || w[pullback] != 2*100*10*10 || w[accumulating] != 100*10*10 || w[algebra] != 10*10*10 || len(w) != 4 {
		t.Errorf("exact: %+v", w)
	}
	if w := total(dense.work("factorised")); w != 100*10*(6*2+8+22) {
		t.Errorf("factorised: %v", w)
	}
	// Centers 0, 50, 100: rows [0,50) and [50,100) meet two windows each, and
	// nothing lies beyond.
	windows, err := sizes{N: 100, Q: 1, D: 1, Features: 10, Window: 100, Seed: 1}.build()
	if err != nil {
		t.Fatal(err)
	}
	if w := total(windows.work("predict")); w != 2*100*20*20+2*100*20 {
		t.Errorf("windows: %v", w)
	}
}

// slow is a backend whose passes take a known time.
type slow struct{ backend.Backend }

const pass = 20 * time.Millisecond

func (s slow) Open(d backend.Data) (backend.Rows, error) {
	r, err := s.Backend.Open(d)
	time.Sleep(10 * pass) // is not to be counted
	return slowRows{r}, err
}

type slowRows struct{ backend.Rows }

func (r slowRows) Moments(dst *backend.Moments, f *backend.Features) error {
	time.Sleep(pass)
	return r.Rows.Moments(dst, f)
}

func (r slowRows) Pullback(dst, f *backend.Features, bar *backend.Moments) error {
	time.Sleep(2 * pass)
	return r.Rows.Pullback(dst, f, bar)
}

func (r slowRows) Close() error {
	time.Sleep(10 * pass)
	return r.Rows.Close()
}

// TestStopwatch: each pass is charged to its part, opening and closing to none.
func TestStopwatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := parsed[*speedTask](t, "speed", "-n 50 -features 4 -repeats 2 -peak 1")
		run, err := newSession(o, slow{cpu.New()})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.run(); err != nil {
			t.Fatal(err)
		}
		r := run.record
		s := r.Seconds
		one := pass.Seconds()
		if s[moments] != one || s[pullback] != 2*one || s[opening] != 10*one || s[hosted] != 0 || s[factorised]+s[predicted] != 0 {
			t.Errorf("parts %+v, want passes of %v and %v s", s, one, 2*one)
		}
		if r.Evaluation != 3*one {
			t.Errorf("evaluation %v s, expected %v: opening and closing are not counted", r.Evaluation, 3*one)
		}
		if want := run.work("exact")[pullback] / s[pullback] / 1e9; math.Abs(r.GFlops[pullback]-want) > 1e-12*want || math.Abs(r.Share[pullback]-want/1e3) > 1e-12 {
			t.Errorf("%v GFLOP/s, share %v; want %v", r.GFlops[pullback], r.Share[pullback], want)
		}
	})
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{{[]float64{3, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}, {[]float64{7}, 7}, {nil, 0}} {
		if got := median(c.in); got != c.want {
			t.Errorf("median of %v is %v", c.in, got)
		}
	}
}

// TestMeasure: a record of each inference comes back from its line of JSON, and
// a dump holds what the evaluation gave.
func TestMeasure(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "speed.jsonl")
	for _, inference := range inferences {
		if err := bench("speed", "-n", "60", "-features", "6", "-repeats", "1", "-inference", inference, "-out", out); err != nil {
			t.Fatal(err)
		}
	}
	r := &result{}
	_, err := jsonl.Read(out, r.add)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range r.Speed {
		var m record
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		if m.Inference != inferences[i] || m.Evaluation <= 0 || m.Status != machine.OK || (m.Bound == nil) != (m.Inference == "predict") || m.Device != "cpu" || m.N != 60 || m.M != 6 {
			t.Errorf("%+v", m)
		}
	}
	if err := bench("speed", "-n", "60", "-features", "6", "-dump", filepath.Join(dir, "dump")); err != nil {
		t.Fatal(err)
	}
	p, _ := sizes{N: 60, Q: 1, D: 1, Features: 6, Seed: 1}.build()
	e, err := p.model.Evaluate(t.Context(), p.data, "exact", nil, true)
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Bound float64
		M     int `json:"features"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "dump", "problem.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil || d.Bound != e.Bound || d.M != 6 {
		t.Errorf("dump %+v, %v; want bound %v", d, err, e.Bound)
	}
	g, err := table.Open(filepath.Join(dir, "dump", "gradient.inducing.location.npy"))
	if err != nil || len(g.Data) != 6 || g.Data[5] != e.Gradient.Location[5] {
		t.Errorf("gradient %v, %v; want %v", g, err, e.Gradient.Location)
	}
}

func TestReport(t *testing.T) {
	r := &result{}
	_, err := jsonl.Parse([]byte(`{"facts":{"name":"Card X","driver_version":"1.2","commit":"abc"}}
{"stage":"test-gpu","seconds":3.5,"status":"exit 1","said":"no"}
{"profile":"moments_gram_64","metrics":{"Elapsed Cycles [cycle]":"34,567"}}

{"bench":"speed","case":"exact N=5 M=2","device":"cuda:0 Card X","precision":"float64","seconds_per_evaluation":0.25,"gflops":{"evaluation":1,"moments":30000,"pullback":20000},"share_of_peak":{"evaluation":0.1,"moments":0.5},"device_bytes":2097152,"host_bytes":1,"status":"ok"}
{"bench":"speed","case":"big","device":"cuda:0 Card X","precision":"mixed","status":"out of memory: no\nroom"}
{"peer":"jax","version":"1","device":"cuda","n":5,"features":2,"seconds_per_evaluation":0.5,"peak_bytes":1048576,"status":"ok"}
{"peer":"torch","version":"2","mode":"rates","case":"DGEMM 64","device":"cuda","n":64,"tflops":50,"status":"ok"}
{"peer":"torch","version":"2","mode":"rates","case":"copy back, pinned","device":"cuda","n":64,"gbytes_per_second":52.5,"status":"ok"}
{"bench":"speed","case":"without a peak","device":"cuda:0 Card X","seconds_per_evaluation":2,"seconds":{"moments":1,"pullback":1},"flop":{"moments":1e13},"status":"ok"}
`), r.add)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	r.print(&b)
	for _, want := range []string{"Card X, driver 1.2, commit abc", "test-gpu", "exit 1", "exact N=5 M=2", " 0.25 ", " 30 ", " 20 ", "50%", " 2  ok", "out of memory: no", "jax 1, exact N=5 M=2", "torch 2, DGEMM 64", " 50 ", "52.5 GB/s", "20%"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
	if len(r.Profiles) != 1 || r.Stages[0].Said != "no" {
		t.Errorf("%d profiles, stages %+v", len(r.Profiles), r.Stages)
	}
	if n := strings.Count(b.String(), "\n"); n != 2+1+1+1+6 {
		t.Errorf("%d lines:\n%s", n, b.String())
	}
	for _, bad := range []string{"{}", "not JSON", `{"bench":"other"}`} {
		if _, err := jsonl.Parse([]byte(bad+"\n"), r.add); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
