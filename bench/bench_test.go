package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestFlagsAreParsed checks that the flags of every command are accepted, or that the error contains the flag.
func TestFlagsAreParsed(t *testing.T) {
	out := " -out " + filepath.Join(t.TempDir(), "o")
	for name, cases := range map[string][][2]string{
		"speed": {
			{"", ""},
			{"-n 100 -features 8 -inputs 3 -outputs 2 -window 20 -device cuda:1 -repeats 1 -peak 60 -uneven", ""},
			{"-inference predict", ""},
			{"-inference stochastic", "-inference"},
			{"-device cuda:0,1", "mpirun -n 2"},
			{"-device auto", "-device"}, {"-device cpu:1", "-device"}, {"-device cuda:0,0", "-device"}, {"-device cuda:", "-device"}, {"-device cuda:-1", "-device"},
			{"-n 0", "rows"}, {"-features -1", "features"}, {"-outputs 0", "outputs"},
			{"-window 2", "-window"}, {"-window NaN", "-window"}, {"-n 100 -window 101", "-window"}, {"-window -5", "-window"},
			{"-repeats 0", "-repeats"}, {"-peak -1", "-peak"}, {"-peak Inf", "-peak"},
			{"-dump d -inference predict", "-dump"}, {"-check -inference predict", "-check"},
			{"-peers numpy", ""}, {"-peers torch,jax,numpy -device cuda:1 -python /bin/python3", ""},
			{"-peers scipy", "-peers"}, {"-peers numpy,", "-peers"}, {"-peers numpy -inference factorized", "-inference exact"},
			{"-peers numpy -window 20", "-window"}, {"-peers numpy -peer-time 0s", "-peer-time"},
			{"-peers jax -dump d", "-dump"}, {"-peers celerite4,celerite20", ""},
			{"-inputs 2 -peers numpy,efgp,gp1000,ski,svgp", ""},
			{"-peers numpy,efgp", "-inputs 2"}, {"-inputs 3 -peers svgp", "-inputs 2"},
			{"-fitted -direct", ""}, {"-direct -device cuda", ""},
			{"-data a.csv -fit 5 -peers celerite4", ""}, {"-data a.csv", "-fit"}, {"-data a.csv -fit 5 -features 7", "even number"},
			{"-data a.csv -fit 5 -window 20", "-window"}, {"-data a.csv -fit 5 -inference factorized", "-inference"}, {"-data a.csv -fit 5 -peers numpy", "celerite4"},
			{"more", "unexpected"}, {"-nonsense", "nonsense"}, {"-show", "files of lines"}, {"-show lines.jsonl", ""},
		},
		"clipped": {
			{"", "no files"}, {"-method vssgp,adeclip,spade a.wav", ""}, {"-method best a.wav", "-method"}, {"-sdr 3,x a.wav", "-sdr"},
			{"-sdr -1 a.wav", "-sdr"}, {"-from 1 a.wav", "-from"}, {"-seconds 0 a.wav", "-seconds"},
		},
		"long": {
			{"", ""}, {"-from 1e5 -to 1e6 -per 1 -features 8 -window 64 -dense=false -celerite=false -limit 3 -fit 5 -repeats 2 -out o -terms 1,2,3", ""},
			{"-from 0", "-from"}, {"-from 1e6 -to 1e5", "-to"}, {"-to 1e12", "-to"}, {"-to NaN", "-to"}, {"-per 0", "-per"}, {"-per 1000000000", "-per"},
			{"-features 0", "-features"}, {"-tables -1", "-tables"}, {"-window 2", "-window"}, {"-window 512 -from 500", "-window"}, {"-window NaN", "-window"},
			{"-limit 0", "-limit"}, {"-limit Inf", "-limit"}, {"-fit -1", "-fit"}, {"-repeats 0", "-repeats"},
			{"-terms 0", "-terms"}, {"-terms 2,", "-terms"}, {"-terms many", "-terms"}, {"more", "unexpected"}, {"-nonsense", "nonsense"},
		},
		"mma": {{"-image a", ""}, {"", "-image"}, {"-image a -device cpu", "-device"}, {"-image a more", "unexpected"}},
		"paper": {
			{"", ""},
			{"-set solar,co2 -method gp -data d -out o -quick -seeds 2 -again", ""},
			{"-quick -draw -out o", ""},
			{"-quick -draw", "-out"},
			{"-set gaps speech:a.wav", ""},
			{"-seeds many", "many"}, {"-nonsense", "nonsense"},
		},
		"ranks": {
			{"-ranks 1,3 -features 7", ""}, {"-ranks 0", "-ranks"}, {"-ranks 1,x", "-ranks"}, {"-ranks 100000", "-ranks"}, {"-repeats 0", "-repeats"},
			{"-n 0", "rows"}, {"-show", "-out"}, {"stray", "unexpected"},
		},
		"regression": {
			{"", ""}, {"-kind rbf-gap,co2 -half judge -seeds 2 -method vssgp -long -limit 1m -data d -out o", ""},
			{"-dump d", ""}, {"-show a.jsonl b.jsonl", ""}, {"-compare a.jsonl b.jsonl", ""},
			{"-kind gap", "-kind"}, {"-half both", "-half"}, {"-seeds 0", "-seeds"}, {"-method sklearn", "-method"}, {"-limit 0", "-limit"},
			{"-show", "no files"}, {"-compare a.jsonl", "two files"}, {"-show -compare a b", "-compare"}, {"a.jsonl", "unexpected"},
		},
		"tables": {
			{"-features 25,50 -drawn 0,100 -holes 12 a.csv dir", ""}, {"-show lines.jsonl", ""}, {"", "no files"},
			{"-drawn -1 a.csv", "from 0 to"}, {"-features 0 a.csv", "from 1 to"},
			{"-splits 0 a.csv", "-splits"}, {"-holes -1 a.csv", "-holes"},
		},
		"repair": {{"", "no files"}, {"-only rust a.wav", "-only"}, {"-sensitivity 11 a.wav", "-sensitivity"}, {"-seconds 0 a.wav", "-seconds"}},
		"series": {
			{"", ""}, {"-set origins,co2-years -method naive -relative naive", ""}, {"-method none lines.jsonl", ""},
			{"-write d -peers ucm,gp -python /bin/python3", ""},
			{"-set more", "-set"}, {"-method best", "-method"}, {"-peers ucm", "-write"}, {"-write d -peers arima", "-peers"}, {"-out=", "-out"},
			{"-worst -1", "-worst"},
		},
	} {
		for _, c := range cases {
			args := strings.Fields(c[0])
			if name == "long" {
				args = append(strings.Fields(out), args...)
			}
			_, err := parse(name, args, io.Discard)
			if (err == nil) != (c[1] == "") || err != nil && !strings.Contains(err.Error(), c[1]) {
				t.Errorf("%s %q: error %v, want %q", name, c[0], err, c[1])
			}
		}
	}
	o := parsed[*paperTask](t, "paper", "-set solar,co2 -method gp,vfe")
	if !slices.Equal(o.Sets, []string{"solar", "co2"}) || !slices.Equal(o.Methods, []string{"gp", "vfe"}) {
		t.Errorf("%+v", o)
	}
}

// TestMistakes checks that invalid flags and files give exit status 2, and other errors 1.
func TestMistakes(t *testing.T) {
	out := t.TempDir()
	none := filepath.Join(out, "none")
	for _, args := range []string{
		"speed -peers scipy", "speed -n 0", "speed -device gpu", "speed -nonsense", "speed -show",
		"long -per 0", "long -out " + none + "/o.jsonl", "long -show -out " + none, "long -show -out long_test.go",
		"paper -set lunar", "paper -set co2 -data " + none, "paper -seeds -1", "paper -draw -again", "paper -set solar speech:a.wav", "paper -set gaps a.wav",
	} {
		name, flags, _ := strings.Cut(args, " ")
		if name == "paper" {
			flags = "-out " + out + " " + flags
		}
		if err := bench(name, strings.Fields(flags)...); err == nil || exitCode(err) != 2 {
			t.Errorf("%s: exit status %d, %v; want 2", args, exitCode(err), err)
		}
	}
	for _, err := range []error{errors.New("another"), peersError([]peerLine{{Peer: "numpy", Status: "disagrees: by much"}})} {
		if exitCode(err) != 1 {
			t.Errorf("%v: exit status %d, want 1", err, exitCode(err))
		}
	}
}

// parsed returns the task of a subcommand.
func parsed[T task](t *testing.T, name, args string) T {
	t.Helper()
	o := testkit.Must(parse(name, strings.Fields(args), io.Discard))(t)
	return o.(T)
}

// TestProblem checks the sizes of a synthetic problem, and that it depends on the seed alone.
func TestProblem(t *testing.T) {
	s := sizes{N: 200, Q: 2, D: 3, Features: 12, Window: 50, Seed: 4}
	a := testkit.Must(s.build())(t)
	b, _ := s.build()
	s.Seed = 5
	c, _ := s.build()
	if a.data.Y[10] != b.data.Y[10] || a.model.Params.FreqMean[3] != b.model.Params.FreqMean[3] || a.data.Y[10] == c.data.Y[10] {
		t.Error("the problem does not depend on the seed alone")
	}
	p := a.model.Params
	if v := p.Windows.Count(); v != 9 || p.M() != 9*12 || p.Q != 2 || p.D != 3 {
		t.Errorf("%d windows, %d features, %d inputs, %d outputs", v, p.M(), p.Q, p.D)
	}
	for n := range a.N {
		if a.data.X[n*2] != float64(n) {
			t.Fatalf("row %d at %v", n, a.data.X[n*2])
		}
	}
	s.Uneven, s.Window = true, 0
	u, _ := s.build()
	if u.data.X[2] == 1 || math.Abs(u.data.X[2]-1) > jitter || u.model.Params.M() != 12 {
		t.Errorf("uneven: second row at %v, %d features", u.data.X[2], u.model.Params.M())
	}
}

// TestWorkMatchesCountsByHand compares the numbers of operations with counts by hand.
func TestWorkMatchesCountsByHand(t *testing.T) {
	dense := testkit.Must(sizes{N: 100, Q: 1, D: 2, Features: 10, Seed: 1}.build())(t)
	if w := dense.work("exact"); w[moments] != 100*10*10+2*100*10*2 || w[pullback] != 2*100*10*10 || w[accumulating] != 100*10*10 || w[algebra] != 10*10*10 || len(w) != 4 {
		t.Errorf("exact: %+v", w)
	}
	if w := total(dense.work("factorized")); w != 100*10*(6*2+8+22) {
		t.Errorf("factorized: %v", w)
	}
	// The centers are 0, 50 and 100. Rows [0,50) and [50,100) are in two windows each.
	windows := testkit.Must(sizes{N: 100, Q: 1, D: 1, Features: 10, Window: 100, Seed: 1}.build())(t)
	if w := total(windows.work("predict")); w != 2*100*20*20+2*100*20 {
		t.Errorf("windows: %v", w)
	}
}

// pass is the duration of a pass over the rows in TestStopwatch.
const pass = 20 * time.Millisecond

// TestStopwatch checks that the time of each pass is assigned to its part, without opening and closing.
func TestStopwatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := parsed[*speedTask](t, "speed", "-n 50 -features 4 -repeats 2 -peak 1")
		slow := backend.Observed(cpu.New(), func(method string) func() {
			time.Sleep(map[string]time.Duration{"Open": 10 * pass, "Moments": pass, "Pullback": 2 * pass, "Close": 10 * pass}[method])
			return nil
		})
		run := testkit.Must(newSession(o, slow))(t)
		testkit.OK(t, run.run())
		r := run.record
		s := r.Seconds
		one := pass.Seconds()
		if s[moments] != one || s[pullback] != 2*one || s[opening] != 10*one || s[hosted] != 0 || s[factorized]+s[predicted] != 0 {
			t.Errorf("parts %+v, want moments %v s and pullback %v s", s, one, 2*one)
		}
		if r.Evaluation != 3*one {
			t.Errorf("evaluation %v s, want %v without opening and closing", r.Evaluation, 3*one)
		}
		if want := run.work("exact")[pullback] / s[pullback] / 1e9; math.Abs(r.GFlops[pullback]-want) > 1e-12*want || math.Abs(r.Share[pullback]-want/1e3) > 1e-12 {
			t.Errorf("%v GFLOP/s, share %v; want %v", r.GFlops[pullback], r.Share[pullback], want)
		}
	})
}

// TestMeasure checks that the record of each inference can be read from its line of JSON,
// and that a dump contains the results of the evaluation.
func TestMeasure(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "speed.jsonl")
	for _, inference := range inferences {
		testkit.OK(t, bench("speed", "-n", "60", "-features", "6", "-repeats", "1", "-inference", inference, "-out", out))
	}
	r := testkit.Must(readResult(out))(t)
	for i, m := range r.Speed {
		if m.Inference != inferences[i] || m.Evaluation <= 0 || m.Status != machine.OK || (m.Bound == nil) != (m.Inference == "predict") || m.Device != "cpu" || m.N != 60 || m.M != 6 {
			t.Errorf("%+v", m)
		}
	}
	testkit.OK(t, bench("speed", "-n", "60", "-features", "6", "-dump", filepath.Join(dir, "dump")))
	p, _ := sizes{N: 60, Q: 1, D: 1, Features: 6, Seed: 1}.build()
	e := testkit.Must(p.model.Evaluate(t.Context(), p.data, "exact", nil, true))(t)
	var d struct {
		Bound float64
		M     int                `json:"features"`
		Terms map[string]float64 // as bench/peers/speed.py reads them
	}
	text := testkit.Must(os.ReadFile(filepath.Join(dir, "dump", "problem.json")))(t)
	if err := json.Unmarshal(text, &d); err != nil || d.Bound != e.Bound || d.M != 6 || len(d.Terms) != len(e.Terms) {
		t.Errorf("dump %+v, %v; want bound %v", d, err, e.Bound)
	}
	for _, term := range e.Terms {
		if v, ok := d.Terms[term.Name]; !ok || v != term.Value {
			t.Errorf("the dump has value %v of term %s, want %v", v, term.Name, term.Value)
		}
	}
	text = testkit.Must(os.ReadFile(filepath.Join(dir, "dump", "gradient.inducing.location.npy")))(t)
	values := make([]float64, 6)
	testkit.Must(binary.Decode(text[len(text)-8*len(values):], binary.LittleEndian, values))(t)
	if !slices.Equal(values, e.Gradient.Location) {
		t.Errorf("gradient %v; want %v", values, e.Gradient.Location)
	}
}

// TestShowPrintsStoredLines checks the table of lines of all kinds, and that the committed lines of GPUs can be shown.
func TestShowPrintsStoredLines(t *testing.T) {
	path := testkit.Put(t, t.TempDir(), "lines", `{"facts":{"name":"Card X"}}
{"stage":"test-gpu","status":"failed: exit 1","seconds":3.5,"card":"Card X","driver":"1.2","commit":"abc"}
{"profile":"moments_gram_64","metrics":{"Elapsed Cycles [cycle]":"34,567"}}

{"bench":"speed","case":"exact N=5 M=2","device":"cuda:0 Card X","precision":"float64","seconds_per_evaluation":0.25,"gflops":{"evaluation":1,"moments":30000,"pullback":20000},"share_of_peak":{"evaluation":0.1,"moments":0.5},"device_bytes":2097152,"host_bytes":1,"status":"ok"}
{"bench":"speed","case":"big","device":"cuda:0 Card X","precision":"mixed","status":"out of memory: no\nroom"}
{"peer":"jax","version":"1","device":"cuda","n":5,"features":2,"seconds_per_evaluation":0.5,"peak_bytes":1048576,"status":"ok"}
{"peer":"torch","version":"2","mode":"rates","case":"DGEMM 64","device":"cuda","n":64,"tflops":50,"status":"ok"}
{"peer":"torch","version":"2","mode":"rates","case":"copy back, pinned","device":"cuda","n":64,"gbytes_per_second":52.5,"status":"ok"}
{"bench":"speed","case":"without a peak","device":"cuda:0 Card X","seconds_per_evaluation":2,"seconds":{"moments":1,"pullback":1},"flop":{"moments":1e13},"status":"ok"}
`)
	r := testkit.Must(readResult(path))(t)
	var b bytes.Buffer
	r.print(&b)
	testkit.Contains(t, b.String(), "Card X, driver 1.2, commit abc", "test-gpu", "failed: exit 1", "exact N=5 M=2", " 0.25 ", " 30 ", " 20 ", "50%",
		" 2  ok", "out of memory: no", "jax 1, exact N=5 M=2", "torch 2, DGEMM 64", " 50 ", "52.5 GB/s", "20%")
	if n := strings.Count(b.String(), "\n"); n != 1+3+1+6 {
		t.Errorf("%d lines:\n%s", n, b.String())
	}
	if _, err := readResult(testkit.Put(t, t.TempDir(), "bad", "not JSON\n")); err == nil {
		t.Error("no error for a line that is not JSON")
	}

	committed := testkit.Must(filepath.Glob("results/device-*.jsonl"))(t)
	for _, path := range committed {
		r := testkit.Must(readResult(path))(t)
		if len(r.Stages) < 20 || len(r.Speed) < 10 || r.Stages[0].Card == "" {
			t.Errorf("%s: %d stages, %d measurements", path, len(r.Stages), len(r.Speed))
		}
	}
	if len(committed) == 0 {
		t.Error("no results of a GPU")
	}
}
